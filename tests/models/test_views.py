# SPDX-License-Identifier: BSD-3-Clause
"""Views against their formulas: weights of words, up to a factor for each word."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma

from streamtopics.kernels import variational
from streamtopics.models.lda import corrected_mean, geometric_mean, mean

FORMULAS = {
    "corrected_mean": (corrected_mean, lambda rows, mass: np.exp(digamma(rows + 0.5)) / mass),
    "geometric_mean": (geometric_mean, lambda rows, mass: np.exp(digamma(rows) - digamma(mass))),
    "mean": (mean, lambda rows, mass: rows / mass),
}


def seen(view, rows, mass, dtype):
    """The weights, without the padding, which must stay 0."""
    n_components = rows.shape[1]
    out = np.zeros((len(rows), variational.padded_width(n_components)), dtype)
    view(rows, mass, out)
    assert_array_equal(out[:, n_components:], 0)
    return out[:, :n_components]


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("n_components", [1, 3, 20, 70])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-8), (np.float32, 2e-5)])
def test_weights_are_those_of_the_formula(name, n_components, dtype, rtol):
    view, formula = FORMULAS[name]
    rng = np.random.default_rng(0)
    rows = rng.gamma(0.3, 30.0, (40, n_components)) + 0.05
    mass = rows.sum(axis=0) + rng.uniform(0, 1000, n_components)
    expected = formula(rows, mass)
    expected /= expected.max(axis=1, keepdims=True)
    before = rows.copy()
    found = seen(view, rows, mass, dtype)
    assert_allclose(found, expected, rtol=rtol)
    assert_allclose(found.max(axis=1), 1, rtol=rtol)
    assert_array_equal(rows, before)


def test_the_corrected_mean_is_the_mean_to_the_second_order():
    """psi(x + 1/2) = log x + 1 / (24 x^2) + O(x^-4)."""
    mass = np.array([100.0, 100.0])
    for x in (5.0, 50.0):
        found = seen(corrected_mean, np.array([[x, 1e6]]), mass, np.float64)[0, 0]
        assert_allclose(found * 1e6 / x - 1, 1 / (24 * x**2), rtol=0.1)
