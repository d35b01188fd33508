# SPDX-License-Identifier: BSD-3-Clause
"""The store of rows against a dense array."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.posteriors import rows as module
from streamtopics.posteriors.rows import Rows, added, from_counts, seen_in
from streamtopics.updates import IterateAverage

V, K = 40, 3


@pytest.fixture(autouse=True)
def no_room(monkeypatch):
    """Let the array of rows grow from the first word on, not from a million cells."""
    monkeypatch.setattr(module, "LEAST_CELLS", 0)


def statistics(seed, n=5, n_words=V, n_topics=K):
    rng = np.random.default_rng(seed)
    words = np.sort(rng.choice(n_words, n, replace=False)).astype(np.int32)
    return Statistics(words, rng.gamma(1.0, 2.0, (n, n_topics)), np.ones(4))


def learnt(n=1, **others):
    posterior = TopicPosterior(np.full((1, 1), 0.3), (V, K), np.ones(K), **others)
    for t in range(n):
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics(t)))
    return posterior


def store_of(S, order):
    """A store with the rows of a dense array of some words, in this order."""
    return from_counts(len(S), np.array(order, np.int32), S[order])


def dense_and_store(seed=0):
    rng = np.random.default_rng(seed)
    S = rng.gamma(1.0, 5.0, (V, K))
    order = rng.permutation(V)[:17]
    S[np.setdiff1d(np.arange(V), order)] = 0.0
    return S, store_of(S, order), np.sort(order).astype(np.int32)


def test_a_store_reads_like_the_dense_array():
    S, store, seen = dense_and_store()
    rng = np.random.default_rng(1)
    words = rng.integers(0, V, 60).astype(np.int32)
    assert store.shape == S.shape
    assert_array_equal(store.words, seen)
    assert_array_equal(store.dense(), S)
    assert_array_equal(store.rows(words), S[words])
    assert_array_equal(store.column(1), S[:, 1])
    assert_array_equal(store.counts[store.used].sum(axis=0), store.counts.sum(axis=0))
    some = store.only(words)
    assert_array_equal(some.dense(), S[words])
    assert some.n_used == len(words) + 1


@pytest.mark.parametrize("again", [lambda s: pickle.loads(pickle.dumps(s)), copy.deepcopy])
def test_a_store_is_saved_as_the_rows_of_its_words(again):
    store = Rows(10**6, K)
    allocation = store.allocate(np.array([999_999, 5, 70], np.int32))
    vars(store).update(counts=np.concatenate([allocation.counts, np.zeros((50, K))]), n_used=4)
    store.places[[999_999, 5, 70]] = allocation.rows
    store.counts[1:4] = np.arange(9.0).reshape(3, K)
    other = again(store)
    assert other.counts.shape == (4, K)
    assert_array_equal(other.places, store.places)
    assert_array_equal(other.counts, store.counts[:4])
    assert len(pickle.dumps(store)) < 1000
    assert pickle.dumps(other) == pickle.dumps(store)


def test_an_allocation_changes_nothing():
    S, store, seen = dense_and_store()
    unseen = np.setdiff1d(np.arange(V), seen).astype(np.int32)
    words = np.array([unseen[3], seen[0], unseen[0]], np.int32)
    before = pickle.dumps(store)
    allocation = store.allocate(words)
    assert allocation.store is store
    assert_array_equal(allocation.rows, [18, store.places[seen[0]], 19])
    assert allocation.n_used == 20
    assert allocation.counts is not store.counts
    assert_array_equal(allocation.counts[:18], store.counts)
    assert_array_equal(allocation.counts[18:], 0.0)
    assert pickle.dumps(store) == before
    assert store.allocate(seen).counts is store.counts
    assert_array_equal(store.dense(), S)


def test_the_array_grows_by_half_and_never_beyond_the_vocabulary():
    posterior, lengths = learnt(0), []
    for word in range(V):
        s = Statistics(np.array([word], np.int32), np.ones((1, K)), np.ones(1))
        posterior.blend(Blend(1.0, 1.0, 0.0, s))
        lengths.append(len(posterior._state.S.counts))
        assert_array_equal(posterior.S, (np.arange(V) <= word)[:, None] * np.ones(K))
    steps = np.unique(lengths)
    assert (steps[1:] <= np.maximum(1.5 * steps[:-1], steps[:-1] + 1)).all()
    assert steps[-1] == V + 1
    assert len(steps) < V / 2


def test_who_reads_an_array_from_before_a_growth_sees_zeros_for_new_words():
    posterior = learnt()
    store, first = posterior._state.S, posterior._state.S.counts
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(1, n=20)))
    new = np.flatnonzero(store.places >= len(first)).astype(np.int32)
    assert len(new)
    store.counts = first
    assert_array_equal(store.rows(new), 0.0)


def test_sums_of_stores():
    (S, one, seen), (T, other, others) = dense_and_store(0), dense_and_store(1)
    weights = np.array([0.5, 2.0, -1.0])
    total = added([(one, np.ones(K)), (other, weights)])
    assert_allclose(total.dense(), S + weights * T, rtol=1e-15)
    assert_array_equal(total.words, np.union1d(seen, others))
    assert_array_equal(seen_in([one, other]), total.words)


def test_words_that_were_forgotten_keep_their_row_and_others_get_none():
    posterior = learnt()
    seen = posterior._state.S.words
    posterior.forget(np.arange(V, dtype=np.int32))
    assert_array_equal(posterior._state.S.words, seen)
    assert_array_equal(posterior.S, 0.0)
    assert_array_equal(posterior.mass, posterior.prior_mass)
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    assert posterior._state.S.n_used == len(seen) + 1
    assert_array_equal(posterior.dense(), learnt().dense())


@pytest.mark.parametrize("eta", [0.3, np.linspace(0.1, 0.2, V)[:, None]], ids=["alike", "by word"])
@pytest.mark.parametrize("n", [1, 5, 39, V])
@pytest.mark.parametrize("averaged", [False, True])
def test_the_leading_words_are_among_those_that_may_lead(eta, n, averaged):
    """Also where a topic's words are all equal, and where words with statistics have none of it."""
    posterior = TopicPosterior(np.reshape(eta, (-1, 1)), (V, K), np.ones(K))
    topics = IterateAverage(posterior) if averaged else posterior
    for t in range(2):
        s = statistics(t, n=7)
        s.counts[:, 1] = 0.0
        s.counts[::2, 2] = 0.0
        topics.blend(Blend(0.9, 1.0, 0.1, s))
    lam, words = topics.dense(), topics.top_candidates(n)
    assert words.dtype == np.int32
    assert (np.diff(words) > 0).all()
    assert len(words) == V if np.size(eta) > 1 else len(words) <= 14 + n
    if np.size(eta) == 1 and not averaged:
        seen = np.union1d(statistics(0, n=7).words, statistics(1, n=7).words)
        assert_array_equal(words, np.union1d(seen, np.setdiff1d(range(V), seen)[:n]))
    for k in range(K):
        leading = np.argsort(-lam[:, k], kind="stable")[:n]
        if averaged:  # ties may differ by rounding
            leading = leading[lam[leading, k] > lam[:, k].min() * (1 + 1e-9)]
        assert np.isin(leading, words).all()


@pytest.mark.parametrize("name", ["counts", "places"])
def test_a_store_that_must_not_be_written_is_copied(name):
    """As of a model that workers share: its arrays are views of memory that is not theirs."""
    posterior, other = learnt(2), learnt(2)
    shared = posterior._state.S
    getattr(shared, name).flags.writeable = False
    before = shared.places.copy(), shared.counts.copy()
    for one in (posterior, other):
        one.blend(Blend(1.0, 1.0, 0.0, statistics(7, n=20)))
    assert_array_equal(posterior.S, other.S)
    assert posterior._state.S is not shared
    assert_array_equal(shared.places, before[0])
    assert_array_equal(shared.counts, before[1])
