# SPDX-License-Identifier: BSD-3-Clause
"""The parts of log-gamma divergences, against 80 digits."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.families.log_gamma import LARGE, deviance, remainder, remainder_divergence


def exact_remainder(x):
    return mp.loggamma(x) - x * mp.log(x) + x


def exact_divergence(a, b):
    slope = mp.digamma(a) - mp.log(a)
    return exact_remainder(b) - exact_remainder(a) - (b - a) * slope


def exact_deviance(x, y):
    return x * mp.log(x / y) - x + y


def exact(f, *args):
    """f at each of the elements of args."""
    with mp.workdps(80):
        rows = zip(*(map(mp.mpf, map(float, arg)) for arg in args), strict=True)
        return np.array([float(f(*row)) for row in rows])


def pairs(low, high, closeness):
    """Pairs (a, b) of positive numbers; unrelated ones, or 1 +- closeness apart."""
    rng = np.random.default_rng(7)
    a = 10 ** rng.uniform(low, high, 60)
    if closeness is None:
        return a, 10 ** rng.uniform(low, high, 60)
    return a, a * (1 + closeness * rng.choice([-1, 1], 60))


@pytest.mark.parametrize("closeness", [None, 0.9, 0.11, 0.09, 1e-3, 1e-8, 1e-14])
@pytest.mark.parametrize(("low", "high"), [(-8, 0), (-2, 2), (0, 12)])
def test_deviance(low, high, closeness):
    x, y = pairs(low, high, closeness)
    ours = deviance(x, y)
    assert_allclose(ours, exact(exact_deviance, x, y), rtol=4e-14)
    assert (ours[x != y] > 0).all()


def test_deviance_where_the_formula_changes():
    y = 3.0
    v = 0.05 * (1 + np.linspace(-1e-9, 1e-9, 21))
    for x in (y * (1 + v) / (1 - v), y * (1 - v) / (1 + v)):
        assert_allclose(deviance(x, y), exact(exact_deviance, x, np.full(21, y)), rtol=4e-14)


def test_remainder():
    x = np.concatenate([10.0 ** np.arange(-12, 13), LARGE * (1 + 1e-9 * np.arange(-3, 4))])
    assert_allclose(remainder(x), exact(exact_remainder, x), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("closeness", [None, 0.5, 0.02, 1e-4, 1e-9])
def test_divergence_of_large_arguments_keeps_its_digits(closeness):
    a, b = pairs(1.5, 12, closeness)
    assert_allclose(remainder_divergence(a, b), exact(exact_divergence, a, b), rtol=1e-12)


@pytest.mark.parametrize("closeness", [None, 0.5, 0.02, 1e-4, 1e-9])
@pytest.mark.parametrize(("low", "high"), [(-9, 1), (0.9, 1.1), (-6, 12)])
def test_divergence_of_any_arguments(low, high, closeness):
    a, b = pairs(low, high, closeness)
    expected = exact(exact_divergence, a, b)
    assert_allclose(remainder_divergence(a, b), expected, rtol=1e-13, atol=2e-14)


def test_divergence_is_zero_only_for_equal_arguments():
    a = 10.0 ** np.arange(-9, 13)
    assert_array_equal(remainder_divergence(a, a), 0.0)
    assert (remainder_divergence(a, 1.1 * a) > 1e-4).all()
    assert remainder_divergence(np.float64(3.0), np.float64(3.0)).shape == ()
