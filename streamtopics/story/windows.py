# SPDX-License-Identifier: BSD-3-Clause
"""Which stretch of time, or which group, has more or less of something than the rest.

Something is in x_t of n_t documents of period t. If the stream does not change, the documents of a
stretch W are a random part of all: given the total S of the x_t,

    x_W ~ Binomial(S, q),  q = n_W / n,

but for the finite population, which makes the tails lighter. The stretch with the largest
log-likelihood ratio is taken, and its tail probability is multiplied by the number of stretches
(Bonferroni). Real streams move all the time. So the ratio is also divided by the dispersion of the
periods (McCullagh and Nelder 1989, 4.5), and the larger of both probabilities counts: the stretch
stands out from chance and from what is usual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, ndtr, xlogy

# Rows of counts that are scanned at once.
AT_ONCE = 256


class Windows(NamedTuple):
    """The stretch of each row that stands out most, up or down.

    Attributes
    ----------
    first, last : ndarray of int
        Its periods.
    z : ndarray
        Signed root of the ratio over the dispersion: how surprising it is.
    p : ndarray
        Its probability if nothing changes, for all stretches together.
    """

    first: np.ndarray
    last: np.ndarray
    z: np.ndarray
    p: np.ndarray


def stretches(n_periods: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last periods of all stretches: half of the time at most, or any up to the end.

    Those from the beginning on are complements of others.
    """
    first, last = np.triu_indices(n_periods)
    fits = (first > 0) & ((2 * (last - first + 1) <= n_periods) | (last == n_periods - 1))
    return first[fits], last[fits]


def scan(sums: np.ndarray, n: np.ndarray, spread: np.ndarray) -> Windows:
    """The stretch of each row that stands out most.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_periods)
        Documents with a word, or sums of shares.
    n : ndarray of shape (n_periods,)
        Documents.
    spread : ndarray of shape (n_rows,)
        Variance of a mean share over that of a proportion: 1 for counts of documents.
    """
    first, last = stretches(len(n))
    parts = []
    for start in range(0, len(sums), AT_ONCE):
        own = slice(start, start + AT_ONCE)
        parts.append(_scanned(sums[own], n, spread[own], first, last))
    return Windows(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _scanned(
    sums: np.ndarray, n: np.ndarray, spread: np.ndarray, first: np.ndarray, last: np.ndarray
) -> Windows:
    upto = np.zeros((len(sums), len(n) + 1))
    np.cumsum(sums / spread[:, None], axis=1, out=upto[:, 1:])
    n_upto = np.append(0.0, np.cumsum(n))
    total, q = upto[:, -1:], (n_upto[last + 1] - n_upto[first]) / n_upto[-1]
    inside = upto[:, last + 1] - upto[:, first]
    # Without empty periods at its ends, which say nothing of when something began.
    valid = (n[first] > 0) & (n[last] > 0) & (q < 1)
    place = np.argmax(np.where(valid, ratio(inside, total, q), -1.0), axis=1)
    s, S, own = inside[np.arange(len(sums)), place], total[:, 0], q[place]
    up = s > S * own
    root = np.sqrt(2.0 * np.maximum(ratio(s, S, own), 0.0))
    dispersion = dispersion_of(sums, n, spread, first[place], last[place])
    z = np.where(up, root, -root) / np.sqrt(dispersion)
    p = np.maximum(tail(s, S, own, up), ndtr(-np.abs(z)))
    return Windows(first[place], last[place], z, np.minimum(1.0, 2.0 * len(first) * p))


def ratio(inside: np.ndarray, total: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The log-likelihood ratio of a share of the total against the share q that is expected."""
    rest = total - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        found = xlogy(inside, inside / (total * q)) + xlogy(rest, rest / (total * (1.0 - q)))
    return np.asarray(np.nan_to_num(found, nan=0.0, posinf=0.0))


def tail(inside: np.ndarray, total: np.ndarray, q: np.ndarray, up: np.ndarray) -> np.ndarray:
    """P(x >= inside), or P(x <= inside) where not `up`, of x ~ Binomial(total, q).

    The incomplete beta function makes it of numbers that are not whole, too.
    """
    x, of = np.where(up, inside, total - inside), np.where(up, q, 1.0 - q)
    found = betainc(np.maximum(x, 1e-12), np.maximum(total - x, 0.0) + 1.0, of)
    return np.asarray(np.where(x > 0, found, 1.0))


def dispersion_of(
    sums: np.ndarray, n: np.ndarray, spread: np.ndarray, first: np.ndarray, last: np.ndarray
) -> np.ndarray:
    """Pearson's dispersion of the periods about the share within, and outside of, a stretch.

    It is 1 at least, and half a document is added to each variance, so that one document where
    none is expected is no great surprise.
    """
    t = np.arange(len(n))
    inside = (t >= first[:, None]) & (t <= last[:, None])
    residuals = np.zeros(len(sums))
    for part in (inside, ~inside):
        share = (sums * part).sum(axis=1) / np.maximum((n * part).sum(axis=1), 1.0)
        expected = share[:, None] * n
        variance = spread[:, None] * (expected * np.maximum(1.0 - share, 0.0)[:, None] + 0.5)
        residuals += ((sums - expected) ** 2 / variance * part).sum(axis=1)
    return np.maximum(residuals / max(int(np.count_nonzero(n)) - 2, 1), 1.0)


def significant(p: np.ndarray, level: float, n_tests: int | None = None) -> np.ndarray:
    """Which p-values are significant at a rate of false discoveries (Benjamini and Hochberg).

    They are those of all tests, or were chosen among `n_tests`.
    """
    order = np.argsort(p, kind="stable")
    limits = level * np.arange(1, len(p) + 1, dtype=np.float64) / max(n_tests or len(p), 1)
    passed = np.flatnonzero(p[order] <= limits)
    chosen = np.zeros(len(p), np.bool_)
    chosen[order[: passed[-1] + 1 if len(passed) else 0]] = True
    return chosen
