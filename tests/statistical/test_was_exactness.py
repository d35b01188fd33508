# SPDX-License-Identifier: BSD-3-Clause
"""The sampler of sentence topic models against enumeration, and Geweke's joint test.

Seeds are fixed. Means over a chain have the standard error of their batches.
"""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics.was import HDP, SBP, WAS
from streamtopics.was.corpus import SentenceCorpus, document_seeds
from streamtopics.was.sampler import Assignments, SentenceSampler, TopicCounts
from tests.reference import was as reference
from tests.reference import was_enumeration as oracle

UNEVEN = WAS(a=(0.5, 1.5, 3.0), b=(1.0, 2.0, 0.3), zeta=0.5)
PRIORS = [WAS(), UNEVEN, HDP(), HDP(2.0, 3.0), SBP((0.5, 2.0), 1.5, truncation=3)]
N_BATCHES = 50

each_prior = pytest.mark.parametrize("prior", PRIORS, ids=str)


def corpus_of_one(lengths, words):
    return SentenceCorpus(
        np.array(words, np.int32), np.cumsum([0, *lengths]), np.array([0, len(lengths)], np.intp)
    )


def functionals(lengths, table, dish, topic):
    """Tables, dishes, and pairs of words at one table, of one dish and of one topic."""
    n = sum(lengths)
    pairs = list(combinations(range(n), 2))
    return np.array(
        [
            len(set(table)),
            len(set(dish)),
            sum(table[i] == table[j] for i, j in pairs),
            sum(dish[i] == dish[j] for i, j in pairs),
            sum(topic[i] == topic[j] for i, j in pairs),
            sum(table[i] == i for i in range(n) if i > 0),
            len({dish[i] for i in range(lengths[0])} & {dish[i] for i in range(lengths[0], n)}),
        ],
        dtype=float,
    )


def batch_z(values, expected):
    """(mean - expected) / standard error, by batches."""
    means = np.array([batch.mean(axis=0) for batch in np.array_split(values, N_BATCHES)])
    error = means.std(axis=0, ddof=1) / N_BATCHES**0.5
    return (values.mean(axis=0) - expected) / np.maximum(error, 1e-9)


def chain(lengths, words, prior, kappa, topics, seed, n_sweeps):
    """Functionals after each sweep with topics integrated out."""
    corpus, seeds = corpus_of_one(lengths, words), document_seeds(seed, 0, 1)
    state, topics = SentenceSampler(prior, kappa).start(corpus, topics, seeds)
    values = []
    for number in range(n_sweeps):
        state, topics = SentenceSampler(prior, kappa).sweep(corpus, state, topics, seeds, number)
        columns = (column.tolist() for column in (state.table, state.dish, state.topic))
        values.append(functionals(lengths, *columns))
    return np.array(values)


def exact_functionals(lengths, words, prior, kappa, **topics):
    states, _ = reference.posterior(lengths, words, prior, kappa, 2, 2, **topics)
    return sum(p * functionals(lengths, *state) for p, *state in states)


def in_other_words(prior):
    """The prior as the second enumeration has it."""
    if isinstance(prior, WAS):
        return oracle.WAS(prior.a, prior.b, prior.zeta)
    if isinstance(prior, HDP):
        return oracle.HDP(prior.table_concentration, prior.dish_concentration)
    return oracle.SBP(prior.a, prior.b, prior.truncation)


@each_prior
def test_two_enumerations_agree(prior):
    """One was written from the law of the seats, the other without any knowledge of the first."""
    lengths, words, kappa, eta = [3, 2], [0, 0, 1, 0, 1], 0.6, 0.4
    exact = exact_functionals(lengths, words, prior, kappa, eta=eta)
    topics = oracle.IntegratedTopics(2, 2, eta)
    found = oracle.posterior([[words[:3], words[3:]]], in_other_words(prior), kappa, topics)
    assert_allclose(exact[1], found.n_dishes, rtol=1e-9)
    for place, same in ((3, found.same_dish), (4, found.same_topic)):
        assert_allclose(exact[place], np.triu(same, 1).sum(), rtol=1e-9)
    if not isinstance(prior, SBP):
        assert_allclose(exact[0], found.n_tables, rtol=1e-9)
        assert_allclose(exact[2], np.triu(found.same_table, 1).sum(), rtol=1e-9)


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
    exact = sum(p * functionals(lengths, *state) for p, *state in states)
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
    columns = [column.reshape(n, 5)[:4000].tolist() for column in columns]
    values = np.array([functionals(lengths, *row) for row in zip(*columns, strict=True)])
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
    total = np.zeros(8)
    same_topic = (kappa + 1) / (n_topics * kappa + 1)
    same_word = (eta + 1) / (n_features * eta + 1)
    n_pairs = sum(lengths) * (sum(lengths) - 1) / 2
    for p, table, dish in reference.configurations(lengths, prior):
        values = functionals(lengths, table, dish, range(sum(lengths)))
        values[4] = values[3] * same_topic + (n_pairs - values[3]) / n_topics
        words = values[4] * same_word + (n_pairs - values[4]) / n_features
        total += p * np.append(values, words)
    return total


def geweke(prior, n_iterations, seed):
    """Functionals of two documents, whose words are drawn anew after each sweep."""
    lengths, kappa, eta, n_topics, n_features = [3, 2], 0.5, 0.3, 2, 3
    n = sum(lengths)
    rng = np.random.default_rng(seed)
    sentences, documents = np.array([0, 3, 5, 8, 10]), np.array([0, 2, 4])
    seeds = document_seeds(seed, 0, 2)
    words = rng.integers(0, n_features, 2 * n).astype(np.int32)
    state = Assignments(*np.zeros((3, 2 * n), np.int32))
    state.table[:] = [0, 0, 0, 3, 3] * 2
    values = []
    for number in range(n_iterations):
        counts = np.zeros((n_features, n_topics))
        np.add.at(counts, (words, state.topic), 1.0)
        topics = TopicCounts(counts, counts.sum(0), np.full(n_features, eta), eta * n_features)
        corpus = SentenceCorpus(words, sentences, documents)
        state, _ = SentenceSampler(prior, kappa).sweep(corpus, state, topics, seeds, number)
        topic_word = rng.dirichlet(np.full(n_features, eta), n_topics).cumsum(axis=1)
        u = rng.random((2 * n, 1))
        words = (topic_word[state.topic][:, :-1] < u).sum(axis=1).astype(np.int32)
        columns = (state.table, state.dish, state.topic, words)
        columns = [column.reshape(2, n).tolist() for column in columns]
        for table, dish, topic, drawn in zip(*columns, strict=True):
            same = sum(a == b for a, b in combinations(drawn, 2))
            values.append(np.append(functionals(lengths, table, dish, topic), same))
    exact = expected_in_prior(lengths, prior, kappa, eta, n_topics, n_features)
    return batch_z(np.array(values), exact)


@each_prior
def test_geweke(prior):
    assert (np.abs(geweke(prior, 5000, seed=3)) < 4.5).all()


def test_geweke_notices_the_approximation():
    assert np.abs(geweke(WAS(exact=False), 4000, seed=3)).max() > 8
