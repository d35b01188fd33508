# SPDX-License-Identifier: BSD-3-Clause
"""The Gaussian density on [0, 1]: exp(w rho - k rho^2 / 2 - A), for any w and k >= 0.

The natural parameter is (w, k), on the last axis: mean w / k and precision k before truncation. k =
0 is the exponential density on [0, 1]. All values are by Gauss-Legendre quadrature around the mode:
closed forms lose all digits if the mean before truncation is far outside.

Source: Masegosa et al. (2020), equation 29.

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import truncated_normal
>>> eta = np.array([[50.0, 100.0], [1e4, 1.0], [-1e6, 0.0]])
>>> mean, complement = truncated_normal.mean_and_complement(eta)
>>> complement.round(10)
array([5.00000e-01, 1.00010e-04, 9.99999e-01])
>>> q, p = np.array([[50.0, 100.0], [1e6, 100.0]]), np.array([50.0, 100.0])
>>> truncated_normal.kl(q, p).round(4)
array([ 0.    , 23.9317])
"""

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
# Integrals end at exp(-45) times the density of the mode.
DEPTH = 45.0


def _exponent(w: np.ndarray, k: np.ndarray, mode: np.ndarray, d: np.ndarray) -> np.ndarray:
    return d * (np.where((w > 0) & (w < k), 0.0, w - k * mode) - 0.5 * k * d)


def _integration_nodes(eta: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """(w, k, mode, 1 - mode), and distances from the mode and weights along a new last axis.

    The weights sum to the integral of the density over the density at the mode.
    """
    eta = np.asarray(eta, dtype=np.float64)
    w, k = eta[..., 0, None], eta[..., 1, None]
    inside, safe = (w > 0) & (w < k), np.where(k > 0, k, 1.0)
    mode = np.where(inside, w / safe, w > 0)
    rest = np.where(inside, (k - w) / safe, w <= 0)
    slope = np.abs(np.where(inside, 0.0, w - k * mode))
    # The root of slope d + k d^2 / 2 = DEPTH; d <= 1 is all there is.
    reach = 2 * DEPTH / np.maximum(slope + np.sqrt(slope**2 + 2 * DEPTH * k), DEPTH)
    left, right = np.minimum(mode, reach), np.minimum(rest, reach)
    d = np.concatenate([-left * (1 + NODES) / 2, right * (1 + NODES) / 2], axis=-1)
    weights = np.concatenate([left * WEIGHTS / 2, right * WEIGHTS / 2], axis=-1)
    return (w, k, mode, rest), d, weights * np.exp(_exponent(w, k, mode, d))


def mean_and_complement(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """m = E[rho], and 1 - m; both keep their digits."""
    (_, _, mode, rest), d, weights = _integration_nodes(eta)
    total = weights.sum(axis=-1)
    mean, complement = ((mode + d) * weights).sum(axis=-1), ((rest - d) * weights).sum(axis=-1)
    return mean / total, complement / total


def log_normalizer(eta: np.ndarray) -> np.ndarray:
    """A(eta), ln of the integral of exp(w rho - k rho^2 / 2) over [0, 1], in nats."""
    (w, k, mode, _), _, weights = _integration_nodes(eta)
    at_mode: np.ndarray = (mode * (w - 0.5 * k * mode))[..., 0]
    return at_mode + np.log(weights.sum(axis=-1))


def kl(eta: np.ndarray, other: np.ndarray) -> np.ndarray:
    (w, k, mode, rest), d, weights = _integration_nodes(eta)
    (w0, k0, mode0, rest0), _, weights0 = _integration_nodes(other)
    total = weights.sum(axis=-1)
    between = np.where(mode > 0.5, rest0 - rest, mode - mode0)
    log_ratio = _exponent(w, k, mode, d) - _exponent(w0, k0, mode0, d + between)
    mean = (weights * log_ratio).sum(axis=-1) / total
    return np.maximum(mean + np.log(weights0.sum(axis=-1) / total), 0.0)


def valid(eta: np.ndarray) -> np.ndarray:
    """Whether w is finite, k is finite and not negative, and the last axis has length 2."""
    eta = np.asarray(eta)
    of_two = eta.shape[-1] == 2
    return of_two & np.isfinite(eta).all(axis=-1) & (eta[..., 1:] >= 0).all(axis=-1)
