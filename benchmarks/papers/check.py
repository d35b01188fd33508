# SPDX-License-Identifier: BSD-3-Clause
"""Rows of all experiments, compared with rows on file.

Quick cells learn from texts that come with the documentation, or from what is made up, and are
compared with `quick.csv`. Whole cells, which take seconds, are compared with `results`: those of
`WHOLE`, and of `WITH_DATA` where STREAMTOPICS_DATA is set.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from math import isclose
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from benchmarks.papers.experiment import RESULTS, TIMES, Cell, Experiment, shown
from benchmarks.papers.ledger import experiment, items

QUICK = Path(__file__).with_name("quick.csv")
# Of a quick cell, evenly spaced.
MOST_ROWS = 5
TOLERANCE = 1e-5
# The first cells of these are compared with `results`.
WHOLE = "bps_dirichlets", "bps_case_1", "hpp_densities"
WITH_DATA = "bps_case_2", "hpp_binomial", "hpp_nips", "rating_lda", "was_tables"
INSTRUCTION_SETS = "avx2", "avx512", "baseline"


class Found(NamedTuple):
    """A row of an experiment, what it is of, and its values."""

    experiment: str
    row: str
    values: str


def names() -> list[str]:
    """All experiments."""
    return list(dict.fromkeys(one.experiment for one in items() if one.experiment))


def found(one: Experiment, rows: Sequence[dict[str, str]]) -> list[Found]:
    """Rows, the times left out."""
    values = [name for name in one.values if name not in TIMES]
    return [
        Found(
            one.name,
            "; ".join(row[name] for name in one.keys),
            "; ".join(row[name] for name in values),
        )
        for row in rows
    ]


def quick(name: str) -> Iterator[Found]:
    """Rows of all quick cells of an experiment."""
    one = experiment(name)
    for cell in one.cells(True):
        with tempfile.TemporaryDirectory() as folder:
            one.carry_out(cell, True, Path(folder))
            rows = found(one, one.rows(Path(folder)))
        places = np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).round().astype(int)
        yield from (rows[place] for place in places)


def repeat(one: Experiment, cells: Sequence[Cell]) -> tuple[int, list[str]]:
    """Run cells once more; return how many rows of them are on file, and which differ now."""
    with tempfile.TemporaryDirectory() as folder:
        for cell in cells:
            one.carry_out(cell, False, Path(folder))
        rows = found(one, one.rows(Path(folder)))
    texts = [{key: shown(value) for key, value in cell.items()} for cell in cells]
    kept = [row for row in one.rows(RESULTS) if any(t.items() <= row.items() for t in texts)]
    return len(kept), differences(rows, found(one, kept))


def differences(rows: Sequence[Found], kept: Sequence[Found]) -> list[str]:
    """Lines that say which kept rows are others now, or gone."""
    now: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        now.setdefault((row.experiment, row.row), []).append(row.values)
    told = []
    for row in kept:
        values = now.get((row.experiment, row.row), [])
        if not any(alike(value, row.values) for value in values):
            told.append(f"{row.experiment}, {row.row}: {row.values} on file, {values} now")
    return told


def alike(one: str, other: str) -> bool:
    """Whether all values are the same, numbers within the tolerance."""
    pairs = zip(one.split("; "), other.split("; "), strict=True)
    return all(a == b or _close(a, b) for a, b in pairs)


def _close(a: str, b: str) -> bool:
    try:
        return isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except ValueError:
        return False


def on_file() -> list[Found]:
    """The quick rows that are kept."""
    with QUICK.open(encoding="utf-8", newline="") as file:
        return read(file)


def read(lines: Iterable[str]) -> list[Found]:
    """Rows of a file, or of what `main` has printed."""
    return [Found(**row) for row in csv.DictReader(lines)]


def check() -> int:
    """Print what differs from the rows on file; return how many rows do."""
    kept, every, has_data = on_file(), names(), "STREAMTOPICS_DATA" in os.environ
    n_rows = n_differ = 0
    for number, name in enumerate(every, 1):
        begun, own = time.monotonic(), [row for row in kept if row.experiment == name]
        n, told = len(own), differences(list(quick(name)), own)
        if name in WHOLE or (has_data and name in WITH_DATA):
            one = experiment(name)
            n_whole, others = repeat(one, [next(iter(one.cells(False)))])
            n, told = n + n_whole, told + others
        print(*told, sep="\n", end="\n" if told else "")
        n_rows, n_differ = n_rows + n, n_differ + len(told)
        seconds = time.monotonic() - begun
        print(f"[{number}/{len(every)}] {name}: {n} rows, {seconds:.1f} s", flush=True)
    more = "" if has_data else "; set STREAMTOPICS_DATA to compare whole cells of real corpora too"
    print(f"{n_rows - n_differ} of {n_rows} rows are as on file{more}")
    return n_differ


def write(some: Sequence[str]) -> None:
    """Write the quick rows of some experiments, those alike with every instruction set."""
    command = [sys.executable, "-m", "benchmarks.papers.check", *some]
    runs = []
    for name in INSTRUCTION_SETS:
        given = os.environ | {"STREAMTOPICS_ISA": name}
        ended = subprocess.run(command, env=given, check=True, capture_output=True, text=True)
        runs.append(read(ended.stdout.splitlines()))
    first, *others = runs
    new = [row for row in first if not any(differences(run, [row]) for run in others)]
    rows = [*(row for row in on_file() if row.experiment not in some), *new]
    with QUICK.open("w", encoding="utf-8", newline="") as file:
        put(rows, file)


def put(rows: Iterable[Found], file: TextIO) -> None:
    """Write rows, those of an experiment together."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(Found._fields)
    writer.writerows(sorted(rows, key=lambda row: row.experiment))


def main() -> None:
    """Print the quick rows of the experiments that are named."""
    put((row for name in sys.argv[1:] for row in quick(name)), sys.stdout)


if __name__ == "__main__":
    main()
