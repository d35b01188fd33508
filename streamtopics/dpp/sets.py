# SPDX-License-Identifier: BSD-3-Clause
"""Sets of points, and the blocks of equal size that batched linear algebra works on."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.measures.base import Points
from streamtopics.kernels import dpp as kernels
from streamtopics.parallel import MOST_PARTS

MOST_ENTRIES, LEAST_SIDE = 2**16, 16


@dataclass(frozen=True, eq=False)
class PointSets:
    """Sets of points, one after another, such as the sentences of documents.

    Parameters
    ----------
    points : points of the measure
        Those of set i are points[indptr[i]:indptr[i + 1]]. Sets may be empty.
    indptr : array-like of shape (n_sets + 1,), int

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.sets import PointSets
    >>> baskets = PointSets(np.array([4, 1, 7]), [0, 2, 2, 3])
    >>> len(baskets), baskets[0], baskets.sizes
    (3, array([4, 1]), array([2, 0, 1]))
    """

    points: Points
    indptr: np.ndarray

    def __post_init__(self):
        indptr = np.asarray(self.indptr)
        n_points = self.points.shape[0]
        fits = indptr.ndim == 1 and indptr.size and indptr[0] == 0 and indptr[-1] == n_points
        if not fits or (np.diff(indptr) < 0).any():
            raise ValueError(
                f"indptr must start with 0, not decrease and end with the {n_points} points; got "
                f"{self.indptr!r}"
            )
        object.__setattr__(self, "indptr", indptr.astype(np.intp))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, i: int) -> Points:
        """The points of set i."""
        return self.points[self.indptr[i] : self.indptr[i + 1]]

    def cut(self, start: int, stop: int) -> "PointSets":
        """Sets `start` to `stop` - 1."""
        indptr = self.indptr[start : stop + 1]
        return PointSets(self.points[indptr[0] : indptr[-1]], indptr - indptr[0])

    @property
    def sizes(self) -> np.ndarray:
        """The number of points of each set."""
        return np.diff(self.indptr)


@dataclass(frozen=True, eq=False)
class Block:
    """Some sets, m of them, all of n points.

    Without padding nothing that is found for a set depends on the sets beside it: each
    has the bits that it has alone.

    Attributes
    ----------
    places : ndarray of shape (m,), int
        Which sets these are.
    points : slice
        Which rows of the part are their points, one set after another.
    gram : ndarray of shape (m, n, n)
        Phi_X Phi_X' of each set.
    log_p : ndarray of shape (m, n)
        In nats.
    """

    places: np.ndarray
    points: slice
    gram: np.ndarray
    log_p: np.ndarray

    def of(self, rows: np.ndarray) -> np.ndarray:
        """The rows of the sets, of shape (m, n, k), among all of the part, (n_points, k)."""
        return rows[self.points].reshape(*self.log_p.shape, rows.shape[1])


@dataclass(frozen=True, eq=False)
class Part:
    """What one job works on: sets of similar size.

    Attributes
    ----------
    Phi : CSR matrix or ndarray of shape (n_points, V)
        Features of all points.
    blocks : tuple of Block
    """

    Phi: Points
    blocks: tuple[Block, ...]

    @property
    def places(self) -> np.ndarray:
        """Which sets these are, block by block."""
        return np.concatenate([block.places for block in self.blocks])

    def embed(self, U: np.ndarray) -> np.ndarray:
        """Z = Phi U, of shape (n_points, r), of which no row depends on the others."""
        if sparse.issparse(self.Phi):
            return self.Phi @ U
        return (self.Phi[:, None, :] @ U)[:, 0]


@dataclass(frozen=True, eq=False)
class Blocks:
    """All sets of a data set, in parts and blocks.

    Attributes
    ----------
    n_sets : int
    parts : tuple of Part
    """

    n_sets: int
    parts: tuple[Part, ...]

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    @property
    def mean_size(self) -> float:
        """Mean number of points of a set."""
        return sum(part.Phi.shape[0] for part in self) / max(self.n_sets, 1)


def blocks(measure: BaseMeasure, sets: PointSets) -> Blocks:
    """Sets with their features and Gram matrices, the smallest first.

    The memory is that of the features and of the squares of the sizes, 8 bytes each. What
    works on them needs about four times the square of the largest size beside it.

    Parameters
    ----------
    measure : BaseMeasure
    sets : PointSets

    Returns
    -------
    blocks : Blocks

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.measures import Items
    >>> from streamtopics.dpp.sets import PointSets, blocks
    >>> data = blocks(Items.of(9), PointSets(np.array([4, 1, 7]), [0, 2, 2, 3]))
    >>> [part] = data
    >>> [(block.places.tolist(), block.gram.shape) for block in part.blocks]
    [([1], (1, 0, 0)), ([2], (1, 1, 1)), ([0], (1, 2, 2))]
    """
    order, points = _by_size(sets)
    Phi, log_p = measure.features(points), measure.log_p(points)
    sizes = sets.sizes[order]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    parts = []
    for cut in _parts(sizes):
        some = slice(ends[cut.start], ends[cut.stop])
        rows = Phi[some]
        parts.append(Part(rows, tuple(_blocks(order[cut], sizes[cut], rows, log_p[some]))))
    return Blocks(len(sets), tuple(parts))


def stack(parts: list[Points]) -> Points:
    """Points one after another."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def _by_size(sets: PointSets) -> tuple[np.ndarray, Points]:
    """The order of the sets by size, and their points in that order."""
    sizes = sets.sizes
    if (sizes[1:] >= sizes[:-1]).all():
        return np.arange(len(sizes)), sets.points
    order = np.argsort(sizes, kind="stable")
    sizes = sizes[order]
    starts = np.repeat(sets.indptr[order] - np.cumsum(sizes) + sizes, sizes)
    return order, sets.points[starts + np.arange(len(starts))]


def _parts(sizes: np.ndarray) -> Iterator[slice]:
    """Cut sets of increasing size into about 32 parts of equal work, or fewer large enough.

    Small sets count as if they were larger: each also has matrices of r^2 entries.
    """
    work = np.cumsum(np.maximum(sizes, LEAST_SIDE) ** 2)
    least = max(MOST_ENTRIES, work[-1:].sum() / MOST_PARTS)
    ends = np.flatnonzero(np.diff(work // least, append=-1)) + 1
    start = 0
    for end in ends[: len(sizes)]:
        yield slice(start, end)
        start = end


def _blocks(
    places: np.ndarray, sizes: np.ndarray, Phi: Points, log_p: np.ndarray
) -> Iterator[Block]:
    """Blocks of sets of increasing size, none with more entries than fit a cache."""
    first = 0
    for n, start, count in zip(
        *np.unique(sizes, return_index=True, return_counts=True), strict=True
    ):
        step = max(1, MOST_ENTRIES // max(n, LEAST_SIDE) ** 2)
        for some in np.split(places[start : start + count], range(step, count, step)):
            points = slice(first, first + len(some) * n)
            shape = (len(some), int(n))
            yield Block(some, points, _grams(Phi, points, *shape), log_p[points].reshape(shape))
            first = points.stop


def _grams(Phi: Points, points: slice, m: int, n: int) -> np.ndarray:
    """Phi_X Phi_X' of m sets of n points."""
    if not sparse.issparse(Phi):
        rows = Phi[points].reshape(m, n, Phi.shape[1])
        return rows @ rows.transpose(0, 2, 1)
    grams = np.empty((m, n, n))
    indptr = Phi.indptr[points.start : points.stop + 1]
    kernels.grams(indptr, Phi.indices, Phi.data, Phi.shape[1], grams)
    return grams
