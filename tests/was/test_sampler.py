# SPDX-License-Identifier: BSD-3-Clause
"""Corpora of sentences, blocks, workers, and what the sampler says about documents."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.was import SBP, WAS, HDPFranchise
from streamtopics.was.corpus import SentenceCorpus, corpus_of, document_seeds
from streamtopics.was.sampler import (
    SamplerState,
    SentenceSampler,
    TopicCounts,
    _systematic,
    word_statistics,
)
from tests.reference import was as reference
from tests.was import chains

PRIORS = [WAS(), WAS(exact=False), HDPFranchise(), SBP(truncation=3)]

each_prior = pytest.mark.parametrize("prior", PRIORS, ids=str)


def counts(n_documents=30, n_features=25, seed=0):
    """Counts of sentences, and how many each document has; some have none, or no words."""
    rng = np.random.default_rng(seed)
    n_sentences = rng.integers(0, 6, n_documents)
    X = sparse.csr_matrix(rng.poisson(0.2, (n_sentences.sum(), n_features)))
    return X, n_sentences


def some_weights(n_features=25, n_topics=4):
    return np.random.default_rng(9).gamma(0.3, 1.0, (n_features, n_topics)) + 1e-3


def test_counts_become_words_in_the_order_of_columns():
    X = [[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [0, 0, 1, 0]]
    corpus = corpus_of(X, [1, 0, 3])
    assert_array_equal(corpus.words, [1, 1, 3, 0, 0, 0, 2])
    assert_array_equal(corpus.sentences, [0, 3, 3, 6, 7])
    assert_array_equal(corpus.documents, [0, 1, 1, 4])
    assert_array_equal(corpus.bounds, [0, 3, 3, 7])
    part = corpus.part(1, 3)
    assert_array_equal(part.words, [0, 0, 0, 2])
    assert_array_equal(part.sentences, [0, 0, 3, 4])
    assert_array_equal(part.documents, [0, 0, 3])


def test_unsorted_and_repeated_entries_are_put_in_order():
    X = sparse.csr_matrix(([1.0, 1.0, 1.0], [2, 0, 2], [0, 3]), shape=(1, 3))
    before = X.copy()
    assert_array_equal(corpus_of(X, [1]).words, [0, 2, 2])
    assert_array_equal(X.indices, before.indices)


@pytest.mark.parametrize("value", [0.5, np.nan, np.inf])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_counts_that_are_no_numbers_of_words_are_refused(value):
    with pytest.raises(ValueError, match="whole words"):
        corpus_of(np.array([[1.0, value]]), [1])


@each_prior
@pytest.mark.parametrize("words_per_block", [1, 100, 10**9])
def test_no_word_is_lost(prior, words_per_block):
    corpus = corpus_of(*counts())
    seeds = document_seeds(0, 0, corpus.n_documents)
    others = np.random.default_rng(0).integers(0, 9, (25, 4)).astype(float)
    topics = TopicCounts(others, others.sum(axis=0), np.full(25, 0.1), 2.5)
    sampler, how = SentenceSampler(prior, 0.1), {"words_per_block": words_per_block}
    state, learnt = sampler.start(corpus, topics, seeds)
    for number in range(5):
        state, learnt = sampler.sweep(corpus, state, learnt, seeds, number, **how)
        own = np.zeros((25, 4))
        np.add.at(own, (corpus.words, state.topic), 1.0)
        assert_array_equal(learnt.counts, others + own)
        assert_array_equal(learnt.mass, learnt.counts.sum(axis=0))
    assert_array_equal(topics.counts, others)


def test_blocks_see_the_counts_of_the_sweeps_start():
    """Two blocks are as two corpora, each with the other's words as they were."""
    corpus, sampler = corpus_of(*counts(40)), SentenceSampler(WAS(), 0.1)
    seeds = document_seeds(3, 0, 40)
    state, topics = sampler.start(corpus, TopicCounts.none(25, 4, 0.1), seeds)
    half = corpus.n_words // 2
    both, merged = sampler.sweep(corpus, state, topics, seeds, 0, words_per_block=half)
    cut = int(np.searchsorted(corpus.bounds, corpus.n_words / 2))
    counts_after = topics.counts.copy()
    for first, last in ((0, cut), (cut, 40)):
        words = slice(corpus.bounds[first], corpus.bounds[last])
        part, own = corpus.part(first, last), state.part(words.start, words.stop)
        alone, learnt = sampler.sweep(part, own, topics, seeds[first:last], 0)
        assert_array_equal(alone.topic, both.topic[words])
        assert_array_equal(alone.dish, both.dish[words])
        counts_after += learnt.counts - topics.counts
    assert_array_equal(counts_after, merged.counts)


@each_prior
def test_a_folded_in_document_does_not_depend_on_its_company(prior):
    corpus, seeds = corpus_of(*counts(50)), document_seeds(1, 100, 50)
    fold_in, weights = SentenceSampler(prior, 0.1).fold_in, some_weights()
    whole = fold_in(corpus, weights, seeds, n_sweeps=4, n_averaged=2)
    for d in (0, 7, 49):
        part = corpus.part(d, d + 1)
        alone = fold_in(part, weights, seeds[d : d + 1], n_sweeps=4, n_averaged=2)
        words = slice(corpus.bounds[d], corpus.bounds[d + 1])
        sentences = slice(corpus.documents[d], corpus.documents[d + 1])
        assert_array_equal(alone.state.dish, whole.state.dish[words])
        assert_array_equal(alone.word_topic, whole.word_topic[words])
        assert_array_equal(alone.sentence_topic, whole.sentence_topic[sentences])


def test_statistics_of_words_add_up():
    corpus = corpus_of(*counts())
    shares = np.random.default_rng(0).dirichlet(np.ones(4), corpus.n_words)
    expected = np.zeros((25, 4))
    np.add.at(expected, corpus.words, shares)
    assert_allclose(word_statistics(corpus, shares, 25), expected, rtol=1e-12)


def test_folding_in_goes_on_from_a_state():
    corpus, sampler = corpus_of(*counts()), SentenceSampler(WAS(), 0.1)
    given = corpus, some_weights(), document_seeds(0, 0, corpus.n_documents)
    at_once = sampler.fold_in(*given, n_sweeps=5, n_averaged=2)
    begun = sampler.fold_in(*given, n_sweeps=2, n_averaged=0)
    ended = sampler.fold_in(*given, n_sweeps=3, n_averaged=2, state=begun.state, first_sweep=2)
    assert_array_equal(ended.state, at_once.state)
    assert_array_equal(ended.word_topic, at_once.word_topic)


def test_a_sampler_is_given_the_seeds_of_its_documents(monkeypatch):
    """And no others: a prior may bring a sampler of its own."""
    monkeypatch.setattr("streamtopics.was.sampler.WORDS_PER_JOB", 50)
    seen = []

    class Watched(WAS):
        def sampler(self, topics, atom_prior):
            made = super().sampler(topics, atom_prior)

            def sweep(corpus, seeds, *rest):
                seen.append(seeds)
                made.sweep(corpus, seeds, *rest)

            return SimpleNamespace(start=made.start, sweep=sweep)

    corpus, sampler = corpus_of(*counts()), SentenceSampler(Watched(), 0.1)
    seeds = document_seeds(0, 0, corpus.n_documents)
    state, topics = sampler.start(corpus, TopicCounts.none(25, 4, 0.1), seeds)
    for sweep in (
        lambda: sampler.sweep(corpus, state, topics, seeds, 0, words_per_block=50),
        lambda: sampler.fold_in(corpus, some_weights(), seeds, n_sweeps=1, n_averaged=1),
    ):
        seen.clear()
        sweep()
        assert len(seen) > 1
        assert_array_equal(np.concatenate(seen), seeds)


@pytest.mark.parametrize("words_per_comparison", [1, 1000])
def test_particles_drawn_anew_leave_the_estimate_unbiased(words_per_comparison, monkeypatch):
    """The third word says which of three topics it was, so that few particles have any weight."""
    monkeypatch.setattr("streamtopics.was.sampler.WORDS_PER_COMPARISON", words_per_comparison)
    words, kappa, n = [0, 0, 1, 1], 0.1, 400
    others = np.full((3, 3), 0.005) + np.diag([0.485, 0.485, 0.485])
    topic_word = np.column_stack([np.full(3, 0.5), others])
    _, exact = reference.posterior([4], words, WAS(), kappa, 3, 4, topic_word=topic_word)
    corpus = chains.copies([4], words, n)
    weights, seeds = np.ascontiguousarray(topic_word.T), document_seeds(4, 0, n)
    p = np.exp(SentenceSampler(WAS(), kappa).log_likelihood(corpus, weights, seeds, n_particles=30))
    assert abs(p.mean() - exact) < 4.5 * p.std() / n**0.5
    assert p.std() / n**0.5 < 0.02 * exact


@pytest.mark.parametrize("weight", [[0.25, 0.0, 0.5, 0.25], [0.0, 0.1, 0.3, 0.6], [0, 0, 0, 1]])
def test_particles_are_drawn_as_often_as_they_weigh(weight):
    weight, us = np.array(weight), (np.arange(50) + 0.5) / 50
    drawn = np.array([np.bincount(_systematic(weight, u), minlength=4) for u in us])
    assert (np.abs(drawn - 4 * weight) < 1).all()
    assert_allclose(drawn.mean(axis=0), 4 * weight, rtol=1e-9)


def test_documents_of_neighbouring_seeds_share_no_particles(monkeypatch):
    """With no particles drawn anew, estimates that shared all but one would be nearly equal."""
    monkeypatch.setattr("streamtopics.was.sampler.WORDS_PER_COMPARISON", 1000)
    words, n = [0, 0, 1, 1], 300
    corpus, weights = chains.copies([4], words, n), np.array([[0.8, 0.1], [0.2, 0.9]])
    sampler, seeds = SentenceSampler(WAS(), 0.5), np.arange(n, dtype=np.uint64)
    p = np.exp(sampler.log_likelihood(corpus, weights, seeds, n_particles=20))
    assert p.std() > 0
    assert abs(np.corrcoef(p[1:], p[:-1])[0, 1]) < 5 / n**0.5


@pytest.mark.parametrize("n_particles", [1, 40])
@each_prior
def test_the_particles_estimate_is_unbiased(prior, n_particles):
    lengths, words, kappa = [3, 2], [0, 0, 1, 0, 1], 0.3
    topic_word = np.array([[0.8, 0.2], [0.1, 0.9]])
    _, exact = reference.posterior(lengths, words, prior, kappa, 2, 2, topic_word=topic_word)
    n = 1000 if n_particles == 1 else 200
    corpus, seeds = chains.copies(lengths, words, n), document_seeds(4, 0, n)
    sampler, weights = SentenceSampler(prior, kappa), np.ascontiguousarray(topic_word.T)
    p = np.exp(sampler.log_likelihood(corpus, weights, seeds, n_particles=n_particles))
    assert abs(p.mean() - exact) < 4.5 * p.std() / n**0.5
    assert p.std() / n**0.5 < 0.04 * exact


class TwoDishes(HDPFranchise):
    """A document has at most two dishes."""

    def join_dish(self, n_tables):
        return n_tables + 1.0

    def open_dish(self, n_tables, n_dishes):
        return np.maximum(2.0 - n_dishes, 0.0)


def test_a_long_sentence_keeps_its_choice_where_no_dish_may_be_new():
    n, found, franchise = 900, [], TwoDishes(1e-3)
    words, dishes = (np.repeat(ids, n).astype(np.int32) for ids in ([0, 1, 2], [0, 1, 1]))
    corpus, first = SentenceCorpus(words, np.arange(4) * n, np.array([0, 3])), words * np.int32(n)
    for seed in np.arange(40, dtype=np.uint64):
        sampler, begun = SentenceSampler(franchise, 1e-3), SamplerState(words, first, dishes)
        how = {"n_sweeps": 1, "n_averaged": 1, "state": begun}
        done = sampler.fold_in(corpus, np.full((3, 3), 1e-9) + np.eye(3), np.array([seed]), **how)
        found.append(int(done.state.dish[n]))
    assert 5 <= found.count(0) <= 35
