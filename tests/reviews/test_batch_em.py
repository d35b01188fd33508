# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of variational EM, on an E-step that is known, and Newton's method for eta."""

from itertools import chain, repeat

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.batch_em import (
    BURN_IN,
    LEAST_ETA,
    MOST_ETA,
    derivatives,
    run_em,
    solve_eta,
)

N_WORDS, K, ETA = 6, 2, 0.3
COUNTS = np.random.default_rng(0).gamma(1.0, 5.0, (N_WORDS, K))


def statistics(bound):
    words = np.arange(N_WORDS, dtype=np.int32)
    return Statistics(words, COUNTS, np.array([COUNTS.sum()]), None, bound)


def start(*, learnt):
    posterior = TopicPosterior(np.full((1, 1), ETA), (N_WORDS, K), np.ones(K))
    if learnt:
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics(None)))
    return posterior


def rounds(bounds, *, learnt=True, max_iter=50, tol=0.0):
    """run_em with an E-step that has these bounds, and the last of them from then on."""
    given = chain(bounds, repeat(bounds[-1]))

    def e_step(source, documents):
        return statistics(next(given)), documents

    return run_em(
        start(learnt=learnt), e_step, lambda alpha, *_: alpha, seed=0, learn_eta=False,
        max_iter=max_iter, tol=tol, report=lambda bound: None,
    )  # fmt: skip


def test_the_bound_is_that_of_the_documents_less_the_divergence_of_the_topics():
    found = rounds([-900.0, -800.0, -700.0], max_iter=3)
    lam = ETA + COUNTS
    divergence = gammaln(lam.sum(axis=0)) - gammaln(lam).sum(axis=0)
    divergence -= gammaln(N_WORDS * ETA) - N_WORDS * gammaln(ETA)
    divergence += (COUNTS * (digamma(lam) - digamma(lam.sum(axis=0)))).sum(axis=0)
    assert_allclose(found.bounds, np.array([-900.0, -800.0, -700.0]) - divergence.sum())


@pytest.mark.parametrize(("tol", "n_rounds"), [(0.0, 6), (0.05, 3), (0.5, 2)])
def test_a_round_that_gains_less_is_the_last(tol, n_rounds):
    found = rounds([-1000.0, -800.0, -790.0, -785.0, -784.0, -784.0], tol=tol, max_iter=6)
    assert found.n_rounds == len(found.bounds) == n_rounds


def test_a_random_start_burns_in():
    found = rounds([-1000.0], learnt=False, tol=0.5)
    assert found.n_rounds == BURN_IN + 1
    assert len(found.bounds) == BURN_IN


# eta: against finite differences and a search


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
