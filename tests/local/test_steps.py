# SPDX-License-Identifier: BSD-3-Clause
"""The sampling step and the variational one: what they report, and how much they do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import digamma

from streamtopics.local import Gibbs, Variational
from streamtopics.utils.parallel import SERIAL
from tests.local.test_hinted import LOG_THETA, random_case, seeds_of
from tests.local.test_one_topic import minibatch_of, topics_of
from tests.reference import variational as reference


@pytest.mark.parametrize("n_averaged", [0, 1, 3])
@pytest.mark.parametrize("n", [1, 4])
def test_log_theta_is_a_mean_over_documents_and_sweeps(n_averaged, n):
    """Of words that are each of one topic, so that no sweep finds another count."""
    alpha, counts = np.array([0.4, 1.1]), np.array([[3, 1], [0, 2], [0, 0], [4, 0]])[:n]
    topics, local = topics_of(np.eye(2), alpha), Gibbs(4, n_averaged)
    found, _ = local.step(minibatch_of(counts), topics, seeds_of(n), SERIAL, report=LOG_THETA)
    gamma = alpha + counts[counts.any(axis=1)]
    log_theta = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    assert_allclose(found.log_theta, log_theta.mean(axis=0))


def test_more_tokens_than_32_bits_number_are_refused(monkeypatch):
    monkeypatch.setattr("streamtopics.local.step.MOST_TOKENS", 2**30)
    minibatch = minibatch_of(np.full((1, 2), 2.0**31))
    topics = topics_of(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match=r"have 2,147,483,648 tokens together, more"):
        Gibbs().doc_topic(minibatch, topics, seeds_of(1), SERIAL)


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_bound_is_that_of_the_definition(dtype, scale):
    """In double precision: beside a great alpha, single precision would lose it."""
    counts, weights, alpha, _ = random_case()
    alpha, topics = scale * alpha, topics_of(weights, scale * alpha, dtype)
    statistics, gamma = Variational().step(
        minibatch_of(counts, dtype), topics, seeds_of(12), SERIAL, report=frozenset({"local_bound"})
    )
    assert gamma.dtype == dtype
    seen = topics.weights[:, : len(alpha)]
    expected = sum(map(reference.bound, counts, [seen] * 12, [alpha] * 12, gamma))
    assert_allclose(statistics.local_bound, expected, rtol=1e-6)


@pytest.mark.parametrize(("max_iter", "thorough"), [(5, 100), (99, 100), (100, 100), (250, 250)])
def test_it_is_thorough_with_at_least_100_sweeps(max_iter, thorough):
    assert Variational(0.1, max_iter).thorough() == Variational(0.1, thorough)
