# SPDX-License-Identifier: BSD-3-Clause
"""Linear regression against closed forms and quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import gamma, multivariate_t, norm

from streamtopics.families import normal_gamma_regression as family
from streamtopics.models import LinearRegression
from streamtopics.updates import HierarchicalPowerPrior
from tests.models.learning import assert_bound_is_greatest, assert_predictives_multiply_to, learnt

MODELS = [
    LinearRegression(),
    LinearRegression(0.3, 2.0, 0.7, fit_intercept=False),
    LinearRegression(5.0, 0.6, 3.0, intercept_precision=2.0),
]


def data(n=40, seed=0, slope=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X @ [slope, -0.5] + 0.7 + 0.4 * rng.normal(size=n)


def design_and_precision(model, X):
    if not model.fit_intercept:
        return X, np.eye(2) * model.precision
    precisions = [model.precision, model.precision, model.intercept_precision]
    return np.column_stack([X, np.ones(len(X))]), np.diag(precisions)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_posterior_is_the_closed_form(model):
    X, y = data()
    Z, L0 = design_and_precision(model, X)
    m, L, a, b = family.parameters(learnt(model, X, y, size=10)["regression"])
    assert_allclose(L, L0 + Z.T @ Z)
    assert_allclose(m, np.linalg.solve(L0 + Z.T @ Z, Z.T @ y))
    assert_allclose(a, model.shape + len(y) / 2)
    assert_allclose(b, model.rate + (y @ y - m @ L @ m) / 2)


def log_evidence(model, X, y):
    """y is a multivariate t, with the coefficients and the noise integrated out."""
    Z, L0 = design_and_precision(model, X)
    scale = np.eye(len(y)) + Z @ np.linalg.inv(L0) @ Z.T
    return multivariate_t(
        np.zeros(len(y)), scale * model.rate / model.shape, df=2 * model.shape
    ).logpdf(y)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_one_step_predictives_multiply_to_the_evidence(model):
    assert_predictives_multiply_to(log_evidence(model, *data(25)), model, *data(25))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_bound_is_the_evidence_at_the_posterior_and_less_elsewhere(model):
    assert_bound_is_greatest(log_evidence(model, *data(25)), model, *data(25))


def test_the_local_bound_agrees_with_quadrature():
    model = LinearRegression(fit_intercept=False)
    X, y = np.array([[0.5], [-1.0], [2.0]]), np.array([0.2, -0.4, 1.9])
    posterior = learnt(model, X[:2], y[:2], size=2)
    m, L, a, b = family.parameters(posterior["regression"])
    mean, precision = m[0], L[0, 0]

    nodes, weights = np.polynomial.hermite_e.hermegauss(20)

    def integrand(g):
        w = mean + nodes * (g * precision) ** -0.5
        log_p = norm.logpdf(y[:, None], X * w, g**-0.5).sum(axis=0)
        return gamma.pdf(g, a, scale=1 / b) * (weights @ log_p) / weights.sum()

    expected = quad(integrand, 0, np.inf, epsabs=1e-12)[0]
    found = model.learner(posterior, X, y)(posterior).local_bound
    assert_allclose(found, expected, rtol=1e-8)


def test_a_change_is_forgotten_for():
    model = LinearRegression()
    rule = HierarchicalPowerPrior(rate_starts=(0.05, 0.95))
    posterior = learnt(model, *data(300), rule=rule, size=50)
    stays = rule.step(posterior, model.learner(posterior, *data(50, 5)), None)[0]
    changes = rule.step(posterior, model.learner(posterior, *data(50, 5, slope=-3.0)), None)[0]
    assert stays.retain > 0.8
    assert changes.retain < 0.1
