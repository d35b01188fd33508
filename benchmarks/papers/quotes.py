# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of the documentation that hold numbers of the ledger.

`quotes.toml` has each of them with a place "{}" for every number, and of what rows it is. A value
is a mean over the splits, so that two values of the same splits differ by the mean of their paired
differences; a difference is the median of paired ones, or their mean with its standard error. A
number that the rows do not give makes a test fail, with the sentence as it should be.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from benchmarks.papers.experiment import RESULTS
from benchmarks.papers.ledger import experiment
from benchmarks.papers.verdicts import has

SHARED = "experiment", "column", "format", "zero"
QUOTES = Path(__file__).with_name("quotes.toml")


@dataclass(frozen=True)
class Number:
    """A number of the rows of an experiment, of their values or of paired differences.

    Attributes
    ----------
    experiment, column : str
    where : mapping
        Values of columns that its rows have.
    less : mapping
        Those of the columns in which other rows differ, whose values are taken off; empty for
        the values themselves.
    pairs : tuple of str
        Columns that say which rows are of the same split.
    mean : bool
        Whether it is written as the mean with its standard error.
    format : str
        How it is written, such as ".3f".
    zero : bool
        Whether a zero stands before the point.
    """

    experiment: str
    column: str
    where: Mapping[str, Any]
    less: Mapping[str, Any] = field(default_factory=dict)
    pairs: tuple[str, ...] = ("split",)
    mean: bool = False
    format: str = ".3f"
    zero: bool = True

    def value(self, folder: Path = RESULTS) -> float:
        """The number that the rows give."""
        return (median if self.less and not self.mean else fmean)(self._all(folder))

    def splits(self, folder: Path = RESULTS) -> set[tuple[str, ...]]:
        """The splits that it is a mean or a median over."""
        return set(self._values(self.where, folder))

    def written(self, folder: Path = RESULTS) -> str:
        """The number as it stands in a sentence."""
        text = self._text(self.value(folder), self.format)
        if not self.mean:
            return text
        values = self._all(folder)
        error = self._text(stdev(values) / len(values) ** 0.5, self.format.removeprefix("+"))
        return f"{text} ± {error}"

    def _text(self, value: float, form: str) -> str:
        text = format(value, form)
        text = text.removeprefix("-") if float(text.replace(",", "")) == 0 else text
        return text if self.zero else re.sub(r"(?<!\d)0\.", ".", text)

    def _all(self, folder: Path) -> list[float]:
        found = self._values(self.where, folder)
        if not self.less:
            return [value for values in found.values() for value in values]
        others = self._values({**self.where, **self.less}, folder)
        both = [zip(found[key], others[key], strict=True) for key in found if key in others]
        return [a - b for pairs in both for a, b in pairs]

    def _values(self, where: Mapping[str, Any], folder: Path) -> dict[tuple[str, ...], list[float]]:
        found: dict[tuple[str, ...], list[float]] = {}
        for row in experiment(self.experiment).rows(folder):
            if has(row, where) and row[self.column] not in ("", "nan"):
                key = tuple(row[name] for name in self.pairs)
                found.setdefault(key, []).append(float(row[self.column]))
        if not found:
            raise LookupError(f"{self.experiment} has no rows where {dict(where)}")
        return found


@dataclass(frozen=True)
class Quote:
    """A sentence of a file, from the root of the project, and the numbers in it."""

    file: str
    says: str
    numbers: tuple[Number, ...]

    def written(self, folder: Path = RESULTS) -> str:
        """The sentence with the numbers that the rows give."""
        return self.says.format(*(number.written(folder) for number in self.numbers))


def quotes(path: Path = QUOTES) -> list[Quote]:
    """All quotes."""
    found = []
    for one in tomllib.loads(path.read_text(encoding="utf-8")).get("quote", []):
        shared = {name: one[name] for name in SHARED if name in one}
        numbers = []
        for number in one["numbers"]:
            where = {**one.get("where", {}), **number.get("where", {})}
            given = {**shared, **number, "where": where}
            numbers.append(Number(**{k: tuple(v) if k == "pairs" else v for k, v in given.items()}))
        found.append(Quote(one["file"], one["says"], tuple(numbers)))
    return found
