# SPDX-License-Identifier: BSD-3-Clause
"""Sentences as sets of independent words, {0, 1}^V (Dupuy 2017, section 4.3.3).

p(x) = prod_i pi_i^x_i (1 - pi_i)^(1 - x_i),    Sigma = Diag(pi (1 - pi)) + pi pi'
"""

from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.dpp.arrays import Floats, Places, Points
from streamtopics.dpp.measures.base import BaseMeasure, as_rows, check_rates, rank_of, rows_of_words
from streamtopics.dpp.sets import SENTENCES

MOST_LISTED = 16
MOST_NUMBERS = 2**21
LEAST_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class Bernoulli(BaseMeasure):
    """Measure on sentences as sets of words: each word is in a sentence independently.

    A point x is a row of V numbers, 0 if the sentence lacks the word. phi(x) is 0 where x is 0,
    and 1 elsewhere.

    Parameters
    ----------
    pi : array-like of shape (V,)
        Probability of each word to be in a sentence, strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Bernoulli
    >>> np.exp(Bernoulli([0.5, 0.1]).log_p([[1, 0], [3, 1]])).round(3)
    array([0.45, 0.05])
    """

    _holds = "pi: V >=0 <=1"
    pi: Floats
    form = SENTENCES

    def __init__(self, pi: ArrayLike) -> None:
        object.__setattr__(self, "pi", check_rates(pi, "pi", 1.0))

    @classmethod
    def from_sentences(cls, counts: Points) -> Self:
        """Learn the probability ``(n + 1/2) / (N + 1)`` for a word in n of N sentences."""
        counts = as_rows(counts)
        present = np.bincount(counts.indices[counts.data != 0], minlength=counts.shape[1])
        return cls.from_totals(present, counts.shape[0])

    @classmethod
    def from_totals(cls, present: Floats | Places, n_sentences: int) -> Self:
        """Learn from the number of sentences with each word."""
        return cls(np.clip((present + 0.5) / (n_sentences + 1), LEAST_SHARE, 1 - LEAST_SHARE))

    @property
    def v(self) -> Floats:
        return self.pi * (1 - self.pi)

    @property
    def w0(self) -> Floats:
        return self.pi[:, None]

    @property
    def n_items(self) -> float:
        V = len(self.pi)
        return 2.0**V if V < 1024 else np.inf

    @property
    def can_list(self) -> bool:
        return len(self.pi) <= MOST_LISTED

    def features(self, points: Points) -> sparse.csr_matrix:
        found = copy(as_rows(points))  # The structure is shared.
        found.data = (found.data != 0).astype(np.float64)
        return found

    def canonical(self, points: Points) -> sparse.csr_matrix:
        return self.features(points)

    def log_p(self, points: Points) -> Floats:
        log_q = np.log1p(-self.pi)
        return np.asarray(self.features(points) @ (np.log(self.pi) - log_q) + log_q.sum())

    def sample(self, n: int, rng: Generator) -> sparse.csr_matrix:
        V = len(self.pi)
        step, found = max(1, MOST_NUMBERS // V), [np.zeros((2, 0), dtype=np.intp)]
        for start in range(0, n, step):
            rows, words = np.nonzero(rng.random((min(step, n - start), V)) < self.pi)
            found.append(np.stack([start + rows, words]))
        return rows_of_words(found, (n, V))

    def sample_tilted(self, H: Floats, rng: Generator) -> sparse.csr_matrix:
        n, V = H.shape
        gaps = Gaps.of(self.pi, H)
        rows, start, a = np.arange(n), np.zeros(n, dtype=np.intp), np.zeros(n)
        found = [np.zeros((2, 0), dtype=np.intp)]
        while rows.size:
            after = gaps.draw(rows, start, a, rng)
            more = after <= V
            rows, start, word = rows[more], after[more], after[more] - 1
            a = a[more] + H[rows, word]
            found.append(np.stack([rows, word]))
        return rows_of_words(found, (n, V))

    def absence(self) -> tuple[Floats, Floats]:
        return 1 - self.pi, 1 - self.pi

    def ground_set(self) -> sparse.csr_matrix:
        V = len(self.pi)
        return sparse.csr_matrix((np.arange(2**V)[:, None] >> np.arange(V) & 1).astype(float))

    def places(self, points: Points) -> Places:
        result: Places = (self.features(points) @ np.exp2(np.arange(len(self.pi)))).astype(np.intp)
        return result


@dataclass(frozen=True, eq=False)
class Gaps:
    """The law of the next word of a sentence x from ``p(x) (h'x)^2``.

    No word stands from i to before j with probability

        Q_j / Q_i  [(a + m_j)^2 + c_j] / [(a + m_i)^2 + c_i],    Q_j = prod_{l<j} (1 - pi_l).

    a is the sum of ``h_l x_l`` before i; m_i and c_i are the sums of ``pi h`` and
    ``pi (1 - pi) h^2`` from i on. log_q is log Q.
    """

    log_q: Floats
    m: Floats
    c: Floats

    @classmethod
    def of(cls, pi: Floats, H: Floats) -> Self:
        log_q = np.concatenate([[0.0], np.cumsum(np.log1p(-pi))])
        return cls(log_q, _sums_from(pi * H), _sums_from(pi * (1 - pi) * H**2))

    def weight(self, rows: Places, start: Places, end: Places, a: Floats) -> Floats:
        """Return ``Q_end / Q_start [(a + m_end)^2 + c_end]`` for each row."""
        none = np.exp(self.log_q[end] - self.log_q[start])
        return none * ((a + self.m[rows, end]) ** 2 + self.c[rows, end])

    def draw(self, rows: Places, start: Places, a: Floats, rng: Generator) -> Places:
        """Draw the place after the next word; V + 1 if no word is left."""
        threshold = rng.random(rows.size) * self.weight(rows, start, start, a)
        most = np.full(rows.size, self.log_q.size)
        return rank_of(lambda end: self.weight(rows, start, end, a) <= threshold, start + 1, most)


def _sums_from(x: Floats) -> Floats:
    """Return the sums over j >= i, for i = 0..V, along the last axis."""
    sums = np.zeros((len(x), x.shape[1] + 1))
    np.cumsum(x[:, ::-1], axis=1, out=sums[:, -2::-1])
    return sums
