# SPDX-License-Identifier: BSD-3-Clause
"""What a base measure is: the only things that the model needs of a ground set.

A ground set carries a measure p and features phi(x), a vector of V numbers, with

    Sigma = sum_x p(x) phi(x) phi(x)' = Diag(v) + w0 w0',

w0 of few columns. Dupuy (2017, section 4.2.2) asks for no more than Sigma; exact
sampling also asks for draws from the law p(x) (h'phi(x))^2 / h'Sigma h, tilted by h.
"""

from typing import Protocol

import numpy as np
from scipy import sparse

Points = np.ndarray | sparse.csr_matrix


class BaseMeasure(Protocol):
    """A ground set with its measure and features. Points are rows of an array or CSR matrix.

    Attributes
    ----------
    v : ndarray of shape (V,)
    w0 : ndarray of shape (V, q)
        Sigma = Diag(v) + w0 w0'.
    mass : float
        The sum of p over the ground set: 1 for a probability measure.
    n_items : float
        Size of the ground set; may be inf.
    """

    @property
    def v(self) -> np.ndarray: ...

    @property
    def w0(self) -> np.ndarray: ...

    @property
    def mass(self) -> float: ...

    @property
    def n_items(self) -> float: ...

    def features(self, points: Points) -> Points:
        """phi of each point, of shape (n_points, V)."""

    def log_p(self, points: Points) -> np.ndarray:
        """log p of each point, of shape (n_points,), in nats."""

    def sample(self, n: int, rng: np.random.Generator) -> Points:
        """Independent draws of n points from p / mass."""

    def sample_tilted(self, H: np.ndarray, rng: np.random.Generator) -> Points:
        """For each row h of H, one draw from p(x) (h'phi(x))^2 / h'Sigma h."""


class WordMeasure(BaseMeasure, Protocol):
    """A measure over sentences, whose feature w is 0 where word w is absent."""

    def absence(self) -> tuple[np.ndarray, np.ndarray]:
        """Factors a, c of shape (V,): without word w, Sigma is a_w Diag(v) + c_w w0 w0'.

        That is the sum of p phi phi' over the sentences without word w, of which row and
        column w are 0.
        """


def rank_of(test, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The smallest place in [low, high] at which a monotone test holds, by bisection.

    `test` takes an integer array like `low` and is never asked about `high`, at which
    it is taken to hold.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.measures.base import rank_of
    >>> rank_of(lambda place: place >= 3, np.array([0, 4, 0]), np.array([9, 9, 2]))
    array([3, 4, 2])
    """
    low, high = low.copy(), high.copy()
    while (open_ := low < high).any():
        middle = np.where(open_, (low + high) // 2, low)
        holds = test(np.minimum(middle, high - 1))
        high = np.where(open_ & holds, middle, high)
        low = np.where(open_ & ~holds, middle + 1, low)
    return low


def as_rows(points: Points) -> sparse.csr_matrix:
    """Points as a CSR matrix of float64, sentences as rows; never changed in place.

    Entries that a CSR matrix has twice are added up, as scipy does.
    """
    if not (isinstance(points, sparse.csr_matrix) and points.dtype == np.float64):
        points = sparse.csr_matrix(points, dtype=np.float64)
    if not points.has_canonical_format:
        points = points.copy()
        points.sum_duplicates()
    return points


def rows_of_words(rows: np.ndarray, words: np.ndarray, shape: tuple[int, int]) -> sparse.csr_matrix:
    """Counts of words in sentences: an entry (rows[i], words[i]) counts 1."""
    return sparse.coo_matrix((np.ones(len(rows)), (rows, words)), shape=shape).tocsr()


def check_rates(values: np.ndarray, name: str, most: float) -> np.ndarray:
    """A vector of float64 in (0, most), with no entry at the ends."""
    values = np.array(values, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} must have shape (n_features,); got {values.shape}")
    if not ((values > 0) & (values < most)).all():
        raise ValueError(
            f"{name} must lie strictly between 0 and {most:g}; it goes from {values.min():g} to "
            f"{values.max():g}. Smooth or clip it, or leave out words that never or always occur"
        )
    return values
