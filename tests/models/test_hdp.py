# SPDX-License-Identifier: BSD-3-Clause
"""Weights of topics from tables: a step of EM, and the means of sticks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma, gammaln

from streamtopics.messages import TableStatistics
from streamtopics.models.hdp import mean_weights, stick_weights, topics_to_keep
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates import BPS, SVB

B = 1.5


@pytest.mark.parametrize("concentration", [0.1, 1.0, 5.0])
def test_steps_never_lower_the_posterior_of_the_weights(concentration):
    """That of Polya likelihoods and a density proportional to pi_u^concentration."""
    counts = np.random.default_rng(0).poisson([8.0, 3.0, 0.5, 0.0], (30, 4))
    pi = np.full(4, 0.2)
    levels = []
    for _ in range(60):
        alpha = B * pi
        likelihood = (gammaln(alpha + counts) - gammaln(alpha))[counts > 0].sum()
        polya = likelihood + concentration * np.log(1 - pi.sum())
        levels.append(polya)
        tables = (alpha * (digamma(alpha + counts) - digamma(alpha))).sum(axis=0)
        pi = mean_weights(tables, concentration)
        pi = np.maximum(pi, 1e-300)
    assert (np.diff(levels) >= -1e-9).all()
    assert levels[-1] > levels[0] + 1
    assert pi[3] < 1e-12


def test_a_topic_that_no_document_has_weighs_nothing_for_the_others():
    tables = np.array([5.0, 2.0])
    with_more = mean_weights(np.array([5.0, 2.0, 0.0]), 1.0)
    assert_allclose(with_more[:2], mean_weights(tables, 1.0))
    assert_allclose(1 - with_more.sum(), 1.0 / 8.0)


def test_stick_weights_are_the_means_of_the_posterior():
    tables, concentration = np.array([4.0, 0.5, 2.0]), 1.5
    rng = np.random.default_rng(0)
    rest, mean = np.ones(400_000), []
    for k in range(3):
        stick = rng.beta(1 + tables[k], concentration + tables[k + 1 :].sum(), len(rest))
        mean.append((rest * stick).mean())
        rest *= 1 - stick
    assert_allclose(stick_weights(tables, concentration), mean, rtol=0.01)


@pytest.mark.parametrize("rule", [SVB(), BPS(0.2, "topic")], ids=str)
@pytest.mark.parametrize(
    ("mass", "kept"), [([0.2, 0.5, 0.1], [1]), ([0.9, 1.0, 3.0], [1, 2]), ([0.0, 0.0, 0.0], [0, 1])]
)
def test_topics_of_one_word_are_kept_or_the_largest(mass, kept, rule):
    """The third is new; a minibatch without words drops none."""
    posterior = TopicPosterior(np.full((1, 1), 0.1), (4, 2), np.ones(2))
    mass = np.array(mass)
    statistics = TableStatistics(
        np.zeros(1, np.int32), mass[None], np.full(1, mass.sum()), tables=np.ones(3)
    )
    assert_array_equal(topics_to_keep(posterior, statistics, rule), kept)
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics.of(np.arange(2)), boost=np.array([3.0, 1.0])))
    assert_array_equal(posterior.with_topics(np.array([0, -1]), np.ones(2)).c, [4.0, 1.0])
