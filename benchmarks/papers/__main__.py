# SPDX-License-Identifier: BSD-3-Clause
"""Run what stands behind the tables and figures of the papers.

    python -m benchmarks.papers --list
    python -m benchmarks.papers --tally        # how many comparisons hold, are opposite, are open
    STREAMTOPICS_DATA=... python -m benchmarks.papers [ITEM ...]     # what is not on file yet
    python -m benchmarks.papers --again ITEM ...    # runs what is on file once more, and compares
    python -m benchmarks.papers --again 3 --seed 0  # three items that are drawn
    python -m benchmarks.papers --check        # a little of each, compared with rows on file
    python -m benchmarks.papers --write [ITEM ...]  # writes the quick rows on file anew
    python -m benchmarks.papers --page doc/papers

What is found is kept in `benchmarks/papers/results`, a file for each experiment; a run that was
cut goes on where it ended. To run one again, delete its rows. An item is named as in
`benchmarks/papers/items`, or by its experiment. Of items that are named the verdicts are printed
with their counts and sizes, the data, tables of medians and deciles, and where the pictures are.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.check import check, repeat
from benchmarks.papers.check import write as write_quick
from benchmarks.papers.experiment import Cell, shown
from benchmarks.papers.ledger import Item, experiment, items
from benchmarks.papers.page import aligned, listed, statements, tally, write
from benchmarks.papers.verdicts import has

PICTURES = Path(tempfile.gettempdir()) / "streamtopics-papers"


def chosen(names: list[str]) -> list[Item]:
    """Items of these names, or all."""
    found = items()
    if not names:
        return found
    some = [one for one in found if one.name in names or one.experiment in names]
    unknown = set(names) - {one.name for one in some} - {one.experiment for one in some}
    if unknown:
        sys.exit(f"no item and no experiment is named {', '.join(sorted(unknown))}; see --list")
    return some


def run(names: list[str]) -> None:
    """Run what is left of the experiments of some items."""
    experiments = dict.fromkeys(one.experiment for one in chosen(names) if one.experiment)
    begun = time.monotonic()
    for number, name in enumerate(experiments, 1):
        one = experiment(name)
        left = list(one.left(False))
        for place, cell in enumerate(left, 1):
            started = time.monotonic()
            n = one.carry_out(cell, False)
            now = time.monotonic()
            what = ", ".join(f"{key} {value}" for key, value in cell.items())
            print(
                f"[{number}/{len(experiments)}] {name} {place}/{len(left)}: {what}: {n} rows in "
                f"{now - started:.1f} s, {now - begun:.0f} s in all",
                flush=True,
            )


def drawn(words: list[str], seed: int) -> list[Item]:
    """Items of these names, or so many at random of those that have an experiment."""
    if len(words) == 1 and words[0].isdigit():
        able = [one for one in items() if one.experiment]
        places = np.random.default_rng(seed).choice(len(able), int(words[0]), replace=False)
        return [able[place] for place in places]
    return chosen(words)


def again(words: list[str], seed: int) -> None:
    """Run items that are on file once more; exit with 1 if a value differs by more than 1e-5."""
    differ = 0
    for item in drawn(words, seed):
        one, begun = experiment(item.experiment), time.monotonic()
        cells = [cell for cell in one.cells(False) if of(cell, item.where)]
        n, told = repeat(one, cells)
        differ += len(told)
        print(*told, sep="\n", end="\n" if told else "")
        print(
            f"{item.name}: {len(cells)} cells of {one.name}, {n - len(told)} rows of {n} are as on "
            f"file, {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    sys.exit(differ > 0)


def of(cell: Cell, where: Mapping[str, Any]) -> bool:
    """Whether rows of a cell may have these values."""
    texts = {name: shown(value) for name, value in cell.items()}
    return has(texts, {name: wanted for name, wanted in where.items() if name in texts})


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("items", nargs="*", help="names of items or experiments; none for all")
    parser.add_argument("--list", action="store_true", help="print the items")
    parser.add_argument("--check", action="store_true", help="compare with rows on file")
    parser.add_argument("--write", action="store_true", help="write the quick rows on file")
    parser.add_argument("--tally", action="store_true", help="count all comparisons")
    parser.add_argument("--again", action="store_true", help="run once more, and compare")
    parser.add_argument("--seed", type=int, default=0, help="of the items that --again draws")
    parser.add_argument("--page", type=Path, help="folder of the documentation to write into")
    given = parser.parse_args()
    if given.list:
        for one in chosen(given.items):
            for says, word, _ in statements(one, one.findings()):
                print(one.name, word, says, sep="\t")
    elif given.tally:
        every = items()
        print(tally(every, {one.name: one.findings() for one in every}, aligned), end="")
    elif given.check:
        sys.exit(check() > 0)
    elif given.write:
        write_quick(list(dict.fromkeys(i.experiment for i in chosen(given.items) if i.experiment)))
    elif given.again:
        again(given.items, given.seed)
    elif given.page is not None:
        write(items(), given.page)
    else:
        run(given.items)
        for one in chosen(given.items) if given.items else []:
            print(listed(one, PICTURES))


if __name__ == "__main__":
    main()
