# SPDX-License-Identifier: BSD-3-Clause
"""The sampling step: what it reports, documents that travel, zeros, and how much it numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import digamma

from streamtopics.local import Gibbs
from streamtopics.utils.parallel import SERIAL
from tests.local.test_hinted import LOG_THETA, seeds_of
from tests.local.test_one_topic import minibatch_of, topics_of


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
