# SPDX-License-Identifier: BSD-3-Clause
"""Diversity: its two ends, its count, and what is refused."""

import numpy as np
import pytest

from streamtopics import SVBLDA
from streamtopics.metrics import topic_diversity


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


def test_takes_the_top_words_of_an_estimator():
    model = SVBLDA(n_components=3, random_state=0).fit(np.eye(12))
    assert 0 < topic_diversity(model.top_words(n_words=4)) <= 1


@pytest.mark.parametrize("topics", [["ship", "sea"], "ship"])
def test_topics_of_topics(topics):
    with pytest.raises(TypeError, match="sequence of topics"):
        topic_diversity(topics)
