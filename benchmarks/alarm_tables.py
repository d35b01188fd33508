# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the rows that `benchmarks.alarm` has written: hits and false alarms."""

from collections import defaultdict
from collections.abc import Iterator

from scipy.stats import beta


def interval(k: int, n: int) -> str:
    """A share with its 95 % interval of Clopper and Pearson, in per cent."""
    low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
    high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
    return f"{100 * k / n:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def tables(rows: list[dict[str, str]]) -> Iterator[str]:
    """Lines of the tables: hits and false alarms."""
    yield from hits(rows)
    yield ""
    yield from false_alarms(rows)


def hits(rows: list[dict[str, str]]) -> Iterator[str]:
    """Lines of the table of changes that rang."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        if row["kind"] not in ("nothing", "moves"):
            n_new = (
                ""
                if row["kind"] != "injected"
                else str(round(float(row["share"]) * int(row["size"])))
            )
            groups[row["kind"], row["corpus"], row["share"], row["size"], n_new].append(row)
    names = "monitor", "exact layer alone", "ADWIN", "SVBHPP"
    yield ".. csv-table:: Changes that rang within two minibatches, of all"
    yield _head("change", "corpus", "share", "documents", "new ones", *names)
    yield ""
    order = sorted(groups, key=lambda key: (key[0], key[1], int(key[3]), -float(key[2])))
    for key in order:
        found, cells = groups[key], []
        for name in ("delay", "exact_delay", "adwin_delay", "hpp_delay"):
            has = "hpp_n_false" if name in ("adwin_delay", "hpp_delay") else "n_false"
            own = [row for row in found if row[has]]
            cells.append(f"{sum(row[name] != '' for row in own)} of {len(own)}" if own else "")
        yield _line(*key, *cells)


def false_alarms(rows: list[dict[str, str]]) -> Iterator[str]:
    """Lines of the table of false alarms."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        order = "in time" if row["kind"] in ("moves", "project") else "shuffled"
        for name in (row["corpus"], "all"):
            groups[order, name].append(row)
    names = "monitor", "exact layer alone", "ADWIN", "SVBHPP"
    yield ".. csv-table:: False alarms, per cent of the minibatches, with 95 % intervals"
    yield _head("order", "corpus", "minibatches", *names)
    yield ""
    for key, found in sorted(groups.items()):
        cells = [str(sum(int(row["n_tests"]) for row in found))]
        for name in ("n_false", "n_exact_false", "adwin_n_false", "hpp_n_false"):
            own = [row for row in found if row[name]]
            n = sum(int(row["n_tests"]) for row in own)
            cells.append(interval(sum(int(row[name]) for row in own), n) if n else "")
        yield _line(*key, *cells)


def _line(*cells: str) -> str:
    return "   " + ", ".join(f'"{cell}"' for cell in cells)


def _head(*names: str) -> str:
    return "   :header: " + ", ".join(f'"{name}"' for name in names)
