# SPDX-License-Identifier: BSD-3-Clause
"""The lazy posterior against the dense equation it stands for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.messages import Statistics
from streamtopics.posterior import Blend, LazyPosterior, Proportions

V, K = 12, 3
SHAPES = {"scalar": (1, 1), "words": (V, 1), "topics": (1, K), "matrix": (V, K)}


def make(shape, seed=0):
    eta = np.random.default_rng(seed).uniform(0.1, 2.0, shape)
    return LazyPosterior(eta, (V, K)), np.broadcast_to(eta, (V, K))


def statistics(seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    words = np.sort(rng.choice(V, 5, replace=False)).astype(np.int32)
    counts = rng.gamma(1.0, 2.0, (5, K)).astype(dtype)
    return Statistics(words, counts, np.full(4, counts.sum() / 4))


def dense(s):
    out = np.zeros((V, K))
    out[s.words] = s.counts
    return out


def coefficients(seed):
    """Numbers and one per topic, in turn."""
    rng = np.random.default_rng(seed)
    size = None if seed % 2 else K
    return rng.uniform(0.3, 1.0, size), rng.uniform(0.1, 3.0, size), rng.uniform(0.0, 0.5, size)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blends_follow_the_equation(shape, dtype):
    posterior, eta = make(shape)
    lam = eta.copy()
    for t in range(30):
        s = statistics(t, dtype)
        retain, gain, prior = coefficients(t)
        blend = Blend(retain, gain, prior, s)
        lam = retain * lam + gain * dense(s) + prior * eta
        proposal = posterior.after(blend)
        assert_allclose(proposal.rows(s.words[1:4]), lam[s.words[1:4]], rtol=1e-10)
        assert_allclose(proposal.mass, lam.sum(axis=0), rtol=1e-10)
        posterior.blend(blend)
        assert_allclose(posterior.dense(), lam, rtol=1e-10)
        assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)
        words = np.array([0, 3, 11], dtype=np.int32)
        assert_allclose(posterior.rows(words), lam[words], rtol=1e-10)
    assert (posterior.n_batches, posterior.n_documents) == (30, 120)


def test_a_proposal_changes_nothing():
    posterior, _ = make((V, K))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(1)))
    before = posterior.dense().copy()
    posterior.after(Blend(0.5, 2.0, 0.5, statistics(2))).rows(statistics(2).words)
    assert_array_equal(posterior.dense(), before)


def test_rows_of_words_that_were_never_seen_are_the_prior():
    posterior, eta = make((V, 1))
    s = statistics(0)
    posterior.blend(Blend(1.0, 1.0, 0.0, s))
    unseen = np.setdiff1d(np.arange(V), s.words).astype(np.int32)
    assert_array_equal(posterior.rows(unseen), eta[unseen])


def test_knows_nothing_until_tokens_came():
    posterior, _ = make((1, 1))
    nothing = Statistics(np.arange(2, dtype=np.int32), np.zeros((2, K)), np.zeros(3))
    posterior.blend(Blend(1.0, 1.0, 0.0, nothing))
    assert posterior.knows_nothing
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    assert not posterior.knows_nothing


def test_a_blend_that_does_not_fit_changes_nothing():
    posterior, _ = make((1, 1))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    before, batches = posterior.dense().copy(), posterior.n_batches
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        posterior.blend(Blend(np.ones(K + 1), 1.0, 0.0, statistics(1)))
    assert_array_equal(posterior.dense(), before)
    assert posterior.n_batches == batches


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_forgetting_all_or_much_stays_exact(rho):
    posterior, eta = make((V, K))
    lam = eta.copy()
    for t in range(200):
        s = statistics(t)
        retain = np.array([rho, 1.0, rho])
        lam = retain * lam + dense(s) + (1 - retain) * eta
        posterior.blend(Blend(retain, 1.0, 1 - retain, s))
    assert_allclose(posterior.dense(), lam, rtol=1e-10)
    assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)


def test_ten_thousand_steps_of_forgetting_do_not_underflow():
    posterior, _ = make((1, 1))
    s = Statistics(np.array([3], dtype=np.int32), np.ones((1, K)), np.full(1, float(K)))
    for _ in range(10_000):
        posterior.blend(Blend(0.9, 1.0, 0.1, s))
    assert_allclose(posterior.rows(s.words) - posterior.eta, 10.0, rtol=1e-8)


def test_a_proposal_has_no_rows_of_other_words():
    posterior, _ = make((1, 1))
    s = statistics(0)
    other = np.setdiff1d(np.arange(V), s.words)[:1].astype(np.int32)
    with pytest.raises(IndexError, match="only has the rows"):
        posterior.after(Blend(1.0, 1.0, 0.0, s)).rows(other)


def test_a_read_only_posterior_is_copied_when_it_learns():
    posterior, _ = make((V, K))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    sent = posterior.S
    sent.flags.writeable = False
    posterior._state.flags.writeable = False
    before = sent.copy()
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(1)))
    assert_array_equal(sent, before)
    assert_allclose(posterior.S, before + dense(statistics(1)))


@pytest.mark.parametrize("shape", [(1, 1), (V, 1)])
def test_topics_can_be_chosen_and_added(shape):
    eta = np.random.default_rng(0).uniform(0.1, 2.0, shape)
    posterior = LazyPosterior(eta, (V, K), np.array([0.1, 0.2, 0.3]), K)
    memory = np.array([1.0, 2.0, 3.0])
    update = Blend(0.9, 2.0, 0.2, statistics(1), Proportions(posterior.alpha, memory))
    posterior.blend(update)
    before, state = posterior.dense(), posterior._state.copy()
    chosen = posterior.with_topics(np.array([2, -1, 0]), np.array([0.3, 0.05, 0.1]))
    assert_allclose(chosen.dense()[:, [0, 2]], before[:, [2, 0]])
    assert_allclose(chosen.dense()[:, 1], posterior.c[0] * np.broadcast_to(eta, (V, 1))[:, 0])
    assert_allclose(chosen.mass, chosen.dense().sum(axis=0))
    assert_array_equal(chosen.alpha, [0.3, 0.05, 0.1])
    assert_array_equal(chosen.proportions.memory, [3.0, 0.0, 1.0])
    assert (chosen.n_batches, chosen.n_documents) == (posterior.n_batches, posterior.n_documents)
    chosen.blend(Blend(0.5, 1.0, 0.5, statistics(2)))
    assert_array_equal(posterior.dense(), before)
    assert_array_equal(posterior._state, state)
