# SPDX-License-Identifier: BSD-3-Clause
"""The lazy posterior against the dense equation it stands for."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from streamtopics.posterior import (
    Blend,
    LazyPosterior,
    Noise,
    Proportions,
    blend_together,
)

from streamtopics.messages import Statistics

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


# Several at once


def test_blends_together_are_the_blends():
    together, alone = ([make(SHAPES["matrix"], seed)[0] for seed in range(3)] for _ in range(2))
    blends = [Blend(*coefficients(t), statistics(t)) for t in range(3)]
    blend_together(list(zip(together, blends, strict=True)))
    for a, b, blend in zip(together, alone, blends, strict=True):
        b.blend(blend)
        assert pickle.dumps(a) == pickle.dumps(b)


@pytest.mark.parametrize("wrong", [(np.inf, 1.0, 0.0), (0.5, np.nan, 0.0), (0.5, 1.0, -np.inf)])
def test_blends_together_are_all_or_none(wrong):
    posteriors = [make(SHAPES["matrix"], seed)[0] for seed in range(3)]
    for posterior in posteriors:
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    before = pickle.dumps(posteriors)
    for place in range(3):
        given = [(0.5, 1.0, 0.5)] * 3
        given[place] = wrong
        blends = [Blend(*one, statistics(1)) for one in given]
        with pytest.raises(ValueError, match="infinite"), np.errstate(all="ignore"):
            blend_together(list(zip(posteriors, blends, strict=True)))
        assert pickle.dumps(posteriors) == before


def test_adding_a_posterior():
    one, other = make((V, K))[0], make((V, K))[0]
    for t in range(4):
        one.blend(Blend(*coefficients(t), statistics(t)))
        other.blend(Blend(*coefficients(t + 7), statistics(t + 7)))
    expected, counted = one.dense() + 2.5 * other.dense(), one.n_documents
    learnt = one.learnt_part + 2.5 * other.learnt_part
    left = pickle.dumps((one, other))
    summed = one.plus(other, 2.5, Proportions(np.empty(0), np.empty(0)))
    assert pickle.dumps((one, other)) == left
    one = summed
    assert_allclose(one.dense(), expected, rtol=1e-13)
    assert_allclose(one.mass, expected.sum(axis=0), rtol=1e-13)
    assert_allclose(one.learnt_part, learnt, rtol=1e-13)
    assert one.n_documents == counted


# Noise


def test_noise_follows_the_affine_step():
    posterior, eta = make((V, K))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(3)))
    before = posterior.dense()
    for t in range(4):
        s, noise = statistics(t), Noise(0.04, seed=t)
        retain, gain, prior = coefficients(t)
        posterior.blend(Blend(retain, gain, prior, s, noise=noise))
        before = noise.added(retain * before + gain * dense(s) + prior * eta, before)
        assert_allclose(posterior.dense(), before, rtol=1e-12)
        assert_allclose(posterior.rows(np.array([1, 8], np.int32)), before[[1, 8]], rtol=1e-12)
        assert_allclose(posterior.mass, before.sum(axis=0), rtol=1e-12)
    assert (posterior.n_batches, posterior.n_documents) == (5, 20)
    assert posterior.n_tokens == pytest.approx(sum(statistics(t).n_tokens for t in [3, *range(4)]))
    posterior.blend(Blend(0.5, 2.0, 0.5, statistics(9)))
    expected = 0.5 * before + 2 * dense(statistics(9)) + 0.5 * eta
    assert_allclose(posterior.dense(), expected, rtol=1e-12)


def test_noise_has_the_stated_distribution():
    """|x + sqrt(v x) xi| is a folded normal: near zero it is reflected, far from it is not."""
    lam, variance, n = np.array([[1e-3, 0.3, 4.0, 900.0]]), 0.5, 20_000
    draws = np.concatenate([Noise(variance, seed).added(lam, lam) for seed in range(n)])
    sd = np.sqrt(variance * lam[0])
    ratio = lam[0] / sd
    mean = sd * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + lam[0] * (1 - 2 * norm.cdf(-ratio))
    square = lam[0] ** 2 + sd**2
    assert (draws > 0).all()
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * draws.std(axis=0) / n**0.5).all()
    fourth = lam[0] ** 4 + 6 * lam[0] ** 2 * sd**2 + 3 * sd**4
    assert (np.abs((draws**2).mean(axis=0) - square) < 5 * np.sqrt((fourth - square**2) / n)).all()
    centred = (draws - draws.mean(axis=0)) / draws.std(axis=0)
    correlations = centred.T @ centred / n
    assert np.abs(correlations - np.eye(4)).max() < 5 / n**0.5


def test_noise_keeps_lam_positive_and_is_that_of_its_seed():
    lam = np.array([[0.0, 1e-300, 5.0, 3.0]])
    once = Noise(0.1, 4).added(lam, lam)
    assert (once > 0).all()
    assert_array_equal(Noise(0.1, 4).added(lam, lam), once)
    assert (Noise(0.1, 5).added(lam, lam)[0, 2:] != once[0, 2:]).all()
    assert_array_equal(Noise(0.0, 4).added(-lam, lam)[0, 2:], [5.0, 3.0])


def test_a_noisy_blend_that_does_not_fit_changes_nothing():
    posterior, _ = make((1, 1))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    before = pickle.dumps(posterior)
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        posterior.blend(Blend(np.ones(K + 1), 1.0, 0.0, statistics(1), noise=Noise(0.1, 0)))
    assert pickle.dumps(posterior) == before


# The documents' proportions


def with_proportions():
    return LazyPosterior(np.full((1, 1), 0.3), (V, K), np.array([0.1, 0.2, 0.3]), memory_size=2)


def test_proportions_start_as_given_with_an_empty_memory():
    posterior = with_proportions()
    assert_array_equal(posterior.alpha, [0.1, 0.2, 0.3])
    assert_array_equal(posterior.proportions.memory, [0.0, 0.0])
    none = make((1, 1))[0].proportions
    assert none.alpha.size == none.memory.size == 0


@pytest.mark.parametrize("retain", [0.0, 0.5, 1.0])
def test_proportions_are_left_alone_unless_the_blend_has_some(retain):
    posterior, bare = with_proportions(), LazyPosterior(np.full((1, 1), 0.3), (V, K))
    given = Proportions(np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0]))
    for t in range(6):
        proportions = given if t == 3 else None
        for p, of_p in ((posterior, proportions), (bare, None)):
            p.blend(Blend(retain, 1.0, 0.5, statistics(t), of_p))
        assert_array_equal(posterior.alpha, given.alpha if t >= 3 else [0.1, 0.2, 0.3])
        assert_array_equal(posterior.proportions.memory, given.memory if t >= 3 else [0.0, 0.0])
        # They share the state with the topics, and touch nothing of them.
        assert_array_equal(posterior.dense(), bare.dense())
        assert_array_equal(posterior.mass, bare.mass)
        counters = ("n_batches", "n_documents", "n_tokens")
        assert [getattr(posterior, n) for n in counters] == [getattr(bare, n) for n in counters]


def test_a_proposal_has_the_proportions_of_its_blend():
    posterior = with_proportions()
    given = Proportions(np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0]))
    plain = Blend(1.0, 1.0, 0.0, statistics(0))
    assert_array_equal(posterior.after(plain).alpha, [0.1, 0.2, 0.3])
    other = Blend(1.0, 1.0, 0.0, statistics(0), given)
    assert_array_equal(posterior.after(other).alpha, given.alpha)
    assert_array_equal(posterior.alpha, [0.1, 0.2, 0.3])


WRONG = {
    "nan alpha": Proportions(np.array([1.0, np.nan, 1.0]), np.zeros(2)),
    "infinite memory": Proportions(np.ones(3), np.array([0.0, np.inf])),
    "more topics": Proportions(np.ones(4), np.zeros(2)),
    "less memory": Proportions(np.ones(3), np.zeros(1)),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_proportions_change_nothing(wrong):
    posterior = with_proportions()
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    before = pickle.dumps(posterior)
    with pytest.raises(ValueError, match=r"numbers on the proportions|infinite"):
        posterior.blend(Blend(0.5, 1.0, 0.5, statistics(1), wrong))
    assert pickle.dumps(posterior) == before


def test_a_failed_blend_leaves_the_proportions():
    posterior = with_proportions()
    given = Proportions(np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0]))
    before = pickle.dumps(posterior)
    outside = Statistics(np.array([V], np.int32), np.ones((1, K)), np.ones(1))
    for blend in (
        Blend(0.5, np.inf, 0.5, statistics(1), given),
        Blend(0.5, 0.5, 0.5, outside, given),
    ):
        with pytest.raises((ValueError, IndexError)):
            posterior.blend(blend)
        assert pickle.dumps(posterior) == before


@pytest.mark.parametrize("with_base", [False, True])
def test_absorbing_keeps_the_proportions(with_base):
    def grown(t, values):
        posterior = with_proportions()
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
        base = pickle.loads(pickle.dumps(posterior))
        proportions = Proportions(np.full(3, values), np.full(2, values))
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics(t), proportions))
        return posterior, base

    (one, base), (other, _) = grown(1, 7.0), grown(2, 9.0)
    expected = one.dense() + other.dense() - (base.dense() if with_base else 0.3)
    one.absorb(other, base if with_base else None)
    assert_array_equal(one.alpha, 7.0)
    assert_array_equal(one.proportions.memory, 7.0)
    assert_array_equal(other.alpha, 9.0)
    assert_allclose(one.dense(), expected, rtol=1e-12)
    assert_allclose(one.mass, expected.sum(axis=0), rtol=1e-12)
    assert one.n_batches == (3 if with_base else 4)


def test_proportions_survive_folding_and_a_pickle():
    posterior = with_proportions()
    given = Proportions(np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0]))
    posterior.blend(Blend(1e-15, 1.0, 0.0, statistics(0), given))
    posterior = pickle.loads(pickle.dumps(posterior))
    for t in range(4):
        posterior.blend(Blend(1e-15, 1.0, 0.0, statistics(t)))
    assert_array_equal(posterior.alpha, given.alpha)
    assert_array_equal(posterior.proportions.memory, given.memory)


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


# Another prior that is boosted


def boosted(*coefficients, t=0, boost=0.4):
    return Blend(*coefficients, statistics(t), boost=boost)


def two_priors(seed=0):
    eta, xi = np.random.default_rng(seed).uniform(0.1, 1.0, (2, V, K))
    return LazyPosterior(eta, (V, K), xi=xi)


def test_noise_of_no_variance_leaves_the_update_with_its_boost():
    noisy, plain = two_priors(), two_priors()
    for t in range(3):
        blend = boosted(0.5, 2.0, 0.3, t=t)
        plain.blend(blend)
        noisy.blend(replace(blend, noise=Noise(0.0, (0,))))
    assert_allclose(noisy.dense(), plain.dense())
    assert_allclose(noisy.mass, plain.mass)


def test_absorbing_adds_the_boosts():
    one, other = two_priors(), two_priors()
    one.blend(boosted(1.0, 1.0, 0.0, t=0))
    other.blend(boosted(1.0, 1.0, 0.0, t=1, boost=0.7))
    expected = one.dense() + other.dense() - one.eta
    one.absorb(other, None)
    assert_allclose(one.dense(), expected)
    assert_allclose(one.b, 1.1)


def test_a_posterior_does_not_continue_one_of_more_boosts():
    base, grown = two_priors(), two_priors()
    base.blend(boosted(1.0, 1.0, 0.0))
    grown.blend(boosted(1.0, 1.0, 0.0, boost=0.1))
    assert not grown.continues(base)
    assert base.continues(base)


def test_topics_do_not_come_and_go_where_another_prior_is_boosted():
    with pytest.raises(ValueError, match="come and go"):
        two_priors().with_topics(np.array([0, -1]), np.ones(2))
