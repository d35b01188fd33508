# SPDX-License-Identifier: BSD-3-Clause
"""The gamma family: a positive number g, such as a precision.

With shape a and rate b the density is proportional to g^(a-1) e^(-b g). The natural parameter is
(2a, 2b), the statistics are (ln g / 2, -g / 2) and h(g) = 1/g. If g is the precision of Gaussian
data, 2a counts observations and 2b sums their squares.

    A(eta) = lnG(a) - a ln b

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import gamma
>>> eta = gamma.from_parameters(1.5, 2.0)
>>> eta
array([3., 4.])
>>> gamma.expected_statistics(np.array([2.0, 4.0])).round(4)
array([-0.6352, -0.25  ])
>>> float(gamma.kl(np.array([2.0, 2.0]), np.array([2.0, 4.0])).round(4))  # 1 - ln 2
0.3069
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import psi
from scipy.stats import gamma as gamma_distribution

from streamtopics.families.beta import valid as valid
from streamtopics.families.log_gamma import deviance, remainder, remainder_divergence


def from_parameters(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The natural parameter (2a, 2b) of shape a and rate b."""
    return 2 * np.stack(np.broadcast_arrays(a, b), axis=-1).astype(np.float64)


def parameters(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    eta = np.asarray(eta, dtype=np.float64)
    return eta[..., 0] / 2, eta[..., 1] / 2


def marginals(eta: np.ndarray) -> dict[str, Any]:
    a, b = parameters(eta)
    return {"value": gamma_distribution(a, scale=1 / b)}


def expected_statistics(eta: np.ndarray) -> np.ndarray:
    """(psi(a) - ln b) / 2 and -a / (2b)."""
    a, b = parameters(eta)
    return np.stack([(psi(a) - np.log(b)) / 2, -a / (2 * b)], axis=-1)


def log_normalizer(eta: np.ndarray) -> np.ndarray:
    a, b = parameters(eta)
    return a * np.log(a / b) - a + remainder(a)


def kl(eta: np.ndarray, other: np.ndarray) -> np.ndarray:
    """KL(Gamma(a, b) || Gamma(a0, b0)), in nats: d(a0, a b0 / b) + D(a, a0).

    d is `log_gamma.deviance` and D `log_gamma.remainder_divergence`.
    """
    (a, b), (a0, b0) = parameters(eta), parameters(other)
    a, a0 = np.broadcast_arrays(a, a0)
    return np.maximum(deviance(a0, a * (b0 / b)) + remainder_divergence(a, a0), 0.0)


def mass(eta: np.ndarray) -> np.ndarray:
    """2a, the number of observations."""
    return np.asarray(eta, dtype=np.float64)[..., 0]
