# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments of the thesis' chapter 2 compute of topics."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.papers import rating_lda, review_topics

LISTS = {"praise": {"good", "great"}, "blame": {"bad"}}


def test_opinions_on_the_wrong_side_count_against_a_topic():
    assert_allclose(review_topics.opinion(["good", "great", "bad", "film"], "praise", LISTS), 0.25)
    assert_allclose(review_topics.opinion(["good", "great", "bad", "film"], "blame", LISTS), -0.25)


def test_shared_words_are_those_of_the_best_matching():
    first = [["a", "b", "c"], ["b", "c", "d"], ["x", "y", "z"]]
    second = [["b", "c", "d"], ["a", "q", "x"], ["x", "y", "w"], ["c", "a", "e"]]
    best = max(
        sum(len(set(one) & set(second[place])) for one, place in zip(first, order, strict=True))
        for order in permutations(range(4), 3)
    )
    expected = best / 3 / review_topics.N_WORDS
    assert_allclose(review_topics.shared(first, second), expected)
    assert best > 5


def test_outliers_by_hand(monkeypatch):
    """Of the top two words of each, one of the second topic is rarer in its match."""
    monkeypatch.setattr(review_topics, "LEADING_WORDS", 2)
    true = np.array([[0.6, 0.3, 0.1, 0.0], [0.1, 0.1, 0.1, 0.7]])
    overall = true.mean(axis=0)
    learnt = np.array([[0.5, 0.4, 0.1, 0.0], [0.3, 0.0, 0.1, 0.6]])
    assert_allclose(review_topics.outliers(learnt, true, overall), 1 / 4)
    assert review_topics.outliers(true, true, overall) < 0.5


def test_the_topics_with_most_opinions():
    top = [["bad", "film"], ["film", "film"], ["good", "great"]]
    assert review_topics.extremes(top, LISTS) == (2, 0)


def test_splits_are_the_same_for_all_and_differ():
    reviews = rating_lda.synthetic(50)
    one, other = (rating_lda.halved(reviews, seed)[1] for seed in (0, 1))
    again = rating_lda.halved(reviews, 0)
    assert_array_equal(again[1].ratings, one.ratings)
    assert not np.array_equal(one.ratings, other.ratings)
    assert len(again[0].ratings) + len(one.ratings) == 50
    assert_array_equal(np.sort(np.append(again[0].ratings, one.ratings)), np.sort(reviews.ratings))


@pytest.mark.parametrize("has_whose", [False, True])
def test_models_are_what_they_are_called(has_whose):
    found = rating_lda.models(3, 0, has_whose)
    assert found["LDA-R"].qualitative
    assert not found["LDA-0"].qualitative
    assert ("LDA-C" in found) == ("LDA-R-U" in found) == has_whose
    if has_whose:
        assert found["LDA-C"].profile == found["LDA-R-C"].profile == "item"
        assert found["LDA-R-U"].profile == "user"
    assert all(model.learn_priors for name, model in found.items()
               if "," not in name and name != "HFT")  # fmt: skip
