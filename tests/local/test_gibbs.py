# SPDX-License-Identifier: BSD-3-Clause
"""The sampling step: what it reports, documents that travel, zeros, and how much it numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import digamma

from streamtopics.local import Gibbs
from streamtopics.utils.parallel import SERIAL
from tests.local.test_hinted import LOG_THETA, random_case, seeds_of
from tests.local.test_one_topic import minibatch_of, topics_of


def test_log_theta_is_that_of_the_last_sample_where_it_is_asked_for():
    counts, weights, alpha, _ = random_case()
    minibatch, topics, seeds = minibatch_of(counts), topics_of(weights, alpha), seeds_of(12)
    statistics, z = Gibbs(3, 0).step(minibatch, topics, seeds, SERIAL, report=LOG_THETA)
    gamma = np.tile(alpha, (12, 1))
    np.add.at(gamma, (np.repeat(np.arange(12), counts.sum(axis=1).astype(int)), z), 1)
    log_theta = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    assert_allclose(statistics.log_theta, log_theta[counts.sum(axis=1) > 0].mean(axis=0))
    assert Gibbs(3, 0).step(minibatch, topics, seeds, SERIAL)[0].log_theta is None


def test_log_theta_is_known_of_one_document_and_not_of_none():
    alpha, local = np.array([0.4, 1.1]), Gibbs(2, 1)
    topics = topics_of(np.array([[0.2, 0.7], [0.5, 0.5]]), alpha)
    alone, none = minibatch_of(np.eye(2)[:1]), minibatch_of(np.zeros((1, 2)))
    found, z = local.step(alone, topics, seeds_of(1), SERIAL, report=LOG_THETA)
    gamma = alpha + np.eye(2)[z[0]]
    assert_allclose(found.log_theta, digamma(gamma) - digamma(gamma.sum()))
    assert local.step(none, topics, seeds_of(1), SERIAL, report=LOG_THETA)[0].log_theta is None


@pytest.mark.parametrize("n_averaged", [0, 1, 3])
def test_log_theta_is_a_mean_over_documents_and_sweeps(n_averaged):
    """Of words that are each of one topic, so that no sweep finds another count."""
    alpha, counts = np.array([0.4, 1.1]), np.array([[3, 1], [0, 2], [0, 0], [4, 0]])
    topics, local = topics_of(np.eye(2), alpha), Gibbs(4, n_averaged)
    found, _ = local.step(minibatch_of(counts), topics, seeds_of(4), SERIAL, report=LOG_THETA)
    gamma = alpha + counts[[0, 1, 3]]
    log_theta = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    assert_allclose(found.log_theta, log_theta.mean(axis=0))


def test_more_tokens_than_32_bits_number_are_refused(monkeypatch):
    monkeypatch.setattr("streamtopics.local.step.MOST_TOKENS", 2**30)
    minibatch, topics = (
        minibatch_of(np.full((1, 2), 2.0**31)),
        topics_of(np.ones((2, 2)), np.ones(2)),
    )
    with pytest.raises(ValueError, match=r"have 2,147,483,648 tokens together, more"):
        Gibbs().doc_topic(minibatch, topics, seeds_of(1), SERIAL)
