# SPDX-License-Identifier: BSD-3-Clause
"""The Indian buffet compound Dirichlet process against the enumeration of its seats."""

import pickle
from functools import cache
from itertools import product
from math import lgamma, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betaln, expit, gammaln, logsumexp
from scipy.stats import gamma
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from streamtopics import WASTopicModel
from streamtopics.was import ICD
from streamtopics.was.compound import _log_empty, _log_posterior
from streamtopics.was.corpus import document_seeds
from streamtopics.was.sampler import SamplerState, SentenceSampler, TopicCounts
from tests.reference.subtle_corpus import make_subtle_corpus
from tests.reference.was import log_polya
from tests.was import chains

LENGTHS, WORDS, ATOM_PRIOR, ETA = [3, 0, 2], [0, 0, 1, 0, 1], 0.6, 0.4
PRIORS = [ICD(truncation=3), ICD(concentration=4.0, shape=0.3, truncation=2)]
SETTINGS = {"n_sweeps": 10, "n_burn_in": 5, "n_local_sweeps": 6, "random_state": 1}
X = make_subtle_corpus(40, n_topics=4, n_features=60, random_state=0).X

each_prior = pytest.mark.parametrize("prior", PRIORS, ids=str)


@cache
def log_counts(prior, sizes):
    """log p of a dish's words in each sentence with words: binary chances, NB(phi, 1/2) counts."""
    grid, terms = prior.grid(), []
    starts = np.add.outer(grid.log_p_inclusion, grid.log_p_weights).ravel()
    for start, (r, f) in zip(starts, product(grid.inclusion, grid.weights), strict=True):
        of = [
            log(r) + lgamma(f + g) - lgamma(f) - lgamma(g + 1) - (f + g) * log(2)
            if g > 0
            else log(1 - r + r * 2.0**-f)
            for g in sizes
        ]
        terms.append(start + sum(of))
    return logsumexp(terms)


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
    """Of each row: dishes, tables, pairs of one dish and of one topic, and dishes in common."""
    dish, topic = np.array([dish, topic])
    one, other = (chains.first_ones(part).sum(axis=1) for part in (dish[:, :3], dish[:, 3:]))
    dishes, pairs = chains.first_ones(dish).sum(axis=1), map(chains.pairs, (dish, topic))
    return np.column_stack([dishes, one + other, *pairs, chains.in_common(dish, 3)])


def exact(prior, log_words):
    weights, states = [], []
    for p, dish in seatings(prior):
        for topic in product(range(2), repeat=5):
            counts = np.zeros((prior.truncation, 2))
            np.add.at(counts, (list(dish), list(topic)), 1)
            value = log_words(topic) + sum(log_polya(row, np.full(2, ATOM_PRIOR)) for row in counts)
            weights.append(p * np.exp(value))
            states.append((dish, topic))
    return np.average(functionals(*zip(*states, strict=True)), axis=0, weights=weights)


@each_prior
def test_the_chain_has_the_enumerated_posterior(prior):
    def log_words(topic):
        of_topic = np.zeros((2, 2))
        np.add.at(of_topic, (list(topic), WORDS), 1)
        return sum(log_polya(row, np.full(2, ETA)) for row in of_topic)

    expected = exact(prior, log_words)
    none, seeds = TopicCounts.none(2, 2, ETA), document_seeds(1, 0, 1)
    corpus = chains.copies(LENGTHS, WORDS)
    _, dish, topic = chains.states(prior, ATOM_PRIOR, corpus, none, seeds, 7_000)
    batches = functionals(dish, topic)[1000:].reshape(50, -1, 5).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / 50**0.5
    assert (np.abs(batches.mean(axis=0) - expected) < 4.5 * error).all()
    assert (error < 0.04 * expected).all()


@each_prior
def test_many_chains_with_given_topics_have_the_enumerated_posterior(prior):
    topic_word, n = np.array([[0.9, 0.1], [0.2, 0.8]]), 1500
    expected = exact(prior, lambda topic: np.log(topic_word[list(topic), WORDS]).sum())
    found = SentenceSampler(prior, ATOM_PRIOR).fold_in(
        chains.copies(LENGTHS, WORDS, n), np.ascontiguousarray(topic_word.T),
        document_seeds(2, 0, n), n_sweeps=30, n_averaged=10,
    )  # fmt: skip
    values = functionals(found.state.dish.reshape(n, 5), found.state.topic.reshape(n, 5))
    error = values.std(axis=0) / n**0.5
    assert (np.abs(values.mean(axis=0) - expected) < 4.5 * error).all()
    assert_allclose(found.sentence_topic.sum(axis=1), 1.0, rtol=1e-12)
    tables = found.n_tables.reshape(n, 3)
    assert_array_equal(tables[:, 1], 0)
    assert abs(tables.sum(axis=1).mean() - expected[1]) < 4.5 * error[1]


@pytest.mark.statistical
def test_draws_have_the_law_of_the_seats():
    prior, rng, n = PRIORS[0], np.random.default_rng(0), 250
    p, dish = zip(*seatings(prior), strict=True)
    expected = np.array(p) @ functionals(dish, np.zeros_like(dish))
    seats = [prior.draw_seats(LENGTHS, rng) for _ in range(n)]
    for one in seats:
        assert_array_equal(one.dish[one.table], one.dish)
    dish = np.array([one.dish for one in seats])
    drawn = functionals(dish, np.zeros_like(dish))
    error = np.maximum(np.std(drawn, axis=0), 1e-9) / n**0.5
    assert (np.abs(np.mean(drawn, axis=0) - expected) < 4.5 * error).all()


@pytest.mark.parametrize("shape", [0.01, 0.1, 1.0, 2.5, 30.0, 63.0, 300.0, 1000.0])
def test_the_grid_has_the_law_of_weights(shape):
    grid = ICD(shape=shape).grid()
    p = np.exp(grid.log_p_weights)
    assert_allclose(p.sum(), 1.0, rtol=1e-12)
    assert_allclose((p * grid.weights).sum(), gamma.mean(shape), rtol=2e-3)
    assert_allclose((p * (grid.weights - shape) ** 2).sum(), gamma.var(shape), rtol=2e-3)


@pytest.mark.parametrize(
    ("concentration", "truncation"), [(3.0, 6), (1.0, 10), (0.01, 200), (20.0, 4), (1000.0, 1)]
)
def test_the_grid_has_the_law_of_chances(concentration, truncation):
    grid, odds = ICD(concentration, truncation=truncation).grid(), concentration / truncation
    p, n = np.exp(grid.log_p_inclusion), np.arange(1, 40)
    assert_allclose(p.sum(), 1.0, rtol=1e-12)
    moments = (p[:, None] * grid.inclusion[:, None] ** n).sum(axis=0)
    assert_allclose(moments, odds / (odds + n), rtol=2e-3)
    moments = (p[:, None] * (1 - grid.inclusion[:, None]) ** n).sum(axis=0)
    assert_allclose(moments, np.exp(betaln(odds, 1 + n) - betaln(odds, 1)), rtol=2e-3, atol=1e-9)


SIZES = [[10] * 8, [8, 9, 10, 11, 12], [12] * 30, [5, 0, 12, 7, 0, 0, 9], [6, 0, 0, 0, 0, 0],
         [1, 2, 0, 1], [120, 40]]  # fmt: skip


def by_quadrature(prior, sizes):
    """Values of phi and of r, and their posteriors given the words of a dish, on fine grids."""
    odds, sizes = prior.concentration / prior.truncation, np.array(sizes)
    u, v = np.linspace(-30.0, 8.0, 2001), np.linspace(-80.0, 20.0, 801)[:, None]
    phi, r, has = np.exp(u), expit(v), sizes[sizes > 0]
    of_phi = prior.shape * u - phi
    for g in has:
        of_phi += gammaln(phi + g) - gammaln(phi) - phi * np.log(2)
    log_p = of_phi + (odds + len(has)) * np.log(r) + np.log(expit(-v))
    if len(has) < len(sizes):
        log_p += (len(sizes) - len(has)) * np.log(expit(-v) + r * np.exp2(-phi))
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    return (phi, p.sum(axis=0)), (r[:, 0], p.sum(axis=1))


@pytest.mark.parametrize("prior", [ICD(), ICD(shape=0.5), ICD(4.0, 20.0, 5)], ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_weights_and_chances_given_seats_are_those_of_quadrature(prior, sizes):
    grid = prior.grid()
    log_p = _log_posterior(np.array(sizes)[:, None], grid, _log_empty(grid))[0]
    p = np.exp(log_p - logsumexp(log_p))
    found = (p * grid.weights).sum(), (p * grid.inclusion[:, None]).sum()
    assert_allclose(found, [x @ p for x, p in by_quadrature(prior, sizes)], rtol=5e-3)


def test_the_compiled_sampler_has_the_weights_of_quadrature():
    """Each dish has one topic, and so the topics of a further word tell the weights."""
    prior, n, words = ICD(truncation=2), 400, np.array([0] * 10 + [1], np.int32)
    given = chains.copies([11] * 8, np.tile(words, 8), n)
    table = np.add.outer(11 * np.arange(8, dtype=np.int32), 10 * words)
    state = SamplerState(*(np.tile(x.ravel(), n * 88 // x.size) for x in (words, table, words)))
    sampler, how = SentenceSampler(prior, 1e-10), {"n_sweeps": 20, "n_averaged": 20, "state": state}
    found = sampler.fold_in(given, np.eye(2), document_seeds(0, 0, n), **how)
    (phi, p), _ = by_quadrature(prior, [10] * 8)
    (other, q), _ = by_quadrature(prior, [1] * 8)
    expected = p @ ((other + 1) / (phi[:, None] + other + 11)) @ q
    assert_allclose(found.sentence_topic[:, 1].mean(), expected, rtol=5e-3)


def test_all_dishes_are_open_to_single_words_however_unlikely_it_is_that_they_have_none():
    """Their chances 2^-phi may all be less than the least number."""
    prior, n = ICD(shape=1000.0, truncation=3), 600
    given, weights, seeds = chains.copies([1], [0], n), np.ones((1, 2)), document_seeds(0, 0, n)
    found = SentenceSampler(prior, 1.0).fold_in(given, weights, seeds, n_sweeps=10, n_averaged=5)
    assert np.bincount(found.state.dish, minlength=3).min() > 150
    assert_allclose(found.sentence_topic, 0.5, atol=0.2)
    drawn = [prior.draw_seats([1], np.random.default_rng(seed)).dish[0] for seed in range(20)]
    assert set(drawn) == {0, 1, 2}


def test_chances_near_one_give_all_dishes_to_all_sentences():
    """Without absences the seats are those of Dirichlet weights."""
    lengths, rng = [40] * 5, np.random.default_rng(0)
    few = ICD(concentration=0.05, shape=4.0, truncation=10).draw_seats(lengths, rng)
    many = ICD(concentration=1000.0, shape=4.0, truncation=10).draw_seats(lengths, rng)
    n_few, n_many = (len(np.unique(seats.table)) for seats in (few, many))
    assert n_many > 40
    assert n_few < 25


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
    with pytest.raises(ValueError, match="Use score"):
        model.log_likelihood(X[:2])
