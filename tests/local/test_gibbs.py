# SPDX-License-Identifier: BSD-3-Clause
"""The sampling step: what it reports, documents that travel, zeros, and how much it numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma

from streamtopics.local import Gibbs
from streamtopics.messages import Minibatch
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


def test_it_is_thorough_with_40_sweeps_of_which_30_are_averaged():
    assert Gibbs(5).thorough() == Gibbs(40, 30)


@pytest.mark.parametrize("n_components", [2, 5, 40, 300])
def test_a_token_alone_is_of_each_topic_as_prior_and_weights_say(n_components):
    """Of two words, fewer than there are topics."""
    rng = np.random.default_rng(0)
    weights, alpha = rng.random((2, n_components)), rng.random(n_components)
    minibatch, topics = minibatch_of(np.eye(2)[[0, 1, 1]]), topics_of(weights, alpha)
    statistics, _ = Gibbs(4, 2).step(minibatch, topics, seeds_of(3), SERIAL)
    p = weights * alpha / (weights @ alpha)[:, None]
    assert_allclose(statistics.counts, [[1], [2]] * p, rtol=1e-5)


def test_stored_zeros_change_nothing():
    """Also where a document has nothing else."""
    counts, weights, alpha, _ = random_case()
    n, n_words = counts.shape
    indptr, indices = n_words * np.arange(n + 1), np.tile(np.arange(n_words), n)
    given = (array.astype(np.int32) for array in (np.arange(n_words), indptr, indices))
    stored, topics, seeds = (
        Minibatch(*given, counts.ravel()),
        topics_of(weights, alpha),
        seeds_of(n),
    )
    found, z = Gibbs(5).step(stored, topics, seeds, SERIAL, report=LOG_THETA)
    plainly = Gibbs(5).step(minibatch_of(counts), topics, seeds, SERIAL, report=LOG_THETA)
    assert_allclose(found.counts, plainly[0].counts, rtol=1e-6)
    assert_allclose(found.log_theta, plainly[0].log_theta, rtol=1e-6)
    assert_array_equal(z, plainly[1])


def test_more_tokens_than_32_bits_number_are_refused(monkeypatch):
    monkeypatch.setattr("streamtopics.local.step.MOST_TOKENS", 2**30)
    minibatch, topics = (
        minibatch_of(np.full((1, 2), 2.0**31)),
        topics_of(np.ones((2, 2)), np.ones(2)),
    )
    with pytest.raises(ValueError, match=r"have 2,147,483,648 tokens together, more"):
        Gibbs().doc_topic(minibatch, topics, seeds_of(1), SERIAL)
