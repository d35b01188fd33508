# SPDX-License-Identifier: BSD-3-Clause
"""The sampler of sentence topic models against its twin, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.kernels import was as kernel
from streamtopics.was import ICD, SBP, WAS, HDPFranchise
from streamtopics.was.corpus import SentenceCorpus, document_seeds
from streamtopics.was.sampler import GivenTopics, SamplerState, SentenceSampler, TopicCounts
from tests.reference import was as reference

ONE_BLOCK = 10**9
PRIORS = {
    "was": WAS(),
    "was, sticks of their own": WAS(a=(0.5, 1.5, 3.0), b=(1.0, 2.0, 0.3), zeta=0.5),
    "was, many dishes": WAS(a=0.3, b=4.0, zeta=30.0),
    "was, large tables": WAS(a=2.0, b=0.02, zeta=0.1),
    "was as last": WAS(exact=False),
    "hdp": HDPFranchise(),
    "hdp, many tables": HDPFranchise(table_concentration=8.0, dish_concentration=6.0),
    "sbp": SBP(truncation=4),
    "sbp, sticks of their own": SBP(a=(0.5, 1.5), b=(3.0, 0.7, 0.2), truncation=20),
    "icd": ICD(truncation=3),
    "icd, many dishes": ICD(concentration=5.0, shape=0.3, truncation=20),
}
DOCUMENTS = [[4, 0, 3, 5], [], [0, 0], [1], [9], [3, 3, 3, 3, 2], [40, 2]]

each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


def corpus(documents, n_features=6, seed=0):
    """Random words in documents given by the lengths of their sentences."""
    lengths = [n for document in documents for n in document]
    rng = np.random.default_rng(seed)
    return SentenceCorpus(
        rng.integers(0, n_features, sum(lengths)).astype(np.int32),
        np.cumsum([0, *lengths]).astype(np.intp),
        np.cumsum([0] + [len(document) for document in documents]).astype(np.intp),
    )


class Twin:
    """The plain sampler over all the documents of a corpus."""

    def __init__(self, documents, corpus, topics, prior, kappa, seeds):
        self.documents, self.topics, self.prior, self.kappa = documents, topics, prior, kappa
        self.seeds = [int(seed) for seed in seeds]
        bounds = corpus.bounds
        self.words = [corpus.words[i:j] for i, j in pairwise(bounds)]
        self.states = [
            reference.start(lengths, words, topics, prior, kappa, seed)[0]
            for lengths, words, seed in zip(documents, self.words, self.seeds, strict=True)
        ]

    def sweep(self, number):
        documents = zip(self.states, self.words, self.seeds, strict=True)
        given = self.topics, self.prior, self.kappa
        return np.concatenate([reference.sweep(*d[:2], *given, d[2], number) for d in documents])

    def column(self, name):
        return np.concatenate([np.array(getattr(state, name), int) for state in self.states])


def assert_same(state, twin):
    for name in ("topic", "table", "dish"):
        assert_array_equal(getattr(state, name), twin.column(name), err_msg=name)


@each_prior
def test_collapsed_sampler_equals_its_twin(prior):
    given, kappa = corpus(DOCUMENTS), 0.4
    seeds = document_seeds(5, 2**63, len(DOCUMENTS))
    topics = TopicCounts.none(6, 3, 0.3)
    state, topics = SentenceSampler(prior, kappa).start(given, topics, seeds)
    of_twin = reference.Topics(np.zeros((6, 3)), np.full(6, 0.3))
    twin = Twin(DOCUMENTS, given, of_twin, prior, kappa, seeds)
    assert_same(state, twin)
    for number in range(6):
        state, topics = SentenceSampler(prior, kappa).sweep(
            given, state, topics, seeds, number, words_per_block=ONE_BLOCK
        )
        twin.sweep(number)
        assert_same(state, twin)
        assert_array_equal(topics.counts, of_twin.counts)
        assert_array_equal(topics.mass, of_twin.counts.sum(axis=0))


@each_prior
def test_averages_equal_those_of_the_twin(prior):
    given, kappa, n_topics = corpus(DOCUMENTS), 0.2, 3
    seeds = document_seeds(0, 7, len(DOCUMENTS))
    weights = np.random.default_rng(1).gamma(0.5, 1.0, (6, n_topics))
    found = SentenceSampler(prior, kappa).fold_in(given, weights, seeds, n_sweeps=5, n_averaged=3)
    twin = Twin(DOCUMENTS, given, reference.Topics(weights), prior, kappa, seeds)
    of_documents = zip(twin.states, DOCUMENTS, strict=True)
    sentences = [(state, s) for state, lengths in of_documents for s in range(len(lengths))]
    word_topic, theta, tables, dishes = 0.0, 0.0, 0.0, 0.0
    for number in range(5):
        expected = twin.sweep(number)
        if number >= 2:
            word_topic = word_topic + expected / 3
            mixtures = [reference.sentence_topic(*s, prior, kappa, n_topics) for s in sentences]
            theta = theta + np.array(mixtures) / 3
            tables = tables + np.array([len(state.tables(s)) for state, s in sentences]) / 3
            dishes = dishes + np.array([len(set(state.dish)) for state in twin.states]) / 3
    assert_same(found.state, twin)
    assert_allclose(found.word_topic, word_topic, rtol=1e-12)
    assert_allclose(found.word_topic.sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(found.sentence_topic, theta, rtol=1e-12)
    assert_allclose(found.sentence_topic.sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(found.n_tables, tables, rtol=1e-12)
    assert_allclose(found.n_dishes, dishes, rtol=1e-12)


@each_prior
def test_what_is_kept_up_to_date_equals_what_is_counted_anew(prior):
    """Counts, tables and openings are built from the state for each call, then kept up."""
    documents = [[12, 5, 30, 1], [7] * 12]
    given, seeds = corpus(documents, seed=3), document_seeds(1, 0, 2)
    weights = np.random.default_rng(2).gamma(0.5, 1.0, (6, 5))
    sampler = SentenceSampler(prior, 0.1)
    at_once = sampler.fold_in(given, weights, seeds, n_sweeps=20, n_averaged=0)
    state = sampler.fold_in(given, weights, seeds, n_sweeps=0, n_averaged=0).state
    for number in range(20):
        state = sampler.fold_in(
            given, weights, seeds, n_sweeps=1, n_averaged=0, state=state, first_sweep=number
        ).state
        assert_legal(given, state, prior)
    for name in ("topic", "table", "dish"):
        assert_array_equal(getattr(at_once.state, name), getattr(state, name))


def assert_legal(given, state, prior):
    """Tables are named by their first words, and have one dish, each in its sentence."""
    sentence = np.repeat(np.arange(given.n_sentences), np.diff(given.sentences))
    document = np.searchsorted(given.documents, sentence, side="right") - 1
    first = state.table + given.bounds[document]
    assert_array_equal(state.table[first], state.table)
    assert_array_equal(sentence[first], sentence)
    assert_array_equal(state.dish[first], state.dish)
    assert (first <= np.arange(given.n_words)).all()
    openings = np.unique(first)
    pairs = list(zip(sentence[openings], state.dish[openings], strict=True))
    assert len(set(pairs)) == len(pairs) or isinstance(prior, HDPFranchise)


def test_the_cases_are_not_too_easy():
    """Documents of more dishes than there is room for at first, and tables of many words."""
    given, seeds = corpus([[40, 30], [20] * 5]), document_seeds(0, 0, 2)
    many, large = (
        SentenceSampler(PRIORS[name], 1.0).fold_in(given, np.ones((6, 2)), seeds, n_averaged=1)
        for name in ("was, many dishes", "was, large tables")
    )
    assert many.n_dishes.max() > 16
    assert np.unique(large.state.table[:40], return_counts=True)[1].max() > 16


IMPOSSIBLE = [
    ("topic", 0, 2), ("topic", 3, -1), ("table", 0, 1), ("table", 5, 0), ("table", 2, 9),
    ("dish", 0, 900), ("dish", 1, -2),
]  # fmt: skip


@pytest.mark.parametrize(("column", "word", "value"), IMPOSSIBLE)
def test_a_state_that_cannot_be_is_refused(column, word, value):
    given, seeds = corpus([[3, 4]]), document_seeds(0, 0, 1)
    weights = np.ones((6, 2))
    state = SamplerState(
        np.zeros(7, np.int32), np.array([0, 0, 0, 3, 3, 3, 3], np.int32), np.zeros(7, np.int32)
    )
    settings = {"n_sweeps": 1, "n_averaged": 0, "state": state}
    SentenceSampler(WAS(), 1.0).fold_in(given, weights, seeds, **settings)
    getattr(state, column)[word] = value
    with pytest.raises(ValueError, match="which cannot be"):
        SentenceSampler(WAS(), 1.0).fold_in(given, weights, seeds, **settings)


def test_wrong_shapes_and_words_are_refused():
    one = np.ones(1)
    topics = TopicCounts(np.ones((3, 2)), np.ones(2), np.ones(4), 1.0)
    with pytest.raises(ValueError, match="do not agree"):
        kernel.StickBreaking(topics, 1.0, one, one)
    given, state = corpus([[3, 4]]), SamplerState.empty(7)
    sampler = kernel.StickBreaking(GivenTopics(np.ones((2, 2))), 1.0, one, one)
    with pytest.raises(ValueError, match="word"):
        sampler.start(given, document_seeds(0, 0, 1), state, 0, 7, np.zeros(1))
