# SPDX-License-Identifier: BSD-3-Clause
"""The sampler of sentence topic models against enumeration, and Geweke's joint test.

Seeds are fixed. Means over a chain have the standard error of their batches.
"""

import numpy as np
import pytest

from streamtopics.was import SBP, WAS, HDPFranchise
from streamtopics.was.corpus import SentenceCorpus, document_seeds
from streamtopics.was.sampler import SamplerState, SentenceSampler, TopicCounts
from tests.reference import was as reference
from tests.was import chains

pytestmark = pytest.mark.statistical

UNEVEN = WAS(a=(0.5, 1.5, 3.0), b=(1.0, 2.0, 0.3), zeta=0.5)
PRIORS = [WAS(), UNEVEN, HDPFranchise(), HDPFranchise(2.0, 3.0), SBP((0.5, 2.0), 1.5, truncation=3)]
N_BATCHES = 50

each_prior = pytest.mark.parametrize("prior", PRIORS, ids=str)


def corpus_of_one(lengths, words):
    return SentenceCorpus(
        np.array(words, np.int32), np.cumsum([0, *lengths]), np.array([0, len(lengths)], np.intp)
    )


def functionals(lengths, table, dish, topic):
    """Of each row: tables, dishes, and pairs of words at one table, of one dish, of one topic."""
    table, dish, topic = np.array([table, dish, topic])
    found = [
        chains.first_ones(table).sum(axis=1),
        chains.first_ones(dish).sum(axis=1),
        *map(chains.pairs, (table, dish, topic)),
        np.equal(table, np.arange(sum(lengths)))[:, 1:].sum(axis=1),
        chains.in_common(dish, lengths[0]),
    ]
    return np.column_stack(found).astype(float)


def mean_functionals(lengths, states):
    """Of states with their probabilities."""
    p, *columns = zip(*states, strict=True)
    return np.array(p) @ functionals(lengths, *columns)


def batch_z(values, expected):
    """(mean - expected) / standard error, by batches."""
    means = np.array([batch.mean(axis=0) for batch in np.array_split(values, N_BATCHES)])
    error = means.std(axis=0, ddof=1) / N_BATCHES**0.5
    return (values.mean(axis=0) - expected) / np.maximum(error, 1e-9)


def chain(lengths, words, prior, kappa, topics, seed, n_sweeps):
    """Functionals after each sweep with topics integrated out."""
    corpus, seeds = corpus_of_one(lengths, words), document_seeds(seed, 0, 1)
    return functionals(lengths, *chains.states(prior, kappa, corpus, topics, seeds, n_sweeps))


def exact_functionals(lengths, words, prior, kappa, **topics):
    states, _ = reference.posterior(lengths, words, prior, kappa, 2, 2, **topics)
    return mean_functionals(lengths, states)


@each_prior
def test_collapsed_chain_has_the_enumerated_posterior(prior):
    lengths, words, kappa, eta = [3, 2], [0, 0, 1, 0, 1], 0.6, 0.4
    exact = exact_functionals(lengths, words, prior, kappa, eta=eta)
    values = chain(lengths, words, prior, kappa, TopicCounts.none(2, 2, eta), 1, 5000)
    assert (np.abs(values.mean(axis=0) - exact)[:2] < 0.035).all()
    assert (np.abs(batch_z(values[100:], exact)) < 4.5).all()


@each_prior
def test_chains_with_given_topics_have_the_enumerated_posterior(prior):
    """Many copies of a document, after a few sweeps."""
    lengths, words, kappa, n = [2, 2, 1], [0, 1, 1, 1, 0], 0.3, 20_000
    topic_word = np.array([[0.9, 0.1], [0.2, 0.8]])
    states, _ = reference.posterior(lengths, words, prior, kappa, 2, 2, topic_word=topic_word)
    exact = mean_functionals(lengths, states)
    of_words = sum(p * np.eye(2)[list(topic)] for p, _, _, topic in states)
    corpus = SentenceCorpus(
        np.tile(np.array(words, np.int32), n),
        np.append(np.add.outer(5 * np.arange(n), [0, 2, 4]), 5 * n),
        3 * np.arange(n + 1),
    )
    weights = np.ascontiguousarray(topic_word.T)
    found = SentenceSampler(prior, kappa).fold_in(
        corpus, weights, document_seeds(2, 0, n), n_sweeps=12, n_averaged=4
    )
    columns = (found.state.table, found.state.dish, found.state.topic)
    values = functionals(lengths, *(column.reshape(n, 5)[:4000] for column in columns))
    error = np.maximum(values.std(axis=0), 0.02) / len(values) ** 0.5
    assert (np.abs(values.mean(axis=0) - exact) < 4.5 * error).all()
    shares = found.word_topic.reshape(n, 5, 2)
    error = shares.std(axis=0) / n**0.5
    assert (np.abs(shares.mean(axis=0) - of_words) < 4.5 * error).all()
    assert abs(found.n_dishes.mean() - exact[1]) < 4.5 * max(found.n_dishes.std(), 0.02) / n**0.5
    assert (found.n_tables.reshape(n, 3)[:, 2] == 1).all()


def test_taking_each_word_for_the_last_makes_too_many_dishes():
    lengths, words, kappa, eta = [3, 2], [0, 0, 1, 0, 1], 0.6, 0.4
    exact = exact_functionals(lengths, words, WAS(), kappa, eta=eta)
    none = TopicCounts.none(2, 2, eta)
    values = chain(lengths, words, WAS(exact=False), kappa, none, 1, 4000)
    assert values.mean(axis=0)[1] > exact[1] + 0.05


def expected_in_prior(lengths, prior, kappa, eta, n_topics, n_features):
    """The same of one document, and pairs of the same word, from the law of the seats."""
    same_topic = (kappa + 1) / (n_topics * kappa + 1)
    same_word = (eta + 1) / (n_features * eta + 1)
    n_pairs = sum(lengths) * (sum(lengths) - 1) / 2
    p, table, dish = zip(*reference.configurations(lengths, prior), strict=True)
    values = functionals(lengths, table, dish, dish)
    values[:, 4] = values[:, 3] * same_topic + (n_pairs - values[:, 3]) / n_topics
    words = values[:, 4] * same_word + (n_pairs - values[:, 4]) / n_features
    return np.array(p) @ np.column_stack([values, words])


def geweke(prior, n_iterations, seed):
    """Functionals of two documents, whose words are drawn anew after each sweep."""
    lengths, kappa, eta, n_topics, n_features = [3, 2], 0.5, 0.3, 2, 3
    n = sum(lengths)
    rng = np.random.default_rng(seed)
    sentences, documents = np.array([0, 3, 5, 8, 10]), np.array([0, 2, 4])
    words = rng.integers(0, n_features, 2 * n).astype(np.int32)
    state = SamplerState(*np.zeros((3, 2 * n), np.int32))
    state.table[:] = [0, 0, 0, 3, 3] * 2
    topics = TopicCounts.none(n_features, n_topics, eta)
    corpus = SentenceCorpus(words, sentences, documents)
    chain = chains.Chain(prior, kappa, corpus, state, topics, document_seeds(seed, 0, 2))
    found = np.empty((4, n_iterations, 2 * n), np.int32)
    for number in range(n_iterations):
        topics.counts[:] = 0
        np.add.at(topics.counts, (words, state.topic), 1.0)
        topics.mass[:] = topics.counts.sum(axis=0)
        chain.sweep(number)
        topic_word = rng.dirichlet(np.full(n_features, eta), n_topics).cumsum(axis=1)
        u = rng.random((2 * n, 1))
        words[:] = (topic_word[state.topic][:, :-1] < u).sum(axis=1)
        found[:, number] = state.table, state.dish, state.topic, words
    *seats, drawn = found.reshape(4, 2 * n_iterations, n)
    values = np.column_stack([functionals(lengths, *seats), chains.pairs(drawn)])
    return batch_z(values, expected_in_prior(lengths, prior, kappa, eta, n_topics, n_features))


@each_prior
def test_geweke(prior):
    assert (np.abs(geweke(prior, 5000, seed=3)) < 4.5).all()


def test_geweke_notices_the_approximation():
    assert np.abs(geweke(WAS(exact=False), 4000, seed=3)).max() > 8
