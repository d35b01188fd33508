# SPDX-License-Identifier: BSD-3-Clause
"""The words that topics are shown by: the formula and its limits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.linalg import block_diag

from streamtopics.metrics import relevant_words
from streamtopics.metrics.relevance import FLOOR


def twin(topic_word, weights, n, relevance):
    """The formula, word by word."""
    marginal = weights @ topic_word
    found = []
    for p in topic_word:
        often = [w for w in range(len(p)) if p[w] >= FLOOR * sorted(p)[-n]]
        value = relevance * np.log(p) + (1 - relevance) * np.log(p / marginal)
        found.append(sorted(often, key=lambda w, value=value: (-value[w], w))[:n])
    return found


@pytest.mark.parametrize("relevance", [0.0, 0.3, 0.6, 0.99, 1.0])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_equals_the_formula(relevance, n):
    rng = np.random.default_rng(0)
    topic_word = rng.dirichlet(np.full(40, 0.3), size=6)
    weights = rng.dirichlet(np.ones(6))
    got = relevant_words(topic_word, weights, n, relevance=relevance)
    assert got.tolist() == twin(topic_word, weights, n, relevance)


def test_one_is_by_probability_whatever_the_scale():
    components = np.random.default_rng(1).gamma(0.2, size=(4, 30))
    expected = np.argsort(-components, axis=1, kind="stable")[:, :10]
    assert_array_equal(relevant_words(components), expected)


def test_less_prefers_words_that_other_topics_lack_if_they_are_not_rare():
    shared, own, rare = 0.5, 0.4, 0.1
    topic_word = np.array([[shared, own, rare, 0.0, 0.0], [shared, 0.0, 0.0, rare, own]])
    assert relevant_words(topic_word, n_words=2).tolist() == [[0, 1], [0, 4]]
    assert relevant_words(topic_word, n_words=2, relevance=0.3).tolist() == [[1, 0], [4, 0]]


def test_weights_of_topics_count():
    topic_word = [[0.5, 0.5, 0.0], [0.6, 0.0, 0.4], [0.0, 0.6, 0.4]]
    assert relevant_words(topic_word, [0.2, 0.7, 0.1], 1, relevance=0.5)[0] == [1]
    assert relevant_words(topic_word, [0.2, 0.1, 0.7], 1, relevance=0.5)[0] == [0]


@pytest.mark.parametrize("relevance", [0.0, 0.5, 1.0])
def test_ties_zeros_and_topics_without_weight(relevance):
    flat = np.full((2, 7), 1 / 7)
    assert relevant_words(flat, n_words=3, relevance=relevance).tolist() == [[0, 1, 2]] * 2
    sparse = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.4, 0.6]]
    got = relevant_words(sparse, [1.0, 0.0], 4, relevance=relevance)
    assert got.tolist() == [[1, 0, 2, 3], [3, 2, 0, 1]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ties_of_lifts_are_not_broken_by_rounding(dtype):
    """Words that one topic alone has are lifted alike, by one over its weight."""
    topics = np.zeros((2, 8), dtype)
    topics[0, :5], topics[1, 5:] = [0.1, 0.3, 0.2, 0.15, 0.25], [0.5, 0.25, 0.25]
    assert relevant_words(topics, None, 5, relevance=0.0)[0].tolist() == [0, 1, 2, 3, 4]
    rng = np.random.default_rng(0)
    for _ in range(50):
        own = block_diag(*rng.dirichlet(np.full(20, 5.0), 3))
        got = relevant_words(own.astype(dtype), rng.dirichlet(np.ones(3)), 20, relevance=0.0)
        assert_array_equal(got, np.arange(60).reshape(3, 20))
