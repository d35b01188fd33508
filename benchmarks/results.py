# SPDX-License-Identifier: BSD-3-Clause
"""Rows of CSV that benchmarks keep, one added after each run, so that a run may be cut.

Most benchmarks run what their rows lack, and print a table of them: `command` is their `main`.
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

Rows = list[dict[str, str]]
STDOUT = Path("/dev/stdout")


def read(path: Path) -> Rows:
    """Rows of a file; none where there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append(path: Path, fields: Sequence[str], row: Mapping[str, Any]) -> None:
    """Add a row, under a head where the file is new, and print it."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, restval="", lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(*(row.get(field, "") for field in fields), sep=" | ", flush=True)


# Commands


def parser_of(
    doc: str, file: str, *, places: Sequence[str] = (), metavar: str = "CORPUS:K", n_seeds: int = 5,
    models: Iterable[str] = (),
) -> argparse.ArgumentParser:  # fmt: skip
    """The options that most commands have; `file` is the module's, beside which the rows are."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    if places:
        parser.add_argument("places", nargs="*", default=[*places], metavar=metavar)
    parser.add_argument("--results", type=Path, default=Path(file).with_suffix(".csv"))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(n_seeds)))
    if names := list(models):
        parser.add_argument("--models", nargs="+", choices=names, default=names)
    parser.add_argument("--table", type=Path, nargs="?", const=STDOUT, help="write it, run nothing")
    return parser


def command(
    options: argparse.Namespace, table: Callable[[Path], str], run: Callable[[], None]
) -> None:
    """Run what is missing, on one thread, unless the table alone is asked for; write the table."""
    if options.table is None:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    (options.table or STDOUT).write_text(table(options.results).rstrip("\n") + "\n", "utf-8")


def add(
    results: Path, key: Sequence[str], figures: Sequence[str], cells: Iterable[Sequence[Any]],
    measure: Callable[..., Mapping[str, Any] | None],
) -> None:  # fmt: skip
    """Measure the cells that the results have no row of: `measure` is passed values of the key.

    What it returns None for, or says too little of, is left out.
    """
    done = {tuple(row[field] for field in key) for row in read(results)}
    for cell in cells:
        if tuple(map(str, cell)) in done or (found := measure(*cell)) is None:
            continue
        shown = {
            name: f"{value:.4f}" if isinstance(value, float) else value
            for name, value in found.items()
        }
        append(results, (*key, *figures), dict(zip(key, cell, strict=True)) | shown)


def least_seconds(
    runs: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float]
) -> dict[str, float]:
    """The least time of each run; they take turns."""
    seconds = dict.fromkeys(runs, np.inf)
    for _ in range(repeats):
        for name, run in runs.items():
            started = clock()
            run()
            seconds[name] = min(seconds[name], clock() - started)
    return seconds


# Tables


def of(rows: Rows, **values: object) -> Rows:
    """Rows that have these values."""
    wanted = {name: str(value) for name, value in values.items()}
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def mean(rows: Rows, figure: str, digits: int = 3) -> str:
    """The mean of a figure over the rows that have it; nothing if none has."""
    values = [float(row[figure]) for row in rows if row[figure]]
    return f"{np.mean(values):.{digits}f}" if values else ""


def differences(rows: Rows, others: Rows, figure: str, by: str = "seed") -> np.ndarray:
    """What a figure is more in rows than in the others of the same seed."""
    known = {row[by]: float(row[figure]) for row in others if row[figure]}
    return np.array(
        [float(row[figure]) - known[row[by]] for row in rows if row[figure] and row[by] in known]
    )


def spread(found: Sequence[float] | np.ndarray) -> str:
    """The mean of differences, and its standard error if there are several."""
    if len(found) < 2:
        return f"{np.mean(found):+.3f}" if len(found) else ""
    return f"{np.mean(found):+.3f} ± {np.std(found, ddof=1) / len(found) ** 0.5:.3f}"


def paired(rows: Rows, others: Rows, figure: str) -> str:
    """The mean of the differences and its standard error; nothing if there are none."""
    return spread(differences(rows, others, figure))


def interval(found: np.ndarray) -> str:
    """A mean with its 95 % interval by Student's t; the mean alone of a single one."""
    if len(found) < 2:
        return f"{found.mean():+.3f}"
    half = stats.t.ppf(0.975, len(found) - 1) * stats.sem(found)
    return f"{found.mean():+.3f} ± {half:.3f}"


def csv_table(title: str, head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """A table in reStructuredText."""
    rows = ["   " + ", ".join(line) for line in lines]
    return "\n".join([f".. csv-table:: {title}", f"   :header: {', '.join(head)}", "", *rows, ""])
