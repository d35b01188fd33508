# SPDX-License-Identifier: BSD-3-Clause
"""An experiment of the ledger: cells that are run one by one, and rows that are kept of each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from csv import DictWriter
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

from benchmarks.results import read

RESULTS = Path(__file__).parent / "results"

# Columns that no run repeats.
TIMES = frozenset({"seconds"})

Cell = Mapping[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """What is run for some tables and figures of a paper.

    Attributes
    ----------
    name : str
        Its rows are in `results/NAME.csv`.
    keys : tuple of str
        Columns that say what a row is of. A cell has some of them.
    values : tuple of str
        Columns of what was found.
    cells : callable
        ``cells(quick)`` returns what there is to run, one after another; if `quick`, some of it
        on little data, all in seconds.
    run : callable
        ``run(cell, quick)`` returns the rows of a cell, which need not repeat the cell's keys.
    """

    name: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    cells: Callable[[bool], Iterable[Cell]]
    run: Callable[[Cell, bool], Iterable[Row]]

    def path(self, folder: Path = RESULTS) -> Path:
        """The file of the rows."""
        return folder / f"{self.name}.csv"

    def rows(self, folder: Path = RESULTS) -> list[dict[str, str]]:
        """The rows that are kept."""
        path = self.path(folder)
        about = path.stat() if path.exists() else None
        return _read(path, about and (about.st_mtime_ns, about.st_size))

    def left(self, quick: bool, folder: Path = RESULTS) -> Iterator[Cell]:
        """Cells of which no row is kept."""
        rows = self.rows(folder)
        for cell in self.cells(quick):
            some = {name: shown(value) for name, value in cell.items()}
            if not any(some.items() <= row.items() for row in rows):
                yield cell

    def carry_out(self, cell: Cell, quick: bool, folder: Path = RESULTS) -> int:
        """Run a cell, and keep all of its rows together; return how many."""
        rows = [{**cell, **row} for row in self.run(cell, quick)]
        columns = (*self.keys, *self.values)
        text = StringIO()
        writer = DictWriter(text, columns, lineterminator="\n")
        path = self.path(folder)
        if not path.exists():
            writer.writeheader()
        for row in rows:
            if row.keys() != set(columns):
                raise ValueError(f"{self.name}: a row has {sorted(row)}, not {sorted(columns)}")
            writer.writerow({name: shown(row[name]) for name in columns})
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
        return len(rows)


def by_parts(
    column: str, parts: Mapping[str, int], corpora: Iterable[str], one: str
) -> Callable[[bool], Iterator[Cell]]:
    """Return what yields parts with so many splits of all corpora, or with one of one if quick."""

    def cells(quick: bool) -> Iterator[Cell]:
        for part, n_splits in parts.items():
            for split in range(1 if quick else n_splits):
                for name in (one,) if quick else corpora:
                    yield {"corpus": name, column: part, "split": split}

    return cells


@lru_cache(maxsize=4)
def _read(path: Path, _: Any) -> list[dict[str, str]]:
    """Rows of a file, read once as long as it is the same."""
    return read(path)


def shown(value: Any) -> str:
    """A value as it is kept: floats with six digits that count."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
