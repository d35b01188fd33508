# SPDX-License-Identifier: BSD-3-Clause
"""Power priors by a budget of nats: theorem 1 of Masegosa et al. (2020), beside plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betaln, digamma, gammaln

from streamtopics.families import dirichlet
from streamtopics.messages import Statistics
from streamtopics.models import BetaBinomial, MeanFieldRegression
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import SVB, Boost, BudgetedPowerPrior, PowerPrior, Rounds
from tests.updates.given import given, take

PROBABILITY = np.repeat([0.2, 0.5, 0.8], 8)


def kl(p, q):
    """KL(Beta(p) || Beta(q)), as it is written in the books."""
    (a, b), (c, d) = p, q
    mean = (a - c) * digamma(a) + (b - d) * digamma(b) + (c + d - a - b) * digamma(a + b)
    return betaln(c, d) - betaln(a, b) + mean


def least_rate(divergence, budget):
    """The least rho of [0, 1] at which a falling function is within a budget, by halving."""
    if divergence(0.0) <= budget:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if divergence(middle) > budget else (low, middle)
    return high


@pytest.mark.parametrize("budget", [1e-4, 0.01, 0.3, 30.0])
@pytest.mark.parametrize("boost", [0.0, 0.5])
def test_a_coin_is_that_of_plain_numpy(budget, boost):
    eta = np.array([1.0, 1.0])
    model, rule = BetaBinomial(*eta), BudgetedPowerPrior(budget, Boost(boost))
    posterior, lam, rng = model.posterior(np.zeros((0, 1))), eta, np.random.default_rng(0)
    rates = []
    for step, probability in enumerate(PROBABILITY):
        flips = (rng.random(50) < probability).astype(float)
        blend = rule.step(posterior, model.learner(posterior, flips[:, None]), None)[0]
        before, rho = lam, 1.0
        if step:
            rho = least_rate(lambda r, at=before: kl(r * at + (1 - r) * eta, at), budget)
        assert_allclose(blend.retain, rho, atol=1e-9)
        posterior.blend(blend)
        s = np.array([flips.sum(), len(flips) - flips.sum()])
        # The mass of a boost is that share of what is learnt.
        lam = rho * before + (1 - rho) * eta + s + boost * s.sum() * eta / eta.sum()
        assert_allclose(model.mean(posterior)[0], lam[0] / lam.sum(), rtol=1e-9)
        assert_allclose(posterior.mass, lam.sum(), rtol=1e-9)
        if step:
            # The budget is spent, unless all can be forgotten for less.
            used = kl(rho * before + (1 - rho) * eta, before)
            assert_allclose(used, budget, rtol=1e-6) if rho else 0 <= used <= budget
            rates.append(rho)
    assert (budget == 30.0) == (0.0 in rates)


def test_nothing_within_the_budget_is_nearer_to_the_prior():
    """Theorem 1: of all Beta densities within it, that of the rule has the least divergence."""
    eta, lam, budget = np.array([0.5, 1.0]), np.array([40.0, 12.0]), 0.2
    rho = least_rate(lambda r: kl(r * lam + (1 - r) * eta, lam), budget)
    least = kl(rho * lam + (1 - rho) * eta, eta)
    others = lam * np.random.default_rng(0).lognormal(-0.3, 0.5, (4000, 2))
    within = [other for other in others if kl(other, lam) <= budget]
    assert len(within) > 500
    assert min(kl(other, eta) for other in within) >= least
    assert min(kl(other, eta) for other in others) < least


def topics(n=4, eta=0.3, V=9, K=3):
    posterior, rng = TopicPosterior(np.array([[eta]]), (V, K)), np.random.default_rng(0)
    counts = rng.gamma(0.5, 20.0, (V, K))
    s = Statistics(np.arange(V, dtype=np.int32), counts, np.full(5, counts.sum() / 5))
    for _ in range(n):
        take(SVB(), posterior, given(s))
    return posterior, s


@pytest.mark.parametrize("budget", [1e-3, 0.5, 20.0])
def test_the_budget_is_of_all_topics_together(budget):
    posterior, s = topics()
    lam, eta = posterior.dense(), np.full((9, 3), 0.3)

    def divergence(rho):
        after = rho * lam + (1 - rho) * eta
        sums = (gammaln(x.sum(axis=0)) - gammaln(x).sum(axis=0) for x in (after, lam))
        slope = digamma(after) - digamma(after.sum(axis=0))
        return float((np.subtract(*sums) + ((after - lam) * slope).sum(axis=0)).sum())

    rho = least_rate(divergence, budget)
    assert_allclose(divergence(rho), dirichlet.kl(rho * lam + (1 - rho) * eta, lam, axis=0).sum())
    blend = BudgetedPowerPrior(budget).step(posterior, given(s), None)[0]
    assert_allclose(blend.retain, rho, rtol=1e-8)
    assert_allclose(blend.prior, 1 - rho, rtol=1e-7)
    # The rate is known before the minibatch: words that it has not do not matter.
    fewer = Statistics(s.words[:2], s.counts[:2], s.lengths)
    assert_allclose(BudgetedPowerPrior(budget).step(posterior, given(fewer), None)[0].retain, rho)


def test_its_limits():
    _, s = topics()
    for budget, rule in ((0.0, SVB()), (1e9, PowerPrior(0.0))):
        mine, other = topics()[0], topics()[0]
        take(BudgetedPowerPrior(budget), mine, given(s))
        take(rule, other, given(s))
        assert_array_equal(mine.dense(), other.dense())
    first = topics(0)[0]
    assert BudgetedPowerPrior(1.0).step(first, given(s), None)[0].retain == 1.0


def test_far_from_the_prior_the_rate_is_nearly_constant():
    """Two parameters a node, of a Gaussian as it would be: 1 / rho - 1 + log(rho) = 2 nats / d."""
    model, budget = BetaBinomial(1e-9, 1e-9), 0.05
    posterior, rule = model.posterior(np.zeros((0, 1))), BudgetedPowerPrior(budget)
    for _ in range(6):
        batch = np.repeat([1.0, 0.0], [3000, 5000])[:, None]
        blend = rule.step(posterior, model.learner(posterior, batch), None)[0]
        posterior.blend(blend)
    assert_allclose(1 / blend.retain - 1 + np.log(blend.retain), 2 * budget, rtol=1e-3)


def test_blocks_of_other_families_keep_to_it():
    rng = np.random.default_rng(0)
    model, rule = MeanFieldRegression(), Rounds(BudgetedPowerPrior(0.7), 3)
    posterior = model.posterior(np.zeros((0, 3)))
    for step in range(5):
        X = rng.normal(step > 2, 1.0, (40, 3))
        learn = model.learner(posterior, X, X[:, 0] + rng.normal(size=40))
        blend = rule.step(posterior, learn, None)[0]
        forgotten = type(blend)(blend.retain, 0.0, blend.prior, blend.statistics)
        used = posterior.divergences(forgotten)[0].sum()
        assert_allclose(used, 0.7 if step else 0.0, rtol=1e-6)
        posterior.blend(blend)


@pytest.mark.parametrize("budget", [-1.0, np.nan, "1"])
def test_wrong_budgets_are_refused(budget):
    with pytest.raises((ValueError, TypeError), match="budget"):
        BudgetedPowerPrior(budget)
