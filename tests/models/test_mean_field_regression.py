# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field regression with Gaussian inputs, against quadrature and plain loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import logsumexp, psi
from scipy.stats import gamma as gamma_distribution
from scipy.stats import multivariate_normal, norm, t

from streamtopics.families import gamma, gaussian, normal_gamma
from streamtopics.models import MeanFieldRegression
from streamtopics.updates import SVB, HierarchicalPowerPrior, Rounds
from tests.models.learning import bounds_of_passes, learnt

MODEL = MeanFieldRegression(0.1, 2.0, 0.5, 0.2, 1.5, 0.8)


def data(n=60, seed=0, missing=0.0, slope=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) @ [[1.0, 0.6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]] + 1.0
    y = X @ [slope, -0.5, 0.2] + 0.7 + 0.4 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def one_by_one(X, y, prior, n_sweeps=3000):
    """Coordinate ascent, a coefficient at a time, for data without holes."""
    Z = np.column_stack([X, np.ones(len(X))])
    (pull, precision), (shape, rate) = prior["coefficients"].T, gamma.parameters(prior["noise"])
    w, variance, noise = np.zeros(4), 1 / precision, shape / rate
    for _ in range(n_sweeps):
        for j in range(4):
            without = y - Z @ w + Z[:, j] * w[j]
            variance[j] = 1 / (precision[j] + noise * Z[:, j] @ Z[:, j])
            w[j] = variance[j] * (pull[j] + noise * Z[:, j] @ without)
        squares = np.sum((y - Z @ w) ** 2) + (Z**2).sum(axis=0) @ variance
        noise = (shape + len(y) / 2) / (rate + squares / 2)
    return w, variance, shape + len(y) / 2, rate + squares / 2


@pytest.mark.parametrize("size", [60, 30])
def test_the_ascent_ends_where_one_coordinate_at_a_time_does(size):
    X, y = data()
    prior = MODEL.posterior(X) if size == 60 else learnt(MODEL, X[:30], y[:30], size=30)
    w, variance, shape, rate = one_by_one(X[-size:], y[-size:], prior)
    posterior = learnt(MODEL, X, y, size=size)
    found, precision = gaussian.parameters(posterior["coefficients"])
    assert_allclose(found, w, rtol=1e-7)
    assert_allclose(1 / precision, variance, rtol=1e-7)
    assert_allclose(gamma.parameters(posterior["noise"]), (shape, rate), rtol=1e-7)


def test_inputs_are_normal_gamma_exactly():
    X, y = data()
    posterior = learnt(MODEL, X, y, size=30)
    n = np.full(3, 60.0)
    expected = np.stack([X.sum(axis=0), n, (X**2).sum(axis=0), n], axis=-1)
    assert_allclose(posterior["inputs"] - posterior.blocks["inputs"].prior, expected)


def expected_log_joint(posterior, x, y):
    """E[log p(x, y | beta)] of each sample, written out."""
    w, precision = gaussian.parameters(posterior["coefficients"])
    one = np.ones_like(x)
    z = np.append(x, one[..., :1], axis=-1)
    shape, rate = gamma.parameters(posterior["noise"])
    squared = (y - z @ w) ** 2 + z**2 @ (1 / precision)
    of_y = 0.5 * (psi(shape) - np.log(rate) - np.log(2 * np.pi) - shape / rate * squared)
    expected = normal_gamma.expected_statistics(posterior["inputs"])
    counts = np.stack([x, one, x**2, one], axis=-1)
    return of_y + (counts * expected).sum(axis=(-2, -1)) - 1.5 * np.log(2 * np.pi)


def test_the_local_bound_is_that_of_the_definition():
    posterior = learnt(MODEL, *data(), size=30)
    X, y = data(10, 1)
    found = MODEL.learner(posterior, X, y)(posterior).local_bound
    assert_allclose(found, expected_log_joint(posterior, X, y).sum(), rtol=1e-10)


def test_the_local_bound_of_what_is_missing_is_its_integral():
    """max over q(x) of E[log p - log q] is log of the integral of exp E[log p]."""
    posterior = learnt(MODEL, *data(missing=0.2), size=30)
    x, y = np.array([0.4, np.nan, 2.0]), 1.3

    def integrand(value):
        return np.exp(expected_log_joint(posterior, np.array([0.4, value, 2.0]), y))

    found = MODEL.learner(posterior, x[None], np.array([y]))(posterior).local_bound
    assert_allclose(found, np.log(quad(integrand, -30, 30, epsabs=1e-12)[0]), rtol=1e-7)

    grid = np.linspace(-14, 16, 81)
    u, v = np.meshgrid(grid, grid)
    joint = expected_log_joint(posterior, np.stack([u, v, np.full_like(u, 2.0)], axis=-1), y)
    expected = logsumexp(joint) + 2 * np.log(grid[1] - grid[0])
    x = np.array([[np.nan, np.nan, 2.0]])
    found = MODEL.learner(posterior, x, np.array([y]))(posterior).local_bound
    assert_allclose(found, expected, rtol=1e-6)


def log_evidence(X, y):
    """The coefficients integrated out in closed form, the noise by quadrature."""
    Z = np.column_stack([X, np.ones(len(X))])
    prior = MODEL.posterior(X)["inputs"]
    n = np.full(3, float(len(X)))
    s = np.stack([X.sum(axis=0), n, (X**2).sum(axis=0), n], axis=-1)
    of_inputs = normal_gamma.log_normalizer(prior + s) - normal_gamma.log_normalizer(prior)

    def integrand(g):
        covariance = Z @ Z.T / MODEL.precision + np.eye(len(y)) / g
        log_p = multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)
        return np.exp(log_p) * gamma_distribution.pdf(g, MODEL.shape, scale=1 / MODEL.rate)

    of_y = np.log(quad(integrand, 0, 60, epsabs=0, limit=200)[0])
    return of_inputs.sum() - 1.5 * len(X) * np.log(2 * np.pi) + of_y


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_below_the_evidence(seed):
    X, y = data(8, seed)
    bounds = bounds_of_passes(MODEL, MODEL.posterior(X), X, y, n=12)
    exact = log_evidence(X, y)
    assert (bounds < exact).all()
    assert bounds[-1] > exact - 4


@pytest.mark.parametrize("rate", ["shared", "topic"])
@pytest.mark.parametrize("start", [0.05, 0.5, 0.95])
def test_the_double_bound_rises_and_ends_at_a_fixed_point(rate, start):
    posterior = learnt(MODEL, *data(200, missing=0.1), size=50)
    learn = MODEL.learner(posterior, *data(50, 1, missing=0.1, slope=0.6))
    rule = HierarchicalPowerPrior(rate, max_rounds=40, tol=0.0)
    blend, bounds = rule.optimize(posterior, learn, start)
    assert (np.diff(bounds) > -1e-7 * np.abs(bounds[:-1])).all()
    assert bounds[-1] > bounds[0]
    again = posterior.after(blend)
    additions = learn(again).additions
    for name, found in additions.items():
        assert_allclose(found, blend.statistics.additions[name], rtol=1e-4, atol=1e-4)


def test_a_column_without_a_coefficient_that_is_missing_is_left_out():
    """Where the coefficient is 0 for sure, the target says nothing about the input."""
    X, y = data(40)
    hidden = X.copy()
    hidden[:10, 2] = np.nan
    stiff = MeanFieldRegression(1e12, 2.0, 0.5, 0.2, 1.5, 0.8)
    posterior = learnt(stiff, hidden, y, rule=Rounds(SVB(), 40), size=40)
    only = learnt(stiff, X[10:, 2:], y[10:], size=40)["inputs"][0]
    found = posterior["inputs"][2]
    assert_allclose(found[0] / found[1], only[0] / only[1], rtol=1e-4)
    whole = learnt(stiff, X, y, rule=Rounds(SVB(), 2), size=40)
    assert_allclose(posterior["inputs"][:2], whole["inputs"][:2])


def test_the_density_of_the_target_agrees_with_quadrature_over_the_noise():
    posterior = learnt(MODEL, *data(8), size=8)
    w, precision = gaussian.parameters(posterior["coefficients"])
    shape, rate = gamma.parameters(posterior["noise"])
    x = np.array([1.0, 0.3, -2.0])
    z = np.append(x, 1.0)
    m, k, a, b = normal_gamma.parameters(posterior["inputs"])
    scale = np.sqrt(b * (k + 1) / (a * k))
    of_inputs = t.logpdf(x, 2 * a, m, scale).sum()
    for y in (z @ w, z @ w + 1.0, z @ w - 6.0, z @ w + 100.0):

        def integrand(log_g, y=y):
            g = np.exp(log_g)
            sd = np.sqrt(z**2 @ (1 / precision) + 1 / g)
            return g * gamma_distribution.pdf(g, shape, scale=1 / rate) * norm.pdf(y, z @ w, sd)

        expected = np.log(quad(integrand, -15, 6, epsabs=0, limit=500)[0])
        found = MODEL.log_predictive(posterior, x[None], np.array([y]))[0]
        assert_allclose(found - of_inputs, expected, atol=1e-8)


def density_of_target(posterior, x):
    return lambda y: float(np.exp(MODEL.log_predictive(posterior, x, np.array([y]))[0]))


@pytest.mark.parametrize("x", [[0.3, 1.0, -1.0], [np.nan, 1.0, np.nan], [np.nan] * 3], ids=str)
def test_predictions_are_a_density_with_the_predicted_mean(x):
    """And that of the inputs that are seen is a product of Student t's."""
    posterior = learnt(MODEL, *data(20), size=20)
    x = np.array([x])

    density = density_of_target(posterior, x)
    m, k, a, b = normal_gamma.parameters(posterior["inputs"])
    of_inputs = np.nan_to_num(t.pdf(x, 2 * a, m, np.sqrt(b * (k + 1) / (a * k))), nan=1.0)
    total = quad(density, -np.inf, np.inf)[0]
    assert_allclose(total, of_inputs.prod(), rtol=1e-6)
    mean = quad(lambda y: y * density(y), -np.inf, np.inf)[0] / total
    assert_allclose(MODEL.predict(posterior, x), mean, rtol=1e-4)


def test_what_is_missing_spreads_the_prediction_as_much_as_in_the_model():
    posterior = learnt(MODEL, *data(40), size=40)
    x = np.array([[np.nan, 1.0, np.nan]])
    rng, n = np.random.default_rng(0), 400_000
    shape, rate = gamma.parameters(posterior["noise"])
    w, precision = gaussian.parameters(posterior["coefficients"])
    m, k, a, b = normal_gamma.parameters(posterior["inputs"])
    inputs = m + np.sqrt(b * (k + 1) / (a * k)) * rng.standard_t(2 * a, (n, 3))
    z = np.column_stack([np.where(np.isnan(x), inputs, x), np.ones(n)])
    drawn = (z * (w + rng.normal(size=(n, 4)) / np.sqrt(precision))).sum(axis=1)
    drawn += rng.normal(size=n) / np.sqrt(rng.gamma(shape, 1 / rate, n))

    density = density_of_target(posterior, x)
    moments = [quad(lambda y, p=p: y**p * density(y), -np.inf, np.inf)[0] for p in range(3)]
    mean = moments[1] / moments[0]
    assert_allclose(mean, drawn.mean(), atol=0.02)
    assert_allclose(moments[2] / moments[0] - mean**2, drawn.var(), rtol=0.02)
