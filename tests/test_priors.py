# SPDX-License-Identifier: BSD-3-Clause
"""Word priors from knowledge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.priors import class_words_prior, seed_prior, word_ranks, zipf_prior

WORDS = ["plane", "sea", "ship", "sky", "sun"]


def test_zipf_prior_follows_the_law():
    prior = zipf_prior([1, 2, 3, 10], mass=7.0)
    assert_allclose(prior.sum(), 7.0)
    assert_allclose(prior[0] / prior, np.array([1, 2, 3, 10]) ** 1.07)
    assert_allclose(zipf_prior([1, 2, 3, 10]).sum(), 0.2)
    assert_allclose(zipf_prior([5, 9], exponent=0.0, mass=2.0), 1.0)


def test_zipf_prior_from_counts():
    assert_array_equal(zipf_prior(counts=[5, 50, 7, 1, 500]), zipf_prior(ranks=[4, 2, 3, 5, 1]))
    tied = zipf_prior(counts=[3, 3, 0, 9])
    assert tied[0] == tied[1]
    assert_array_equal(tied, zipf_prior(ranks=[2.5, 2.5, 4, 1]))


def test_word_ranks():
    english = ["the", "sea", "of", "sun", "sea"]
    assert_array_equal(word_ranks(english, WORDS), [4, 1, 4, 4, 2])
    by_column = {word: column for column, word in enumerate(WORDS)}
    assert_array_equal(word_ranks(english, by_column), [4, 1, 4, 4, 2])
    assert_array_equal(word_ranks([], WORDS), 3.0)


def test_seed_prior_by_name_and_by_position():
    named = seed_prior({"air": ["plane", "sky"], "water": ["ship"]}, WORDS, 5, n_components=3)
    expected = np.full((3, 5), 0.05)
    expected[0, [0, 3]] += 5
    expected[1, 2] += 5
    assert_array_equal(named, expected)
    placed = seed_prior({2: ["ship"], 0: ["plane", "sky", "sky"]}, WORDS, 5)
    assert_array_equal(placed, expected[[0, 2, 1]])


def test_seeds_that_are_rare_elsewhere():
    seeds = {"air": ["sky", "sun"], "water": ["sea", "sun"]}
    prior = seed_prior(seeds, WORDS, 5, n_components=3, base=0.5, elsewhere=1e-8)
    expected = np.full((3, 5), 0.5)
    expected[:, [1, 3, 4]] = 1e-8
    expected[0, [3, 4]] = expected[1, [1, 4]] = 5.5
    assert_array_equal(prior, expected)
    with pytest.raises(ValueError, match="elsewhere must be a number"):
        seed_prior(seeds, WORDS, 5, elsewhere=0)


def test_missing_seeds_can_be_left_out():
    prior = seed_prior({"air": ["plain", "sky"], "none": ["cloud"]}, WORDS, 5, missing="ignore")
    assert_array_equal(np.argwhere(prior > 1), [[0, 3]])


def test_class_prior_finds_the_words_typical_of_classes():
    X = np.array([[3, 0, 2, 0], [2, 1, 2, 0], [0, 4, 1, 0]])
    prior = class_words_prior(X, ["air", "air", "sea"], strength=2.0, base=0.1)
    assert_array_equal(prior, [[2.0, 2.0, 0.1, 0.1], [0.1, 2.0, 0.1, 0.1]])
    first = class_words_prior(sparse.csr_array(X), ["air", "air", "sea"], n_seeds=1)
    assert_array_equal(first, [[0.5, 0.01, 0.01, 0.01], [0.01, 0.5, 0.01, 0.01]])


def test_class_prior_weighs_by_tokens_and_rarity():
    X = np.zeros((8, 3))
    X[0] = [6, 4, 5]
    X[1:4, 0] = 1  # Of 4 documents of 8: 6 log 2 in the first class.
    X[4, 1] = 1  # Of 2: 4 log 4.
    X[5:8, 2] = 1  # Of 4: 5 log 2.
    prior = class_words_prior(X, np.arange(8) > 0, n_seeds=1)
    assert_array_equal(prior[0] > 0.01, [False, True, False])


def test_class_prior_takes_a_word_stored_twice_as_one():
    twice = sparse.csr_matrix(([1.0, 1.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    assert_array_equal(class_words_prior(twice, [0, 1]), class_words_prior(twice.toarray(), [0, 1]))
    assert twice.nnz == 3


def test_class_prior_in_the_order_of_classes():
    X, y = [[1, 0], [0, 1]], [3, 1]
    prior = class_words_prior(X, y, classes=[3, 2, 1])
    assert_array_equal(prior, [[0.5, 0.01], [0.01, 0.01], [0.01, 0.5]])
    assert_array_equal(class_words_prior(X, y), prior[[2, 0]])
