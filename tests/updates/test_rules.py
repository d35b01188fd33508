# SPDX-License-Identifier: BSD-3-Clause
"""The rules on their own, with statistics that are given."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import StreamingLDA, updates
from streamtopics.messages import Statistics
from streamtopics.models import BetaBinomial
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates import (
    BPS,
    SVB,
    Decay,
    Fixed,
    FixedPoint,
    HierarchicalPowerPrior,
    Langevin,
    LearnsDocTopicPrior,
    MeanDecay,
    OnlineEM,
    PowerPrior,
    Rounds,
    ScaledDecay,
    StochasticVI,
)
from tests.updates.given import dense, given, take

V, K = 6, 2
WORDS = np.arange(V, dtype=np.int32)


DEFAULTS = """
SVB()
DampedNewton(burn_in=1000, step_size=MeanDecay(kappa=0.7, tau=0.0))
Decay(kappa=0.7, tau=0.0)
DirichletProcess(concentration=1.0, min_documents=8, silence=12.0)
EmpiricalPowerPrior(rate='shared', boost=Boost(scale=0.0, norm='whole'), max_rounds=10, tol=0.001)
FixedPoint(burn_in=1000, step_size=MeanDecay(kappa=0.7, tau=0.0))
GammaPrior(shape=1.0, inverse_scale=1.0, burn_in=1000, step_size=MeanDecay(kappa=0.7, tau=0.0))
HierarchicalPowerPrior(rate='shared', rate_prior=Exponential(gamma=-0.1), rate_starts=(0.5,), \
boost=Boost(scale=0.0, norm='whole'), max_rounds=10, tol=0.001)
Langevin(a=0.01, b=1000.0, c=0.6, n_documents=None)
Normal(mean=0.5, precision=1.0)
OnlineEM(step_size=MeanDecay(kappa=0.7, tau=0.0))
ScaledDecay(tau=1.0, kappa=0.7)
Shares(floor=0.01, burn_in=0, step_size=MeanDecay(kappa=0.7, tau=0.0))
StochasticVI(step_size=Decay(kappa=0.7, tau=0.0), n_documents=None, \
boost=Boost(scale=0.0, norm='whole'))
"""


@pytest.mark.parametrize("expected", DEFAULTS.split("\n")[1:-1])
def test_defaults(expected):
    """What each record is without arguments: a default that changes, changes results."""
    assert repr(getattr(updates, expected.partition("(")[0])()) == expected


def stream(n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        counts = rng.gamma(1.0, 2.0, (V, K)) * [1.0, 5.0]
        yield Statistics(WORDS, counts, np.full(3, counts.sum() / 3))


def run(rule, n=10, stream=stream):
    eta = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))
    posterior = TopicPosterior(eta, (V, K))
    for s in stream(n):
        take(rule, posterior, given(s))
    return posterior, eta


@pytest.mark.parametrize("rule", [BPS(0.0), BPS(0.0, "topic"), PowerPrior(1.0)], ids=str)
def test_what_forgets_and_boosts_nothing_is_svb_bit_for_bit(rule):
    assert_array_equal(run(rule)[0].dense(), run(SVB())[0].dense())


@pytest.mark.parametrize("scale", [0.02, 0.5, 3.0])
def test_bps_boosts_each_topic_by_its_own_tokens(scale):
    posterior, eta = run(BPS(scale, "topic"))
    learnt = sum(s.counts for s in stream(10))
    rate = scale * learnt.sum(axis=0) / eta.sum(axis=0)
    assert_allclose(posterior.dense(), learnt + (1 + rate) * eta)


def telling(posterior):
    """Statistics that depend on what is seen, and the views and warmths of each call."""
    calls = []

    def learn(view, *, warm=False):
        calls.append((view, warm))
        rows = view.rows(WORDS)
        counts = 10.0 * rows / rows.sum(axis=1, keepdims=True) + WORDS[:, None]
        return Statistics(WORDS, counts, np.full(2, counts.sum() / 2))

    return learn, calls


def wave():
    """A posterior whose topics differ."""
    eta = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))
    return TopicPosterior(eta, (V, K))


@pytest.mark.parametrize("rule", [SVB(), BPS(0.3), OnlineEM(MeanDecay(0.6)), StochasticVI()])
def test_rounds_are_the_plain_loop(rule):
    rounds, loop = wave(), wave()
    for _ in range(3):
        take(Rounds(rule, 3), rounds, telling(rounds)[0])
        learn, seen = telling(loop)[0], loop
        for _ in range(3):
            expected, _ = rule.step(loop, given(learn(seen)), None)
            seen = loop.after(expected)
        loop.blend(expected)
        assert_array_equal(rounds.dense(), loop.dense())
    once = wave()
    take(rule, once, telling(once)[0])
    assert np.abs(once.dense() - rounds.dense()).max() > 1e-3


def test_more_rounds_at_the_start_are_in_the_first_minibatches_only():
    posterior, numbers = wave(), []
    rule = Rounds(SVB(), 2, n_start_rounds=5, n_start_batches=3)
    for _ in range(6):
        learn, calls = telling(posterior)
        take(rule, posterior, learn)
        numbers.append(len(calls))
    assert numbers == [5, 5, 5, 2, 2, 2]
    assert [Rounds(SVB(), 7, 5).n_rounds_of(t) for t in (0, 2, 3)] == [7, 7, 7]


@pytest.mark.parametrize("warm", [False, True])
def test_warm_rounds_go_on_from_the_documents(warm):
    posterior = wave()
    learn, calls = telling(posterior)
    Rounds(SVB(), 4, warm=warm).step(posterior, learn, None)
    assert [was_warm for _, was_warm in calls] == [False, warm, warm, warm]
    assert [view is posterior for view, _ in calls] == [True, False, False, False]


def test_a_rule_with_a_state_steps_from_the_same_one_in_each_round():
    """As if the last round had been the only one."""

    class Counting(SVB):
        def init(self, posterior):
            return 10

        def step(self, posterior, learn, state):
            return super().step(posterior, learn, None)[0], state + 1

    posterior, rule = wave(), Rounds(Counting(), 3)
    state = rule.init(posterior)
    for t in range(4):
        state = take(rule, posterior, telling(posterior)[0], state)
        assert state == 11 + t


def test_rounds_have_the_contract_of_their_rule():
    for rule in (SVB(), OnlineEM(), HierarchicalPowerPrior(), Langevin()):
        around = Rounds(rule, 3)
        assert around.traits == rule.traits
        learns = LearnsDocTopicPrior(rule, FixedPoint())
        needs = rule.traits.needs | {"log_theta", "alpha"}
        assert learns.traits == replace(rule.traits, needs=needs)
        assert LearnsDocTopicPrior(rule, Fixed()).traits == rule.traits


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("prior_mean", [0.1, 0.5])
def test_coin_tends_to_the_closed_form(scale, prior_mean):
    model = BetaBinomial(heads=prior_mean, tails=1 - prior_mean)
    flips = np.array([[1, 0, 0, 0, 0]]).T
    posterior = model.posterior(flips)
    for _ in range(1000):
        take(BPS(scale), posterior, model.learner(posterior, flips))
    limit = (0.2 + scale * prior_mean) / (1 + scale)
    assert_allclose(model.mean(posterior), limit, atol=1e-4)


SCHEDULES = [(0.7, 0.0), (0.3, 0.0), (1.0, 0.0), (1e-3, 2.0), (0.7, 0.5), (0.9, 64.0), (1.0, 1e3)]


@pytest.mark.parametrize(("kappa", "tau"), SCHEDULES)
def test_step_sizes(kappa, tau):
    t = np.arange(1, 300)
    plain = np.array([Decay(kappa, tau)(n) for n in t - 1])
    assert_allclose(plain, (t + tau) ** -kappa, rtol=1e-14)
    assert (np.diff(plain) < 0).all()
    means = np.array([MeanDecay(kappa, tau)(n) for n in t - 1])
    assert_allclose(means, np.maximum((t + tau) ** -kappa, 1 / t), rtol=1e-14)
    assert means[0] == 1.0
    assert (np.diff(means) < 0).all()
    assert ((means > 0) & (means <= 1)).all()


def unequal(n):
    """Minibatches of 1 to 9 documents, each over some of the words."""
    rng = np.random.default_rng(4)
    for _ in range(n):
        words = np.flatnonzero(rng.random(V) < 0.6).astype(np.int32)
        lengths = rng.gamma(2.0, 3.0, rng.integers(1, 10))
        counts = rng.dirichlet(np.ones(len(words) * K)).reshape(-1, K) * lengths.sum()
        yield Statistics(words, counts, lengths)


@pytest.mark.parametrize(("kappa", "tau"), SCHEDULES)
def test_online_em_is_a_running_mean_with_smoothing(kappa, tau):
    posterior, eta = run(OnlineEM(MeanDecay(kappa, tau)), 40, unequal)
    weights, sizes = np.zeros(40), np.array([s.n_documents for s in unequal(40)])
    for t in range(1, 41):
        rate = max((t + tau) ** -kappa, 1 / t)
        weights *= 1 - rate
        weights[t - 1] = rate
    assert_allclose(weights.sum(), 1.0, rtol=1e-12)
    means = [dense(s, V) / s.n_documents for s in unequal(40)]
    # Each document of minibatch i weighs w_i / B_i: as many as 1 / sum_i B_i (w_i / B_i)^2.
    inverse_n = (weights**2 / sizes).sum()
    expected = np.tensordot(weights, means, 1) + inverse_n * eta
    assert_allclose(posterior.dense(), expected, rtol=1e-10)
    assert_allclose(posterior.mass, expected.sum(axis=0), rtol=1e-10)
    assert_allclose(posterior.prior_part, inverse_n * eta.sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("n_documents", [1, 15, 30, 3000])
def test_stochastic_vi_is_svb_only_for_the_documents_it_is_for(n_documents):
    (vi, eta), (svb, _) = (
        run(rule, 10) for rule in (StochasticVI(Decay(1.0, 0.0), n_documents), SVB())
    )
    mean = (svb.dense() - eta) / 30
    assert_allclose(vi.dense(), eta + n_documents * mean, rtol=1e-12)
    difference = np.abs(vi.dense() / vi.mass - svb.dense() / svb.mass).max()
    assert svb.n_documents == 30
    assert (difference < 1e-12) == (n_documents == 30)


@pytest.mark.parametrize("n_documents", [None, 500])
@pytest.mark.parametrize(("kappa", "tau"), SCHEDULES)
def test_stochastic_vi_steps_towards_the_posterior_of_the_corpus(kappa, tau, n_documents):
    posterior, eta = run(StochasticVI(Decay(kappa, tau), n_documents), 40, unequal)
    lam, seen = eta, 0
    for t, s in enumerate(unequal(40), 1):
        rate, seen = (t + tau) ** -kappa, seen + s.n_documents
        target = eta + (n_documents or seen) / s.n_documents * dense(s, V)
        lam = (1 - rate) * lam + rate * target
    assert_allclose(posterior.dense(), lam, rtol=1e-10)
    assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)
    assert_allclose(posterior.c, 1.0, rtol=1e-12)


@pytest.mark.parametrize("step_size", [ScaledDecay(0.1, 1.0), ScaledDecay(2.0, 0.9)], ids=repr)
def test_online_em_never_steps_by_less_than_a_mean(step_size):
    """So that what was there before the first minibatch has no part in it."""
    posterior, eta = run(OnlineEM(step_size), 30, unequal)
    learnt, inverse_n = np.zeros((V, K)), 0.0
    for t, s in enumerate(unequal(30), 1):
        rate = max(min(1.0, step_size.tau / t**step_size.kappa), 1 / t)
        learnt = (1 - rate) * learnt + rate * dense(s, V) / s.n_documents
        inverse_n = (1 - rate) ** 2 * inverse_n + rate**2 / s.n_documents
    assert_allclose(posterior.dense(), learnt + inverse_n * eta, rtol=1e-10)
    if step_size.tau < 1:
        assert_allclose(posterior.dense(), run(OnlineEM(MeanDecay(1.0)), 30, unequal)[0].dense())


class Doubling:
    """Remembers what it was asked."""

    burn_in, needs = 0, frozenset({"log_theta"})

    def __init__(self):
        self.calls = []

    def step(self, alpha, memory, statistics, n_batches):
        self.calls.append((alpha.copy(), memory, statistics, n_batches))
        return alpha * 2, 1 if memory is None else memory + 1


@pytest.mark.parametrize(
    ("rule", "n_rounds"), [(OnlineEM(), 2), (OnlineEM(), 1), (StochasticVI(), 1)]
)
def test_rules_hand_the_documents_prior_to_its_update(rule, n_rounds):
    """With the minibatches before, the memory of before, and the alpha that was seen."""
    posterior = TopicPosterior(np.full((1, 1), 0.5), (V, K), np.ones(K))
    given_parts, seen, found, update = list(stream(2)), [], [], Doubling()
    rule = Rounds(LearnsDocTopicPrior(rule, update), n_rounds)
    state = rule.init(posterior)
    assert state == (None, None)
    for s in given_parts:

        def learn(view, *, warm=False, s=s):
            seen.append(view.alpha.copy())
            found.append(replace(s, alpha=view.alpha))
            return found[-1]

        state = take(rule, posterior, learn, state)
    doubled = 2 ** np.arange(2 * n_rounds)
    assert_array_equal(np.array(seen)[:, 0], doubled)
    assert_array_equal([alpha[0] for alpha, _, _, _ in update.calls], doubled)
    assert [memory for _, memory, _, _ in update.calls] == [None] * n_rounds + [1] * n_rounds
    assert [n for _, _, _, n in update.calls] == [0] * n_rounds + [1] * n_rounds
    assert [s for _, _, s, _ in update.calls] == found
    assert_array_equal(posterior.alpha, 2.0 ** (2 * n_rounds))
    assert state == (None, 2)


NOTHING = Statistics(np.empty(0, np.int32), np.empty((0, K)), np.zeros(2))


def langevin_step(seed, lam, s, *, a=0.02, n_documents=60, n_before=0):
    """lam after one step from lam, which is the prior unless minibatches came before."""
    posterior = TopicPosterior(lam, lam.shape, seed=seed)
    if n_before:
        posterior.blend(Blend(1.0, 1.0, 0.0, replace(NOTHING, n_batches=n_before)))
    take(Langevin(a, 10.0, 0.6, n_documents), posterior, given(s))
    return posterior.dense()


@pytest.mark.parametrize("n_before", [0, 7])
def test_the_mean_of_a_langevin_step_is_its_drift(n_before):
    rng = np.random.default_rng(0)
    lam, s = rng.uniform(20.0, 60.0, (V, K)), next(unequal(1))
    draws = np.array([langevin_step(i, lam, s, n_before=n_before) for i in range(2000)])
    size = 0.02 * (1 + n_before / 10.0) ** -0.6
    counts = dense(s, V)
    gradient = 60 / s.n_documents * (counts - lam / lam.sum(axis=0) * counts.sum(axis=0))
    expected = lam + size / 2 * gradient  # eta - lam is zero: lam is the prior.
    assert np.abs(expected - lam).max() > 0.3
    errors = (draws.mean(axis=0) - expected) / (draws.std(axis=0) / len(draws) ** 0.5)
    assert np.abs(errors).max() < 4.5


def test_the_noise_of_langevin_is_that_of_lam_before_the_drift():
    """lam <- |lam + e/2 (...) + sqrt(e lam) xi|: lam, not lam after the drift."""
    lam, counts = np.full((V, K), 10.0), np.ones((V, K))
    counts[0] = 20.0
    s = Statistics(WORDS, counts, np.full(2, 25.0))
    draws = [langevin_step(seed, lam, s, n_documents=200) for seed in range(1000)]
    assert np.abs(np.var(draws, axis=0) / (0.02 * lam) - 1).max() < 5 * (2 / 1000) ** 0.5


def test_streams_of_neighbouring_seeds_have_noise_of_their_own():
    """Seed 3 at its second minibatch draws what seed 4 draws at its first."""
    lam = np.full((V, K), 1000.0)
    late, early = (langevin_step(s, lam, NOTHING, a=1.0, n_before=4 - s) for s in (3, 4))
    assert np.abs(late - early).max() > 10


def test_langevin_draws_depend_on_seed_and_minibatch_alone():
    lam, s = np.full((V, K), 40.0), next(unequal(1))
    once = langevin_step(3, lam, s)
    assert_array_equal(langevin_step(3, lam, s), once)
    assert (langevin_step(4, lam, s) != once).all()
    posterior = TopicPosterior(lam, (V, K), seed=3)
    rule = Langevin(0.02, 1e9, 0.6, 60)
    noise = []
    for _ in range(2):
        before = posterior.dense()
        blend = rule.step(posterior, given(s), None)[0]
        drift = blend.retain * before + blend.gain * dense(s, V) + blend.prior * lam
        posterior.blend(blend)
        noise.append((posterior.dense() - drift) / np.sqrt(0.02 * drift))
    assert np.abs(noise[0] - noise[1]).max() > 0.5


def test_a_delayed_mean_merges_by_what_is_remembered():
    base = StreamingLDA(1, update=OnlineEM(MeanDecay(0.5, 10)), inference="variational")
    rng, first = np.random.default_rng(0), None
    for p in [[0.5, 0.3, 0.2]] * 20 + [[0.1, 0.3, 0.6]] * 40:
        first = deepcopy(base) if p[0] == 0.5 else first
        base.partial_fit(rng.multinomial(200, p, size=50))
    merged = deepcopy(base).merge(deepcopy(base), base=first)
    assert_allclose(merged.topic_word_, base.topic_word_, atol=0.01)
    assert StreamingLDA(update=OnlineEM(MeanDecay(1.0, 10)))._composed().traits.merges == "mean"
