# SPDX-License-Identifier: BSD-3-Clause
"""A word that the prior excludes from a topic stays out of it, however the topics start."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import streamtopics
from streamtopics import AspectSentimentModel, MultiViewLDA, StreamingLDA
from streamtopics.estimators import Schedule
from streamtopics.local import OneTopic
from streamtopics.models.lda import allowed
from streamtopics.models.sources import NOISE, HintedStart
from streamtopics.models.spectral_start import SPECTRAL
from streamtopics.posteriors import TopicPosterior
from streamtopics.priors import SeedWords
from tests.estimators.table import CLASSES
from tests.models.test_sources import hinted

V, K = 60, 4
WORDS = [f"w{i}" for i in range(V)]
# Each document has words of all the vocabulary, so that only the prior tells topic 0 apart.
COUNTS = np.random.default_rng(0).poisson(0.7, (200, V)).astype(np.float64)
PRIOR = np.full((K, V), 0.1)
PRIOR[0, :20] = 1e-8
QUICK = {"random_state": 0, "batch_size": 50}
STARTS = ("spectral", "noise")


def in_topic(model, topic, words):
    return model.topic_word_[topic, words].sum()


@pytest.mark.parametrize("name", ["StreamingLDA", *CLASSES])
def test_excluded_words_stay_out_of_a_topic(name):
    kind = getattr(streamtopics, name)
    model = kind(K, topic_word_prior=PRIOR, **QUICK).fit(COUNTS)
    assert in_topic(model, 0, slice(20)) < 1e-5
    assert in_topic(model, 1, slice(20)) > 0.1
    seeds = SeedWords([WORDS[:2], WORDS[2:4]], 5.0, elsewhere=1e-6, vocabulary=WORDS)
    seeded = kind(K, topic_word_prior=seeds, **QUICK).fit(COUNTS)
    assert max(in_topic(seeded, topic, slice(2)) for topic in (1, 2, 3)) < 1e-4


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("view", ["mean", "corrected_mean", "geometric_mean"])
@pytest.mark.parametrize("inference", ["gibbs", "variational", "one_topic", OneTopic(0.8)])
def test_excluded_words_stay_out_with_every_start_view_and_local_step(inference, view, start):
    model = StreamingLDA(
        K, topic_word_prior=PRIOR, inference=inference, view=view, start=start, update="svb",
        schedule=Schedule(inner_batch_size=25, n_start_rounds=3), **QUICK,
    ).fit(COUNTS)  # fmt: skip
    assert in_topic(model, 0, slice(20)) < 1e-5


def test_excluded_words_stay_out_of_topics_of_classes_and_sentiments():
    classes = np.array(["a", "b"])[np.arange(200) % 2]
    model = MultiViewLDA(2, 2, class_word_prior=PRIOR[:2], **QUICK).fit(COUNTS, classes)
    own, other = (part.dense()[:20].sum() for part in model.posterior_.parts[:2])
    assert own < 1e-5
    assert other > 100
    sentences = [sparse.csr_matrix(COUNTS[[d, d + 1]]) for d in range(0, 200, 2)]
    aspects = AspectSentimentModel(2, topic_word_prior=PRIOR[:2], **QUICK).fit(sentences)
    assert in_topic(aspects, [0, 1], slice(20)) < 1e-5
    assert in_topic(aspects, [2, 3], slice(20)) > 0.1


@pytest.mark.parametrize("start", [NOISE, SPECTRAL, HintedStart()], ids=str)
def test_a_prior_that_excludes_nothing_leaves_a_start_as_it_is(start):
    """Also where topics differ: then it is below a thousandth of another topic nowhere."""
    words = np.arange(V, dtype=np.int32)
    eta = np.random.default_rng(1).uniform(0.01, 5.0, (V, K))
    assert_array_equal(allowed(eta), 1.0)
    excluding = eta.copy()
    excluding[:20, 0] = 1e-8
    hints = np.zeros((200, K))
    rows, less = (
        start(TopicPosterior(prior, (V, K)), hinted(COUNTS, hints), 0).rows(words)
        for prior in (eta, excluding)
    )
    assert_array_equal(less[20:], rows[20:])
    assert_array_equal(less[:20, 1:], rows[:20, 1:])
    assert np.all(less[:20, 0] < 1e-3 * rows[:20, 0])
