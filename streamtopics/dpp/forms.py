# SPDX-License-Identifier: BSD-3-Clause
"""Forms of the sets that users pass, of which each base measure names one.

SENTENCES    counts of words, any numbers that are not negative
COUNTS       the same, whole numbers only
VECTORS      any finite numbers
ITEMS        a row for each set, with a column for each item
"""

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from streamtopics.base.sentences import read_sentences
from streamtopics.dpp.arrays import Places, Points
from streamtopics.dpp.sets import PointSets
from streamtopics.utils.structure import holds_text, to_csr


class Form(Protocol):
    """A form in which users have sets of points.

    Attributes
    ----------
    one_matrix : bool
        True if X is one matrix and each of its rows a set.
    signed : bool
        True if entries may be negative.
    """

    one_matrix: ClassVar[bool]

    @property
    def signed(self) -> bool: ...

    def read(
        self, X: Any, groups: Any, n_columns: int | None, caller: str
    ) -> tuple[PointSets, int]:
        """Return the sets that a user passed, and the number of columns of X."""

    def points(self, points: Any, n_columns: int, caller: str) -> Points:
        """Return points that a user passed as points of the measure."""

    def write(self, sets: PointSets, n_columns: int) -> Any:
        """Return sets as `read` takes them."""


@dataclass(frozen=True)
class Rows:
    """A matrix for each set, whose rows are points, or one matrix with groups.

    Points are counts, `whole` ones if only these are allowed, or `signed` vectors, dense.
    """

    whole: bool = False
    signed: bool = False
    one_matrix: ClassVar[bool] = False

    def read(
        self, X: Any, groups: Any, n_columns: int | None, caller: str
    ) -> tuple[PointSets, int]:
        """Return the sets that a user passed, and the number of columns of X."""
        read = read_sentences(
            X, groups, n_words=n_columns, whole=self.whole, signed=self.signed, caller=caller
        )
        points = copy(read.counts)  # The structure is shared.
        points.data = points.data.astype(np.float64, copy=False)
        return PointSets(points.toarray() if self.signed else points, read.starts), read.n_words

    def points(self, points: Any, n_columns: int, caller: str) -> Points:
        """Return the rows of a matrix that a user passed as points of the measure."""
        if not isinstance(points, list | tuple) and len(getattr(points, "shape", ())) != 2:
            raise ValueError(
                f"points, passed to {caller}, must be a matrix of shape (n_points, {n_columns}); "
                f"got {type(points).__name__} of shape {getattr(points, 'shape', ())}. Put a "
                "single point into a list"
            )
        sets, _ = self.read([points], None, n_columns, caller)
        return sets.points

    def write(self, sets: PointSets, n_columns: int) -> Any:
        """Return an array of matrices, one for each set."""
        out = np.empty(len(sets), dtype=object)
        for i in range(len(sets)):
            out[i] = sets[i]
        return out


@dataclass(frozen=True)
class Baskets:
    """A matrix with a row for each set and a column for each item, above 0 in the set."""

    one_matrix: ClassVar[bool] = True
    signed: ClassVar[bool] = False

    def read(
        self, X: Any, groups: Any, n_columns: int | None, caller: str
    ) -> tuple[PointSets, int]:
        """Return the sets that a user passed, and the number of columns of X."""
        if groups is not None:
            raise ValueError(
                f"groups, passed to {caller}, is for sets whose points are rows, but each row of "
                "X is a set of items; leave groups out"
            )
        if holds_text(X):
            raise TypeError(
                f"X, passed to {caller}, must have a row for each set and a column for each item, "
                "but holds text; use sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True)"
            )
        X = _checked(to_csr(X, caller, "X"), n_columns, caller)
        return PointSets(X.indices.astype(np.intp), X.indptr), X.shape[1]

    def points(self, points: Any, n_columns: int, caller: str) -> Places:
        """Return the column numbers of items that a user passed."""
        try:
            places = np.asarray(points)
        except ValueError:  # They are ragged.
            places = np.empty(len(points), dtype=object)
        if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
            raise ValueError(
                f"points, passed to {caller}, must be the column numbers of items, 1-D integers; "
                f"got {type(points).__name__} of shape {places.shape} and dtype {places.dtype}"
            )
        if places.size and not (places.min() >= 0 and places.max() < n_columns):
            raise ValueError(
                f"points, passed to {caller}, must be columns from 0 to {n_columns - 1}; got "
                f"{places.min()} to {places.max()}"
            )
        return places.astype(np.intp)

    def write(self, sets: PointSets, n_columns: int) -> sparse.csr_matrix:
        """Return a CSR matrix with the number of times that each set has each item."""
        ones = np.ones(len(sets.points))
        X = sparse.csr_matrix((ones, sets.points, sets.indptr), shape=(len(sets), n_columns))
        X.sum_duplicates()
        return X


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


SENTENCES, COUNTS = Rows(), Rows(whole=True)
VECTORS, ITEMS = Rows(signed=True), Baskets()
