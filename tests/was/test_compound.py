# SPDX-License-Identifier: BSD-3-Clause
"""The Indian buffet compound Dirichlet process against the enumeration of its seats."""

import pickle
from functools import cache
from itertools import combinations, product
from math import lgamma, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import beta, gamma
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from streamtopics import WASTopicModel
from streamtopics.datasets import make_subtle_corpus
from streamtopics.parallel import workers
from streamtopics.was import ICD, simulate
from streamtopics.was.corpus import SentenceCorpus, corpus_of, document_seeds
from streamtopics.was.sampler import SentenceSampler, TopicCounts
from tests.reference.was import log_polya

LENGTHS, WORDS, ATOM_PRIOR, ETA = [3, 0, 2], [0, 0, 1, 0, 1], 0.6, 0.4
PRIORS = [ICD(truncation=3), ICD(concentration=4.0, shape=0.3, truncation=2)]
SETTINGS = {"n_sweeps": 10, "n_burn_in": 5, "n_local_sweeps": 6, "random_state": 1}
X = make_subtle_corpus(40, n_topics=4, n_features=60, random_state=0).X

each_prior = pytest.mark.parametrize("prior", PRIORS, ids=str)


@cache
def log_counts(prior, sizes):
    """log p of a dish's words in each sentence with words: binary chances, NB(phi, 1/2) counts."""
    chances, weights = prior.grid()
    terms = []
    for r, f in product(chances, weights):
        of = [
            log(r) + lgamma(f + g) - lgamma(f) - lgamma(g + 1) - (f + g) * log(2)
            if g > 0
            else log(1 - r + r * 2.0**-f)
            for g in sizes
        ]
        terms.append(sum(of))
    return logsumexp(terms) - log(len(terms))


def seatings(prior):
    """(p, dish) of all seats given the lengths: counts, and then the words in any order."""
    sentence = np.repeat(np.arange(3), LENGTHS)
    found = {}
    for dish in product(range(prior.truncation), repeat=len(WORDS)):
        sizes = np.zeros((3, prior.truncation), int)
        np.add.at(sizes, (sentence, dish), 1)
        own = sizes[np.array(LENGTHS) > 0]
        value = sum(log_counts(prior, tuple(column)) for column in own.T.tolist())
        value += sum(lgamma(g + 1) for g in own.ravel()) - sum(lgamma(n + 1) for n in own.sum(1))
        found[dish] = value
    total = logsumexp(list(found.values()))
    return [(np.exp(value - total), dish) for dish, value in found.items()]


def functionals(dish, topic):
    """Dishes, tables, pairs of words of one dish and of one topic, and dishes in common."""
    pairs = list(combinations(range(5), 2))
    return [
        len(set(dish)),
        len(set(dish[:3])) + len(set(dish[3:])),
        sum(dish[i] == dish[j] for i, j in pairs),
        sum(topic[i] == topic[j] for i, j in pairs),
        len(set(dish[:3]) & set(dish[3:])),
    ]


def exact(prior, log_words):
    total, mean = 0.0, np.zeros(5)
    for p, dish in seatings(prior):
        for topic in product(range(2), repeat=5):
            counts = np.zeros((prior.truncation, 2))
            np.add.at(counts, (list(dish), list(topic)), 1)
            value = log_words(topic) + sum(log_polya(row, np.full(2, ATOM_PRIOR)) for row in counts)
            total += p * np.exp(value)
            mean += p * np.exp(value) * np.array(functionals(dish, topic))
    return mean / total


def corpus(n_copies=1):
    n = np.arange(n_copies)
    return SentenceCorpus(
        np.tile(np.array(WORDS, np.int32), n_copies),
        np.append(np.add.outer(5 * n, [0, 3, 3]), 5 * n_copies).astype(np.intp),
        3 * np.arange(n_copies + 1),
    )


@each_prior
def test_the_chain_has_the_enumerated_posterior(prior):
    def log_words(topic):
        of_topic = np.zeros((2, 2))
        np.add.at(of_topic, (list(topic), WORDS), 1)
        return sum(log_polya(row, np.full(2, ETA)) for row in of_topic)

    expected = exact(prior, log_words)
    sampler, seeds, given = SentenceSampler(prior, ATOM_PRIOR), document_seeds(1, 0, 1), corpus()
    state, topics = sampler.start(given, TopicCounts.none(2, 2, ETA), seeds)
    values = []
    for number in range(7_000):
        state, topics = sampler.sweep(given, state, topics, seeds, number)
        values.append(functionals(state.dish.tolist(), state.topic.tolist()))
    batches = np.array(values[1000:]).reshape(50, -1, 5).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / 50**0.5
    assert (np.abs(batches.mean(axis=0) - expected) < 4.5 * error).all()
    assert (error < 0.04 * expected).all()


@each_prior
def test_many_chains_with_given_topics_have_the_enumerated_posterior(prior):
    topic_word, n = np.array([[0.9, 0.1], [0.2, 0.8]]), 1500
    expected = exact(prior, lambda topic: np.log(topic_word[list(topic), WORDS]).sum())
    found = SentenceSampler(prior, ATOM_PRIOR).fold_in(
        corpus(n), np.ascontiguousarray(topic_word.T), document_seeds(2, 0, n), n_sweeps=30,
        n_averaged=10,
    )  # fmt: skip
    columns = zip(found.state.dish.reshape(n, 5), found.state.topic.reshape(n, 5), strict=True)
    values = np.array([functionals(d.tolist(), t.tolist()) for d, t in columns])
    error = values.std(axis=0) / n**0.5
    assert (np.abs(values.mean(axis=0) - expected) < 4.5 * error).all()
    assert_allclose(found.sentence_topic.sum(axis=1), 1.0, rtol=1e-12)
    tables = found.n_tables.reshape(n, 3)
    assert_array_equal(tables[:, 1], 0)
    assert abs(tables.sum(axis=1).mean() - expected[1]) < 4.5 * error[1]


def test_draws_have_the_law_of_the_seats():
    prior, rng, n = PRIORS[0], np.random.default_rng(0), 250
    law = seatings(prior)
    expected = sum(p * np.array(functionals(dish, [0] * 5)) for p, dish in law)
    drawn = []
    for _ in range(n):
        seats = prior.draw_seats(LENGTHS, rng)
        drawn.append(functionals(seats.dish.tolist(), [0] * 5))
        assert_array_equal(seats.dish[seats.table], seats.dish)
    error = np.maximum(np.std(drawn, axis=0), 1e-9) / n**0.5
    assert (np.abs(np.mean(drawn, axis=0) - expected) < 4.5 * error).all()


def test_the_grid_has_the_laws_of_chances_and_weights():
    prior = ICD(concentration=3.0, shape=2.0, truncation=6)
    chances, weights = prior.grid()
    assert_allclose(chances.mean(), beta.mean(0.5, 1), rtol=1e-3)
    assert_allclose(weights.mean(), gamma.mean(2.0), rtol=2e-2)
    assert_allclose(chances.var(), beta.var(0.5, 1), rtol=1e-2)


def test_one_dish_is_had_by_all():
    prior, seeds = ICD(truncation=1), document_seeds(0, 0, 1)
    found = SentenceSampler(prior, 1.0).fold_in(corpus(), np.ones((2, 3)), seeds)
    assert_array_equal(found.state.dish, 0)
    assert_allclose(found.n_tables, [1, 0, 1], rtol=1e-12)


def test_chances_near_one_give_all_dishes_to_all_sentences():
    """Without absences the seats are those of Dirichlet weights."""
    lengths, rng = [40] * 5, np.random.default_rng(0)
    few = ICD(concentration=0.05, shape=4.0, truncation=10).draw_seats(lengths, rng)
    many = ICD(concentration=1000.0, shape=4.0, truncation=10).draw_seats(lengths, rng)
    n_few, n_many = (len(np.unique(seats.table)) for seats in (few, many))
    assert n_many > 40
    assert n_few < 25


def test_workers_do_not_change_the_bits_and_no_word_is_lost():
    rng = np.random.default_rng(0)
    given = corpus_of(rng.poisson(0.2, (90, 25)), np.full(30, 3))
    seeds, sampler = document_seeds(3, 0, 30), SentenceSampler(PRIORS[0], 0.1)
    state, topics = sampler.start(given, TopicCounts.none(25, 4, 0.1), seeds)
    alone, after = sampler.sweep(given, state, topics, seeds, 0, words_per_block=50)
    with workers(3) as three:
        also, _ = sampler.sweep(given, state, topics, seeds, 0, three, words_per_block=50)
    for one, other in zip(also, alone, strict=True):
        assert_array_equal(one, other)
    own = np.zeros((25, 4))
    np.add.at(own, (given.words, alone.topic), 1.0)
    assert_array_equal(after.counts, own)


def test_it_is_a_prior_of_the_estimator():
    model = WASTopicModel(4, prior=ICD(truncation=5), **SETTINGS).fit(X)
    assert model.n_atoms_.max() <= 5
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(X), model.transform(X))
    two = clone(model).set_params(n_jobs=2).fit(X)
    assert_array_equal(two.components_, model.components_)
    model.partial_fit(X[:10])
    search = GridSearchCV(model, {"prior__shape": [0.3, 3.0]}, cv=2, error_score="raise").fit(X)
    assert search.best_params_["prior__shape"] in (0.3, 3.0)
    with pytest.raises(ValueError, match="use score"):
        model.log_likelihood(X[:2])
    drawn = simulate([4, 3], ICD(), 0.1, np.eye(3), np.random.default_rng(0))
    assert len(drawn.words) == 7


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"concentration": 0.0}, "concentration"),
        ({"shape": float("nan")}, "shape"),
        ({"truncation": 0}, "truncation"),
        ({"truncation": 2.5}, "truncation"),
    ],
)
def test_senseless_parameters_are_refused(arguments, name):
    with pytest.raises(ValueError, match=f"{name} of ICD must be|{name} must be"):
        ICD(**arguments)
