# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of variational EM, on an E-step that is known."""

from itertools import chain, repeat

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import digamma, gammaln

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.batch_em import BURN_IN, run_em

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
