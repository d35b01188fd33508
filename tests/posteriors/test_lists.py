# SPDX-License-Identifier: BSD-3-Clause
"""Counts in lists against the dense equation, and rounding against its promises."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.posteriors import lists as module
from streamtopics.posteriors.lists import joined

V, K, NEVER = 40, 100, 1e-300
ALPHA = np.full(K, 0.1)


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    """Arrays that are soon full."""
    monkeypatch.setattr(module, "LEAST_ENTRIES", 1)


def make(least=NEVER, seed=3):
    eta = np.random.default_rng(0).uniform(0.1, 2.0, (V, 1))
    return TopicPosterior(eta, (V, K), ALPHA, seed=seed, least=least), eta * np.ones(K)


def statistics(seed, n_words=15, dense=False):
    rng = np.random.default_rng(seed)
    words = np.sort(rng.choice(V, n_words, replace=False)).astype(np.int32)
    counts = rng.gamma(1.0, 2.0, (n_words, K)) * (rng.random((n_words, K)) < 0.1)
    held = counts if dense else sparse.csr_array(counts)
    return Statistics(words, held, np.full(4, counts.sum() / 4))


def in_all(s):
    out = np.zeros((V, K))
    out[s.words] = s.counts.toarray() if sparse.issparse(s.counts) else s.counts
    return out


def pickled(posterior):
    return pickle.loads(pickle.dumps(posterior))


def learnt(*seeds, least=NEVER, posterior=None):
    posterior = make(least)[0] if posterior is None else posterior
    for seed in seeds:
        posterior.blend(Blend(0.9, 1.5, 0.1, statistics(seed)))
    return posterior


def test_blends_follow_the_equation():
    posterior, eta = make()
    lam = eta.copy()
    for t in range(30):
        s = statistics(t, 1 + t % 20, dense=t % 3 == 0)
        rng, size = np.random.default_rng(t), None if t % 2 else K
        retain, gain = rng.uniform(0.3, 1.0, size), rng.uniform(0.1, 3.0, size)
        blend = Blend(retain, gain, 0.2, s)
        lam = retain * lam + gain * in_all(s) + 0.2 * eta
        after = posterior.after(blend)
        assert_allclose(after.rows(s.words), lam[s.words], rtol=1e-10)
        assert_allclose(after.mass, lam.sum(axis=0), rtol=1e-10)
        posterior.blend(blend)
        words = np.array([0, 3, 39], np.int32)
        assert_allclose(posterior.rows(words), lam[words], rtol=1e-10)
        assert_allclose(posterior.dense(), lam, rtol=1e-10)
        assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)
        assert_allclose(posterior.S.sum(axis=0), posterior.learnt_mass, rtol=1e-10)
    assert (posterior.n_batches, posterior.n_documents) == (30, 120)


@pytest.mark.parametrize("rho", [0.0, 1e-9])
def test_what_fades_away_stays_exact(rho):
    posterior, eta = make()
    lam = eta.copy()
    for t in range(8):
        s = statistics(t)
        lam = rho * lam + in_all(s) + (1 - rho) * eta
        posterior.blend(Blend(rho, 1.0, 1 - rho, s))
        assert_allclose(posterior.dense(), lam, rtol=1e-10)


def test_a_copy_of_some_words_learns_alike():
    posterior = learnt(0, 1, 2)
    words = np.flatnonzero(np.arange(V) % 3 > 0).astype(np.int32)
    copy = posterior.of_words(words)
    before = pickle.dumps(posterior)
    for t in range(10, 20):
        s = statistics(t)
        kept = np.isin(s.words, words)
        own = replace(s, words=s.words[kept], counts=s.counts[kept])
        copy.blend(Blend(1.0, 1.0, 0.0, own))
        if t == 10:
            assert pickle.dumps(posterior) == before
        posterior.blend(Blend(1.0, 1.0, 0.0, own))
        assert_allclose(copy.rows(words), posterior.rows(words), rtol=1e-12)
        assert_allclose(copy.mass, posterior.mass, rtol=1e-12)
        before = pickle.dumps(posterior)


def test_rounding_is_right_on_average_and_keeps_the_tokens_of_words():
    least, n = 0.8, 1000
    exact = learnt(0, 1, posterior=make()[0])
    start = pickle.dumps(learnt(0, least=least, posterior=make()[0]))
    found = np.empty((n, V, K))
    for seed in range(n):
        posterior = pickle.loads(start)
        posterior._state.S.least, posterior.seed = least, seed
        learnt(1, posterior=posterior)
        found[seed] = posterior.a * posterior.S
    expected = exact.a * exact.S
    touched = statistics(1).words
    assert found[:, touched][found[:, touched] > 0].min() >= 0.999 * least
    totals = found.sum(axis=2) - expected.sum(axis=1)
    assert np.abs(totals).max() <= least * (1 + 1e-9)
    error = found.std(axis=0) / np.sqrt(n) + 1e-9
    assert np.all(np.abs(found.mean(axis=0) - expected) < 5 * error)
    assert_allclose(posterior.learnt_part, found[-1].sum(axis=0), rtol=1e-12)
    assert np.array_equal(np.sort(posterior._state.S.words), exact._state.S.words)


def test_it_goes_on_from_a_file_to_the_same_bits():
    posterior = learnt(0, 1, 2, least=0.5)
    again = pickled(posterior)
    for each in (posterior, again):
        learnt(3, 4, 5, posterior=each)
    assert_array_equal(again.dense(), posterior.dense())
    assert_array_equal(again.learnt_mass, posterior.learnt_mass)


S = statistics(2)
UNFIT = {
    "vocabulary": {"words": S.words + V},
    "statistics": {"counts": S.counts * np.inf},
    "shape": {"counts": S.counts[:, :-1]},
}


@pytest.mark.parametrize("message", UNFIT)
def test_what_does_not_fit_changes_nothing(message):
    posterior = learnt(0, 1)
    before = pickle.dumps(posterior)
    with pytest.raises((ValueError, IndexError), match=message):
        posterior.blend(Blend(1.0, 1.0, 0.0, replace(S, **UNFIT[message])))
    assert pickle.dumps(posterior) == before


def test_a_store_reads_like_the_dense_array():
    posterior = learnt(0, 1, 2)
    S, dense = posterior._state.S, posterior.S
    words = np.random.default_rng(0).integers(V, size=20)
    assert_array_equal(S.rows(words), dense[words])
    assert_array_equal(S.words, np.flatnonzero(dense.any(axis=1)))
    assert_array_equal(S.only(np.array([5, 2])).dense(), dense[[5, 2]])
    assert not TopicPosterior(np.ones((1, 1)), (V, K), least=1.0)._state.S.rows(words).any()
    S.check_held()
    S.topics[S.places[np.argmax(S.places[:, 1]), 0]] = K - 1
    with pytest.raises(ValueError, match="in order"):
        S.check_held()


def test_nothing_is_left_of_words_that_are_forgotten():
    posterior, eta = make()
    learnt(0, 1, 2, posterior=posterior)
    words = np.array([1, 5, 6, 30], np.int32)
    kept = np.setdiff1d(np.arange(V), words)
    expected = posterior.dense()
    posterior.forget(words)
    assert_allclose(posterior.rows(words), posterior.c * eta[words], rtol=1e-12)
    assert_array_equal(posterior.dense()[kept], expected[kept])
    assert_allclose(posterior.mass, posterior.dense().sum(axis=0), rtol=1e-10)


def test_no_more_is_taken_back_than_was_learnt():
    posterior = learnt(0)
    s = statistics(0)
    taken = replace(s, counts=s.counts * -2.0, takes_back=True)
    posterior.blend(Blend(1.0, 1.0, 0.0, taken))
    assert not posterior.S.any()
    assert_allclose(posterior.learnt_mass, 0.0, atol=1e-9)


@pytest.mark.parametrize("with_base", [False, True])
def test_sums_and_differences_are_those_of_arrays(with_base):
    base = learnt(0, 1)
    one, other = (learnt(t, posterior=pickled(base)) for t in (2, 3))
    summed = one.added_to(other, base if with_base else None, ALPHA)
    expected = one.dense() + other.dense() - (base.dense() if with_base else make()[1])
    assert_allclose(summed.dense(), np.maximum(expected, summed.c * make()[1]), rtol=1e-10)
    assert_allclose(summed.mass, summed.dense().sum(axis=0), rtol=1e-10)
    copy, more = pickled(base), pickled(base)
    copy.blend(one.since(base, 0.9))
    assert_allclose(copy.dense(), one.dense(), rtol=1e-9)
    assert not one.is_extension_of(other)
    more.blend(Blend(1.0, 1.0, 0.0, statistics(5)))
    assert more.is_extension_of(base)
    assert one.is_learnt_from(one, other)


def test_parts_are_joined_by_word():
    words = np.arange(V, dtype=np.int32)
    rng = np.random.default_rng(0)
    found, expected = [], np.zeros((V, K))
    for t in range(4):
        s = statistics(t)
        factor = rng.uniform(0.5, 2.0, K) if t % 2 else 1.5
        found.append((s.words, s.counts, factor))
        expected += factor * in_all(s)
    scale = rng.uniform(0.5, 2.0, K)
    assert_allclose(joined(found, words, scale).toarray(), scale * expected, rtol=1e-12)


def test_lists_that_must_not_be_written_are_copied():
    posterior, twin = learnt(0, 1), learnt(0, 1)
    for array in (posterior._state.S.topics, posterior._state.S.counts):
        array.flags.writeable = False
    for each in (posterior, twin):
        nothing = replace(statistics(2), words=np.zeros(0, np.int32), counts=np.zeros((0, K)))
        each.blend(Blend(1.0, 1.0, 0.0, nothing))
        learnt(3, posterior=each)
    assert_array_equal(posterior.dense(), twin.dense())


def test_a_full_copy_has_room_for_words_whose_own_room_is_gone(monkeypatch):
    monkeypatch.setattr(module, "GROWTH", 1)
    copy = make()[0].of_words(np.arange(V, dtype=np.int32))
    expected = sum(in_all(statistics(t)) for t in range(9))
    for t in range(9):
        copy.blend(Blend(1.0, 1.0, 0.0, statistics(t)))
    assert_allclose(copy.S.sum(axis=0), expected.sum(axis=0), rtol=1e-10)
