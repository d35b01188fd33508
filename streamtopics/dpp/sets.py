# SPDX-License-Identifier: BSD-3-Clause
"""Sets of points, and the padded blocks of them that batched linear algebra works on."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.measures.base import Points

MOST_ENTRIES, LEAST_SIDE = 2**17, 16


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
    """Some sets of about the same size n, padded to it.

    Attributes
    ----------
    places : ndarray of shape (m,), int
        Which sets these are.
    inside : ndarray of shape (m, n), bool
        Where there is a point; each set's points come first.
    Phi : CSR matrix or ndarray of shape (n_points, V)
        Features of the points, one set after another.
    gram : ndarray of shape (m, n, n)
        Phi_X Phi_X' of each set, 0 beyond.
    log_p : ndarray of shape (m, n)
        In nats; 0 beyond.
    """

    places: np.ndarray
    inside: np.ndarray
    Phi: Points
    gram: np.ndarray
    log_p: np.ndarray

    def pad(self, rows: np.ndarray) -> np.ndarray:
        """Rows of the points, of shape (n_points, k), as (m, n, k), 0 beyond."""
        padded = np.zeros((*self.inside.shape, rows.shape[1]))
        padded[self.inside] = rows
        return padded


@dataclass(frozen=True, eq=False)
class Blocks:
    """All sets of a data set, in blocks.

    Attributes
    ----------
    n_sets : int
    blocks : tuple of Block
    """

    n_sets: int
    blocks: tuple[Block, ...]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    @property
    def mean_size(self) -> float:
        """Mean number of points of a set."""
        return sum(int(block.inside.sum()) for block in self) / max(self.n_sets, 1)


def blocks(measure: BaseMeasure, sets: PointSets) -> Blocks:
    """Sets with their features and Gram matrices, the smallest first.

    The memory is that of the features and of the squares of the sizes, 8 bytes each.

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
    >>> [block] = data
    >>> block.places, block.gram.shape
    (array([1, 2, 0]), (3, 2, 2))
    """
    order = np.argsort(sets.sizes, kind="stable")
    return Blocks(
        len(sets), tuple(_block(measure, sets, order[cut]) for cut in _cuts(sets.sizes[order]))
    )


def stack(parts: list[Points]) -> Points:
    """Points one after another."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def _cuts(sizes: np.ndarray) -> Iterator[slice]:
    """Cut sets of increasing size where padded Gram matrices would hold too many entries.

    Small sets count as if they were larger: other arrays of a block have r^2 entries a set.
    """
    start = 0
    for stop in range(1, len(sizes) + 1):
        n = max(sizes[stop], LEAST_SIDE) if stop < len(sizes) else np.inf
        if (stop + 1 - start) * n**2 > MOST_ENTRIES:
            yield slice(start, stop)
            start = stop


def _block(measure: BaseMeasure, sets: PointSets, places: np.ndarray) -> Block:
    sizes = sets.sizes[places]
    starts = np.repeat(sets.indptr[places] - np.cumsum(sizes) + sizes, sizes)
    points = sets.points[starts + np.arange(sizes.sum())]
    Phi = measure.features(points)
    inside = np.arange(max(int(sizes.max(initial=0)), 1)) < sizes[:, None]
    log_p = np.zeros(inside.shape)
    log_p[inside] = measure.log_p(points)
    return Block(places, inside, Phi, _grams(Phi, inside), log_p)


def _grams(Phi: Points, inside: np.ndarray) -> np.ndarray:
    """Phi_X Phi_X' of each set, a few sets at a time, over the features that they have."""
    m, n = inside.shape
    grams = np.zeros((m, n, n))
    ends = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    step = max(1, MOST_ENTRIES // n // 64)
    for start in range(0, m, step):
        some = slice(start, start + step)
        rows = Phi[ends[start] : ends[min(start + step, m)]]
        if sparse.issparse(rows):
            used, columns = np.unique(rows.indices, return_inverse=True)
            shape = (rows.shape[0], max(len(used), 1))
            rows = sparse.csr_matrix((rows.data, columns, rows.indptr), shape=shape).toarray()
        padded = np.zeros((*inside[some].shape, rows.shape[1]))
        padded[inside[some]] = rows
        grams[some] = padded @ padded.transpose(0, 2, 1)
    return grams
