# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all words of functions of the counts of topics, without reading every word.

The counts S of a topic fall into bins, two for each power of two from a least value on, and one for
all smaller counts. A bin keeps sums over its words of the Chebyshev polynomials T_0 .. T_7 of the
position of S in the bin. These sums give weights at the eight roots of T_8, and

    sum_w f(S_w) = sum over bins and roots of weight * f(root)

for polynomials f of degree 7. If f is smooth for S > 0 the relative error is about 1e-8. Sums are
whole multiples of 2^-36, so the order of additions does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from streamtopics.kernels import rows as kernel

UNIT = 2.0**-36
N_MOMENTS = kernel.N_MOMENTS
PLACES = np.cos(np.pi * (np.arange(N_MOMENTS) + 0.5) / N_MOMENTS)
# From sums of the polynomials to weights at the roots.
TO_WEIGHTS = np.polynomial.chebyshev.chebvander(PLACES, N_MOMENTS - 1).T * 2 / N_MOMENTS
TO_WEIGHTS[0] /= 2
# The exponent of the least value is a multiple of this number, so it seldom changes.
STEP = 16
# Beyond these powers of two rounding is unknown.
REACH = 900


@dataclass(frozen=True)
class Bins:
    """Chebyshev sums of the counts of topics by bins."""

    exponent: int  # The least value is 2 to this power
    # (N_BINS, n_components, N_MOMENTS): in units of 2^-36; the last bin is for larger counts
    sums: np.ndarray


@dataclass(frozen=True)
class Nodes:
    """Counts that stand for many words, and their weights."""

    counts: np.ndarray  # (n, 1)
    weights: np.ndarray  # (n, n_components): may be negative


def exponent_of(sigma: np.ndarray) -> int | None:
    """Exponent of the least value of bins, at most a quarter of sigma = c eta / a."""
    least = sigma.min()
    if not (least > 2.0**-REACH and sigma.max() < 2.0**REACH):
        return None
    return STEP * int((np.frexp(least)[1] - 3) // STEP)


def binned(S: np.ndarray, rows: np.ndarray, exponent: int, n_empty: int = 0) -> Bins:
    """Bins of some rows of S, and of `n_empty` rows of zeros."""
    sums, of_empty = np.zeros((2, kernel.N_BINS, S.shape[1], N_MOMENTS), np.int64)
    kernel.count_in_bins(S, rows, exponent, sums)
    if n_empty:
        kernel.count_in_bins(np.zeros((1, S.shape[1])), np.zeros(1, np.int32), exponent, of_empty)
        sums += n_empty * of_empty
    return Bins(exponent, sums)


def nodes(bins: Bins, without: Bins, sigma: np.ndarray) -> Nodes | None:
    """Nodes of the words in `bins` but not in `without`; None if a count is too large.

    Bins below a quarter of sigma are joined.
    """
    if bins.sums[-1].any():
        return None
    used = np.flatnonzero(bins.sums[:, :, 0].any(axis=1))
    stop, n_topics = int(used[-1]) + 1, bins.sums.shape[1]
    sums = (bins.sums[:stop] - without.sums[:stop]) * UNIT
    lowest = min(1 + 2 * (int(np.frexp(sigma.min())[1]) - 3 - bins.exponent), stop)
    values, weights = _values(), sums @ TO_WEIGHTS
    low = weights[:lowest].swapaxes(1, 2).reshape(lowest * N_MOMENTS, n_topics)
    top = 2.0 ** (lowest // 2)
    places = 2.0 * values[:lowest].ravel() / top - 1.0
    moments = np.polynomial.chebyshev.chebvander(places, N_MOMENTS - 1).T @ low
    high = weights[lowest:].swapaxes(1, 2).reshape((stop - lowest) * N_MOMENTS, n_topics)
    counts = np.concatenate([(PLACES + 1.0) * top / 2, values[lowest:stop].ravel()])
    return Nodes(
        np.ldexp(counts, bins.exponent)[:, None], np.concatenate([TO_WEIGHTS.T @ moments, high])
    )


@cache
def _values() -> np.ndarray:
    """Values at the roots in each bin but the last, as multiples of the least value."""
    e = np.repeat(np.arange((kernel.N_BINS - 2) // 2), 2)
    upper = np.tile([0.0, 1.0], len(e) // 2)
    above = 2.0 ** e[:, None] * (1.25 + 0.5 * upper[:, None] + PLACES / 4)
    return np.concatenate([(PLACES + 1.0)[None] / 2, above])


class BinCache:
    bins: tuple[Any, Bins] | None = None
    nodes: tuple[Any, np.ndarray, Nodes | None, Bins | None] | None = None
    lam: tuple[Nodes, np.ndarray, np.ndarray] | None = None

    def __reduce__(self) -> tuple[type[BinCache], tuple[()]]:
        return BinCache, ()
