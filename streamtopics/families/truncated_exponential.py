# SPDX-License-Identifier: BSD-3-Clause
"""The exponential density on [0, 1]: exp(w rho - A(w)), for any real w.

The natural parameter w has no axis: arguments are arrays of parameters, and results have the same
shape. w > 0 draws rho towards 1, w = 0 is uniform.

    A(w) = ln((e^w - 1) / w)

Source: Masegosa et al. (2020), equations 28 and 33. Equation 26 has the opposite sign: its prior of
parameter 0.1 is w = -0.1.

Examples
--------
>>> from streamtopics.families import truncated_exponential
>>> mean, complement = truncated_exponential.mean_and_complement([0.0, 1e3, -1e6])
>>> mean
array([5.00e-01, 9.99e-01, 1.00e-06])
>>> complement
array([0.5     , 0.001   , 0.999999])
>>> truncated_exponential.kl([0.0, 1e3, 1e12], 0.0).round(4)
array([ 0.    ,  5.9078, 26.631 ])
"""

import numpy as np
from numpy.typing import ArrayLike

# m(w) - 1/2 = sum_i c_i w^(2i + 1): the Bernoulli numbers B_2i+2 / (2i + 2)!.
SERIES = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)
# Up to here in |w| the series is exact to rounding.
SMALL = 0.25


def mean_and_complement(w: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """m = E[rho] = 1 / (1 - e^-w) - 1/w, and 1 - m; both keep their digits."""
    w = np.asarray(w, dtype=np.float64)
    size = np.abs(w)
    u = np.minimum(size, SMALL)
    series = 0.5 - u * np.polyval(SERIES[::-1], u * u)
    far = np.maximum(size, SMALL)
    with np.errstate(over="ignore"):
        # Distance of the mean from the end favoured by |w|.
        rest = np.where(size <= SMALL, series, 1 / far - 1 / np.expm1(far))
    return np.where(w > 0, 1 - rest, rest), np.where(w > 0, rest, 1 - rest)


def _log_normalizer_from_the_top(w: np.ndarray) -> np.ndarray:
    """A(w) - max(w, 0)."""
    size = np.abs(w)
    some = np.where(size > 0, size, 1.0)
    return np.where(size > 0, np.log(-np.expm1(-some) / some), 0.0)


def log_normalizer(w: ArrayLike) -> np.ndarray:
    w = np.asarray(w, dtype=np.float64)
    return np.maximum(w, 0) + _log_normalizer_from_the_top(w)


def kl(w: ArrayLike, other: ArrayLike) -> np.ndarray:
    """KL(q || p) = (w - g) m - A(w) + A(g), in nats, for parameters w and g = `other`.

    The error is about 1e-15 times 1 + ln|w| + ln|g|.
    """
    w, other = np.asarray(w, dtype=np.float64), np.asarray(other, dtype=np.float64)
    m, c = mean_and_complement(w)
    # E[w rho] - max(w, 0) is -w c or w m, likewise for g.
    ends = np.where(w > 0, -w * c, w * m) - np.where(other > 0, -other * c, other * m)
    top = _log_normalizer_from_the_top(other) - _log_normalizer_from_the_top(w)
    return np.maximum(ends + top, 0.0)


def valid(w: ArrayLike) -> np.ndarray:
    return np.isfinite(w)
