# SPDX-License-Identifier: BSD-3-Clause
"""Divergences summed over words: the kernel against its twin and the family."""

import importlib

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import digamma, gammaln

from streamtopics.families import dirichlet as family
from streamtopics.kernels import supported

KERNELS = {
    name: importlib.import_module(f"streamtopics.kernels._dirichlet_{name}") for name in supported()
}


@pytest.fixture(params=KERNELS.values(), ids=KERNELS.keys())
def kernel(request):
    """The kernel of each instruction set in turn."""
    return request.param


def twin(q, p, eta):
    psi = digamma(q)
    from_p = (gammaln(p) - gammaln(q) + (q - p) * psi).sum(axis=0)
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
    from_p -= twin(q.sum(axis=0)[None], p.sum(axis=0)[None], 1.0)[0]
    assert_allclose(from_p, family.kl(q, p, axis=0), rtol=1e-11)


@pytest.mark.parametrize(
    "shapes",
    [
        [(4, 3), (3, 4), (1, 1), (3,), (3,)],
        [(4, 3), (4, 3), (2, 1), (3,), (3,)],
        [(4, 3), (4, 3), (1, 2), (3,), (3,)],
        [(4, 3), (4, 3), (1, 1), (2,), (3,)],
        [(4, 3), (4, 3), (1, 1), (3,), (4,)],
    ],
)
def test_shapes_that_do_not_agree_are_refused(kernel, shapes):
    with pytest.raises(ValueError, match="do not agree"):
        kernel.add_divergences(*(np.ones(shape) for shape in shapes))
