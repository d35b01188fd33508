# SPDX-License-Identifier: BSD-3-Clause
"""Totals over the sets seen, and the base measures learnt from these totals."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from streamtopics.dpp.arrays import Floats
from streamtopics.dpp.measures import (
    BaseMeasure,
    Bernoulli,
    Gaussian,
    Items,
    LengthMultinomial,
    Poisson,
)
from streamtopics.dpp.measures.bags import lengths_of
from streamtopics.dpp.sets import Form, PointSets

# Variance of a column of equal numbers, and the most that is rounding, to the mean square.
LEAST_VARIANCE, ROUNDING = 1e-9, 1e-20
MOST_WORDS = 1_000_000


class Totals(ABC):
    """Immutable totals over the sets seen, and their base measure."""

    @property
    @abstractmethod
    def form(self) -> Form: ...

    @property
    @abstractmethod
    def measure(self) -> BaseMeasure: ...

    @abstractmethod
    def plus(self, sets: PointSets) -> Self:
        """Return the totals with further sets."""

    def independent_log_likelihood(self, sets: PointSets) -> Floats | None:
        """Return the log-likelihood of sets of independent points; None for Poisson sizes."""
        return None


@dataclass(frozen=True, eq=False)
class ColumnSums(Totals):
    """A count of sets or points, and a sum for each column."""

    _holds = "n: >=0; sums: V >=0"
    n: int
    sums: Floats

    @classmethod
    def none(cls, n_columns: int) -> Self:
        return cls(0, np.zeros(n_columns))

    def plus(self, sets: PointSets) -> Self:
        n, sums = self.count(sets)
        return type(self)(self.n + n, self.sums + sums)

    @abstractmethod
    def count(self, sets: PointSets) -> tuple[int, Floats]:
        """Return the count and the sums of some sets."""


class ItemCounts(ColumnSums):
    form = Items.form

    def count(self, sets: PointSets) -> tuple[int, Floats]:
        return len(sets), np.bincount(sets.points, minlength=len(self.sums)).astype(np.float64)

    @property
    def measure(self) -> Items:
        return Items.of(len(self.sums))

    def independent_log_likelihood(self, sets: PointSets) -> Floats:
        """Return the log-likelihood of independent items, with half a set added each way."""
        share = (self.sums + 0.5) / (self.n + 1)
        logits = (np.log(share) - np.log1p(-share))[sets.points]
        sums = np.concatenate([[0.0], np.cumsum(logits)])
        return np.asarray(np.diff(sums[sets.indptr]) + np.log1p(-share).sum())


class WordSets(ColumnSums):
    form = Bernoulli.form

    def count(self, sets: PointSets) -> tuple[int, Floats]:
        words = sets.points.indices[sets.points.data != 0]
        present = np.bincount(words, minlength=len(self.sums)).astype(np.float64)
        return sets.points.shape[0], present

    @property
    def measure(self) -> Bernoulli:
        return Bernoulli.from_totals(self.sums, self.n)


class WordCounts(ColumnSums):
    form = Poisson.form

    def count(self, sets: PointSets) -> tuple[int, Floats]:
        return sets.points.shape[0], np.asarray(sets.points.sum(axis=0)).ravel()

    @property
    def measure(self) -> Poisson:
        return Poisson.from_totals(self.sums, self.n)


@dataclass(frozen=True, eq=False)
class WordsAndLengths(Totals):
    """The count of each word, and the number of sentences of each length."""

    _holds = "counts: V >=0; lengths: * >=0"
    counts: Floats
    lengths: Floats
    form = LengthMultinomial.form

    @classmethod
    def none(cls, n_columns: int) -> Self:
        return cls(np.zeros(n_columns), np.zeros(1))

    def plus(self, sets: PointSets) -> Self:
        found = lengths_of(sets.points)
        if found.max(initial=0) > MOST_WORDS:
            raise ValueError(
                f"X has a sentence of {found.max()} words; ground_set='multinomial' allows "
                f"{MOST_WORDS}. Cut the sentence, or use 'poisson'"
            )
        lengths = np.bincount(found, minlength=len(self.lengths)).astype(float)
        lengths[: len(self.lengths)] += self.lengths
        return type(self)(self.counts + np.asarray(sets.points.sum(axis=0)).ravel(), lengths)

    @property
    def measure(self) -> LengthMultinomial:
        return LengthMultinomial.from_totals(self.counts, self.lengths)


@dataclass(frozen=True, eq=False)
class VectorMoments(Totals):
    """Mean and squared deviations of each column, updated as in Chan et al. (1983)."""

    _holds = "n_points: >=0; mean: V; squares: V >=0"
    n_points: int
    mean: Floats
    squares: Floats
    form = Gaussian.form

    @classmethod
    def none(cls, n_columns: int) -> Self:
        return cls(0, np.zeros(n_columns), np.zeros(n_columns))

    def plus(self, sets: PointSets) -> Self:
        more = len(sets.points)
        if more == 0:
            return self
        n, mean = self.n_points + more, sets.points.mean(axis=0)
        step = mean - self.mean
        within = ((sets.points - mean) ** 2).sum(axis=0) + step**2 * (self.n_points * more / n)
        return type(self)(n, self.mean + step * (more / n), self.squares + within)

    @property
    def measure(self) -> Gaussian:
        variance = self.squares / max(self.n_points, 1)
        square = variance + self.mean**2
        least = LEAST_VARIANCE * np.where(square > np.finfo(float).tiny, square, 1.0)
        return Gaussian(self.mean, np.where(variance > ROUNDING * square, variance, least))


@dataclass(frozen=True, eq=False)
class FixedMeasure(Totals):
    known: BaseMeasure

    @property
    def measure(self) -> BaseMeasure:
        return self.known

    @property
    def form(self) -> Form:
        return self.known.form

    @property
    def n_columns(self) -> int:
        """Number of columns of a point."""
        points = self.known.sample(0, np.random.default_rng(0))
        return points.shape[1] if points.ndim == 2 else len(self.known.v)

    def plus(self, sets: PointSets) -> Self:
        return self


LEARNT: dict[str, type[ColumnSums | WordsAndLengths | VectorMoments]] = {
    "bernoulli": WordSets,
    "gaussian": VectorMoments,
    "items": ItemCounts,
    "multinomial": WordsAndLengths,
    "poisson": WordCounts,
}
