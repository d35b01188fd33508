# SPDX-License-Identifier: BSD-3-Clause
"""A chart of a standardised statistic against its own past.

A stream that always moves a little is never exchangeable. What counts is whether a minibatch
differs more than others did. With the m last statistics z_i, clipped to three robust standard
deviations around their median once there are four, unless half of them are equal,

    mu = sum z_i / m,   S = sum (z_i - mu)^2,   p = P(t_f > (z - mu) / (s sqrt(1 + 1 / m))).

The variance within minibatches is 1, and that between them is none or is estimated (Laney's
p'-chart). As long as S is below the 0.95 quantile of chi-square with m - 1 degrees of freedom,
s^2 = max(1, (10 + S) / f) with f = m + 9, a prior worth ten minibatches that do not move; or else
s^2 = S / f with f = m - 1.

For independent normal statistics, whatever their variance, p < 0.01 in 5 % of the minibatches after
three, in 3 % after six and in 1.2 % after twenty, at most.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri, stdtr

PRIOR = 10
# Probability that a stream that does not move is taken for one that does.
MOVES = 0.05
CLIPPED_FROM, WITHIN = 4, 3.0
# Standard deviation of a normal distribution over its median absolute deviation.
ROBUST = 1.4826


def chart_p(past: np.ndarray, z: np.ndarray) -> np.ndarray:
    """p-values, (n,), of statistics that are large after a change, given their past, (m, n).

    The past has at least two rows.
    """
    m = len(past)
    if m >= CLIPPED_FROM:
        middle = np.median(past, axis=0)
        reach = WITHIN * ROBUST * np.median(np.abs(past - middle), axis=0)
        reach = np.where(reach > 0, reach, np.inf)
        past = np.clip(past, middle - reach, middle + reach)
    mu = past.mean(axis=0)
    squares = ((past - mu) ** 2).sum(axis=0)
    moves = squares > chdtri(m - 1, MOVES)
    freedom = np.where(moves, m - 1, PRIOR + m - 1)
    variance = np.where(moves, squares, np.maximum(freedom, PRIOR + squares)) / freedom
    p: np.ndarray = stdtr(freedom, (mu - z) / np.sqrt(variance * (1.0 + 1.0 / m)))
    return p
