# SPDX-License-Identifier: BSD-3-Clause
"""The rules on their own, with statistics that are given."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from streamtopics.posterior import Blend, LazyPosterior, Proportions

from streamtopics.messages import Statistics
from streamtopics.models import BetaBinomial
from streamtopics.updates import BPS, SVB, Langevin, OnlineEM, StochasticVI
from streamtopics.updates.schedules import step_size, step_size_of_means

V, K = 6, 2
WORDS = np.arange(V, dtype=np.int32)


def stream(n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        counts = rng.gamma(1.0, 2.0, (V, K)) * [1.0, 5.0]
        yield Statistics(WORDS, counts, np.full(3, counts.sum() / 3))


def run(rule, n=10, stream=stream):
    eta = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))
    posterior = LazyPosterior(eta, (V, K))
    for s in stream(n):
        posterior.blend(rule.step(posterior, lambda view, s=s: s))
    return posterior, eta


def test_svb_adds():
    posterior, eta = run(SVB())
    assert_allclose(posterior.dense(), eta + sum(s.counts for s in stream(10)))


@pytest.mark.parametrize("norm", ["whole", "topic"])
def test_bps_without_boost_is_svb_bit_for_bit(norm):
    assert_array_equal(run(BPS(0.0, norm))[0].dense(), run(SVB())[0].dense())


@pytest.mark.parametrize("scale", [0.02, 0.5, 3.0])
def test_bps_boosts_the_whole_by_the_tokens(scale):
    posterior, eta = run(BPS(scale))
    tokens = sum(s.n_tokens for s in stream(10))
    learnt = sum(s.counts for s in stream(10))
    assert_allclose(posterior.dense(), learnt + (1 + scale * tokens / eta.sum()) * eta)


@pytest.mark.parametrize("scale", [0.02, 0.5, 3.0])
def test_bps_boosts_each_topic_by_its_own_tokens(scale):
    posterior, eta = run(BPS(scale, "topic"))
    learnt = sum(s.counts for s in stream(10))
    rate = scale * learnt.sum(axis=0) / eta.sum(axis=0)
    assert_allclose(posterior.dense(), learnt + (1 + rate) * eta)


def test_the_boost_does_not_depend_on_how_the_stream_is_cut():
    parts = list(stream(10))
    whole = Statistics(
        WORDS, sum(s.counts for s in parts), np.concatenate([s.lengths for s in parts])
    )
    eta = np.full((1, 1), 0.3)
    posterior = LazyPosterior(eta, (V, K))
    posterior.blend(BPS(0.4).step(posterior, lambda view: whole))
    cut = LazyPosterior(eta, (V, K))
    for s in parts:
        cut.blend(BPS(0.4).step(cut, lambda view, s=s: s))
    assert_allclose(cut.dense(), posterior.dense())


@pytest.mark.parametrize("rule", [SVB(n_passes=4), BPS(0.3, n_passes=4)])
def test_passes_see_what_the_last_one_proposed(rule):
    posterior = LazyPosterior(np.full((1, 1), 0.5), (V, K))
    s = next(stream(1))
    seen = []

    def learn(view):
        seen.append(view.rows(WORDS))
        return Statistics(s.words, s.counts * len(seen), s.lengths * len(seen))

    blend = rule.step(posterior, learn)
    assert len(seen) == 4
    assert posterior.n_batches == 0
    assert_array_equal(seen[0], 0.5)
    for i in (1, 2, 3):
        boost = getattr(rule, "scale", 0.0) * i * s.mass.sum() / (0.5 * V * K)
        assert_allclose(seen[i], 0.5 * (1 + boost) + i * s.counts)
    assert_array_equal(blend.statistics.counts, 4 * s.counts)


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("prior_mean", [0.1, 0.5])
def test_coin_tends_to_the_closed_form(scale, prior_mean):
    model = BetaBinomial(heads=prior_mean, tails=1 - prior_mean)
    flips = np.array([[1, 0, 0, 0, 0]]).T
    posterior = model.posterior(flips)
    for _ in range(3000):
        posterior.blend(BPS(scale).step(posterior, model.learner(posterior, flips)))
    limit = (0.2 + scale * prior_mean) / (1 + scale)
    assert_allclose(model.mean(posterior), limit, atol=1e-4)


def test_coin_by_hand():
    model = BetaBinomial(heads=2.0, tails=3.0)
    flips = np.array([[1, 1, 0]]).T
    posterior = model.posterior(flips)
    posterior.blend(SVB().step(posterior, model.learner(posterior, flips)))
    assert_array_equal(posterior["coins"], [[4.0, 4.0]])
    flips = np.array([[1, 0, 0, 0]]).T
    posterior.blend(BPS(0.5).step(posterior, model.learner(posterior, flips)))
    assert_allclose(posterior["coins"], [[4 + 1 + 0.4 * 2, 4 + 3 + 0.4 * 3]])


# Step sizes

SCHEDULES = [(0.7, 0.0), (0.3, 0.0), (1.0, 0.0), (1e-3, 2.0), (0.7, 0.5), (0.9, 64.0), (1.0, 1e3)]


@pytest.mark.parametrize(("kappa", "tau"), SCHEDULES)
def test_step_sizes(kappa, tau):
    t = np.arange(1, 300)
    plain = np.array([step_size(n, kappa, tau) for n in t - 1])
    assert_allclose(plain, (t + tau) ** -kappa, rtol=1e-14)
    assert (np.diff(plain) < 0).all()
    means = np.array([step_size_of_means(n, kappa, tau) for n in t - 1])
    assert_allclose(means, np.maximum((t + tau) ** -kappa, 1 / t), rtol=1e-14)
    assert means[0] == 1.0
    assert (np.diff(means) < 0).all()
    assert ((means > 0) & (means <= 1)).all()


def test_step_sizes_by_hand():
    assert step_size(0, 0.5, 0.0) == 1.0
    assert step_size(3, 0.5, 0.0) == 0.5
    assert step_size(0, 0.5, 15.0) == 0.25
    assert step_size_of_means(0, 0.5, 15.0) == 1.0
    assert step_size_of_means(1, 0.5, 14.0) == 0.5
    assert step_size_of_means(9, 0.5, 15.0) == 0.2
    assert step_size(0, 0.5, -0.75) == 1.0  # Never more than one.


@pytest.mark.parametrize("n", [0, 1, 17, 10**6])
def test_kappa_one_is_one_over_t(n):
    assert step_size_of_means(n, 1.0, 0.0) == step_size(n, 1.0, 0.0) == 1 / (n + 1)
    assert step_size_of_means(n, 1.0, 50.0) == 1 / (n + 1)


# Online EM and stochastic variational inference, with statistics that are given


def unequal(n):
    """Minibatches of 1 to 9 documents, each over some of the words."""
    rng = np.random.default_rng(4)
    for _ in range(n):
        words = np.flatnonzero(rng.random(V) < 0.6).astype(np.int32)
        lengths = rng.gamma(2.0, 3.0, rng.integers(1, 10))
        counts = rng.dirichlet(np.ones(len(words) * K)).reshape(-1, K) * lengths.sum()
        yield Statistics(words, counts, lengths)


def dense(s):
    out = np.zeros((V, K))
    out[s.words] = s.counts
    return out


@pytest.mark.parametrize(("kappa", "tau"), SCHEDULES)
def test_online_em_is_a_running_mean_with_smoothing(kappa, tau):
    posterior, eta = run(OnlineEM(kappa, tau), 40, unequal)
    weights, sizes = np.zeros(40), np.array([s.n_documents for s in unequal(40)])
    for t in range(1, 41):
        rate = max((t + tau) ** -kappa, 1 / t)
        weights *= 1 - rate
        weights[t - 1] = rate
    assert_allclose(weights.sum(), 1.0, rtol=1e-12)
    means = [dense(s) / s.n_documents for s in unequal(40)]
    # Each document of minibatch i weighs w_i / B_i: as many as 1 / sum_i B_i (w_i / B_i)^2.
    inverse_n = (weights**2 / sizes).sum()
    expected = np.tensordot(weights, means, 1) + inverse_n * eta
    assert_allclose(posterior.dense(), expected, rtol=1e-10)
    assert_allclose(posterior.mass, expected.sum(axis=0), rtol=1e-10)
    assert_allclose(posterior.prior_part, inverse_n * eta.sum(axis=0), rtol=1e-10)


def test_online_em_with_kappa_one_is_the_mean_over_the_minibatches():
    posterior, eta = run(OnlineEM(kappa=1.0), 25, unequal)
    mean = sum(dense(s) / s.n_documents for s in unequal(25)) / 25
    inverse_n = sum(1 / s.n_documents for s in unequal(25)) / 25**2
    assert_allclose(posterior.dense(), mean + inverse_n * eta, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 10])
def test_incremental_em_is_svb_but_for_its_scale(n):
    """In equal minibatches: the frequentist M-step does not see the scale."""
    (em, _), (svb, _) = (run(rule, n) for rule in (OnlineEM(kappa=1.0), SVB()))
    assert_allclose(em.dense() * svb.n_documents, svb.dense(), rtol=1e-12)
    assert_allclose(em.dense() / em.mass, svb.dense() / svb.mass, rtol=1e-12)


@pytest.mark.parametrize("n_documents", [1, 15, 30, 3000])
def test_stochastic_vi_is_svb_only_for_the_documents_it_is_for(n_documents):
    (vi, eta), (svb, _) = (run(rule, 10) for rule in (StochasticVI(1.0, 0.0, n_documents), SVB()))
    mean = (svb.dense() - eta) / 30
    assert_allclose(vi.dense(), eta + n_documents * mean, rtol=1e-12)
    difference = np.abs(vi.dense() / vi.mass - svb.dense() / svb.mass).max()
    assert svb.n_documents == 30
    assert (difference < 1e-12) == (n_documents == 30)


@pytest.mark.parametrize("n_documents", [None, 500])
@pytest.mark.parametrize(("kappa", "tau"), SCHEDULES)
def test_stochastic_vi_steps_towards_the_posterior_of_the_corpus(kappa, tau, n_documents):
    posterior, eta = run(StochasticVI(kappa, tau, n_documents), 40, unequal)
    lam, seen = eta, 0
    for t, s in enumerate(unequal(40), 1):
        rate, seen = (t + tau) ** -kappa, seen + s.n_documents
        target = eta + (n_documents or seen) / s.n_documents * dense(s)
        lam = (1 - rate) * lam + rate * target
    assert_allclose(posterior.dense(), lam, rtol=1e-10)
    assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)
    assert_allclose(posterior.c, 1.0, rtol=1e-12)


@pytest.mark.parametrize("rule", [OnlineEM(0.3), OnlineEM(0.3, 50.0), StochasticVI(0.3, 0.0, 90)])
def test_thousands_of_steps_of_a_rule_that_forgets(rule):
    n, recent = 5000, 2500  # What is older has no weight left in double precision.
    posterior, eta = run(rule, n, unequal)
    lam, inverse_n = np.zeros((V, K)), 0.0
    for t, s in enumerate(unequal(n), 1):
        if t <= n - recent:
            continue
        rate = max((t + rule.tau) ** -rule.kappa, 1 / t)
        gain = rate / s.n_documents
        lam = (1 - rate) * lam + gain * dense(s)
        inverse_n = (1 - rate) ** 2 * inverse_n + rate * gain
    expected = eta + 90 * lam if isinstance(rule, StochasticVI) else lam + inverse_n * eta
    assert_allclose(posterior.dense(), expected, rtol=1e-9)
    assert_allclose(posterior.mass, expected.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("rule", [OnlineEM(0.5, 3.0, n_passes=4)])
def test_rounds_start_from_the_same_parameters(rule):
    """Each round sees the one before, and is blended into lam_{t-1} in its place."""
    posterior, eta = run(rule, 5)
    before, inverse_n = posterior.dense(), posterior.c.copy()
    s = next(stream(1))
    seen = []

    def learn(view):
        seen.append(view.rows(WORDS))
        return Statistics(s.words, s.counts * len(seen), s.lengths * len(seen))

    blend = rule.step(posterior, learn)
    assert_array_equal(posterior.dense(), before)
    posterior.blend(blend)
    seen.append(posterior.rows(WORDS))
    assert len(seen) == 5
    assert_array_equal(seen[0], before)
    rate = 9.0**-0.5
    for i in (1, 2, 3, 4):
        learnt = before - inverse_n * eta
        memory = (1 - rate) ** 2 * inverse_n + rate**2 / s.n_documents
        expected = (1 - rate) * learnt + rate * i * s.counts / s.n_documents + memory * eta
        assert_allclose(seen[i], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("rule", "n_rounds"), [(partial(OnlineEM, n_passes=2), 2), (OnlineEM, 1), (StochasticVI, 1)]
)
def test_rules_hand_the_proportions_to_their_update(rule, n_rounds):
    """With the step size, the minibatches before, the memory of lam_{t-1}, and the alpha seen."""
    calls = []

    class Doubling:
        def step(self, before, statistics, rate, n_batches):
            calls.append((before.alpha.copy(), statistics, rate, n_batches))
            return Proportions(before.alpha * 2, before.memory + 1)

    posterior = LazyPosterior(np.full((1, 1), 0.5), (V, K), np.ones(K), memory_size=1)
    given, seen = list(stream(2)), []
    for s in given:

        def learn(view, s=s):
            seen.append(view.alpha.copy())
            return s

        posterior.blend(rule(0.5, 0.0, doc_topic=Doubling()).step(posterior, learn))
    doubled = 2 ** np.arange(2 * n_rounds)
    assert_array_equal(np.array(seen)[:, 0], doubled)
    assert_array_equal([alpha[0] for alpha, _, _, _ in calls], doubled)
    assert [(rate, n) for _, _, rate, n in calls] == [(1.0, 0)] * n_rounds + [
        (2**-0.5, 1)
    ] * n_rounds
    assert [s for _, s, _, _ in calls] == [given[0]] * n_rounds + [given[1]] * n_rounds
    assert_array_equal(posterior.alpha, 2.0 ** (2 * n_rounds))
    assert_array_equal(posterior.proportions.memory, 2.0)


# Langevin dynamics


def langevin_step(seed, lam, s, *, a=0.02, n_documents=60, n_before=0):
    """lam after one step from lam, which is the prior unless minibatches came before."""
    posterior = LazyPosterior(lam, lam.shape)
    nothing = Statistics(np.empty(0, np.int32), np.empty((0, K)), np.zeros(2))
    for _ in range(n_before):
        posterior.blend(Blend(1.0, 1.0, 0.0, nothing))
    rule = Langevin(a, 10.0, 0.6, seed, n_documents)
    posterior.blend(rule.step(posterior, lambda view: s))
    return posterior.dense()


@pytest.mark.parametrize("n_before", [0, 7])
def test_the_mean_of_a_langevin_step_is_its_drift(n_before):
    rng = np.random.default_rng(0)
    lam, s = rng.uniform(20.0, 60.0, (V, K)), next(unequal(1))
    draws = np.array([langevin_step(i, lam, s, n_before=n_before) for i in range(2000)])
    size = 0.02 * (1 + n_before / 10.0) ** -0.6
    counts = dense(s)
    gradient = 60 / s.n_documents * (counts - lam / lam.sum(axis=0) * counts.sum(axis=0))
    expected = lam + size / 2 * gradient  # eta - lam is zero: lam is the prior.
    assert np.abs(expected - lam).max() > 0.3
    errors = (draws.mean(axis=0) - expected) / (draws.std(axis=0) / len(draws) ** 0.5)
    assert np.abs(errors).max() < 4.5


def test_a_langevin_step_drifts_towards_the_prior():
    """Without data lam - eta shrinks by 1 - e/2 in the mean."""
    eta = np.full((V, K), 30.0)
    nothing = Statistics(np.empty(0, np.int32), np.empty((0, K)), np.zeros(2))
    draws = []
    for i in range(2000):
        posterior = LazyPosterior(eta, (V, K))
        posterior.blend(Blend(3.0, 1.0, 0.0, nothing))
        posterior.blend(Langevin(0.2, 1e9, 0.6, i).step(posterior, lambda view: nothing))
        draws.append(posterior.dense())
    mean, error = np.mean(draws, axis=0), np.std(draws, axis=0) / 2000**0.5
    assert np.abs((mean - (90 + 0.1 * (30 - 90))) / error).max() < 4.5


def test_the_noise_of_a_langevin_step_at_rest():
    """Where lam = eta and the statistics are as expected the drift is zero: only noise."""
    rng = np.random.default_rng(1)
    lam = rng.uniform(20.0, 60.0, (V, K))
    s = Statistics(WORDS, 9 * lam / lam.sum(axis=0), np.full(2, 9.0))
    draws = np.array([langevin_step(i, lam, s).ravel() for i in range(4000)])
    z = (draws - lam.ravel()) / np.sqrt(0.02 * lam.ravel())
    n, cells = z.shape
    assert np.abs(z.mean(axis=0)).max() < 4.5 / n**0.5
    assert np.abs(z.var(axis=0) - 1).max() < 4.5 * (2 / n) ** 0.5
    correlations = z.T @ z / n - np.diag((z**2).mean(axis=0))
    assert np.abs(correlations).max() < 5 / n**0.5
    assert abs((z**4).mean() - 3) < 4.5 * (96 / (n * cells)) ** 0.5


def test_langevin_is_reflected_at_zero():
    lam = np.full((V, K), 1e-4)
    nothing = Statistics(np.empty(0, np.int32), np.empty((0, K)), np.zeros(2))
    draws = np.array([langevin_step(i, lam, nothing) for i in range(2000)])
    assert (draws > 0).all()
    # lam is small beside the noise: |N(0, e lam)|.
    mean = np.sqrt(0.02 * 1e-4 * 2 / np.pi)
    error = np.sqrt(0.02 * 1e-4 * (1 - 2 / np.pi) / draws.size)
    assert abs(draws.mean() - mean) < 4.5 * error + 0.01 * mean


def test_langevin_draws_depend_on_seed_and_minibatch_alone():
    lam, s = np.full((V, K), 40.0), next(unequal(1))
    once = langevin_step(3, lam, s)
    assert_array_equal(langevin_step(3, lam, s), once)
    assert (langevin_step(4, lam, s) != once).all()
    posterior = LazyPosterior(lam, (V, K))
    rule = Langevin(0.02, 1e9, 0.6, 3, 60)
    noise = []
    for _ in range(2):
        before = posterior.dense()
        blend = rule.step(posterior, lambda view: s)
        drift = blend.retain * before + blend.gain * dense(s) + blend.prior * lam
        posterior.blend(blend)
        noise.append((posterior.dense() - drift) / np.sqrt(0.02 * drift))
    assert np.abs(noise[0] - noise[1]).max() > 0.5


def test_langevin_for_an_endless_stream_is_for_the_documents_so_far():
    lam = np.full((V, K), 40.0)
    posteriors = [LazyPosterior(lam, (V, K)) for _ in range(2)]
    seen = 0
    for s in unequal(5):
        seen += s.n_documents
        for posterior, n_documents in zip(posteriors, (None, seen), strict=True):
            rule = Langevin(0.01, 1000.0, 0.6, 0, n_documents)
            posterior.blend(rule.step(posterior, lambda view, s=s: s))
    assert_array_equal(posteriors[0].dense(), posteriors[1].dense())
