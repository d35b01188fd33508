# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments of the HPP paper compute, beside plain twins."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, sparse, stats
from scipy.special import digamma, gammaln

from benchmarks.papers import hpp_binomial, hpp_budget, hpp_densities, hpp_electricity, hpp_nips
from streamtopics.models import BetaBinomial
from streamtopics.updates import Rounds
from tests.plain import SVBLDA


@pytest.mark.parametrize("gamma", hpp_densities.GAMMAS)
def test_exponential_densities(gamma):
    twin = np.exp(gamma * hpp_densities.RHO)
    twin /= integrate.quad(lambda rho: np.exp(gamma * rho), 0, 1)[0]
    assert np.allclose(hpp_densities.exponential(hpp_densities.RHO, gamma), twin, rtol=1e-10)


@pytest.mark.parametrize("deviation", hpp_densities.DEVIATIONS)
def test_normal_densities(deviation):
    twin = stats.truncnorm(-0.5 / deviation, 0.5 / deviation, 0.5, deviation)
    found = hpp_densities.normal(hpp_densities.RHO, 0.5, deviation)
    assert np.allclose(found, twin.pdf(hpp_densities.RHO), rtol=1e-10)


def test_means_of_the_rate_are_those_of_its_density():
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in hpp_densities.means():
        curves.setdefault(row["series"], []).append((row["x"], row["y"]))
    assert len(curves) == 1 + len(hpp_densities.PRECISIONS)
    for name, curve in curves.items():
        precision = float(name.rpartition(" ")[2]) if "precision" in name else 0.0
        for omega, mean in curve:
            top = max(omega, 0.0)

            def weight(rho, power, omega=omega, precision=precision, top=top):
                return rho**power * np.exp(omega * rho - precision * (rho - 0.5) ** 2 / 2 - top)

            total, first = (integrate.quad(weight, 0, 1, (power,))[0] for power in (0, 1))
            assert mean == pytest.approx(first / total, rel=1e-6), (name, omega)


@pytest.mark.parametrize("q", hpp_densities.TODAY.values())
@pytest.mark.parametrize("p", [hpp_densities.PRIOR, hpp_densities.YESTERDAY])
def test_divergences_of_normal_distributions(q, p):
    one, other = stats.norm(*q), stats.norm(*p)
    found, _ = integrate.quad(
        lambda x: one.pdf(x) * (one.logpdf(x) - other.logpdf(x)), q[0] - 12 * q[1], q[0] + 12 * q[1]
    )
    assert hpp_densities.divergence(q, p) == pytest.approx(found, rel=1e-8)


@pytest.mark.parametrize("flips", hpp_binomial.SIZES)
def test_the_coin_under_rules_with_a_fixed_rate_is_a_recursion(flips):
    successes = np.random.default_rng(1).binomial(flips, hpp_binomial.PROBABILITY)
    data = np.stack([successes, flips - successes], axis=1).astype(float)
    for name, rho, gain in (
        ("SVB", 1.0, 1.0),
        ("SVB-PP, rho = 0.9", 0.9, 1.0),
        ("PVB, M = 1000, nu = 0.01", 0.99, 0.01 * 1000 / flips),
        ("restart, rho = 0", 0.0, 1.0),
    ):
        lam = np.ones(2)
        for step, S in enumerate(data):
            lam = rho * lam + (1 - rho) + gain * S
            if step == 0:
                first = lam
        found = hpp_binomial.path(hpp_binomial.RULES[name], successes, flips)
        assert found.mean[0] == pytest.approx(first[0] / first.sum(), rel=1e-10), name
        assert found.mean[-1] == pytest.approx(lam[0] / lam.sum(), rel=1e-10), name
        assert found.sample_size[-1] == pytest.approx(lam.sum(), rel=1e-10), name


class JavaRandom:
    """`java.util.Random` as its documentation has it."""

    def __init__(self, seed: int):
        self.seed = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def next(self, bits: int) -> int:
        """So many random bits."""
        self.seed = (self.seed * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return self.seed >> (48 - bits)

    def below(self, bound: int) -> int:
        """`nextInt(bound)`."""
        r = self.next(31)
        if bound & (bound - 1) == 0:
            return (bound * r) >> 31
        u, r = r, r % bound
        while u - r + bound - 1 >= 1 << 31:
            u = self.next(31)
            r = u % bound
        return r


@pytest.mark.parametrize(("n", "seed"), [(2, 0), (64, 1), (1488, 1), (1500, 7)])
def test_a_shuffle_of_java(n, seed):
    # `new Random(42).nextInt()`, thrice, without the sign.
    known = JavaRandom(42)
    first = [known.next(32) for _ in range(3)]
    assert first == [value % (1 << 32) for value in (-1170105035, 234785527, -1360544799)]
    order, random = [*range(n)], JavaRandom(seed)
    for bound in range(n, 1, -1):
        place = random.below(bound)
        order[bound - 1], order[place] = order[place], order[bound - 1]
    assert hpp_electricity.java_shuffle(n, seed).tolist() == order


def test_the_bound_of_a_document_is_its_sum():
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.poisson(0.7, (30, 12)).astype(np.float64))
    model = SVBLDA(3, random_state=0, doc_topic_prior=0.1).partial_fit(X)
    lam = model.components_
    log_beta = digamma(lam) - digamma(lam.sum(axis=1))[:, None]
    alpha, total = np.full(3, 0.1), 0.0
    for counts in X.toarray():
        gamma = model.transform(sparse.csr_matrix(counts[None]))[0] * (0.3 + counts.sum())
        log_theta = digamma(gamma) - digamma(gamma.sum())
        for v in np.flatnonzero(counts):
            logits = log_theta + log_beta[:, v]
            phi = np.exp(logits - np.logaddexp.reduce(logits))
            total += counts[v] * (phi @ (logits - np.log(phi)))
        of_prior = gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ log_theta
        of_q = gammaln(gamma.sum()) - gammaln(gamma).sum() + (gamma - 1) @ log_theta
        total += of_prior - of_q
    assert hpp_nips.bound(model, X) == pytest.approx(total, rel=1e-6)


def spent(rule, model, batches):
    """Nats by which each minibatch moves the posterior towards the prior, and the share kept."""
    posterior = model.posterior(batches[0][0][:0])
    for batch in batches:
        blend, _ = rule.step(posterior, model.learner(posterior, *batch), None)
        yield posterior.divergences(replace(blend, gain=0.0))[0].sum(), blend.retain
        posterior.blend(blend)


def test_the_coin_and_the_market_are_forgotten_by_the_budget_of_theorem_1():
    """KL(prior of the minibatch || last posterior) <= kappa, less only where all is forgotten."""
    flips = np.random.default_rng(0).random((100, 100)) < hpp_binomial.PROBABILITY[:, None]
    coin = [(some[:, None].astype(float),) for some in flips]
    market = [month[:2] for month in hpp_electricity.made_up(1).values()]
    for module, model, batches in (
        (hpp_binomial, BetaBinomial(1.0, 1.0), coin),
        (hpp_electricity, hpp_electricity.MODEL, market),
    ):
        [rule] = (rule for name, rule in module.RULES.items() if "KL" in name)
        budget = rule.update.budget if isinstance(rule, Rounds) else rule.budget
        (first, _), *rest = spent(rule, model, batches)
        assert first == 0
        assert len(rest) == len(batches) - 1
        for nats, kept in rest:
            assert nats == pytest.approx(budget, rel=1e-6) or (kept == 0 and nats <= budget)


def test_a_budget_is_spent_and_not_more():
    """The divergences of Beta densities, that are counted as the books have them."""
    flips = np.random.default_rng(0).binomial(hpp_binomial.FLIPS, hpp_binomial.PROBABILITY)
    lam = 1.0 + np.array([flips[0], hpp_binomial.FLIPS - flips[0]])
    rows = list(hpp_budget.run({"data": "coin", "budget": 0.1}, quick=True))
    for n, row in zip(flips[1:], rows, strict=True):
        less = row["rho"] * lam + (1 - row["rho"])
        both = [stats.beta(*less).entropy(), -stats.beta(*less).expect(stats.beta(*lam).logpdf)]
        assert row["spent"] == pytest.approx(np.diff(both)[0], rel=1e-4)
        assert row["share"] == pytest.approx(1.0, abs=1e-9)
        lam = less + np.array([n, hpp_binomial.FLIPS - n])
