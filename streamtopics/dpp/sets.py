# SPDX-License-Identifier: BSD-3-Clause
"""Sets of points, and the forms of X; each base measure names one form.

SENTENCES  word counts, any non-negative numbers
COUNTS     word counts, whole numbers only
VECTORS    any finite numbers
ITEMS      a row for each set, with a column for each item
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_array

from streamtopics.base.sentences import read_sentences
from streamtopics.dpp.arrays import Places, Points
from streamtopics.utils.structure import check_structure, is_sparse, to_csr


@dataclass(frozen=True, eq=False)
class PointSets:
    """A sequence of sets of points, for example documents as sets of sentences.

    Parameters
    ----------
    points : array or sparse matrix
        The points of all sets, set after set.
    indptr : array-like of shape (n_sets + 1,), int
        Set i has the points ``points[indptr[i]:indptr[i + 1]]``; a set may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import PointSets
    >>> baskets = PointSets(np.array([4, 1, 7]), [0, 2, 2, 3])
    >>> baskets[0], baskets.sizes
    (array([4, 1]), array([2, 0, 1]))
    """

    points: Points
    indptr: Places

    def __init__(self, points: Points, indptr: ArrayLike) -> None:
        # Sums along rows round by the order in memory.
        check_structure(points, "PointSets", "points")
        points = points.tocsr() if is_sparse(points) else np.ascontiguousarray(points)
        indptr = np.asarray(indptr)
        whole = indptr.astype(np.intp, casting="same_kind")
        # Not by differences: unsigned numbers have none below 0.
        is_sorted = (indptr[1:] >= indptr[:-1]).all()
        if indptr[0] != 0 or indptr[-1] != points.shape[0] or not is_sorted:
            raise ValueError(
                f"indptr must start with 0, not decrease and end with the {points.shape[0]} "
                f"points; got {indptr!r}"
            )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "indptr", whole)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, i: int) -> Points:
        return self.points[self.indptr[i] : self.indptr[i + 1]]

    def cut(self, size: int) -> Iterator[Self]:
        """Yield the sets in order, as `PointSets` of `size` sets each; the last may have fewer."""
        for start in range(0, len(self), size):
            indptr = self.indptr[start : start + size + 1]
            yield type(self)(self.points[indptr[0] : indptr[-1]], indptr - indptr[0])

    @property
    def n_documents(self) -> int:
        return len(self)

    @property
    def n_tokens(self) -> float:
        return float(self.indptr[-1])

    @property
    def sizes(self) -> Places:
        """Number of points of each set, of shape (n_sets,)."""
        return np.diff(self.indptr)


def stack(parts: list[Points]) -> Points:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


@dataclass(frozen=True)
class Rows:
    """Points as rows: a matrix for each set, or one matrix with groups.

    `whole` refuses fractions; `signed` allows negative numbers, in dense arrays.
    """

    whole: bool = False
    signed: bool = False
    one_matrix: ClassVar[bool] = False

    def read(
        self, X: Any, groups: Any, n_columns: int | None, caller: str
    ) -> tuple[PointSets, int]:
        """Return a user's sets, and the number of columns of X."""
        read = read_sentences(
            X, groups, n_words=n_columns, whole=self.whole, signed=self.signed, caller=caller
        )
        points = copy(read.counts)  # The structure is shared.
        points.data = points.data.astype(np.float64, copy=False)
        return PointSets(points.toarray() if self.signed else points, read.starts), read.n_words

    def points(self, points: Any, n_columns: int, caller: str) -> Points:
        sets, _ = self.read([points], None, n_columns, caller)
        return sets.points

    def write(self, sets: PointSets, n_columns: int) -> Any:
        out = np.empty(len(sets), dtype=object)
        for i in range(len(sets)):
            out[i] = sets[i]
        return out


@dataclass(frozen=True)
class ItemColumns:
    """One matrix with a row for each set and a column for each item, above 0 in the set."""

    one_matrix: ClassVar[bool] = True
    signed: ClassVar[bool] = False

    def read(
        self, X: Any, groups: Any, n_columns: int | None, caller: str
    ) -> tuple[PointSets, int]:
        if groups is not None:
            raise ValueError(
                f"groups, passed to {caller}, is for points in rows, but each row of X is a set "
                "of items; leave groups out"
            )
        name = caller.partition(".")[0]
        X = check_array(
            to_csr(X, caller, "X"), accept_sparse="csr", accept_large_sparse=False, copy=True,
            ensure_non_negative=True, ensure_min_samples=0, estimator=name, input_name="X",
        )  # fmt: skip
        if n_columns not in (None, X.shape[1]):
            raise ValueError(
                f"X has {X.shape[1]} features, but {name} is expecting {n_columns} features as "
                "input"
            )
        X.sum_duplicates()
        X.eliminate_zeros()
        return PointSets(X.indices.astype(np.intp), X.indptr), X.shape[1]

    def points(self, points: Any, n_columns: int, caller: str) -> Places:
        """Return column numbers of items, checked by `Items.features`."""
        return np.asarray(points, dtype=None if len(points) else np.intp)

    def write(self, sets: PointSets, n_columns: int) -> sparse.csr_matrix:
        ones = np.ones(len(sets.points))
        X = sparse.csr_matrix((ones, sets.points, sets.indptr), shape=(len(sets), n_columns))
        X.sum_duplicates()
        return X


Form: TypeAlias = Rows | ItemColumns
SENTENCES, COUNTS = Rows(), Rows(whole=True)
VECTORS, ITEMS = Rows(signed=True), ItemColumns()
