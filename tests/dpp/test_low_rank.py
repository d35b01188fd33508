# SPDX-License-Identifier: BSD-3-Clause
"""The normaliser, its derivatives and the marginal kernel against dense ones."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from streamtopics.dpp.kernel import (
    Kernel,
    Process,
    core,
    log_det,
    log_normalizer,
    project,
    shrunk,
    slope_embedding,
    slope_gamma,
    slope_theta,
)
from streamtopics.dpp.marginal import (
    expected_size,
    expected_with_word,
    marginal,
    marginal_kernel,
    marginals,
)
from streamtopics.dpp.measures import Bernoulli, Items
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sampling import draw_subsets, log_symmetric, size_probabilities, spectrum
from tests.dpp import cases
from tests.reference import dpp as reference

listed = pytest.mark.parametrize("name", cases.LISTED)
gammas = pytest.mark.parametrize("gamma", [0.0, 1e-10, 0.4, 30.0])


@listed
@gammas
def test_normaliser_without_theta_or_columns(name, gamma):
    case = cases.LISTED[name]
    V = case.Phi.shape[1]
    expected = np.linalg.slogdet(np.eye(V) + gamma * reference.moment(case.p, case.Phi))[1]
    for U in (cases.kernel(V).U, np.zeros((V, 0))):
        kernel = Kernel(U, np.zeros(U.shape[1]), gamma)
        found = log_normalizer(Process(case.measure, kernel, Counting(0.0)))
        assert_allclose(found, expected, atol=1e-13)


@listed
@gammas
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_slopes_equal_finite_differences(name, gamma, alpha):
    case = cases.LISTED[name]
    kernel, rho = cases.kernel(case.Phi.shape[1], 3, gamma), 1 / (1 + alpha)
    theta = np.append(kernel.theta[:2], 0.0)

    def value(U, theta, gamma):
        return float(log_det(project(case.measure, U, gamma, rho), theta))

    projected = project(case.measure, kernel.U, gamma, rho)
    inner = shrunk(projected, theta)
    flat, shape = kernel.U.ravel(), kernel.U.shape
    by_U = approx_fprime(flat, lambda x: value(x.reshape(shape), theta, gamma), 1e-7)
    assert_allclose(slope_embedding(projected, inner).ravel(), by_U, rtol=2e-5, atol=2e-6)
    by_theta = approx_fprime(theta, lambda x: value(kernel.U, x, gamma), 1e-7)
    assert_allclose(slope_theta(projected, theta), by_theta, rtol=2e-5, atol=2e-6)
    step = 1e-6 * max(gamma, 1)
    by_gamma = (value(kernel.U, theta, gamma + step) - value(kernel.U, theta, gamma)) / step
    assert_allclose(slope_gamma(projected, inner, 1), by_gamma, rtol=1e-4, atol=2e-6)


def test_huge_theta_of_more_columns_than_words():
    """M is positive definite, but no longer once it is rounded."""
    measure = Bernoulli(np.full(3, 0.3))
    U = np.random.default_rng(0).standard_normal((3, 8))
    projected, theta = project(measure, U, 0.0, 1.0), np.array([[1e17] * 8, [1.0] * 8])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(core(projected, theta))
    found = log_det(projected, theta)
    Sigma = cases.sigma(measure)
    leading = np.linalg.slogdet(Sigma @ U @ U.T)[1] + 3 * np.log(1e17)
    assert_allclose(found[0], leading, rtol=0.1)
    assert found[1] == log_det(projected, theta[1])
    for exponent in (10, 12, 14, 16):
        inner = shrunk(projected, np.full(8, 10.0**exponent))
        assert slope_gamma(projected, inner, 1) >= 0


def test_huge_theta_loses_no_digits():
    measure, theta = Bernoulli(np.full(3, 0.3)), np.array([1e14, 1.0, 1e-14])
    Sigma = cases.sigma(measure)
    slope = slope_theta(project(measure, np.eye(3), 0.0, 1.0), theta)
    exact = np.diag(np.linalg.solve(np.eye(3) + Sigma * theta, Sigma))
    assert_allclose(slope, exact, rtol=1e-10)
    assert_allclose(slope[0] * theta[0], 1, rtol=1e-12)


def test_two_to_the_five_hundred_sentences():
    rng = np.random.default_rng(0)
    measure = Bernoulli(rng.uniform(0.001, 0.1, 500))
    kernel = Kernel(rng.standard_normal((500, 10)), rng.exponential(size=10), 0.002)
    expected = np.linalg.slogdet(np.eye(500) + cases.sigma(measure) @ kernel.matrix)[1]
    found = log_normalizer(Process(measure, kernel, Counting(0.0)))
    assert_allclose(found, expected, rtol=1e-11)


@listed
@gammas
@pytest.mark.parametrize("alpha", [0.0, 1e-5, 0.3])
def test_normaliser_and_marginals_equal_those_of_the_dense_kernel(name, gamma, alpha):
    case = cases.LISTED[name]
    if np.isinf(case.measure.n_items) and alpha:
        return
    process = cases.process(case, gamma, Counting(alpha))
    dense = cases.dense_of(case, process)
    expected = np.linalg.slogdet(dense + np.eye(len(dense)))[1]
    assert_allclose(log_normalizer(process), expected, rtol=1e-12, atol=1e-13)
    possible = case.p > 0
    K = reference.marginal(dense)[np.ix_(possible, possible)]
    points = case.points[possible]
    assert_allclose(marginals(process, points), np.diag(K), atol=1e-12)
    assert_allclose(marginal_kernel(process, points), K, atol=1e-12)
    assert_allclose(expected_size(process), np.trace(K), rtol=1e-11)
    if alpha == 0:
        has = case.points if name == "weighted" else case.Phi
        with_word = np.diag(K) @ (has[possible] > 0)
        assert_allclose(expected_with_word(process), with_word, rtol=1e-10, atol=1e-12)
    B = marginal(process)
    matrix = B.times(np.eye(len(B.b)))
    assert_allclose(np.diag(matrix), B.diagonal, atol=1e-13)
    assert np.linalg.eigvalsh(matrix).min() > -1e-12
    sigma = alpha / (1 + alpha)
    A = reference.kernel_matrix(matrix, reference.moment(case.p, case.Phi), sigma)
    assert_allclose(A, process.kernel.matrix, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("noise", [Counting(0.3), Background(0.3)])
def test_an_item_that_is_taken_out_is_in_no_set(noise):
    measure = Items.of(3).without(np.array([1]))
    process = Process(measure, cases.kernel(3, 2, 0.2), noise)
    found = marginals(process, np.arange(3))
    assert found[1] == 0
    assert (found[[0, 2]] > 0.2).all()
    assert_allclose(found.sum(), expected_size(process), rtol=1e-12)
    assert_allclose(marginal_kernel(process, np.arange(3))[1], 0, atol=1e-15)


def test_expected_size_with_background():
    case = cases.bernoulli()
    process = cases.process(case, 0.2, Background(1.5))
    trace = np.trace(reference.marginal(reference.dense(case.p, case.Phi, process.kernel.matrix)))
    assert_allclose(expected_size(process), trace + 1.5, rtol=1e-12)
    low_rank = np.diag(reference.marginal(cases.dense_of(case, cases.process(case, 0.2))))
    assert_allclose(marginals(process, case.points), low_rank + 1.5 * case.p, rtol=1e-12)


@listed
@pytest.mark.parametrize("gamma", [0.0, 0.4])
@pytest.mark.parametrize("noise", [Counting(0.0), Counting(0.3)])
def test_size_probabilities(name, gamma, noise):
    case = cases.LISTED[name]
    if len(case.p) > 8:
        return
    process = cases.process(case, gamma, noise)
    law = reference.probabilities(cases.dense_of(case, process))
    sizes = [len(X) for X in reference.subsets(len(case.p))]
    expected = np.bincount(sizes, law, minlength=9)
    assert_allclose(size_probabilities(process, 8), expected, atol=1e-12)


def test_spectrum_is_that_of_the_dense_kernel():
    case = cases.bernoulli()
    for gamma, rank in ((0.0, 2), (0.4, 3)):
        process = cases.process(case, gamma)
        found = spectrum(process)
        values = np.linalg.eigvalsh(cases.dense_of(case, process))[-rank:]
        assert_allclose(np.sort(found.values), values, rtol=1e-11)
        gram = found.G.T @ reference.moment(case.p, case.Phi) @ found.G
        assert_allclose(gram, np.eye(rank), atol=1e-11)
        root = process.kernel.root
        assert_allclose(root @ root.T, process.kernel.matrix, atol=1e-13)


def test_elementary_polynomials_do_not_overflow():
    values = np.random.default_rng(0).exponential(size=40) * 1e30
    found = log_symmetric(values, 40)[-1]
    assert_allclose(found[40], np.log(values).sum(), rtol=1e-13)
    assert_allclose(found[1], np.log(values.sum()), rtol=1e-13)
    exact = np.poly(-values / 1e30)
    assert_allclose(found, np.log(exact) + np.arange(41) * np.log(1e30), rtol=1e-10, atol=1e-9)


def test_subsets_have_the_law_of_their_products():
    values = np.array([0.5, 3.0, 0.0, 1.0, 2.0])
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 4, 30_000)
    chosen = draw_subsets(values, sizes, rng)
    assert (chosen.sum(axis=1) == sizes).all()
    subsets, codes = reference.subsets(5), chosen @ (1 << np.arange(5))
    for m in range(4):
        law = np.array([np.prod(values[X]) * (len(X) == m) for X in subsets])
        cases.assert_law(codes[sizes == m], law)


class Counted(np.ndarray):
    """An array that counts the multiplications and other operations of NumPy on it."""

    n = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        plain = [np.asarray(one) for one in inputs]
        if "out" in named:
            named["out"] = tuple(np.asarray(one) for one in named["out"])
        found = getattr(ufunc, method)(*plain, **named)
        inner = plain[0].shape[-1] if ufunc is np.matmul else 1
        Counted.n += max(np.size(found) * inner, *(one.size for one in plain))
        return found.view(Counted) if isinstance(found, np.ndarray) else found


def operations(n_words, rank, n_shared):
    """Of the normaliser and its derivatives, for a base measure of so many shared features."""
    rng = np.random.default_rng(0)
    U, v, w0, theta = (
        rng.uniform(0.1, 1.0, shape).view(Counted)
        for shape in ((n_words, rank), n_words, (n_words, n_shared), rank)
    )
    Counted.n = 0
    projected = project(SimpleNamespace(v=v, w0=w0), U, 0.4, 1.0)
    part = shrunk(projected, theta)
    assert slope_embedding(projected, part).shape == U.shape
    assert slope_theta(projected, theta).shape == theta.shape
    slope_gamma(projected, part, 1)
    return Counted.n


def test_the_normaliser_costs_the_words_times_the_square_of_the_rank():
    """O(V r^2): linear in V, and of its part that grows with V the third differences in r are 0."""
    of_words = [operations(n, 6, 2) for n in (1000, 2000, 3000)]
    assert of_words[2] - of_words[1] == of_words[1] - of_words[0] > 1000 * 6**2
    ranks = np.array([operations(4000, r, 2) - operations(2000, r, 2) for r in range(4, 12)])
    second = np.diff(ranks, 2)
    assert (second == second[0]).all()
    assert second[0] >= 2 * 2000
    # Of the dense kernel it would be V^2 and more.
    assert of_words[0] < 1000**2
