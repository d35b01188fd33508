# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method for eta, against finite differences and a search."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import digamma

from streamtopics.updates.word_prior import (
    LEAST_ETA,
    MOST_ETA,
    derivatives,
    objective,
    solve_eta,
)


@pytest.mark.parametrize("eta", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("n_words", [2, 1000])
def test_derivatives(eta, n_words):
    mean, h = -12.0, 1e-5 * eta
    first, second = derivatives(eta, mean, n_words)
    around = [objective(eta + s * h, mean, n_words) for s in (-1, 1)]
    assert_allclose(first, (around[1] - around[0]) / (2 * h), rtol=1e-5, atol=1e-4)
    slopes = [derivatives(eta + s * h, mean, n_words)[0] for s in (-1, 1)]
    assert_allclose(second, (slopes[1] - slopes[0]) / (2 * h), rtol=1e-5)
    assert second < 0


@pytest.mark.parametrize("eta", [0.001, 0.05, 0.7, 8.0])
@pytest.mark.parametrize("start", [1e-4, 0.1, 10.0])
def test_the_solution_from_anywhere(eta, start):
    mean = digamma(eta) - digamma(5000 * eta)
    assert_allclose(solve_eta(mean, 5000, start), eta, rtol=1e-6)


def test_it_is_the_maximum_for_expectations_of_several_topics():
    lam = np.random.default_rng(0).gamma(0.2, 5.0, (40, 3)) + 0.05
    mean = float((digamma(lam) - digamma(lam.sum(axis=0))).mean())
    best = minimize_scalar(
        lambda x: -objective(np.exp(x), mean, 40), bounds=(-6, 2), method="bounded",
        options={"xatol": 1e-9},
    )  # fmt: skip
    assert_allclose(solve_eta(mean, 40, 1.0), np.exp(best.x), rtol=1e-6)


def test_bounds():
    assert solve_eta(-1e9, 100, 1.0) == LEAST_ETA
    assert solve_eta(-np.log(100), 100, 1.0) == MOST_ETA
    assert solve_eta(0.0, 1, 0.3) == 0.3
