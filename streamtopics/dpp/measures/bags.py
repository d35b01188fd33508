# SPDX-License-Identifier: BSD-3-Clause
"""Sentences as bags of words: a length n, then n words from pi.

    n ~ P,   x | n ~ Multinomial(n, pi),   phi(x) = g(n) x
    v = pi E[n g^2],   w0 = pi E[n (n - 1) g^2]^{1/2}

`LengthMultinomial` has ``g(n) = 1 / n`` and any P. `Poisson` has g = 1 (Dupuy 2017, section 4.3.3).
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import gammaln
from scipy.stats import geom

from streamtopics.dpp.arrays import Floats, Places, Points
from streamtopics.dpp.measures.base import BaseMeasure, as_rows, check_rates, rank_of, rows_of_words
from streamtopics.dpp.sets import COUNTS
from streamtopics.utils.checks import floats

# Sentences drawn word by word.
MOST_WORDS = 1_000_000


@dataclass(frozen=True, eq=False)
class Poisson(BaseMeasure):
    """Measure on sentences as independent Poisson counts of V words; ``phi(x) = x``.

    Parameters
    ----------
    lam : array-like of shape (V,)
        Expected count of each word in a sentence; positive.

    Examples
    --------
    >>> from streamtopics.dpp import Poisson
    >>> Poisson([0.5, 2.0]).log_p([[0, 2]]).round(4)  # log(e^-2.5 2^2 / 2!)
    array([-1.8069])
    """

    _holds = "lam: V >=0"
    lam: Floats
    form = COUNTS

    def __init__(self, lam: ArrayLike) -> None:
        object.__setattr__(self, "lam", check_rates(lam, "lam", np.inf))

    @classmethod
    def from_totals(cls, counts: Floats, n_sentences: int) -> Self:
        """Learn rates from word counts, plus half a word."""
        return cls((counts + 0.5) / max(n_sentences, 1))

    @property
    def v(self) -> Floats:
        return self.lam

    @property
    def w0(self) -> Floats:
        return self.lam[:, None]

    def features(self, points: Points) -> sparse.csr_matrix:
        return as_rows(points)

    def log_p(self, points: Points) -> Floats:
        rows = as_rows(points)
        return np.asarray(rows @ np.log(self.lam) - self.lam.sum() - _log_repeats(rows))

    def sample(self, n: int, rng: Generator) -> sparse.csr_matrix:
        total = self.lam.sum()
        return _words(rng.poisson(total, size=n), self.lam / total, rng)

    def sample_tilted(self, H: Floats, rng: Generator) -> sparse.csr_matrix:
        """Draw a length, then words. m and c are the results of `_moments`.

        The length is 1 + n or 2 + n, where n is Poisson with the mean ``sum(lam)``. The weights of
        the two cases are ``c + m^2`` and ``m^2 sum(lam)``.
        """
        total = self.lam.sum()
        pi = self.lam / total
        m, c = _moments(pi, H)
        one, two = c + m**2, total * m**2
        if total > MOST_WORDS:
            raise ValueError(f"lam has {total:,.0f} words a sentence, too many to draw")
        extra = 1 + (rng.random(len(H)) * (one + two) < two)
        return _tilted_words(extra + rng.poisson(total, size=len(H)), pi, H, rng)

    def absence(self) -> tuple[Floats, Floats]:
        return np.exp(-self.lam), np.exp(-self.lam)


@dataclass(frozen=True, eq=False)
class LengthMultinomial(BaseMeasure):
    """Measure on sentences: a length from any distribution, then independent words.

    A point x is a row of counts of V words; ``phi(x) = x / length``.

    Parameters
    ----------
    lengths : array-like of shape (n_max + 1,)
        Probabilities of the lengths 0 to n_max, in words.
    pi : array-like of shape (V,)
        Probability of each word, positive, with sum 1.

    Examples
    --------
    >>> from streamtopics.dpp import LengthMultinomial
    >>> LengthMultinomial([0.0, 0.5, 0.5], [0.25, 0.75]).features([[1, 1]]).toarray()
    array([[0.5, 0.5]])
    """

    _holds = "lengths: L >=0; pi: V >=0"
    lengths: Floats
    pi: Floats
    form = COUNTS

    def __init__(self, lengths: ArrayLike, pi: ArrayLike) -> None:
        pi, lengths = floats(pi, "pi"), floats(lengths, "lengths")
        for name, x, least in (("pi", pi, 1e-300), ("lengths", lengths, 0.0)):
            if x.ndim != 1 or not (x >= least).all() or abs(x.sum() - 1) > 1e-6:
                raise ValueError(
                    f"{name} must be probabilities with the sum 1"
                    f"{', none of them 0' if least else ''}; got {x}. Divide counts by their sum"
                )
        object.__setattr__(self, "pi", pi / pi.sum())
        object.__setattr__(self, "lengths", lengths / lengths.sum())

    @classmethod
    def from_totals(cls, counts: Floats, lengths: Floats | Places) -> Self:
        """Learn from word counts, plus half a word, and numbers of sentences by length.

        A geometric law with the weight of one sentence allows unseen lengths.
        """
        n_sentences = lengths.sum()
        mean = max(lengths @ np.arange(len(lengths)) / n_sentences, 0.5) if n_sentences else 1.0
        law = geom(1 / (1 + mean), loc=-1)
        size = int(max(law.isf(1e-9) + 1, len(lengths)))
        seen = law.pmf(np.arange(size))
        seen[: len(lengths)] += lengths
        total = counts + 0.5
        return cls(seen / seen.sum(), total / total.sum())

    @property
    def _g2(self) -> Floats:
        """``P(n) / n^2`` for each length n."""
        n = np.maximum(np.arange(len(self.lengths)), 1)
        return np.asarray(self.lengths / n**2)

    def _length_moments(self, thinning: Floats) -> tuple[Floats, Floats]:
        """Return ``E[n g^2 t^(n-1)]`` and ``E[n (n-1) g^2 t^(n-2)]`` for each t."""
        n = np.arange(len(self.lengths))
        one, two = n * self._g2, n * (n - 1) * self._g2
        return polyval(thinning, one[1:]), polyval(thinning, np.append(two, 0.0)[2:])

    @property
    def v(self) -> Floats:
        return self.pi * self._length_moments(np.ones(1))[0]

    @property
    def w0(self) -> Floats:
        return (self.pi * np.sqrt(self._length_moments(np.ones(1))[1]))[:, None]

    def features(self, points: Points) -> sparse.csr_matrix:
        rows = as_rows(points)
        n = np.maximum(np.asarray(rows.sum(axis=1)).ravel(), 1)
        data = rows.data / np.repeat(n, np.diff(rows.indptr))
        return sparse.csr_matrix((data, rows.indices, rows.indptr), shape=rows.shape)

    def log_p(self, points: Points) -> Floats:
        rows = as_rows(points)
        n = lengths_of(rows)
        table = np.append(self.lengths, 0.0)
        with np.errstate(divide="ignore"):
            log_length = np.log(table[np.minimum(n, len(self.lengths))])
        log_permutations = gammaln(n + 1.0)
        return np.asarray(
            log_length + log_permutations + rows @ np.log(self.pi) - _log_repeats(rows)
        )

    def sample(self, n: int, rng: Generator) -> sparse.csr_matrix:
        return _words(rng.choice(len(self.lengths), size=n, p=self.lengths), self.pi, rng)

    def sample_tilted(self, H: Floats, rng: Generator) -> sparse.csr_matrix:
        """Draw lengths n by ``lengths[n] (n c + n^2 m^2) / n^2``, with m and c of `_moments`."""
        m, c = _moments(self.pi, H)
        n = np.arange(len(self.lengths))
        linear, quadratic = np.cumsum(self._g2 * n), np.cumsum(self._g2 * n**2)
        threshold = rng.random(len(H)) * (c * linear[-1] + m**2 * quadratic[-1])
        first, last = np.zeros(len(H), dtype=np.intp), np.full(len(H), n[-1])
        length = rank_of(lambda n: c * linear[n] + m**2 * quadratic[n] > threshold, first, last)
        return _tilted_words(length, self.pi, H, rng)

    def absence(self) -> tuple[Floats, Floats]:
        one, two = self._length_moments(1 - self.pi)
        all_one, all_two = self._length_moments(np.ones(1))
        return one / all_one, two / all_two if all_two > 0 else two


def lengths_of(rows: sparse.csr_matrix) -> Places:
    """Return the length of each sentence, refused unless whole."""
    n = np.asarray(rows.sum(axis=1)).ravel()
    if not (n == np.rint(n)).all():
        raise ValueError("a law of lengths needs whole counts of words; for weights use Weighted")
    return n.astype(np.intp)


def _log_repeats(rows: sparse.csr_matrix) -> Floats:
    """Return the sum of log x! over the counts x of each sentence."""
    logs = gammaln(rows.data + 1), rows.indices, rows.indptr
    sums: Any = sparse.csr_matrix(logs, shape=rows.shape).sum(axis=1)
    return np.asarray(sums).ravel()


def _words(lengths: Places, pi: Floats, rng: Generator) -> sparse.csr_matrix:
    """Draw sentences of these lengths, with independent words."""
    words = rng.choice(len(pi), size=lengths.sum(), p=pi)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return rows_of_words([np.stack([rows, words])], (len(lengths), len(pi)))


def _moments(pi: Floats, H: Floats) -> tuple[Floats, Floats]:
    """Return mean m and variance c of h_w over words w from pi, for each row h."""
    mean = H @ pi
    return mean, ((H - mean[:, None]) ** 2) @ pi


def _tilted_words(lengths: Places, pi: Floats, H: Floats, rng: Generator) -> sparse.csr_matrix:
    """Draw x of these lengths from ``Multinomial(x; n, pi) (h'x)^2``, word by word."""
    law, a = NextWord.of(pi, H), np.zeros(len(H))
    found = [np.zeros((2, 0), dtype=np.intp)]
    for drawn in range(lengths.max(initial=0)):
        rows = np.flatnonzero(lengths > drawn)
        word = law.draw(rows, a[rows], lengths[rows] - drawn - 1, rng)
        a[rows] += H[rows, word]
        found.append(np.stack([rows, word]))
    return rows_of_words(found, H.shape)


@dataclass(frozen=True, eq=False)
class NextWord:
    """The law of the next word of a sentence x from ``Multinomial(x; n, pi) (h'x)^2``.

    With ``a = h'x`` so far and l words left afterwards, word w has the weight
    ``pi_w [(a + h_w + l m)^2 + l c]``, with m and c of `_moments`. P, P1 and P2 are cumulative sums
    of ``pi``, ``pi h`` and ``pi h^2``.
    """

    m: Floats
    c: Floats
    P: Floats
    P1: Floats
    P2: Floats

    @classmethod
    def of(cls, pi: Floats, H: Floats) -> Self:
        sums = np.cumsum(pi), np.cumsum(pi * H, axis=1), np.cumsum(pi * H**2, axis=1)
        return cls(*_moments(pi, H), *sums)

    def weight(self, rows: Places, words: Places, a: Floats, left: Places) -> Floats:
        b = a + left * self.m[rows]
        constant = b**2 + left * self.c[rows]
        return constant * self.P[words] + 2 * b * self.P1[rows, words] + self.P2[rows, words]

    def draw(self, rows: Places, a: Floats, left: Places, rng: Generator) -> Places:
        last = np.full(len(rows), len(self.P) - 1)
        threshold = rng.random(len(rows)) * self.weight(rows, last, a, left)
        first = np.zeros(len(rows), dtype=np.intp)
        return rank_of(lambda words: self.weight(rows, words, a, left) > threshold, first, last)
