# SPDX-License-Identifier: BSD-3-Clause
"""Supervised LDA: the bound by its definition, by enumeration and by an optimizer."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import digamma
from scipy.stats import norm

from streamtopics.families import dirichlet
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.supervised_lda import (
    Response,
    ResponseLDA,
    ResponseMoments,
    first_response,
    no_moments,
    solve_response,
)
from streamtopics.utils.parallel import SERIAL
from tests.kernels.variants import each, variants
from tests.reference import supervised as reference
from tests.reference.profiles import log_dirichlet_multinomial

KERNELS = variants("supervised")
ALPHA, X, VARIANCE = np.array([0.5, 0.8, 0.3]), np.array([-1.0, 0.5, 2.0]), 0.4
TOPICS = np.random.default_rng(0).dirichlet(np.full(5, 0.6), 3)
DOCUMENTS = [([0, 1, 1, 1], 0.7), ([2, 3, 4], -1.2), ([], 0.0), ([4], 1.0)]


def infer(kernel, documents, *, weight=1.0, x=X, variance=VARIANCE, tol=0.0, max_iter=500):
    counts = np.array([np.bincount(np.array(t, int), minlength=5) for t, _ in documents])
    rows = sparse.csr_matrix(counts, dtype=np.int32)
    n, y = len(documents), np.array([y for _, y in documents])
    gamma = ALPHA + weight * counts.sum(axis=1, keepdims=True) / 3
    topic_counts, bounds = np.zeros((n, 3)), np.zeros(n)
    words, within = np.zeros((5, 3)), np.zeros((3, 3))
    kernel.infer_supervised(
        rows.indptr, rows.indices, rows.data, np.full(rows.nnz, weight),
        np.ascontiguousarray(TOPICS.T), ALPHA, x, variance, y, 0, n, tol, max_iter, gamma,
        topic_counts, bounds, words, within,
    )  # fmt: skip
    tokens = weight * counts.sum(axis=1)
    whole = bounds - tokens * digamma(gamma.sum(axis=1)) - dirichlet.kl(gamma, ALPHA)
    return gamma, topic_counts, whole, words, within


def general_bound(parameters, tokens, y, weight=1.0):
    """The bound with a q(z) of its own for each token, by its definition."""
    gamma = np.exp(parameters[:3])
    logits = parameters[3:].reshape(len(tokens), 3)
    phi = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    log_theta = digamma(gamma) - digamma(gamma.sum())
    value = weight * (phi * (log_theta + np.log(TOPICS[:, tokens].T) - np.log(phi))).sum()
    N = weight * len(tokens)
    second = moment(phi, weight) / N**2
    mean = weight * phi.sum(axis=0) / N
    value -= 0.5 * np.log(2 * np.pi * VARIANCE)
    value -= (y**2 - 2 * y * X @ mean + X @ second @ X) / (2 * VARIANCE)
    return value - dirichlet.kl(gamma, ALPHA)


def moment(phi, weight):
    """E[(sum_n w z_n)(sum_n w z_n)'] under independent z_n."""
    total = phi.sum(axis=0)
    return weight**2 * (np.outer(total, total) + np.diag(total) - phi.T @ phi)


@cache
def optimum(d, weight):
    tokens, y = DOCUMENTS[d]
    start = np.zeros(3 + 3 * len(tokens))
    return minimize(lambda x: -general_bound(x, tokens, y, weight), start)


each_kernel = each(KERNELS)


@each_kernel
@pytest.mark.parametrize("weight", [1.0, 0.6])
@pytest.mark.parametrize("d", [0, 1, 3])
def test_the_fixed_point_is_where_an_optimizer_ends(kernel, d, weight):
    tokens, _ = DOCUMENTS[d]
    gamma, topic_counts, bound, words, within = infer(kernel, [DOCUMENTS[d]], weight=weight)
    best = optimum(d, weight)
    assert_allclose(bound[0], -best.fun, atol=1e-5)
    assert_allclose(gamma[0], np.exp(best.x[:3]), rtol=2e-3)
    logits = best.x[3:].reshape(len(tokens), 3)
    phi = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    assert_allclose(topic_counts[0], weight * phi.sum(axis=0), rtol=3e-3, atol=1e-4)
    second = moment(phi, weight) / (weight * len(tokens)) ** 2
    zbar = topic_counts[0] / topic_counts[0].sum()
    assert_allclose(np.outer(zbar, zbar) + within, second, atol=1e-3)
    assert_allclose(words.sum(axis=0), topic_counts[0], rtol=1e-9)


@each_kernel
def test_the_bound_is_under_the_enumerated_likelihood(kernel):
    bounds = infer(kernel, DOCUMENTS)[2]
    for (tokens, y), bound in zip(DOCUMENTS, bounds, strict=True):
        if not tokens:
            assert bound == 0
            continue
        total = 0.0
        for z in product(range(3), repeat=len(tokens)):
            zbar = np.bincount(z, minlength=3) / len(tokens)
            log_p = log_dirichlet_multinomial(ALPHA, zbar * len(tokens))
            log_p += np.log(TOPICS[list(z), tokens]).sum()
            total += np.exp(log_p + norm.logpdf(y, X @ zbar, VARIANCE**0.5))
        assert np.log(total) - 1.5 < bound < np.log(total)


@each_kernel
def test_equal_coefficients_make_it_lda(kernel):
    """A response that does not depend on the topics leaves them alone."""
    gamma = infer(kernel, [([0, 0, 3], 5.0)], x=np.full(3, 0.7), variance=0.1, max_iter=300)[0]
    expected = ALPHA + 1.0
    for _ in range(300):
        phi = np.exp(digamma(expected)) * TOPICS[:, [0, 3]].T
        expected = ALPHA + np.array([2, 1]) @ (phi / phi.sum(axis=1, keepdims=True))
    assert_allclose(gamma[0], expected, rtol=1e-9)


def test_a_large_pull_is_finite():
    kernel, settings = KERNELS[next(iter(KERNELS))], {"variance": 1e-9, "tol": 1e-6, "max_iter": 50}
    gamma, counts, bound, *_ = infer(kernel, [([0] * 9, 1e6)], x=1e6 * X, **settings)
    assert np.isfinite(gamma).all()
    assert np.isfinite(bound).all()
    assert_allclose(counts.sum(), 9)


def test_a_step_sums_what_the_twin_finds_in_documents():
    """The moments with the spread within documents, and the whole bound."""
    rng = np.random.default_rng(1)
    counts, y = rng.poisson(1.0, (6, 5)).astype(float), rng.standard_normal(6)
    counts[2] = 0
    posterior = TopicPosterior(np.full((1, 1), 0.5), (5, 3), ALPHA)
    learnt = Statistics(np.arange(5, dtype=np.int32), rng.gamma(1.0, 4.0, (5, 3)), np.ones(1))
    posterior.blend(Blend(1.0, 1.0, 0.0, learnt))
    lam = posterior.dense()
    topics = np.exp(digamma(lam) - digamma(lam.sum(axis=0)))
    response = Response(X, VARIANCE, 0.0)
    statistics, moments, gamma = ResponseLDA(0.0, 200).step(
        posterior, minibatch_of(sparse.csr_matrix(counts)), y, response, SERIAL
    )
    bound, second, zbar = 0.0, np.zeros((3, 3)), []
    for d in (0, 1, 3, 4, 5):
        own, N = np.flatnonzero(counts[d]), counts[d].sum()
        given = counts[d, own], np.ones(len(own)), topics[own], ALPHA, X, VARIANCE, y[d]
        found, tokens, within, part = reference.infer(*given, ALPHA + N / 3, 200)
        assert_allclose(gamma[d], found, rtol=1e-6)
        zbar.append(tokens.sum(axis=0) / N)
        second += np.outer(zbar[-1], zbar[-1]) + within
        bound += part - N * digamma(found.sum()) - dirichlet.kl(found, ALPHA)
    told = y[[0, 1, 3, 4, 5]]
    assert_allclose(statistics.local_bound, bound)
    assert_allclose(moments.second, second, rtol=1e-6)
    assert_allclose(moments.products, told @ np.array(zbar), rtol=1e-6, atol=1e-9)
    assert_allclose([moments.n, moments.total, moments.squares], [5, told.sum(), told @ told])


def moments_of(zbar, y):
    return ResponseMoments(
        float(len(y)), y.sum(), (y**2).sum(), zbar.sum(axis=0), y @ zbar, zbar.T @ zbar
    )


def test_the_response_is_the_penalised_optimum():
    rng = np.random.default_rng(0)
    zbar = rng.dirichlet(np.ones(3), 50)
    y = 5 + zbar @ X + 0.1 * rng.standard_normal(50)
    found = solve_response(moments_of(zbar, y), 2.0, first_response(y, 3))

    def loss(parameters):
        x, log_variance = parameters[:3], parameters[3]
        squares = ((y - zbar @ x) ** 2).sum() + 2.0 * ((x - y.mean()) ** 2).sum()
        return 25 * log_variance + squares / (2 * np.exp(log_variance))

    best = minimize(loss, np.append(np.full(3, y.mean()), 0.0), options={"gtol": 1e-8})
    assert_allclose(found.coefficients, best.x[:3], rtol=1e-4)
    assert_allclose(found.variance, np.exp(best.x[3]), rtol=1e-3)
    shifted = solve_response(moments_of(zbar, y + 3), 2.0, first_response(y, 3))
    assert_allclose(shifted.coefficients, found.coefficients + 3, rtol=1e-9)


def test_a_response_of_nothing():
    start = first_response(np.empty(0), 2)
    assert solve_response(no_moments(2), 1.0, start) is start
    moments = moments_of(np.eye(2)[[0, 1, 1]], np.full(3, 4.0))
    constant = solve_response(moments, 1.0, Response(np.zeros(2), 1.0, 0.0))
    assert_allclose(constant.coefficients, 4.0)
    assert constant.variance > 0
