# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic reviews with ratings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.datasets import make_rated_reviews


@pytest.mark.parametrize(("profile", "n"), [("document", 300), ("item", 50), ("user", 100)])
def test_shapes_and_distributions(profile, n):
    data = make_rated_reviews(300, profile=profile, random_state=0)
    assert data.X.shape == (300, 200)
    assert data.profile_topic.shape == (n, 5)
    assert_allclose(data.profile_topic.sum(axis=1), 1)
    assert_allclose(data.topic_word.sum(axis=1), 1)
    assert set(data.signs) == {-1, 1}


def test_signs_are_opinions_beside_what_the_user_gives():
    data = make_rated_reviews(500, noise=0.0, random_state=1)
    assert_array_equal(data.signs, np.where(data.item_effects[data.item] >= 0, 1, -1))
    beside = data.ratings - data.user_effects[data.user]
    assert_array_equal(data.signs, np.where(beside >= 6, 1, -1))


def test_words_come_in_the_shares_stated():
    data = make_rated_reviews(20, mean_length=20_000, profile="document", random_state=2)
    columns = np.where(data.signs > 0, 5, 6)
    p = data.qualitative[:, None]
    expected = (1 - p) * (data.profile_topic @ data.topic_word[:5]) + p * data.topic_word[columns]
    X = data.X.toarray()
    assert np.abs(X / X.sum(axis=1, keepdims=True) - expected).sum(axis=1).max() < 0.1
    assert abs(make_rated_reviews(3000, random_state=0).qualitative.mean() - 0.2) < 0.01


def test_the_same_seed_draws_the_same():
    one, other = (make_rated_reviews(50, random_state=3) for _ in range(2))
    assert (one.X != other.X).nnz == 0
    assert_array_equal(one.ratings, other.ratings)
