# SPDX-License-Identifier: BSD-3-Clause
"""Diversity and exclusivity of topics: cases by hand, limits, and what is refused."""

import numpy as np
from numpy.testing import assert_allclose

from streamtopics import SVBLDA
from streamtopics.metrics import topic_diversity, topic_exclusivity


def test_from_all_the_same_to_all_different():
    assert topic_diversity([[1, 2, 3]] * 4) == 1 / 4
    assert topic_diversity(np.arange(40).reshape(4, 10)) == 1.0


def test_counts_distinct_words():
    rng = np.random.default_rng(0)
    topics = np.stack([rng.permutation(60)[:25] for _ in range(8)])
    assert topic_diversity(topics) == np.unique(topics).size / 200
    words = np.array([f"w{i}" for i in range(60)])[topics]
    assert topic_diversity(words) == topic_diversity(topics)
    assert topic_diversity(words.tolist()) == topic_diversity(topics)


def test_topics_may_differ_in_length():
    assert topic_diversity([["a", "b", "c"], ["a"]]) == 3 / 4


def test_exclusivity_by_hand():
    topics = np.array([[0.6, 0.3, 0.1, 0.0], [0.2, 0.1, 0.0, 0.7]])
    got = topic_exclusivity(topics, n_words=2)
    assert_allclose(got, [(0.6 / 0.8 + 0.3 / 0.4) / 2, (1.0 + 0.2 / 0.8) / 2])
    assert_allclose(topic_exclusivity(topics * [[3], [50]], n_words=2), got)


def test_exclusivity_from_all_alike_to_none_alike():
    assert_allclose(topic_exclusivity(np.ones((4, 20))), [0.25] * 4)
    assert_allclose(topic_exclusivity(np.kron(np.eye(3), np.ones(10))), [1.0] * 3)
    assert_allclose(topic_exclusivity([[1, 2, 3]]), [1.0])


def test_exclusivity_of_words_that_nobody_has():
    """Words of probability 0 are no top words, however many are asked for."""
    assert_allclose(topic_exclusivity([[1, 0, 0], [0, 1, 0]], n_words=2), [1.0, 1.0])
    assert_allclose(topic_exclusivity([[3, 1, 0, 0]], 4), [1.0])
    assert_allclose(topic_exclusivity([[3, 1, 0, 0]] * 2, 4), [0.5, 0.5])
    found = topic_exclusivity([[3, 1, 0, 0], [3, 0, 0, 1]], 3)
    assert_allclose(found, [(0.5 + 1) / 2] * 2)


def test_it_takes_fitted_models():
    model = SVBLDA(3, random_state=0).fit(np.eye(12))
    assert_allclose(topic_exclusivity(model), topic_exclusivity(model.components_))
