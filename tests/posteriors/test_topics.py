# SPDX-License-Identifier: BSD-3-Clause
"""The lazy posterior against the dense equation it stands for."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from streamtopics.families import dirichlet
from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, Noise, TopicPosterior, blend_together
from tests.updates.given import dense

V, K = 12, 3
SHAPES = {"scalar": (1, 1), "words": (V, 1), "topics": (1, K), "matrix": (V, K)}


def make(shape, seed=0):
    eta = np.random.default_rng(seed).uniform(0.1, 2.0, shape)
    return TopicPosterior(eta, (V, K)), np.broadcast_to(eta, (V, K))


def statistics(seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    words = np.sort(rng.choice(V, 5, replace=False)).astype(np.int32)
    counts = rng.gamma(1.0, 2.0, (5, K)).astype(dtype)
    return Statistics(words, counts, np.full(4, counts.sum() / 4))


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
        lam = retain * lam + gain * dense(s, V) + prior * eta
        proposal = posterior.after(blend)
        assert_allclose(proposal.rows(s.words[1:4]), lam[s.words[1:4]], rtol=1e-10)
        assert_allclose(proposal.mass, lam.sum(axis=0), rtol=1e-10)
        posterior.blend(blend)
        assert_allclose(posterior.dense(), lam, rtol=1e-10)
        assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)
        words = np.array([0, 3, 11], dtype=np.int32)
        assert_allclose(posterior.rows(words), lam[words], rtol=1e-10)
    assert (posterior.n_batches, posterior.n_documents) == (30, 120)


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_forgetting_all_or_much_stays_exact(rho):
    posterior, eta = make((V, K))
    lam = eta.copy()
    for t in range(200):
        s = statistics(t)
        retain = np.array([rho, 1.0, rho])
        lam = retain * lam + dense(s, V) + (1 - retain) * eta
        posterior.blend(Blend(retain, 1.0, 1 - retain, s))
    assert_allclose(posterior.dense(), lam, rtol=1e-10)
    assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)


def test_a_read_only_posterior_is_copied_when_it_learns():
    posterior = TopicPosterior(np.ones((1, 1)), (V, K), np.ones(K))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    sent, state = posterior.S, posterior._state
    for array in (state.S.counts, *state[1:6]):
        array.flags.writeable = False
    before = sent.copy()
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(1)))
    assert_array_equal(state.S.dense(), before)
    assert_allclose(posterior.S, before + dense(statistics(1), V))
    assert state.n_batches == 1


def test_adding_a_posterior():
    one, other = make((V, K))[0], make((V, K))[0]
    for t in range(4):
        one.blend(Blend(*coefficients(t), statistics(t)))
        other.blend(Blend(*coefficients(t + 7), statistics(t + 7)))
    expected, counted = one.dense() + 2.5 * other.dense(), one.n_documents
    learnt = one.learnt_part + 2.5 * other.learnt_part
    left = pickle.dumps((one, other))
    summed = one.plus(other, 2.5)
    assert pickle.dumps((one, other)) == left
    assert_allclose(summed.dense(), expected, rtol=1e-13)
    assert_allclose(summed.mass, expected.sum(axis=0), rtol=1e-13)
    assert_allclose(summed.learnt_part, learnt, rtol=1e-13)
    assert summed.n_documents == counted


@pytest.mark.parametrize("xi", [None, np.ones((1, 1))], ids=["prior", "another"])
def test_boosts_are_of_words_alone(xi):
    told = np.arange(4.0 * K).reshape(K, 4)
    learnt, sent = (TopicPosterior(np.ones((1, 1)), (V, K), None, xi, 0, told) for _ in range(2))
    blend = Blend(0.5, 1.0, 0.5, statistics(0), boost=np.arange(K))
    learnt.blend(blend)
    sent.blend(learnt.since(sent, 0.5))
    assert_array_equal([learnt.after(blend).directions, sent.directions], [told, told])
    assert_allclose(sent.prior_part, V * (1.0 + np.arange(K)))


def test_noise_follows_the_affine_step():
    posterior, eta = make((V, K))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(3)))
    before = posterior.dense()
    for t in range(4):
        s, noise = statistics(t), Noise(0.04, (t,))
        retain, gain, prior = coefficients(t)
        posterior.blend(Blend(retain, gain, prior, s, noise=noise))
        before = noise.added(retain * before + gain * dense(s, V) + prior * eta, before)
        assert_allclose(posterior.dense(), before, rtol=1e-12)
        assert_allclose(posterior.rows(np.array([1, 8], np.int32)), before[[1, 8]], rtol=1e-12)
        assert_allclose(posterior.mass, before.sum(axis=0), rtol=1e-12)
    assert (posterior.n_batches, posterior.n_documents) == (5, 20)
    assert posterior.n_tokens == pytest.approx(sum(statistics(t).n_tokens for t in [3, *range(4)]))
    posterior.blend(Blend(0.5, 2.0, 0.5, statistics(9)))
    expected = 0.5 * before + 2 * dense(statistics(9), V) + 0.5 * eta
    assert_allclose(posterior.dense(), expected, rtol=1e-12)


def test_noise_has_the_stated_distribution():
    """|x + sqrt(v x) xi| is a folded normal: near zero it is reflected, far from it is not."""
    lam, variance, n = np.array([[1e-3, 0.3, 4.0, 900.0]]), 0.5, 20_000
    draws = np.concatenate([Noise(variance, (seed,)).added(lam, lam) for seed in range(n)])
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


def with_alpha(**others):
    return TopicPosterior(np.full((1, 1), 0.3), (V, K), np.array([0.1, 0.2, 0.3]), **others)


def counted(counts, words=(1, 5), lengths=(2.0, 2.0)):
    return Statistics(np.array(words, np.int32), counts, np.array(lengths))


def with_some(first, last):
    counts = np.ones((2, K))
    counts[0, 1], counts[1, 2] = first, last
    return counted(counts)


UNFIT = {
    "nan alpha": ({"alpha": np.array([1.0, np.nan, 1.0])}, "infinite"),
    "infinite alpha": ({"alpha": np.array([1.0, np.inf, 1.0])}, "infinite"),
    "alpha of more topics": ({"alpha": np.ones(4)}, r"of the update .*\(3,\); got \(4,\)"),
    "alpha of fewer topics": ({"alpha": np.ones(1)}, "alpha of the update"),
    "alpha that is a number": ({"alpha": 1.0}, "alpha of the update"),
    "nan counts": ({"statistics": with_some(1.0, np.nan)}, "hold nan"),
    "infinite counts": ({"statistics": with_some(1.0, np.inf)}, "hold inf"),
    "counts below all": ({"statistics": with_some(1.0, -np.inf)}, "hold -inf"),
    "counts with several": ({"statistics": with_some(np.inf, np.nan)}, "hold inf"),
    "counts of more topics": ({"statistics": counted(np.ones((2, K + 1)))}, r"shape \(2, 3\)"),
    "counts of fewer topics": ({"statistics": counted(np.ones((2, 1)))}, r"shape \(2, 3\)"),
    "counts of more words": ({"statistics": counted(np.ones((3, K)))}, r"shape \(2, 3\)"),
    "counts of one word": ({"statistics": counted(np.ones(K))}, r"shape \(2, 3\)"),
    "a word too many": ({"statistics": counted(np.ones((2, K)), (1, V))}, "outside"),
    "a word before all": ({"statistics": counted(np.ones((2, K)), (-1, 3))}, "outside"),
    "retain of more topics": ({"retain": np.ones(K + 1)}, "shape|broadcast"),
    "infinite gain": ({"gain": np.inf}, "infinite"),
    "nan gain": ({"gain": np.nan}, "infinite"),
    "endless documents": ({"statistics": counted(np.ones((2, K)), lengths=[np.inf])}, "infinite"),
}


GOOD = {"retain": 0.5, "gain": 1.0, "prior": 0.5, "statistics": statistics(1)}


@pytest.mark.parametrize("noise", [None, Noise(0.1, (0,))], ids=["plain", "noisy"])
@pytest.mark.parametrize(("wrong", "message"), UNFIT.values(), ids=UNFIT)
def test_what_does_not_fit_changes_nothing(wrong, message, noise):
    posterior, swapped = with_alpha(), {}
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    before, state = pickle.dumps(posterior), posterior._state
    with np.errstate(all="ignore"), pytest.raises((ValueError, IndexError), match=message):
        posterior.blend(Blend(**GOOD | wrong, noise=noise), [(swapped, "n_iter", 1)])
    assert pickle.dumps(posterior) == before
    assert posterior._state is state
    assert swapped == {}


@pytest.mark.parametrize(("wrong", "message"), UNFIT.values(), ids=UNFIT)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_of_several_posteriors_none_learns_if_one_cannot(wrong, message, place):
    posteriors, swapped = [with_alpha() for _ in range(3)], {}
    for posterior in posteriors:
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    before = pickle.dumps(posteriors)
    blends = [Blend(**GOOD | (wrong if i == place else {})) for i in range(3)]
    with np.errstate(all="ignore"), pytest.raises((ValueError, IndexError), match=message):
        blend_together(list(zip(posteriors, blends, strict=True)), [(swapped, "n_iter", 1)])
    assert pickle.dumps(posteriors) == before
    assert [posterior.n_batches for posterior in posteriors] == [1, 1, 1]
    assert swapped == {}


def test_the_state_is_replaced_as_a_whole():
    """Who holds the state of before has its counters and weights still; S is shared."""
    posterior = with_alpha()
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    state, c, mass = posterior._state, posterior.c.copy(), posterior.learnt_mass.copy()
    posterior.blend(Blend(0.5, 1.0, 0.7, statistics(1), np.ones(3)))
    assert posterior._state is not state
    assert state.n_batches == 1
    assert_array_equal(state.c, c)
    assert_array_equal(state.learnt_mass, mass)
    assert_array_equal(state.alpha, [0.1, 0.2, 0.3])
    assert state.S is posterior._state.S


def grown(t, alpha, **others):
    """A posterior that goes on from a base, and the base."""
    posterior = with_alpha(**others)
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    base = pickle.loads(pickle.dumps(posterior))
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics(t), np.full(3, alpha)))
    return posterior, base


@pytest.mark.parametrize("with_base", [False, True])
def test_adding_counts_what_both_share_once(with_base):
    (one, base), (other, _) = grown(1, 7.0, seed=4), grown(2, 9.0)
    expected = one.dense() + other.dense() - (base.dense() if with_base else 0.3)
    before = pickle.dumps((one, other, base))
    summed = one.added_to(other, base if with_base else None)
    assert pickle.dumps((one, other, base)) == before
    assert_array_equal(summed.alpha, 7.0)
    assert_allclose(summed.dense(), expected, rtol=1e-12)
    assert_allclose(summed.mass, expected.sum(axis=0), rtol=1e-12)
    counts = summed.n_batches, summed.n_documents
    assert counts == ((3, 12) if with_base else (4, 16))
    assert [type(count) for count in counts] == [int, int]
    tokens = [statistics(t).n_tokens for t in ((0, 1, 2) if with_base else (0, 0, 1, 2))]
    assert summed.n_tokens == pytest.approx(sum(tokens))
    assert summed.seed == 4


def running(n, start, rate, posterior=None):
    """A running mean of the statistics start, start + 1 .., from lam = 0 and c = 0."""
    posterior = with_alpha() if posterior is None else posterior
    for t in range(start, start + n):
        r = max(rate, 1 / (posterior.n_batches + 1))
        c = (1 - r) ** 2 * posterior.c + r * r / 4
        posterior.blend(Blend(1 - r, r / 4, c - (1 - r) * posterior.c, statistics(t)))
    return posterior


@pytest.mark.parametrize("with_base", [False, True])
def test_averages_of_plain_means_are_the_mean_of_all(with_base):
    base = running(2, 0, 0.0)
    starts = [pickle.loads(pickle.dumps(base)) if with_base else None for _ in range(2)]
    one, other = running(3, 2, 0.0, starts[0]), running(4, 5, 0.0, starts[1])
    before = pickle.dumps((one, other, base))
    alpha = np.array([0.5, 0.6, 0.7])
    mean = one.averaged_with(other, base if with_base else None, forgets=False, alpha=alpha)
    assert pickle.dumps((one, other, base)) == before
    seen = range(9) if with_base else range(2, 9)
    expected = sum(dense(statistics(t), V) / 4 for t in seen) / len(seen)
    assert_allclose(mean.a * mean.S, expected, rtol=1e-12)
    assert_allclose(mean.learnt_part, expected.sum(axis=0), rtol=1e-12)
    assert_allclose(mean.c, 1 / (4 * len(seen)), rtol=1e-12)
    assert_array_equal(mean.alpha, alpha)
    assert (mean.n_batches, mean.n_documents) == (len(seen), 4 * len(seen))


def test_averages_of_means_that_forget_weigh_what_they_remember():
    one, other = running(12, 0, 0.3), running(3, 20, 0.3)
    mean = one.averaged_with(other, None, forgets=True, alpha=one.alpha)
    share = (1 / one.c) / (1 / one.c + 1 / other.c)
    learnt = share * one.a * one.S + (1 - share) * other.a * other.S
    assert_allclose(mean.a * mean.S, learnt, rtol=1e-12)
    assert_allclose(mean.c, share**2 * one.c + (1 - share) ** 2 * other.c, rtol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (V, 1)])
def test_topics_can_be_chosen_and_added(shape):
    eta = np.random.default_rng(0).uniform(0.1, 2.0, shape)
    posterior = TopicPosterior(eta, (V, K), np.array([0.1, 0.2, 0.3]), seed=5)
    posterior.blend(Blend(0.9, 2.0, 0.2, statistics(1)))
    before, state = posterior.dense(), pickle.dumps(posterior._state)
    chosen = posterior.with_topics(np.array([2, -1, 0]), np.array([0.3, 0.05, 0.1]))
    assert_allclose(chosen.dense()[:, [0, 2]], before[:, [2, 0]])
    assert_allclose(chosen.dense()[:, 1], posterior.c[0] * np.broadcast_to(eta, (V, 1))[:, 0])
    assert_allclose(chosen.mass, chosen.dense().sum(axis=0))
    assert_array_equal(chosen.alpha, [0.3, 0.05, 0.1])
    assert chosen.seed == 5
    assert (chosen.n_batches, chosen.n_documents) == (posterior.n_batches, posterior.n_documents)
    assert chosen.n_tokens == posterior.n_tokens
    chosen.blend(Blend(0.5, 1.0, 0.5, statistics(2)))
    assert_array_equal(posterior.dense(), before)
    assert pickle.dumps(posterior._state) == state


def boosted(*coefficients, t=0, boost=0.4):
    return Blend(*coefficients, statistics(t), boost=boost)


def two_priors(seed=0):
    eta, xi = np.random.default_rng(seed).uniform(0.1, 1.0, (2, V, K))
    return TopicPosterior(eta, (V, K), xi=xi)


def learnt_with_boosts():
    posterior = two_priors()
    posterior.blend(boosted(1.0, 1.0, 0.0, t=0))
    posterior.blend(boosted(0.9, 2.0, 0.3, t=1))
    return posterior


@pytest.mark.parametrize("at_once", [2, 512])
def test_changes_are_the_rows_before_and_after_an_update(at_once, monkeypatch):
    monkeypatch.setattr("streamtopics.posteriors.rows.WORDS_AT_ONCE", at_once)
    posterior, blend = learnt_with_boosts(), boosted(*coefficients(4), t=3, boost=0.4)
    words, *rows = map(np.concatenate, zip(*posterior.changes(blend), strict=True))
    assert_array_equal(words, np.arange(V))
    for found in rows:
        assert_allclose(found, posterior.dense()[words], rtol=1e-12)
        posterior.blend(blend)


@pytest.mark.parametrize("make", [with_alpha, two_priors])
@pytest.mark.parametrize("boost", [0.0, 1e-3])
@pytest.mark.parametrize("n_before", [0, 1])
def test_divergences_of_a_small_update_are_small(make, boost, n_before):
    posterior = make()
    boosts = boost * (posterior.eta if posterior.xi is None else posterior.xi)
    eta = posterior.dense()
    for t in range(n_before):
        posterior.blend(boosted(1.0, 1.0, 0.0, t=t))
    lam, blend = posterior.dense(), boosted(1.0, 1e-3, 0.0, t=1, boost=boost)
    from_lam, from_eta = posterior.divergences(blend)
    posterior.blend(blend)
    q = posterior.dense().T
    assert_allclose(from_lam, dirichlet.kl(q, (lam + boosts).T), rtol=1e-6, atol=1e-12)
    assert_allclose(from_eta, dirichlet.kl(q, (eta + boosts).T), rtol=1e-6, atol=1e-12)
    assert from_lam.max() < 1e-3
    assert (from_eta.max() < 1e-3) == (n_before == 0)


@pytest.mark.parametrize("at_once", [3, 512])
def test_the_update_since_a_base_makes_of_it_what_came_later(at_once, monkeypatch):
    monkeypatch.setattr("streamtopics.posteriors.topics.ROWS_AT_ONCE", at_once)
    base, later = learnt_with_boosts(), learnt_with_boosts()
    for t, retain in ((2, 0.8), (3, 0.5)):
        later.blend(boosted(retain, 2.0, 0.3, t=t))
    base.blend(later.since(base, 0.8 * 0.5))
    assert_allclose(base.dense(), later.dense(), rtol=1e-12)
    assert_allclose(base.mass, later.mass, rtol=1e-12)
    assert base.counters[:3] == pytest.approx(later.counters[:3])


def test_a_posterior_continues_one_that_it_has_added_to():
    """Also where neither has a count, and where nothing was added."""
    s = with_some(1.0, 0.0)
    base, grown, fallen = (make((1, 1))[0] for _ in range(3))
    for posterior in (base, grown, fallen):
        posterior.blend(Blend(1.0, 1.0, 0.0, s))
    assert grown.is_extension_of(base)
    grown.blend(Blend(1.0, 1.0, 0.0, s))
    fallen.blend(Blend(0.5, 0.1, 0.5, s))
    assert grown.is_extension_of(base)
    assert not base.is_extension_of(grown)
    assert not fallen.is_extension_of(base)


def test_no_more_is_taken_back_than_was_learnt():
    posterior, eta = make(SHAPES["matrix"])
    s = statistics(0)
    posterior.blend(Blend(0.7, 1.0, 0.3, s))
    before = posterior.dense()
    back = replace(s, counts=-s.counts * (1 + 1e-9), takes_back=True)
    posterior.blend(Blend(1.0, 1.0, 0.0, back))
    assert_allclose(posterior.dense(), before - dense(s, V), rtol=1e-12)
    assert (posterior.rows(s.words) >= eta[s.words] * (1 - 1e-15)).all()


def test_a_sum_of_parts_is_short_of_nothing_but_for_rounding():
    def learnt(count):
        posterior = make((1, 1))[0]
        posterior.blend(Blend(1.0, 1.0, 0.0, counted(np.full((2, K), count))))
        return posterior

    large, small = learnt(1e6), learnt(1.0)
    assert learnt(-1e-4).is_learnt_from(large, small)
    assert not learnt(-1e-2).is_learnt_from(large, small)
    assert not learnt(-1e-4).is_learnt_from(small, small)
