# SPDX-License-Identifier: BSD-3-Clause
"""The normal-gamma family of a linear regression: coefficients w and noise precision g.

g ~ Gamma(a, b) and w | g ~ N(m, (g L)^-1), with p coefficients. The natural parameter is [L m | L |
2b + m'L m | 2a], flattened to p + p^2 + 2 numbers with L by rows. The statistics are [g w | -g w w'
/ 2 | -g / 2 | ln g / 2], and h = g^(p/2 - 1). Data add [X'y | X'X | y'y | n].

    A(eta) = lnG(a) - a ln b - ln|L| / 2 + p ln(2 pi) / 2

Centre y if y'y is many times the spread of y: b is a difference of natural parameters.

Source: Bernardo and Smith (1994), "Bayesian theory", appendix A.2.

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import normal_gamma_regression as family
>>> eta = family.from_parameters([1.0, 2.0], 3 * np.eye(2), a=1.0, b=0.5)
>>> eta
array([ 3.,  6.,  3.,  0.,  0.,  3., 16.,  2.])
>>> family.expected_statistics(np.array([6.0, 2.0, 19.0, 2.0])).round(4)
array([ 6.   , -9.25 , -1.   ,  0.058])
>>> family.valid(np.array([[6.0, 2.0, 19.0, 2.0], [6.0, 2.0, 17.0, 2.0]]))
array([ True, False])
"""

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from streamtopics.families import gamma
from streamtopics.families.log_gamma import deviance


def n_coefficients(size: int) -> int:
    """p, from the length p + p^2 + 2 of a natural parameter."""
    return (isqrt(max(0, 4 * size - 7)) - 1) // 2


def from_parameters(m: ArrayLike, L: ArrayLike, a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The natural parameter of m, (..., p), of L, (..., p, p), and of a and b, (...)."""
    m, L, a, b = (np.asarray(x, dtype=np.float64) for x in (m, L, a, b))
    e1 = (L @ m[..., None])[..., 0]
    ends = np.stack(np.broadcast_arrays(2 * b + (m * e1).sum(axis=-1), 2 * a), axis=-1)
    leading = np.broadcast_shapes(e1.shape[:-1], ends.shape[:-1])
    parts = e1, L.reshape(*L.shape[:-2], -1), ends
    return np.concatenate([np.broadcast_to(x, (*leading, x.shape[-1])) for x in parts], axis=-1)


def parameters(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    eta = np.asarray(eta, dtype=np.float64)
    p = n_coefficients(eta.shape[-1])
    e1, L = eta[..., :p], eta[..., p:-2].reshape(*eta.shape[:-1], p, p)
    m = np.linalg.solve(L, e1[..., None])[..., 0]
    return m, L, eta[..., -1] / 2, (eta[..., -2] - (e1 * m).sum(axis=-1)) / 2


def marginals(eta: np.ndarray) -> dict[str, Any]:
    """The distributions of each of w, a Student t of 2a degrees of freedom, and of g."""
    m, L, a, b = parameters(eta)
    variances = np.diagonal(np.linalg.inv(L), axis1=-2, axis2=-1)
    scales = np.sqrt((b / a)[..., None] * variances)
    of_g = gamma.marginals(gamma.from_parameters(a, b))["value"]
    return {"coefficient": t(2 * a[..., None], m, scales), "precision": of_g}


def expected_statistics(eta: np.ndarray) -> np.ndarray:
    """[(a/b) m | -(L^-1 + (a/b) m m') / 2 | -a / (2b) | (psi(a) - ln b) / 2]."""
    m, L, a, b = parameters(eta)
    log_g, g = np.moveaxis(gamma.expected_statistics(gamma.from_parameters(a, b)), -1, 0)
    ww = -0.5 * np.linalg.inv(L) + g[..., None, None] * m[..., :, None] * m[..., None, :]
    parts = -2 * g[..., None] * m, ww.reshape(*g.shape, -1), np.stack([g, log_g], axis=-1)
    return np.concatenate(parts, axis=-1)


def log_normalizer(eta: np.ndarray) -> np.ndarray:
    m, L, a, b = parameters(eta)
    of_w = 0.5 * (m.shape[-1] * np.log(2 * np.pi) - np.linalg.slogdet(L)[1])
    return gamma.log_normalizer(gamma.from_parameters(a, b)) + of_w


def kl(eta: np.ndarray, other: np.ndarray) -> np.ndarray:
    """KL(q || p), in nats.

    KL(Gamma(a, b) || Gamma(a0, b0))
    + [tr(L^-1 L0) - p - ln|L^-1 L0| + (m - m0)'L0 (m - m0) a / b] / 2
    """
    (m, L, a, b), (m0, L0, a0, b0) = parameters(eta), parameters(other)
    of_g = gamma.kl(gamma.from_parameters(a, b), gamma.from_parameters(a0, b0))
    difference = m - m0
    squared = (difference[..., None, :] @ L0 @ difference[..., :, None])[..., 0, 0]
    return of_g + 0.5 * (_of_precisions(L, L0) + squared * (a / b))


def _of_precisions(L: np.ndarray, L0: np.ndarray) -> np.ndarray:
    """tr(L^-1 L0) - p - ln|L^-1 L0|, for close matrices a sum over eigenvalues."""
    root, root0 = np.linalg.cholesky(L), np.linalg.cholesky(L0)
    # L = R R'; the eigenvalues of R^-1 (L0 - L) R^-T are the eigenvalues of L^-1 L0, less one.
    half = np.linalg.solve(root, L0 - L)
    change = np.linalg.eigvalsh(np.linalg.solve(root, half.swapaxes(-1, -2)))
    diagonals = (np.diagonal(x, axis1=-2, axis2=-1) for x in (root, root0))
    log_ratio = np.subtract(*map(np.log, diagonals)).sum(axis=-1)
    close = (np.abs(change) < 0.5).all(axis=-1)
    by_eigenvalue = deviance(np.ones(()), np.maximum(1 + change, 0.5)).sum(axis=-1)
    return np.where(close, by_eigenvalue, change.sum(axis=-1) + 2 * log_ratio)


def mass(eta: np.ndarray) -> np.ndarray:
    """2a, the number of observations."""
    return np.asarray(eta, dtype=np.float64)[..., -1]


def valid(eta: np.ndarray) -> np.ndarray:
    """Whether a and b are positive, and L is symmetric and positive definite beyond rounding."""
    eta = np.asarray(eta, dtype=np.float64)
    p = n_coefficients(eta.shape[-1])
    if p < 1 or p + p * p + 2 != eta.shape[-1]:
        return np.zeros(eta.shape[:-1], dtype=bool)
    good = np.isfinite(eta).all(axis=-1)
    L = np.where(good[..., None], eta[..., p:-2], np.eye(p).ravel()).reshape(*good.shape, p, p)
    scale = np.sqrt(np.abs(np.diagonal(L, axis1=-2, axis2=-1)))
    scale = np.where(scale > 0, scale, 1.0)
    with np.errstate(over="ignore"):
        correlation = L / scale[..., :, None] / scale[..., None, :]
    good &= np.isfinite(correlation).all(axis=(-2, -1))
    correlation = np.where(good[..., None, None], correlation, np.eye(p))
    good &= (np.abs(correlation - correlation.swapaxes(-1, -2)) <= 1e-9).all(axis=(-2, -1))
    # Smaller values may be rounding, of either sign.
    good &= (np.linalg.eigvalsh(correlation) > 4 * p * np.finfo(float).eps).all(axis=-1)
    fallback = np.append(np.zeros(p), np.append(np.eye(p).ravel(), [1.0, 1.0]))
    _, _, a, b = parameters(np.where(good[..., None], eta, fallback))
    return good & (a > 0) & (b > 0)
