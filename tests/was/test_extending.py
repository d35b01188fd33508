# SPDX-License-Identifier: BSD-3-Clause
"""A prior of sentences by a stranger, in one file: the tables of Pitman and Yor."""

import importlib
from collections import Counter
from dataclasses import dataclass, replace
from math import lgamma, log
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from sklearn.model_selection import GridSearchCV

from streamtopics import WASTopicModel
from streamtopics.was import Franchise, HDPFranchise
from streamtopics.was.corpus import SentenceCorpus, document_seeds
from streamtopics.was.franchise import exchangeable
from streamtopics.was.sampler import SentenceSampler, TopicCounts
from tests.reference import was as reference
from tests.reference.subtle_corpus import make_subtle_corpus
from tests.was import chains

GUIDE = Path(__file__).parent.parent.parent / "doc" / "extend"
X = make_subtle_corpus(40, n_topics=4, n_features=60, random_state=0).X
SETTINGS = {"n_sweeps": 10, "n_burn_in": 5, "n_local_sweeps": 6, "random_state": 1}
LENGTHS, WORDS, ATOM_PRIOR, ETA = [3, 2], [0, 0, 1, 0, 1], 0.6, 0.4


@pytest.fixture(autouse=True)
def guide(monkeypatch):
    monkeypatch.syspath_prepend(GUIDE)


def pitman_yor(*fields):
    return importlib.import_module("pitman_yor").PitmanYor(*fields)


@dataclass(frozen=True)
class TwiceDiscounted(Franchise):
    """Pitman and Yor's law for the tables and for their dishes."""

    tables: tuple[float, float] = (0.7, 0.4)
    dishes: tuple[float, float] = (0.9, 0.3)

    def join_table(self, n_words):
        return n_words - self.tables[1]

    def open_table(self, n_words, n_tables):
        return self.tables[0] + self.tables[1] * n_tables

    def join_dish(self, n_tables):
        return n_tables - self.dishes[1]

    def open_dish(self, n_tables, n_dishes):
        return self.dishes[0] + self.dishes[1] * n_dishes


@dataclass(frozen=True)
class FewTables(HDPFranchise):
    """Tables of which there may be at most two, with Dirichlet(1, 1) weights."""

    def join_table(self, n_words):
        return n_words + 1.0

    def open_table(self, n_words, n_tables):
        return np.maximum(0.0, 2.0 - n_tables)


def log_law(log_tables, log_dishes, table, dish):
    """log p of seats, by the laws of partitions of the words of sentences and of the tables."""
    sentences = np.split(np.array(table), np.cumsum(LENGTHS[:-1]))
    total = sum(log_tables(np.unique(tables, return_counts=True)[1]) for tables in sentences)
    served = np.array(dish)[np.unique(table)]
    return total + log_dishes(np.unique(served, return_counts=True)[1])


def log_pitman_yor(concentration, discount):
    """The probability of a partition by its sizes (Pitman 1995)."""

    def log_p(sizes):
        new = sum(log(concentration + discount * t) for t in range(len(sizes)))
        grown = sum(lgamma(n - discount) - lgamma(1 - discount) for n in sizes)
        return new + grown - lgamma(concentration + sum(sizes)) + lgamma(concentration)

    return log_p


def log_two_urns(sizes):
    """A Dirichlet(1, 1) law of at most two groups, which are numbered as they come up."""
    if len(sizes) > 2:
        return -np.inf
    return log(2) * (len(sizes) > 0) + sum(lgamma(n + 1) for n in sizes) - lgamma(sum(sizes) + 2)


def cases():
    crp = log_pitman_yor(1.3, 0.0), log_pitman_yor(1.0, 0.0)
    return {
        "tables": (pitman_yor(0.5, 0.5, 1.3), log_pitman_yor(0.5, 0.5), crp[0]),
        "both": (TwiceDiscounted(), log_pitman_yor(0.7, 0.4), log_pitman_yor(0.9, 0.3)),
        "two at most": (FewTables(), log_two_urns, crp[1]),
    }


each_case = pytest.mark.parametrize("case", ["tables", "both", "two at most"])


def by_first_words(table, dish):
    """Seats, with the dishes named by their first words as the tables are."""
    return tuple(table), tuple(list(dish).index(d) for d in dish)


def functionals(table, dish, topic):
    numbers = [chains.first_ones(labels).sum(axis=1) for labels in (table, dish)]
    return np.column_stack([*numbers, *map(chains.pairs, (table, dish, topic))])


@each_case
def test_the_chain_has_the_enumerated_posterior(case):
    """Mean tables, dishes, pairs at one table, of one dish and of one topic."""
    prior, *laws = cases()[case]
    for p, table, dish in reference.configurations(LENGTHS, prior):
        assert_allclose(np.log(p), log_law(*laws, table, dish))
    states, _ = reference.posterior(LENGTHS, WORDS, prior, ATOM_PRIOR, 2, 2, eta=ETA)
    p, *labels = map(np.array, zip(*states, strict=True))
    exact = p @ functionals(*labels)
    none, seeds = TopicCounts.none(2, 2, ETA), document_seeds(1, 0, 1)
    labels = chains.states(prior, ATOM_PRIOR, chains.copies(LENGTHS, WORDS), none, seeds, 6000)
    batches = functionals(*labels)[100:].reshape(50, -1, 5).mean(axis=1)
    error = np.maximum(batches.std(axis=0, ddof=1) / 50**0.5, 1e-9)
    assert (np.abs(batches.mean(axis=0) - exact) < 4.5 * error).all()


@each_case
def test_particles_and_draws_have_the_law(case):
    prior, *_ = cases()[case]
    topic_word = np.array([[0.9, 0.1], [0.2, 0.8]])
    _, exact = reference.posterior(LENGTHS, WORDS, prior, ATOM_PRIOR, 2, 2, topic_word=topic_word)
    weights, n = np.ascontiguousarray(topic_word.T), 300
    given, seeds = chains.copies(LENGTHS, WORDS, n), document_seeds(0, 0, n)
    sampler = SentenceSampler(prior, ATOM_PRIOR)
    estimates = np.exp(sampler.log_likelihood(given, weights, seeds, n_particles=20))
    assert abs(estimates.mean() - exact) < 4.5 * estimates.std() / n**0.5
    rng = np.random.default_rng(2)
    seats = (prior.draw_seats([2, 2], rng) for _ in range(3000))
    drawn = Counter(by_first_words(one.table.tolist(), one.dish.tolist()) for one in seats)
    found = reference.configurations([2, 2], prior)
    states = {by_first_words(table, dish): p for p, table, dish in found}
    assert drawn.keys() <= states.keys()
    assert_allclose(sum(states.values()), 1.0)
    expected = 3000 * np.array(list(states.values()))
    assert chisquare([drawn[state] for state in states], expected).pvalue > 1e-4


def test_without_a_discount_it_is_the_hdp_bit_for_bit():
    mine = WASTopicModel(4, prior=pitman_yor(0.5, 0.0, 1.0), **SETTINGS).fit(X)
    built_in = WASTopicModel(4, prior=HDPFranchise(0.5, 1.0), **SETTINGS).fit(X)
    for model in (mine, built_in):
        model.partial_fit(X[:10])
    assert_array_equal(mine.components_, built_in.components_)
    assert_array_equal(mine.transform(X), built_in.transform(X))
    assert_array_equal(mine.log_likelihood(X[:5]), built_in.log_likelihood(X[:5]))
    drawn = [model.prior.draw_seats([9, 9], np.random.default_rng(0)) for model in (mine, built_in)]
    assert repr(drawn[0]) == repr(drawn[1])


def test_a_discount_makes_more_tables_and_is_a_parameter():
    model = WASTopicModel(4, prior=pitman_yor(0.5, 0.0), **SETTINGS)
    few = model.fit(X).n_tables_.mean()
    assert model.set_params(prior__discount=0.9).fit(X).n_tables_.mean() > 2 * few
    search = GridSearchCV(model, {"prior__discount": [0.0, 0.5]}, cv=2, error_score="raise")
    assert search.fit(X).best_params_["prior__discount"] in (0.0, 0.5)


def test_no_bit_depends_on_threads_or_on_how_the_tables_grew():
    """A document of many tables and dishes, and one beside it that needs few."""
    prior = pitman_yor(2.0, 0.8, 50.0)
    words = np.random.default_rng(0).integers(0, 6, 193).astype(np.int32)
    given = SentenceCorpus(words, np.array([0, 150, 190, 193]), np.array([0, 2, 3]))
    seeds, weights = document_seeds(0, 0, 2), np.ones((6, 2))
    both = SentenceSampler(prior, 0.3).fold_in(given, weights, seeds)
    assert both.n_tables.max() > 20
    assert both.n_dishes.max() > 16
    alone = SentenceSampler(prior, 0.3).fold_in(given.part(1, 2), weights, seeds[1:])
    assert_array_equal(alone.sentence_topic, both.sentence_topic[2:])
    model = WASTopicModel(4, prior=prior, **SETTINGS).fit(X)
    threads = WASTopicModel(4, prior=prior, n_jobs=2, **SETTINGS).fit(X)
    assert_array_equal(model.components_, threads.components_)


@dataclass(frozen=True)
class Wrong(HDPFranchise):
    weight: object = 1.0

    def open_table(self, n_words, n_tables):
        return self.weight if np.ndim(self.weight) else self.weight + 0 * n_words


@pytest.mark.parametrize("weight", [np.nan, -1.0, 0.0])
def test_wrong_weights_are_refused_by_name(weight):
    with pytest.raises(ValueError, match=r"Wrong.open_table must return finite weights"):
        WASTopicModel(2, prior=Wrong(weight=weight), **SETTINGS).fit(X)


@dataclass(frozen=True)
class AllAlike(HDPFranchise):
    """The uniform process of Wallach et al. (2010), which is not exchangeable."""

    def join_table(self, n_words):
        return 1.0


@dataclass(frozen=True)
class ByLength(HDPFranchise):
    def open_table(self, n_words, n_tables):
        return 1.0 + n_words


@pytest.mark.parametrize("prior", [AllAlike(), ByLength()], ids=str)
def test_laws_that_depend_on_the_order_are_refused(prior):
    with pytest.raises(ValueError, match=r"_table and .*open_table must be .* exchangeable"):
        WASTopicModel(2, prior=prior, **SETTINGS).fit(X)


@pytest.mark.parametrize("sigma", [0.0, 0.5, -1.0])
def test_laws_of_gibbs_type_are_exchangeable(sigma):
    """Also where a new table's weight depends on the words: a mixture of two Pitman-Yor laws."""
    n, t = np.meshgrid(np.arange(20.0), np.arange(9.0))
    opened = [np.maximum(0.0, b + sigma * t) for b in (4.0, 7.0)]
    log_v = np.full((2, 9, 21), -np.inf)
    for law, b in enumerate((4.0, 7.0)):
        new = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(opened[law][:-1, 0], 1e-300)))])
        words = np.array([lgamma(b) - lgamma(b + m) for m in range(21)])
        log_v[law] = new[:, None] + words
    v = np.exp(log_v).sum(axis=0)
    opening = np.where(t[:8] <= n[:8], v[1:, 1:] / v[:-1, 1:], 0.0)
    joining = np.append(0.0, np.arange(1.0, 20.0) - sigma)
    assert exchangeable(joining, opening)
    opening[2, 5] *= 1.01
    assert not exchangeable(joining, opening)


def test_weights_that_fail_later_change_nothing():
    """Tables grow in the middle of a sweep; what the prior raises there comes out."""

    @dataclass(frozen=True)
    class Limited(HDPFranchise):
        def open_dish(self, n_tables, n_dishes):
            if np.max(n_tables) > 16:
                raise RuntimeError("no more tables")
            return 5.0

    model = WASTopicModel(2, prior=HDPFranchise(), **SETTINGS).fit(X)
    before = model.components_
    with pytest.raises(RuntimeError, match="no more tables"):
        model.set_params(prior=Limited(table_concentration=9.0)).partial_fit(X)
    assert_array_equal(model.components_, before)


def test_fields_are_checked():
    with pytest.raises(ValueError, match="discount must be in"):
        replace(pitman_yor(), discount=1.0)
