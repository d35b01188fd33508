# SPDX-License-Identifier: BSD-3-Clause
"""The penalty on the columns of U and on theta, and the scales that leave the kernel alone.

    R(U, theta) = mean_i |theta_i|_1 + (sum_k |u_k|)^2

(U D, D^-2 theta) gives the same kernel, so only b_k = theta_k^{1/2} |u_k| counts. Over the
scales, R is least at |u_k| = (b_k^2 / S)^{1/3}, S = (sum_k b_k^{2/3})^{3/4}, and is then
2 (sum_k b_k^{2/3})^{3/2}: it makes whole columns vanish.

Source: Dupuy (2017), section 4.2.5.
"""

import numpy as np
from numpy.typing import NDArray

from streamtopics.dpp.arrays import Floats

SMOOTHING = 1e-16
NEGLIGIBLE = 1e-100


def smooth_penalty(U: Floats, theta: Floats) -> tuple[float, Floats]:
    """Return R, with (|u|^2 + 1e-16)^{1/2} for |u|, and its derivative by U."""
    norms = np.sqrt((U**2).sum(axis=0) + SMOOTHING)
    value = np.atleast_2d(theta).mean(axis=0).sum() + norms.sum() ** 2
    return float(value), 2 * norms.sum() * U / norms


def strengths(U: Floats, theta: Floats) -> Floats:
    """Return b_k = |u_k| times the root of the mean theta_k, of shape (r,)."""
    return np.asarray(np.linalg.norm(U, axis=0) * np.sqrt(np.atleast_2d(theta).mean(axis=0)))


def balance(U: Floats, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """Rescale U and theta to the least penalty; the kernel stays the same.

    Returns U, theta and the scales that U was multiplied by, 0 for a column without effect.
    """
    norms, b = np.linalg.norm(U, axis=0), strengths(U, theta)
    total = (b ** (2 / 3)).sum() ** 0.75
    alive = b > NEGLIGIBLE * b.max(initial=1.0)
    scales = np.zeros(len(b))
    scales[alive] = b[alive] ** (2 / 3) / np.cbrt(total) / norms[alive]
    return U * scales, theta * alive / np.where(alive, scales, 1.0) ** 2, scales


def active(U: Floats, theta: Floats, *, tolerance: float = 1e-2) -> NDArray[np.bool_]:
    """Return whether b_k of each column is more than `tolerance` of the largest."""
    b = strengths(U, theta)
    result: NDArray[np.bool_] = b > tolerance * b.max(initial=0.0)
    return result
