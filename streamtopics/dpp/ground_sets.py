# SPDX-License-Identifier: BSD-3-Clause
"""How users pass the sets of a ground set, and how its base measure is learnt from them.

A `Form` reads sets and points, and writes sets in the form in which they are read. Totals
are what a base measure needs of all points seen: immutable, and added to as a stream goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse

from streamtopics.dpp.measures import (
    BaseMeasure,
    Bernoulli,
    Fourier,
    Gaussian,
    Items,
    LengthMultinomial,
    Poisson,
    Weighted,
)
from streamtopics.dpp.measures.bags import lengths_of
from streamtopics.dpp.measures.base import Points
from streamtopics.dpp.sets import PointSets
from streamtopics.sentences import read_sentences
from streamtopics.validation import holds_text, to_csr

LEAST_VARIANCE = 1e-9
MOST_WORDS = 1_000_000


# How sets are passed


@dataclass(frozen=True)
class Form:
    """How users have sets of points.

    Attributes
    ----------
    read : callable
        Of (X, groups, n_columns, caller), to PointSets and the number of columns.
    points : callable
        Of (points, n_columns, caller), to points of the measure.
    write : callable
        Of (PointSets, n_columns), to what `read` takes.
    one_matrix : bool
        Whether a row of X is a set.
    signed : bool
        Whether points are vectors, whose entries may be negative.
    """

    read: Callable[[Any, Any, int | None, str], tuple[PointSets, int]]
    points: Callable[[Any, int, str], Points]
    write: Callable[[PointSets, int], Any]
    one_matrix: bool = False
    signed: bool = False


def _read_rows(
    X: Any, groups: Any, n_columns: int | None, caller: str, *, whole: bool, dense: bool
) -> tuple[PointSets, int]:
    read = read_sentences(X, groups, n_words=n_columns, whole=whole, signed=dense, caller=caller)
    points = read.counts.astype(np.float64)
    return PointSets(points.toarray() if dense else points, read.starts), read.n_words


def _rows(points: Any, n_columns: int, caller: str, *, whole: bool, dense: bool) -> Points:
    if not isinstance(points, list | tuple) and len(getattr(points, "shape", ())) != 2:
        raise ValueError(
            f"points, passed to {caller}, must be a matrix of shape (n_points, {n_columns}); got "
            f"{type(points).__name__} of shape {getattr(points, 'shape', ())}. Put a single point "
            "into a list"
        )
    sets, _ = _read_rows([points], None, n_columns, caller, whole=whole, dense=dense)
    return sets.points


def _write_rows(sets: PointSets, n_columns: int) -> np.ndarray:
    out = np.empty(len(sets), dtype=object)
    for i in range(len(sets)):
        out[i] = sets[i]
    return out


def _read_baskets(X: Any, groups: Any, n_columns: int | None, caller: str) -> tuple[PointSets, int]:
    """Entries above 0 are in the set."""
    if groups is not None:
        raise ValueError(
            f"groups, passed to {caller}, is for sets whose points are rows, but each row of X is "
            "a set of items; leave groups out"
        )
    if holds_text(X):
        raise TypeError(
            f"X, passed to {caller}, must have a row for each set and a column for each item, but "
            "holds text; use sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True)"
        )
    X = _checked(to_csr(X, caller, "X"), n_columns, caller)
    return PointSets(X.indices.astype(np.intp), X.indptr), X.shape[1]


def _checked(X: sparse.csr_matrix, n_columns: int | None, caller: str) -> sparse.csr_matrix:
    if n_columns is not None and X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} features, but {caller.partition('.')[0]} is expecting "
            f"{n_columns} features as input; give it a column for each item seen in fit"
        )
    if X.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required by "
            f"{caller.partition('.')[0]}; give X a column for each item"
        )
    if not (np.isfinite(X.data) & (X.data >= 0)).all():
        raise ValueError(
            f"X, passed to {caller}, has NaN, infinity or Negative values in data passed to "
            f"{caller}; 1 stands for an item of the set, 0 for another"
        )
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def _item_places(points: Any, n_columns: int, caller: str) -> np.ndarray:
    places = np.asarray(points)
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise ValueError(
            f"points, passed to {caller}, must be the column numbers of items, 1-D integers; got "
            f"{type(points).__name__} of shape {places.shape} and dtype {places.dtype}"
        )
    if places.size and not (places.min() >= 0 and places.max() < n_columns):
        raise ValueError(
            f"points, passed to {caller}, must be columns from 0 to {n_columns - 1}; got "
            f"{places.min()} to {places.max()}"
        )
    return places.astype(np.intp)


def _write_baskets(sets: PointSets, n_columns: int) -> sparse.csr_matrix:
    ones = np.ones(len(sets.points))
    X = sparse.csr_matrix((ones, sets.points, sets.indptr), shape=(len(sets), n_columns))
    X.sum_duplicates()
    return X


def _form_of_rows(*, whole: bool = False, dense: bool = False) -> Form:
    """A matrix for each set, or one matrix with groups."""
    reads = {"whole": whole, "dense": dense}
    return Form(partial(_read_rows, **reads), partial(_rows, **reads), _write_rows, signed=dense)


SENTENCES, WHOLE_SENTENCES = _form_of_rows(), _form_of_rows(whole=True)
VECTORS = _form_of_rows(dense=True)
BASKETS = Form(_read_baskets, _item_places, _write_baskets, one_matrix=True)


# What is kept of the points seen


class Totals(Protocol):
    """What a base measure needs of the sets seen."""

    form: Form

    @classmethod
    def none(cls, n_columns: int) -> Self:
        """Before the first set."""

    def plus(self, sets: PointSets) -> Self:
        """With further sets."""

    @property
    def measure(self) -> BaseMeasure: ...


@dataclass(frozen=True, eq=False)
class Baskets:
    """Of items: in how many of the sets each is."""

    n_sets: int
    present: np.ndarray
    form = BASKETS

    @classmethod
    def none(cls, n_columns: int) -> Self:
        return cls(0, np.zeros(n_columns))

    def plus(self, sets: PointSets) -> Self:
        more = np.bincount(sets.points, minlength=len(self.present))
        return type(self)(self.n_sets + len(sets), self.present + more)

    @property
    def measure(self) -> Items:
        return Items.of(len(self.present))

    def independent_log_likelihood(self, sets: PointSets) -> np.ndarray:
        """If each item comes with its share of the sets seen, half a set added to both sides."""
        share = (self.present + 0.5) / (self.n_sets + 1)
        log_odds = np.concatenate(
            [[0.0], np.cumsum((np.log(share) - np.log1p(-share))[sets.points])]
        )
        return np.diff(log_odds[sets.indptr]) + np.log1p(-share).sum()


@dataclass(frozen=True, eq=False)
class WordSets:
    """Of sentences as sets of words: in how many each word is."""

    n_sentences: int
    present: np.ndarray
    form = SENTENCES

    @classmethod
    def none(cls, n_columns: int) -> Self:
        return cls(0, np.zeros(n_columns))

    def plus(self, sets: PointSets) -> Self:
        words = sets.points.indices[sets.points.data != 0]
        more = np.bincount(words, minlength=len(self.present))
        return type(self)(self.n_sentences + sets.points.shape[0], self.present + more)

    @property
    def measure(self) -> Bernoulli:
        return Bernoulli.from_totals(self.present, self.n_sentences)


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Of sentences as counts: how often each word is in them."""

    n_sentences: int
    counts: np.ndarray
    form = WHOLE_SENTENCES

    @classmethod
    def none(cls, n_columns: int) -> Self:
        return cls(0, np.zeros(n_columns))

    def plus(self, sets: PointSets) -> Self:
        more = np.asarray(sets.points.sum(axis=0)).ravel()
        return type(self)(self.n_sentences + sets.points.shape[0], self.counts + more)

    @property
    def measure(self) -> Poisson:
        return Poisson.from_totals(self.counts, self.n_sentences)


@dataclass(frozen=True, eq=False)
class WordsAndLengths:
    """Of sentences as bags: how often each word is in them, and each length occurs."""

    counts: np.ndarray
    lengths: np.ndarray
    form = WHOLE_SENTENCES

    @classmethod
    def none(cls, n_columns: int) -> Self:
        return cls(np.zeros(n_columns), np.zeros(1))

    def plus(self, sets: PointSets) -> Self:
        found = lengths_of(sets.points)
        if found.max(initial=0) > MOST_WORDS:
            raise ValueError(
                f"X has a sentence of {found.max()} words; ground_set='multinomial' keeps the "
                f"probability of each length, up to {MOST_WORDS}. Cut it, or use 'poisson'"
            )
        lengths = np.bincount(found, minlength=len(self.lengths)).astype(float)
        lengths[: len(self.lengths)] += self.lengths
        return type(self)(self.counts + np.asarray(sets.points.sum(axis=0)).ravel(), lengths)

    @property
    def measure(self) -> LengthMultinomial:
        return LengthMultinomial.from_totals(self.counts, self.lengths)


@dataclass(frozen=True, eq=False)
class Moments:
    """Of vectors: mean and squared deviations of each column, added up as Chan et al. (1983)."""

    n_points: int
    mean: np.ndarray
    squares: np.ndarray
    form = VECTORS

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
        return Gaussian(self.mean, np.maximum(variance, LEAST_VARIANCE))


@dataclass(frozen=True, eq=False)
class Given:
    """A base measure that is known, and stays as it is."""

    measure: BaseMeasure

    @property
    def form(self) -> Form:
        return _FORMS.get(type(unweighted(self.measure)), SENTENCES)

    @property
    def n_columns(self) -> int:
        """Of the points: of the Fourier features there are more."""
        points = self.measure.sample(0, np.random.default_rng(0))
        return points.shape[1] if points.ndim == 2 else len(self.measure.v)

    def plus(self, sets: PointSets) -> Self:
        return self


def unweighted(measure: BaseMeasure) -> BaseMeasure:
    """The measure without weights on its features."""
    while isinstance(measure, Weighted):
        measure = measure.measure
    return measure


_FORMS = {
    Items: BASKETS,
    Poisson: WHOLE_SENTENCES,
    LengthMultinomial: WHOLE_SENTENCES,
    Gaussian: VECTORS,
    Fourier: VECTORS,
}

LEARNT: dict[str, type[Totals]] = {
    "bernoulli": WordSets,
    "gaussian": Moments,
    "items": Baskets,
    "multinomial": WordsAndLengths,
    "poisson": WordCounts,
}
