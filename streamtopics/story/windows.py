# SPDX-License-Identifier: BSD-3-Clause
"""Stretches of time, and groups, with unusual counts or shares.

A thing occurs in x_t of n_t documents of period t. If the stream does not change, the documents of
a stretch W are a random part of all: given the total S of the x_t,

    x_W ~ Binomial(S, q),  q = n_W / n,

up to the finite population, which makes the tails lighter. The stretch with the largest
log-likelihood ratio L_W is taken. Real streams move all the time. So ratio and counts are divided
by the dispersion of the periods (McCullagh and Nelder 1989, 4.5): the stretch stands out from
chance and from the usual. By chance some stretch reaches the ratio l with probability

    P(max_W L_W >= l) = sum_W P(L_W >= l) E[1 / #{V: L_V >= l} | L_W >= l]

(Naiman and Priebe 2001). The first factor is a binomial tail; the second, about a tenth, is a mean
over draws, left out (Bonferroni) if nothing depends on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, ndtr, xlogy

# Rows of counts scanned at once.
AT_ONCE = 256
# Bounds of the probability for its computation, and draws.
UNSURE, SURE, N_DRAWS = 0.2, 1e-7, 200


class Windows(NamedTuple):
    """The most outstanding stretch of each row, up or down."""

    first: np.ndarray  # its periods
    last: np.ndarray
    z: np.ndarray  # signed root of twice the ratio over the dispersion
    p: np.ndarray  # probability by chance, for all stretches together


def stretches(n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last periods of all stretches: half of the time at most, or any up to the end.

    The complement is taken if it has a quarter of the periods and of the documents at most.
    """
    first, last = np.triu_indices(len(n))
    length, upto = last - first + 1, np.append(0.0, np.cumsum(n))
    begins = (4 * np.arange(len(n)) <= len(n)) & (4 * upto[:-1] <= upto[-1])
    fits = np.where(first > 0, 2 * length <= len(n), np.append(begins, False)[length])
    fits |= (last == len(n) - 1) & ~begins[first]
    return first[fits], last[fits]


def scan(sums: np.ndarray, n: np.ndarray, spread: np.ndarray) -> Windows:
    """The most outstanding stretch of each row of sums over the documents of periods.

    `spread` is 1 for counts of documents; for shares see `spread_of`.
    """
    first, last = stretches(n)
    parts = [
        _scanned(sums[start : start + AT_ONCE], n, spread[start : start + AT_ONCE], first, last)
        for start in range(0, len(sums), AT_ONCE)
    ]
    return Windows(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _scanned(
    sums: np.ndarray, n: np.ndarray, spread: np.ndarray, first: np.ndarray, last: np.ndarray
) -> Windows:
    upto = np.zeros((len(sums), len(n) + 1))
    np.cumsum(sums / spread[:, None], axis=1, out=upto[:, 1:])
    n_upto = np.append(0.0, np.cumsum(n))
    total, q = upto[:, -1:], (n_upto[last + 1] - n_upto[first]) / n_upto[-1]
    inside = upto[:, last + 1] - upto[:, first]
    # Without empty periods at its ends, which tell nothing about the beginning.
    valid = (n[first] > 0) & (n[last] > 0) & (q < 1)
    place = np.argmax(np.where(valid, ratio(inside, total, q), -1.0), axis=1)
    s, S, own = inside[np.arange(len(sums)), place], total[:, 0], q[place]
    up = s > S * own
    root = np.sqrt(2.0 * np.maximum(ratio(s, S, own), 0.0))
    dispersion = dispersion_of(sums, n, spread, first[place], last[place])
    z = np.where(up, root, -root) / np.sqrt(dispersion)
    at_most = 2.0 * len(first) * np.maximum(tail(s, S, own, up), ndtr(-np.abs(z)))
    p, some = np.minimum(1.0, at_most), (first[valid], last[valid])
    for row in np.flatnonzero((at_most <= UNSURE) & (at_most > SURE)).tolist():
        p[row] = min(p[row], chance(z[row] ** 2 / 2, S[row] / dispersion[row], n, *some))
    return Windows(first[place], last[place], z, p)


def chance(least: float, total: float, n: np.ndarray, first: np.ndarray, last: np.ndarray) -> float:
    """The probability by chance of a stretch with at least this ratio."""
    # Within reach of the ratio, and in spite of rounding.
    S, least = np.array(max(np.ceil(total - 1e-9), 1.0)), least * (1 - 1e-9)
    upto = np.append(0.0, np.cumsum(n))
    q = (upto[last + 1] - upto[first]) / upto[-1]
    # Least numbers with this ratio, up and down: by halves.
    usual, ends, p = np.rint(S * q), [], []
    for sign, most in ((1.0, S - usual), (-1.0, usual)):
        low, high = np.zeros(len(q)), most
        for _ in range(int(np.log2(S)) + 2):
            middle = np.floor((low + high) / 2)
            passes = ratio(usual + sign * middle, S, q) >= least
            low, high = np.where(passes, low, middle + 1), np.where(passes, middle, high)
        end = usual + sign * np.minimum(low, most)
        p.append(np.where(low <= most, tail(end, S, q, np.array(sign > 0)), 0.0))
        ends.append(np.where(low <= most, end, sign * np.inf))
    each, k = np.concatenate(p), np.concatenate(ends)
    if not each.sum():
        return 1.0
    # A draw just reaches the ratio, so the mean is a little larger.
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(each), N_DRAWS, p=each / each.sum())
    t, of = np.arange(len(n)), drawn % len(q)
    inside = (t >= first[of, None]) & (t <= last[of, None])
    sums = np.zeros((N_DRAWS, len(n) + 1))
    for part, size in ((inside * n, k[drawn]), (~inside * n, S - k[drawn])):
        counts = rng.multinomial(size.astype(np.int64), part / part.sum(axis=1, keepdims=True))
        sums[:, 1:] += np.cumsum(counts, axis=1)
    found = sums[:, last + 1] - sums[:, first]
    as_large = (found >= ends[0]) | (found <= ends[1])
    return float(each.sum() * np.mean(1.0 / np.maximum(as_large.sum(axis=1), 1)))


def ratio(inside: np.ndarray, total: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The log-likelihood ratio of a share of the total against the expected share q."""
    rest = total - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        found = xlogy(inside, inside / (total * q)) + xlogy(rest, rest / (total * (1.0 - q)))
    return np.asarray(np.nan_to_num(found, nan=0.0, posinf=0.0))


def tail(inside: np.ndarray, total: np.ndarray, q: np.ndarray, up: np.ndarray) -> np.ndarray:
    """P(x >= inside), or without `up` P(x <= inside), of x ~ Binomial(total, q).

    By the incomplete beta function, also for fractions.
    """
    x, of = np.where(up, inside, total - inside), np.where(up, q, 1.0 - q)
    found = betainc(np.maximum(x, 1e-12), np.maximum(total - x, 0.0) + 1.0, of)
    return np.asarray(np.where(x > 0, found, 1.0))


def dispersion_of(
    sums: np.ndarray, n: np.ndarray, spread: np.ndarray, first: np.ndarray, last: np.ndarray
) -> np.ndarray:
    """Pearson's dispersion of the periods about the share within, and outside of, a stretch.

    At least 1; half a document is added to each variance, against surprise by single documents.
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
    """Whether p-values are significant at a rate of false discoveries (Benjamini and Hochberg).

    The p-values are of all tests, or were chosen among `n_tests`.
    """
    order = np.argsort(p, kind="stable")
    limits = level * np.arange(1, len(p) + 1, dtype=np.float64) / max(n_tests or len(p), 1)
    passed = np.flatnonzero(p[order] <= limits)
    chosen = np.zeros(len(p), np.bool_)
    chosen[order[: passed[-1] + 1 if len(passed) else 0]] = True
    return chosen
