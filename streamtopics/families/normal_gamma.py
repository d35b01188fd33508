# SPDX-License-Identifier: BSD-3-Clause
"""The normal-gamma family: mean mu and precision g of Gaussian observations.

g ~ Gamma(a, b), of shape a and rate b, and mu | g ~ N(m, 1 / (k g)). The natural parameter is (k m,
k, 2b + k m^2, 2a), the statistics are (g mu, -g mu^2 / 2, -g / 2, ln g / 2) and h = g^(-1/2). Data
add (sum x, n, sum x^2, n).

    A(eta) = lnG(a) - a ln b + ln(2 pi / k) / 2

If sum x^2 is large, subtract an offset from the data: b is a difference of natural parameters.

Source: Bernardo and Smith (1994), "Bayesian theory", section 5.2.

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import normal_gamma
>>> eta = normal_gamma.from_parameters(m=3.0, k=2.0, a=1.0, b=0.5)
>>> eta
array([ 6.,  2., 19.,  2.])
>>> [float(x) for x in normal_gamma.parameters(eta)]
[3.0, 2.0, 1.0, 0.5]
>>> normal_gamma.expected_statistics(eta).round(4)
array([ 6.   , -9.25 , -1.   ,  0.058])
>>> normal_gamma.valid(np.array([[6.0, 2.0, 19.0, 2.0], [6.0, 2.0, 17.0, 2.0]]))
array([ True, False])
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from streamtopics.families import gamma
from streamtopics.families.gaussian import mass as mass
from streamtopics.families.log_gamma import deviance


def from_parameters(m: ArrayLike, k: ArrayLike, a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The natural parameter (k m, k, 2b + k m^2, 2a)."""
    m, k, a, b = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(m, k, a, b))
    return np.stack([k * m, k, 2 * b + k * m * m, 2 * a], axis=-1)


def parameters(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    eta = np.asarray(eta, dtype=np.float64)
    m, k = eta[..., 0] / eta[..., 1], eta[..., 1]
    return m, k, eta[..., 3] / 2, (eta[..., 2] - eta[..., 0] * m) / 2


def marginals(eta: np.ndarray) -> dict[str, Any]:
    """The distributions of mu, a Student t of 2a degrees of freedom, and of g."""
    m, k, a, b = parameters(eta)
    of_g = gamma.marginals(gamma.from_parameters(a, b))["value"]
    return {"mean": t(2 * a, m, np.sqrt(b / (a * k))), "precision": of_g}


def expected_statistics(eta: np.ndarray) -> np.ndarray:
    """(a/b) m, -(1/k + (a/b) m^2) / 2, -a / (2b) and (psi(a) - ln b) / 2."""
    m, k, a, b = parameters(eta)
    log_g, g = np.moveaxis(gamma.expected_statistics(gamma.from_parameters(a, b)), -1, 0)
    return np.stack([-2 * g * m, -0.5 / k + g * m * m, g, log_g], axis=-1)


def log_normalizer(eta: np.ndarray) -> np.ndarray:
    _, k, a, b = parameters(eta)
    return gamma.log_normalizer(gamma.from_parameters(a, b)) + 0.5 * np.log(2 * np.pi / k)


def kl(eta: np.ndarray, other: np.ndarray) -> np.ndarray:
    """KL(q || p), in nats.

    KL(Gamma(a, b) || Gamma(a0, b0)) + [ln(k / k0) + k0 / k - 1 + k0 (m - m0)^2 a / b] / 2
    """
    (m, k, a, b), (m0, k0, a0, b0) = parameters(eta), parameters(other)
    of_g = gamma.kl(gamma.from_parameters(a, b), gamma.from_parameters(a0, b0))
    return of_g + 0.5 * (deviance(k, k0) / k + k0 * (m - m0) ** 2 * (a / b))


def valid(eta: np.ndarray) -> np.ndarray:
    eta = np.asarray(eta, dtype=np.float64)
    if eta.shape[-1] != 4:
        return np.zeros(eta.shape[:-1], dtype=bool)
    with np.errstate(all="ignore"):
        _, k, a, b = parameters(eta)
        return np.isfinite(eta).all(axis=-1) & (k > 0) & (a > 0) & (b > 0)
