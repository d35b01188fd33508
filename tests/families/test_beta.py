# SPDX-License-Identifier: BSD-3-Clause
"""Quadrature under a beta distribution: moments that are known, in the tails as well."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import betaln, logsumexp

from tests.reference.beta_quadrature import integration_nodes

PRIORS = [(1, 9), (0.5, 0.5), (1e-10, 1e-10), (30, 2), (100, 900), (1e5, 9e5), (1e4, 1), (1, 1e4)]


@pytest.mark.parametrize(("a", "b"), PRIORS)
@pytest.mark.parametrize("powers", [(399, 0), (0, 399), (200, 199), (5, 3)])
def test_moments_of_degree_below_twice_the_nodes(a, b, powers):
    nodes, log_weights = integration_nodes(a, b, 200)
    with np.errstate(divide="ignore"):
        logs = [m * np.log(x) for m, x in zip(powers, (nodes, 1 - nodes), strict=True) if m]
    expected = betaln(a + powers[0], b + powers[1]) - betaln(a, b)
    assert_allclose(logsumexp(log_weights + sum(logs)), expected, atol=1e-5)


@pytest.mark.parametrize(("a", "b"), [*PRIORS, (1e10, 1e10), (1e-10, 1e10)])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_nodes_and_weights_are_those_of_a_distribution(a, b, n):
    nodes, log_weights = integration_nodes(a, b, n)
    assert ((nodes >= 0) & (nodes <= 1)).all()
    assert_allclose(logsumexp(log_weights), 0, atol=1e-12)
    assert_allclose(np.exp(log_weights) @ nodes, a / (a + b), rtol=1e-5, atol=1e-12)
