# SPDX-License-Identifier: BSD-3-Clause
"""Gaussian mixtures against enumeration, quadrature and smaller models."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import logsumexp

from streamtopics import StreamingBayes
from streamtopics.families import dirichlet, normal_gamma
from streamtopics.models import GaussianMixture
from streamtopics.updates import HierarchicalPowerPrior
from tests.models.learning import assert_predictives_multiply_to, bounds_of_passes, learnt

CENTRES = np.array([[-4.0, 0.0], [0.0, 3.0], [4.0, -3.0]])


def data(n=150, seed=0, centres=CENTRES, missing=0.0):
    rng = np.random.default_rng(seed)
    X = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 2)) * [0.7, 1.2]
    X[rng.random(X.shape) < missing] = np.nan
    return X


def expected_log_densities(posterior, x, mean=0.0):
    """E[log p(x, z)] of the components, from the expected statistics of the family."""
    expected = normal_gamma.expected_statistics(posterior["components"])[0]
    x = x - mean
    t = np.stack([x, np.ones_like(x), x**2, np.ones_like(x)], axis=-1)
    of_x = (t * expected).sum(axis=-1) - 0.5 * np.log(2 * np.pi)
    of_x = np.where(np.isnan(x), 0.0, of_x).sum(axis=-1)
    return dirichlet.expected_statistics(posterior["weights"][0]) + of_x


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("mean", [0.0, 50.0])
def test_responsibilities_and_bound_are_those_of_the_definition(missing, mean):
    model = GaussianMixture(3, mean=mean)
    posterior = learnt(model, data(missing=missing) + mean, size=50)
    X = data(20, 1, missing=missing) + mean
    joint = np.array([expected_log_densities(posterior, x, mean) for x in X])
    r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    found = model.learner(posterior, X)(posterior)
    assert_allclose(found.local_bound, logsumexp(joint, axis=1).sum(), rtol=1e-9)
    assert_allclose(found.additions["weights"][0], r.sum(axis=0), atol=1e-9)
    expected = np.zeros((3, 2, 4))
    for x, r_i in zip(X - mean, r, strict=True):
        for d in np.flatnonzero(~np.isnan(x)):
            expected[:, d] += r_i[:, None] * [x[d], 1.0, x[d] ** 2, 1.0]
    assert_allclose(found.additions["components"][0], expected, atol=1e-8)
    assert found.n_documents == 20
    assert_allclose(found.mass[0], 20)


def log_evidence(model, X):
    """By summing over all assignments of the samples to components."""
    prior = model.posterior(X)
    total = []
    for assignment in product(range(model.n_components), repeat=len(X)):
        r = np.eye(model.n_components)[list(assignment)]
        seen, Z = ~np.isnan(X), np.nan_to_num(X)
        n = r.T @ seen
        s = np.stack([r.T @ Z, n, r.T @ Z**2, n], axis=-1)
        log_p = dirichlet.log_normalizer(prior["weights"][0] + r.sum(axis=0))
        log_p -= dirichlet.log_normalizer(prior["weights"][0])
        of_components = normal_gamma.log_normalizer(prior["components"][0] + s)
        log_p += (of_components - normal_gamma.log_normalizer(prior["components"][0])).sum()
        total.append(log_p - 0.5 * seen.sum() * np.log(2 * np.pi))
    return logsumexp(total)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_below_the_evidence(missing, seed):
    X = data(6, seed, missing=missing)
    model = GaussianMixture(2, mean_mass=0.1)
    exact = log_evidence(model, X)
    bounds = bounds_of_passes(model, model.posterior(X), X, n=30)
    assert (bounds < exact).all()
    assert bounds[-1] > exact - 5


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_bound_never_falls_in_the_passes(missing):
    """From a poor start: a posterior that has seen other data."""
    model = GaussianMixture(4)
    posterior = learnt(model, data(20, 5) * 0.3, size=20)
    bounds = bounds_of_passes(model, posterior, data(100, 1, missing=missing), n=40)
    assert (np.diff(bounds) > -1e-9 * np.abs(bounds[:-1])).all()
    assert bounds[-1] > bounds[0] + 0.5


@pytest.mark.parametrize("rate", ["shared", "topic"])
@pytest.mark.parametrize("start", [0.05, 0.5, 0.95])
def test_the_double_bound_never_falls(rate, start):
    model = GaussianMixture(3)
    posterior = learnt(model, data(), size=50)
    for seed, centres in ((1, CENTRES), (2, CENTRES[::-1] + 1.5)):
        rule = HierarchicalPowerPrior(rate, max_rounds=40, tol=0.0)
        learn = model.learner(posterior, data(60, seed, centres, missing=0.1))
        bounds = rule.optimize(posterior, learn, start).bounds
        assert len(bounds) == 39
        assert (np.diff(bounds) > -1e-9 * np.abs(bounds[:-1])).all()
        assert bounds[-1] > bounds[0]


def test_the_start_leaves_no_trace():
    """All that is there is the prior, and the samples once."""
    X = data()
    model = GaussianMixture(3, concentration=0.7)
    posterior = learnt(model, X, size=150)
    learnt_part = posterior["components"] - posterior.blocks["components"].prior
    assert_allclose((posterior["weights"] - 0.7).sum(), 150)
    assert_allclose(learnt_part[0].sum(axis=0)[:, 0], X.sum(axis=0))
    assert_allclose(learnt_part[0].sum(axis=0)[:, 2], (X**2).sum(axis=0))


def test_a_column_that_is_missing_is_as_if_it_were_not_there():
    X, Y = data(), data(20, 1)
    hidden, hidden_too = (np.column_stack([Z[:, 0], np.full(len(Z), np.nan)]) for Z in (X, Y))
    model = GaussianMixture(3)
    both, one = learnt(model, hidden, size=50), learnt(model, X[:, :1], size=50)
    assert_allclose(both["weights"], one["weights"], rtol=1e-10)
    assert_allclose(both["components"][:, :, :1], one["components"], rtol=1e-8, atol=1e-8)
    prior = both.blocks["components"].prior[:, :, 1]
    assert_array_equal(both["components"][:, :, 1], prior)
    expected = model.log_predictive(one, Y[:, :1])
    assert_allclose(model.log_predictive(both, hidden_too), expected, rtol=1e-9)


def test_a_missing_value_is_integrated_out():
    model = GaussianMixture(3)
    posterior = learnt(model, data(), size=50)
    rest = np.array([[np.nan, 1.0]])

    def density(value):
        return float(np.exp(model.log_predictive(posterior, np.array([[value, 1.0]]))[0]))

    marginal = quad(density, -np.inf, np.inf, epsabs=1e-10, limit=200)[0]
    assert_allclose(np.exp(model.log_predictive(posterior, rest))[0], marginal, rtol=1e-6)


def test_the_predictive_density_integrates_to_one():
    model = GaussianMixture(2)
    posterior = learnt(model, data(12)[:, :1], size=12)

    def density(value):
        return float(np.exp(model.log_predictive(posterior, np.array([[value]]))[0]))

    edges = [-np.inf, -10, -4, 0, 4, 10, np.inf]
    total = sum(quad(density, *pair)[0] for pair in pairwise(edges))
    assert_allclose(total, 1.0, rtol=1e-7)


def test_one_step_predictives_of_one_component_multiply_to_the_evidence():
    X = data(20, missing=0.2)
    model = GaussianMixture(1, mean_mass=0.3, shape=0.8, rate=2.0)
    assert_predictives_multiply_to(log_evidence(model, X), model, X)


def test_a_rate_for_each_node_finds_the_component_that_moved():
    rule = HierarchicalPowerPrior("topic", rate_starts=(0.05, 0.95))
    model = GaussianMixture(3, n_init=5)
    posterior = learnt(model, data(1500), rule=rule, size=300)
    moved = CENTRES + np.array([[0.0, 0.0], [0.0, 0.0], [2.5, 0.0]])
    k = model.means(posterior)[0, :, 0].argmax()
    blend = rule.step(posterior, model.learner(posterior, data(300, 9, moved)), None)[0]
    retained = posterior.by_block(blend.retain)["components"][0, :, :, 0].copy()
    assert retained[k, 0] < 0.2
    retained[k, 0] = 1.0
    assert retained.min() > 0.5


def test_components_of_a_first_sample_come_apart():
    rng = np.random.default_rng(0)
    X = rng.permutation(np.concatenate([rng.normal(c, 0.3, (100, 1)) for c in (-6, 0, 6)]))
    model = StreamingBayes(GaussianMixture(3), random_state=0).partial_fit(X[:1])
    for i in range(1, 300, 10):
        model.partial_fit(X[i : i + 10])
    assert len(np.unique(model.posterior_["weights"])) == 3
