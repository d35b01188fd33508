# SPDX-License-Identifier: BSD-3-Clause
"""Exclusivity and stability of topics: cases by hand, limits, and what is refused."""

from itertools import permutations

import numpy as np
import pytest

from streamtopics import SVBLDA
from streamtopics.metrics import (
    topic_coherence,
    topic_diversity,
    topic_exclusivity,
    topic_stability,
)

RANDOM = np.random.default_rng(0).dirichlet(np.full(30, 0.2), size=(3, 5))
SIMILARITIES = ["jaccard", "cosine"]


# Exclusivity


def test_exclusivity_by_hand():
    topics = np.array([[0.6, 0.3, 0.1, 0.0], [0.2, 0.1, 0.0, 0.7]])
    got = topic_exclusivity(topics, n_words=2)
    np.testing.assert_allclose(got, [(0.6 / 0.8 + 0.3 / 0.4) / 2, (1.0 + 0.2 / 0.8) / 2])
    np.testing.assert_allclose(topic_exclusivity(topics * [[3], [50]], n_words=2), got)


def test_exclusivity_from_all_alike_to_none_alike():
    np.testing.assert_allclose(topic_exclusivity(np.ones((4, 20))), [0.25] * 4)
    np.testing.assert_allclose(topic_exclusivity(np.kron(np.eye(3), np.ones(10))), [1.0] * 3)
    np.testing.assert_allclose(topic_exclusivity([[1, 2, 3]]), [1.0])


def test_relevance_raises_exclusivity():
    assert topic_exclusivity(RANDOM[0], relevance=0).mean() > topic_exclusivity(RANDOM[0]).mean()


def test_exclusivity_of_words_that_nobody_has():
    """Words of probability 0 are no top words, however many are asked for."""
    np.testing.assert_allclose(topic_exclusivity([[1, 0, 0], [0, 1, 0]], n_words=2), [1.0, 1.0])
    np.testing.assert_allclose(topic_exclusivity([[3, 1, 0, 0]], 4), [1.0])
    np.testing.assert_allclose(topic_exclusivity([[3, 1, 0, 0]] * 2, 4), [0.5, 0.5])
    found = topic_exclusivity([[3, 1, 0, 0], [3, 0, 0, 1]], 3)
    np.testing.assert_allclose(found, [(0.5 + 1) / 2] * 2)
    np.testing.assert_allclose(topic_exclusivity([[3, 1, 0, 0]], 4, relevance=0.5), [1.0])


# Stability


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_same_topics_in_any_order_are_stable(similarity):
    order = np.array([2, 0, 4, 1, 3])
    models = [RANDOM[0], RANDOM[0], 7 * RANDOM[0][order]]
    found = topic_stability(models, similarity=similarity)
    np.testing.assert_allclose(found.mean, 1.0)
    np.testing.assert_allclose(found.topics, np.ones(5))
    np.testing.assert_array_equal(found.matches, [np.arange(5), np.argsort(order)])


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_topics_that_share_no_word_are_not(similarity):
    whole = np.kron(np.eye(4), np.ones(10))
    found = topic_stability([whole[:2], whole[2:]], similarity=similarity)
    assert found.mean == 0.0
    assert found.topics.tolist() == [0.0, 0.0]


def sets_of_words(table, n):
    """The n top words of each topic, those that it has."""
    return [{w for w in np.argsort(-row, kind="stable")[:n] if row[w] > 0} for row in table]


@pytest.mark.parametrize("n_words", [2, 3, 10, 40])
def test_words_of_probability_0_are_not_shared(n_words):
    one, other, third = np.zeros((3, 2, 40))
    one[0, :3], one[1, 3:6], other[0, 20:23], other[1, 23:26] = np.ones((4, 3))
    assert topic_stability([one, other], n_words).mean == 0
    third[0, 1:5], third[1, 20:25] = 1.0, [5, 4, 3, 2, 1]
    for pair in ((one, third), (other, third)):
        sets = [sets_of_words(table, n_words) for table in pair]
        alike = np.array([[len(a & b) / len(a | b) for b in sets[1]] for a in sets[0]])
        best = max(np.trace(alike), np.trace(alike[:, ::-1])) / 2
        np.testing.assert_allclose(topic_stability(pair, n_words).mean, best)


def test_jaccard_by_hand():
    # Top twos are {0, 1}, {2, 3} and {0, 2}, {1, 3}: one of three words is shared in all pairs.
    found = topic_stability([[[2, 2, 0, 0], [0, 0, 2, 2]], [[2, 0, 2, 0], [0, 2, 0, 2]]], n_words=2)
    np.testing.assert_allclose(found.topics, [1 / 3, 1 / 3])


def test_cosine_by_hand():
    found = topic_stability([[[3, 4, 0]], [[4, 3, 0]], [[0, 0, 1]]], similarity="cosine")
    np.testing.assert_allclose(found.topics, [(24 / 25 + 0) / 2])
    np.testing.assert_allclose(found.mean, (24 / 25 + 0 + 0) / 3)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_match_is_the_best_of_all(similarity):
    one, other = RANDOM[0], RANDOM[1]
    best = max(
        np.mean([topic_stability([[a], [other[k]]], similarity=similarity).mean
                 for a, k in zip(one, order, strict=True)])
        for order in permutations(range(5))
    )  # fmt: skip
    np.testing.assert_allclose(topic_stability([one, other], similarity=similarity).mean, best)


def test_the_mean_is_over_pairs_and_topics_are_of_the_first():
    pairs = [topic_stability([RANDOM[i], RANDOM[j]]) for i, j in ((0, 1), (0, 2), (1, 2))]
    found = topic_stability(RANDOM)
    np.testing.assert_allclose(found.mean, np.mean([pair.mean for pair in pairs]))
    np.testing.assert_allclose(found.topics, (pairs[0].topics + pairs[1].topics) / 2)
    np.testing.assert_array_equal(found.matches, np.vstack([pairs[0].matches, pairs[1].matches]))


def test_topics_left_over_count_as_not_found():
    found = topic_stability([RANDOM[0], RANDOM[0][[3, 1]]])
    np.testing.assert_allclose(found.topics, [0, 1, 0, 1, 0])
    np.testing.assert_array_equal(found.matches, [[-1, 1, -1, 0, -1]])
    np.testing.assert_allclose(found.mean, 2 / 5)
    np.testing.assert_allclose(topic_stability([RANDOM[0][:2], RANDOM[0]]).mean, 2 / 5)


# Both


def test_they_take_fitted_models():
    models = [SVBLDA(3, random_state=seed).fit(np.eye(12)) for seed in range(2)]
    np.testing.assert_allclose(
        topic_exclusivity(models[0]), topic_exclusivity(models[0].components_)
    )
    by_arrays = topic_stability([model.components_ for model in models])
    assert topic_stability(iter(models)).mean == by_arrays.mean


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: topic_exclusivity([[1, -1]]), ValueError, "Negative values"),
        (lambda: topic_exclusivity([[1, 1], [0, 0]]), ValueError, "row 1 is 0 everywhere"),
        (lambda: topic_exclusivity([[1, 1]], n_words=0), ValueError, "n_words must be at least 1"),
        (lambda: topic_exclusivity(SVBLDA()), ValueError, "not fitted"),
        (lambda: topic_stability([[[1, 2]]]), ValueError, "at least two, .* got 1 of"),
        (lambda: topic_stability([[[1, 2]], [[1, 2, 3]]]), ValueError, r"got 2 of \[2, 3\]"),
        (lambda: topic_stability([[[1]]] * 2, similarity="x"), ValueError, "'jaccard', 'cosine'"),
        (lambda: topic_stability([[[1]]] * 2, n_words=0), ValueError, "n_words must be at least 1"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (topic_stability, r"models must be a list .*got a SVBLDA. Pass \[model, other\]"),
        (topic_diversity, r"topics must be the top words .*Pass model.top_words\(n_words=25\)"),
        (lambda m: topic_coherence(m, np.eye(12)), r"topics .* got a SVBLDA. Pass model.top_words"),
    ],
)
def test_a_model_in_the_place_of_its_topics(measure, message):
    model = SVBLDA(3, random_state=0)
    for given in (model, model.fit(np.eye(12))):
        with pytest.raises(TypeError, match=message):
            measure(given)


def test_the_remedies_do():
    one, other = (SVBLDA(3, random_state=seed).fit(np.eye(12)) for seed in (0, 1))
    assert topic_stability([one, other]).topics.shape == (3,)
    assert topic_coherence(one.top_words(), np.eye(12)).shape == (3,)
