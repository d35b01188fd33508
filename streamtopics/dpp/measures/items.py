# SPDX-License-Identifier: BSD-3-Clause
"""Items of a list (Dupuy 2017, section 4.3.2)."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.dpp.arrays import Floats, Places
from streamtopics.dpp.measures.base import BaseMeasure, rank_of
from streamtopics.dpp.sets import ITEMS
from streamtopics.utils.checks import floats


@dataclass(frozen=True, eq=False)
class Items(BaseMeasure):
    """Measure on a list of V items. A point is the index of an item in the list.

    The feature vector phi(x), of shape (V,), has a 1 at the index of item x, else zeros.

    Parameters
    ----------
    p : array-like of shape (V,)
        Measure p(x) of each item: 1 in ``Items.of(V)``. An item of measure 0 is in no set.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Items
    >>> items = Items.of(3)
    >>> items.n_items, items.without(np.array([2])).n_items
    (3.0, 2.0)
    """

    _holds = "p: V >=0"
    p: Floats
    form = ITEMS
    can_list = True

    def __init__(self, p: ArrayLike) -> None:
        p = floats(p, "p")
        if p.ndim != 1 or not ((p >= 0) & (p < np.inf)).all():
            raise ValueError(
                f"p must be a finite weight of at least 0 for each item; got {p}. "
                "Items.of(n) gives n items the weight 1"
            )
        object.__setattr__(self, "p", p)

    @classmethod
    def of(cls, n_items: int) -> Self:
        """Return n items of weight 1."""
        return cls(np.ones(n_items))

    @property
    def v(self) -> Floats:
        return self.p

    @property
    def w0(self) -> Floats:
        return np.zeros((len(self.p), 0))

    @property
    def mass(self) -> float:
        return float(self.p.sum())

    @property
    def n_items(self) -> float:
        return float(np.count_nonzero(self.p))

    def _places(self, points: Places) -> Places:
        points = np.asarray(points)
        within = points.dtype.kind in "iu" and ((points >= 0) & (points < len(self.p))).all()
        if points.ndim != 1 or not within:
            raise ValueError(
                f"points must be places of items, integers from 0 to {len(self.p) - 1}; "
                f"got {points!r:.60}"
            )
        return points

    def features(self, points: Places) -> sparse.csr_matrix:
        points = self._places(points)
        structure = (np.ones(len(points)), points, np.arange(len(points) + 1))
        return sparse.csr_matrix(structure, shape=(len(points), len(self.p)))

    def log_p(self, points: Places) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.p[self._places(points)])

    def sample(self, n: int, rng: Generator) -> Places:
        return rng.choice(len(self.p), size=n, p=self.p / self.p.sum() if n else None)

    def sample_tilted(self, H: Floats, rng: Generator) -> Places:
        below = np.cumsum(self.p * H**2, axis=1)
        threshold = rng.random(len(H)) * below[:, -1]
        rows, last = np.arange(len(H)), np.full(len(H), len(self.p) - 1)
        return rank_of(lambda place: below[rows, place] > threshold, np.zeros_like(last), last)

    def absence(self) -> tuple[Floats, Floats]:
        return np.ones(len(self.p)), np.ones(len(self.p))

    def ground_set(self) -> Places:
        return np.flatnonzero(self.p)

    def places(self, points: Places) -> Places:
        return np.searchsorted(self.ground_set(), points)

    def without(self, points: Places) -> Self:
        items, times = np.unique(points, return_counts=True)
        if (times > 1).any():
            raise ValueError(f"item {items[times > 1][0]} is given more than once")
        p = self.p.copy()
        p[items] = 0.0
        return replace(self, p=p)
