# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method for eta, against finite differences and a search."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln

from streamtopics.reviews.batch_em import LEAST_ETA, MOST_ETA, derivatives, solve_eta


def objective(eta, mean_log_beta, n_words):
    """f(eta) / K."""
    return gammaln(n_words * eta) - n_words * gammaln(eta) + n_words * eta * mean_log_beta


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
@pytest.mark.parametrize("n_words", [3, 5000])
def test_the_solution_from_anywhere(eta, start, n_words):
    mean = digamma(eta) - digamma(n_words * eta)
    assert_allclose(solve_eta(mean, n_words, start), eta, rtol=1e-6)


def test_it_is_the_maximum_for_expectations_of_several_topics():
    lam = np.random.default_rng(0).gamma(0.2, 5.0, (40, 3)) + 0.05
    mean = float((digamma(lam) - digamma(lam.sum(axis=0))).mean())
    best = minimize_scalar(
        lambda x: -objective(np.exp(x), mean, 40), bounds=(-6, 2), method="bounded",
        options={"xatol": 1e-9},
    )  # fmt: skip
    assert_allclose(solve_eta(mean, 40, 1.0), np.exp(best.x), rtol=1e-6)


def test_no_step_of_newtons_lowers_the_objective_or_has_to_be_cut():
    """|F''| <= -F' in x = log eta, by differences, from the least mean to the most."""
    x, h = np.linspace(np.log(LEAST_ETA), np.log(MOST_ETA), 60), 1e-4
    for n_words in (2, 10, 10_000):
        for below in (0.0, 0.1, 10.0):
            mean = -np.log(n_words) - below
            slopes = [
                [np.exp(at) * derivatives(np.exp(at), mean, n_words)[0] for at in x + s * h]
                for s in (-1, 0, 1)
            ]
            first = (np.array(slopes[2]) - slopes[0]) / (2 * h)
            second = (np.array(slopes[2]) + slopes[0] - 2 * np.array(slopes[1])) / h**2
            assert np.all(first < 0)
            assert np.all(np.abs(second) <= -first * 1.01)
