# SPDX-License-Identifier: BSD-3-Clause
"""The base class of ground sets.

Source: Dupuy (2017), section 4.2.2.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NoReturn, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.dpp.arrays import Floats, Places, Points
from streamtopics.dpp.sets import Form
from streamtopics.utils.checks import floats
from streamtopics.utils.structure import for_scipy, in_order


class BaseMeasure(ABC):
    """Base class of ground sets: all points that a set of a `LowRankDPP` may contain.

    Each point x, for example a sentence, has a measure p(x) and V features phi(x). Points are
    passed as rows of an array or CSR matrix. The defaults of the methods are for an infinite ground
    set, p with the sum 1, and features other than words.
    """

    @property
    @abstractmethod
    def form(self) -> Form:
        """Format of X in `LowRankDPP.fit`: SENTENCES, COUNTS, VECTORS or ITEMS of `dpp.sets`.

        A row of SENTENCES, COUNTS or VECTORS is a point: word counts, integer word counts, or any
        numbers. A row of ITEMS is a set.
        """

    @property
    @abstractmethod
    def v(self) -> Floats:
        """Vector v, of shape (V,), in ``Sigma = sum_x p(x) phi(x) phi(x)' = Diag(v) + w0 w0'``."""

    @property
    @abstractmethod
    def w0(self) -> Floats:
        """Matrix w0, of shape (V, q), in ``Sigma = Diag(v) + w0 w0'`` (see `v`); q may be 0."""

    @abstractmethod
    def features(self, points: Points) -> Points:
        """Return the features phi(x) of each point x as a row, of shape (n_points, V)."""

    @abstractmethod
    def log_p(self, points: Points) -> Floats:
        """Return log p(x) of each point x, in nats, of shape (n_points,)."""

    @abstractmethod
    def sample(self, n: int, rng: Generator) -> Points:
        """Draw n independent points x, each with probability p(x) / mass."""

    @abstractmethod
    def sample_tilted(self, H: Floats, rng: Generator) -> Points:
        """Draw a point x with weight ``p(x) (h'phi(x))^2`` for each row h of `H`, (n, V)."""

    def canonical(self, points: Points) -> Points:
        """Return the points in a standard form; in `Bernoulli`, for example, counts become 0 or 1.

        Rows that stand for the same point of the ground set become equal.
        """
        return points

    @property
    def mass(self) -> float:
        """Sum of p(x) over the ground set; 1 for a probability."""
        return 1.0

    @property
    def n_items(self) -> float:
        """Number of points in the ground set, or infinity."""
        return np.inf

    @property
    def can_list(self) -> bool:
        """Whether `ground_set` can return all points. `Counting` noise needs all points."""
        return False

    def ground_set(self) -> Points:
        """Return all points of the ground set. Raise an error unless `can_list`."""
        return self._unsupported("ground_set")

    def places(self, points: Points) -> Places:
        """Return the index of each point in `ground_set()`. Raise an error unless `can_list`."""
        return self._unsupported("places")

    def without(self, points: Points) -> Self:
        """Return the measure on all points except `points`. `Counting` noise needs the measure."""
        return self._unsupported("without, which conditioning takes with Counting noise")

    def absence(self) -> tuple[Floats, Floats]:
        """Return arrays a and c, of shape (V,), for the sum over points without a word or item j.

        The sum of ``p(x) phi(x) phi(x)'`` over all x with ``phi_j(x) = 0`` is ``a_j Diag(v) + c_j
        w0 w0'`` (see `v`), row j and column j set to 0. `LowRankDPP.top_words` needs a and c.
        """
        return self._unsupported("absence: its features are no words")

    def _unsupported(self, method: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no {method}")


def rank_of(test: Callable[[Places], np.ndarray], low: Places, high: Places) -> Places:
    """Return the smallest place in [low, high] where a monotone test holds, by bisection.

    The test must hold at `high`.
    """
    low, high = low.copy(), high.copy()
    while (open_ := low < high).any():
        middle = np.where(open_, (low + high) // 2, low)
        holds = test(np.minimum(middle, high - 1))
        high = np.where(open_ & holds, middle, high)
        low = np.where(open_ & ~holds, middle + 1, low)
    return low


def as_rows(points: Points) -> sparse.csr_matrix:
    """Return points as a CSR matrix of float64 without duplicates."""
    fits = isinstance(points, sparse.csr_matrix) and points.dtype == np.float64
    return in_order(points if fits else sparse.csr_matrix(for_scipy(points), dtype=np.float64))


def rows_of_words(found: Sequence[Places], shape: tuple[int, int]) -> sparse.csr_matrix:
    """Return a CSR matrix of word counts from pairs (2, n) of sentence and word."""
    rows, words = np.concatenate(found, axis=1)
    return sparse.coo_matrix((np.ones(len(rows)), (rows, words)), shape=shape).tocsr()


def check_rates(values: ArrayLike, name: str, most: float) -> Floats:
    """Return a vector of float64, refused unless strictly between 0 and `most`."""
    found = floats(values, name)
    if found.ndim != 1 or not ((found > 0) & (found < most)).all():
        raise ValueError(
            f"{name} must be a vector of numbers strictly between 0 and {most:g}; got {values!r}"
        )
    return found
