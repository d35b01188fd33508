# SPDX-License-Identifier: BSD-3-Clause
"""Divergences of the log-gamma function, without cancellation.

The divergence between two gamma or Dirichlet densities has terms

    lnG(b) - lnG(a) - (b - a) psi(a),

in which nearly all digits cancel for large a and b. With lnG(x) = x ln x - x + r(x) such a term is
`deviance(b, a) + remainder_divergence(a, b)`, both non-negative, with a relative error of 1e-13. If
an argument of the remainder is below 10 the error is absolute, about 1e-14. Arguments are arrays of
positive numbers, of one shape in `remainder_divergence`.

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import log_gamma
>>> float(log_gamma.deviance(np.array(1e6 + 1), np.array(1e6)).round(12))
5e-07
>>> log_gamma.remainder(np.array([1.0, 1e12])).round(4)
array([  1.    , -12.8966])
>>> a, b = np.array([1e-6, 2.0, 1e12]), np.array([2e-6, 2.0, 2e12])
>>> log_gamma.remainder_divergence(a, b).round(4)
array([0.3069, 0.    , 0.1534])
"""

import numpy as np
from scipy.special import gammaln, psi

# Coefficients of Stirling's series, r(x) = ln(2 pi / x) / 2 + sum_i c_i / x^(2i + 1).
COEFFICIENTS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
# From here on the series is exact to 1e-15.
LARGE = 10
HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


def deviance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x ln(x / y) - x + y, 0 for x = y and positive otherwise.

    For close x and y, by the series in (x - y) / (x + y) of Loader (2000), "Fast and accurate
    computation of binomial probabilities".
    """
    difference = x - y
    v = difference / (x + y)
    w = v * v
    far = x * np.log(x / y) - difference
    tail = w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * (1 / 9 + w / 11))))
    return np.where(w < 0.0025, v * (difference + 2 * x * tail), far)


def remainder(x: np.ndarray) -> np.ndarray:
    """r(x) = lnG(x) - x ln x + x."""
    few = np.minimum(x, LARGE)
    u = 1.0 / np.maximum(x, LARGE)
    large = HALF_LOG_2PI + 0.5 * np.log(u) + u * np.polyval(COEFFICIENTS[::-1], u * u)
    return np.where(x < LARGE, gammaln(few) - few * np.log(few) + few, large)


def remainder_divergence(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """r(b) - r(a) - (b - a) r'(a), 0 for a = b and positive otherwise."""
    shape, a, b = np.shape(a), np.ravel(a), np.ravel(b)
    a_large, b_large = a >= LARGE, b >= LARGE
    if (a_large & b_large).all():
        return _of_large(a, b).reshape(shape)
    out = np.empty(a.shape)
    for of_kind, cells in (
        (_of_large, a_large & b_large),
        (_of_small, ~(a_large | b_large)),
        (_of_both_kinds, a_large ^ b_large),
    ):
        places = np.flatnonzero(cells)
        out[places] = of_kind(a[places], b[places])
    return out.reshape(shape)


def _of_large(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Divergence by Stirling's series; every term has a factor (b - a)^2 / (a b)."""
    u, v = 1.0 / a, 1.0 / b
    T, total, power, v2 = u, COEFFICIENTS[0] * u, u, v * v
    for i, c in enumerate(COEFFICIENTS[1:]):
        n = 2 * i + 1
        power = power * u
        T = v2 * T + power * ((n + 1) * v + (n + 2) * u)
        power = power * u
        total = total + c * T
    return 0.5 * u * deviance(a, b) + (b - a) ** 2 * (u * v) * total


def _of_small(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return gammaln(b) - gammaln(a) - (b - a) * psi(a) - deviance(b, a)


def _of_both_kinds(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    few, u = np.minimum(a, LARGE), 1.0 / np.maximum(a, LARGE)
    powers = [-(2 * i + 1) * c for i, c in enumerate(COEFFICIENTS)]
    large = -u * (0.5 - u * np.polyval(powers[::-1], u * u))
    # Derivative of the remainder: psi(a) - ln a.
    slope = np.where(a < LARGE, psi(few) - np.log(few), large)
    return remainder(b) - remainder(a) - (b - a) * slope
