# SPDX-License-Identifier: BSD-3-Clause
"""Sets of points."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.dpp.arrays import Places, Points
from streamtopics.utils.checks import check_not_masked
from streamtopics.utils.structure import is_sparse


@dataclass(frozen=True, eq=False)
class PointSets:
    """Sets of points, one after another, such as the sentences of documents.

    Parameters
    ----------
    points : points of the measure
        An array or a sparse matrix; those of set i are points[indptr[i]:indptr[i + 1]]. Sets may
        be empty.
    indptr : array-like of shape (n_sets + 1,), int

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import PointSets
    >>> baskets = PointSets(np.array([4, 1, 7]), [0, 2, 2, 3])
    >>> len(baskets), baskets[0], baskets.sizes
    (3, array([4, 1]), array([2, 0, 1]))
    """

    points: Points
    indptr: Places

    if TYPE_CHECKING:

        def __init__(self, points: Points, indptr: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        for name, values in (("points", self.points), ("indptr", self.indptr)):
            check_not_masked(values, "PointSets", name)
        if not getattr(self.points, "shape", ()):
            raise TypeError(
                "points must be an array or a sparse matrix, with an entry or a row for each "
                f"point; got {self.points!r:.60}. Pass np.array(points)"
            )
        points: Points = self.points
        if is_sparse(points) and points.format != "csr":
            # Of some formats no rows can be picked.
            object.__setattr__(self, "points", points.tocsr())
        indptr = np.asarray(self.indptr)
        n_points = self.points.shape[0]
        fits = indptr.ndim == 1 and indptr.size and indptr.dtype.kind in "iu"
        fits = fits and indptr[0] == 0 and indptr[-1] == n_points
        # Not the differences, which unsigned numbers have none of below 0.
        if not fits or (indptr[1:] < indptr[:-1]).any():
            raise ValueError(
                f"indptr must start with 0, not decrease and end with the {n_points} points; got "
                f"{self.indptr!r}"
            )
        object.__setattr__(self, "indptr", indptr.astype(np.intp))
        if isinstance(self.points, np.ndarray):
            # Sums along rows round in the order in which these lie in memory.
            object.__setattr__(self, "points", np.ascontiguousarray(self.points))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, i: int) -> Points:
        """Return the points of set i."""
        return self.points[self.indptr[i] : self.indptr[i + 1]]

    def cut(self, size: int) -> Iterator[Self]:
        """Yield `size` sets after another, in order."""
        for start in range(0, len(self), size):
            indptr = self.indptr[start : start + size + 1]
            yield type(self)(self.points[indptr[0] : indptr[-1]], indptr - indptr[0])

    @property
    def n_documents(self) -> int:
        """The number of sets, each that of a document."""
        return len(self)

    @property
    def n_tokens(self) -> float:
        """The number of points of all sets."""
        return float(self.indptr[-1])

    @property
    def sizes(self) -> Places:
        """The number of points of each set."""
        return np.diff(self.indptr)


def stack(parts: list[Points]) -> Points:
    """Concatenate points."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
