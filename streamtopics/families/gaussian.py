# SPDX-License-Identifier: BSD-3-Clause
"""The Gaussian family: a number x, such as a mean with observations of precision 1.

With mean m and precision k the natural parameter is (k m, k), and the statistics are (x, -x^2 / 2).
Data add their sum and their number.

    A(eta) = (k m^2 - ln k + ln(2 pi)) / 2

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import gaussian
>>> eta = gaussian.from_parameters(3.0, 2.0)
>>> eta
array([6., 2.])
>>> gaussian.expected_statistics(eta)
array([ 3.  , -4.75])
>>> float(gaussian.kl(np.array([2.0, 1.0]), np.array([0.0, 1.0])))
2.0
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from streamtopics.families.log_gamma import deviance

# It is a precision.
MASS_IS_A_COUNT = False


def from_parameters(m: ArrayLike, k: ArrayLike) -> np.ndarray:
    """The natural parameter (k m, k) of mean m and precision k."""
    return np.stack(np.broadcast_arrays(np.multiply(k, m), k), axis=-1).astype(np.float64)


def parameters(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    eta = np.asarray(eta, dtype=np.float64)
    return eta[..., 0] / eta[..., 1], eta[..., 1]


def marginals(eta: np.ndarray) -> dict[str, Any]:
    m, k = parameters(eta)
    return {"value": norm(m, k**-0.5)}


def expected_statistics(eta: np.ndarray) -> np.ndarray:
    """m and -(1/k + m^2) / 2."""
    m, k = parameters(eta)
    return np.stack([m, -0.5 * (1 / k + m * m)], axis=-1)


def log_normalizer(eta: np.ndarray) -> np.ndarray:
    m, k = parameters(eta)
    return 0.5 * (k * m * m + np.log(2 * np.pi / k))


def kl(eta: np.ndarray, other: np.ndarray) -> np.ndarray:
    """KL(N(m, 1/k) || N(m0, 1/k0)), in nats: [ln(k / k0) + k0 / k - 1 + k0 (m - m0)^2] / 2."""
    (m, k), (m0, k0) = parameters(eta), parameters(other)
    return 0.5 * (deviance(k, k0) / k + k0 * (m - m0) ** 2)


def mass(eta: np.ndarray) -> np.ndarray:
    """k, the number of observations of precision 1."""
    return np.asarray(eta, dtype=np.float64)[..., 1]


def valid(eta: np.ndarray) -> np.ndarray:
    eta = np.asarray(eta)
    of_two = eta.shape[-1] == 2
    return of_two & np.isfinite(eta).all(axis=-1) & (eta[..., 1:] > 0).all(axis=-1)
