# SPDX-License-Identifier: BSD-3-Clause
"""Divergences summed over words: the kernel against its twin and the family."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import digamma, gammaln

from streamtopics.families import dirichlet as family
from tests.kernels.variants import each, variants

pytestmark = each(variants("dirichlet"))


def twin(q, p, eta):
    psi = digamma(q)
    from_p = ((q - p) * psi - gammaln(q)).sum(axis=0)
    from_eta = ((q - eta) * psi - gammaln(q)).sum(axis=0)
    return from_p, from_eta


def masses(rng, shape):
    """Pseudo-counts from 1e-8 to 1e12."""
    return 10.0 ** rng.uniform(-8, 12, shape)


@pytest.mark.parametrize("n_topics", [1, 7, 16, 33])
@pytest.mark.parametrize("eta_shape", ["one", "word", "topic", "each"])
def test_sums_equal_the_twin(kernel, n_topics, eta_shape):
    rng = np.random.default_rng(n_topics)
    n = 50
    q, p = masses(rng, (2, n, n_topics))
    shape = {"one": (1, 1), "word": (n, 1), "topic": (1, n_topics), "each": (n, n_topics)}
    eta = masses(rng, shape[eta_shape])
    from_p, from_eta = rng.normal(size=(2, n_topics))
    expected = [a + b for a, b in zip((from_p, from_eta), twin(q, p, eta), strict=True)]
    kernel.add_divergences(q, p, eta, from_p, from_eta)
    assert_allclose(from_p, expected[0], rtol=1e-12)
    assert_allclose(from_eta, expected[1], rtol=1e-12)


@pytest.mark.parametrize("x", [1e-300, 1e-8, 0.05, 0.5, 1.0, 1.4616, 2.0, 15.9, 16.0, 1e3, 1e15])
def test_each_term_is_as_exact_as_its_parts(kernel, x):
    """Within some units in the last place of the largest part."""
    q, p, eta = (np.full((1, 1), value) for value in (x, 1.1 * x, 0.9 * x))
    from_p, from_eta = np.zeros((2, 1))
    kernel.add_divergences(q, p, eta, from_p, from_eta)
    scale = abs(gammaln(x)) + abs(x * digamma(x)) + 1
    for found, expected in zip((from_p, from_eta), twin(q, p, eta), strict=True):
        assert abs(found[0] - expected[0]) < 3e-14 * scale


def test_with_the_totals_it_is_the_divergence_of_the_family(kernel):
    rng = np.random.default_rng(0)
    q, p = rng.gamma(0.5, 20.0, (2, 300, 9)) + 0.01
    from_p, unused = np.zeros((2, 9))
    kernel.add_divergences(q, p, p, from_p, unused)
    minus, unused = np.zeros((2, 9))
    kernel.add_divergences(p, p, p, minus, unused)
    from_p -= minus
    total, of_p = q.sum(axis=0), p.sum(axis=0)
    from_p -= twin(total[None], of_p[None], 1.0)[0] + gammaln(of_p)
    assert_allclose(from_p, family.kl(q, p, axis=0), rtol=1e-11)


def rows_and_counts(n_topics, dtype):
    rng = np.random.default_rng(n_topics)
    S = rng.gamma(0.2, 10.0, (40, n_topics))
    words = np.sort(rng.choice(40, 11, replace=False)).astype(np.int32)
    return rng, S, words, rng.gamma(0.5, 3.0, (11, n_topics)).astype(dtype)


def test_weights_are_words(kernel):
    rng, S, rows, counts = rows_and_counts(7, np.float64)
    weights, coefficients = rng.integers(-2, 4, (11, 7)).astype(float), rng.uniform(0.1, 2, (6, 7))
    found, each = np.zeros((2, 2, 7))
    kernel.add_divergences_of_rows(S, rows, counts, coefficients, *found, weights)
    for w in range(11):
        one = np.zeros((2, 7))
        own = rows[w : w + 1], counts[w : w + 1]
        kernel.add_divergences_of_rows(S, *own, coefficients, *one)
        each += weights[w] * one
    assert_allclose(found, each, rtol=1e-11)
    with pytest.raises(ValueError, match="do not agree"):
        kernel.add_divergences_of_rows(S, rows, counts, coefficients, *found, weights[1:])


@pytest.mark.parametrize("n_topics", [1, 7, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_divergences_of_rows(kernel, n_topics, dtype):
    rng, S, words, counts = rows_and_counts(n_topics, dtype)
    coefficients = rng.uniform(0.1, 2.0, (6, n_topics))
    p0, p1, q0, q1, gain, eta = coefficients
    from_p, from_eta = np.zeros((2, n_topics))
    kernel.add_divergences_of_rows(S, words, counts, coefficients, from_p, from_eta)
    q = q0 + q1 * S[words] + gain * counts
    expected = twin(q, p0 + p1 * S[words], eta[None])
    assert_allclose(from_p, expected[0], rtol=1e-10)
    assert_allclose(from_eta, expected[1], rtol=1e-10)
