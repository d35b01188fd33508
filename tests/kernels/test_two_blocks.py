# SPDX-License-Identifier: BSD-3-Clause
"""Inference in two blocks of topics against its plain twin, for every instruction set."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import digamma

from tests.kernels.variants import each, freeze, variants
from tests.reference import two_blocks as reference
from tests.reference.variational import exp_digamma_rows

N_WORDS = 40
each_kernel = each(variants("variational"))


def case(n_topics, dtype, kernel):
    """CSR counts of all kinds of documents, and weights as a model would make them."""
    rng = np.random.default_rng(n_topics)
    dense = rng.poisson(0.5, (9, N_WORDS)).astype(dtype)
    dense[2] = 0
    dense[3] *= dtype(0.37)
    dense[4, 1:] = 0
    dense[4, 0] = 7
    dense[5] *= dtype(1000)
    X = sparse.csr_matrix(dense)
    X.data[0] = 0  # A stored zero.
    lam = rng.gamma(0.3, 10.0, (N_WORDS, n_topics)) + 0.01
    weights = np.zeros((N_WORDS, kernel.padded_width(n_topics)), dtype)
    weights[:, :n_topics] = exp_digamma_rows(lam, digamma(lam.sum(axis=0)))
    return X, weights


def run(kernel, X, weights, alpha, n_first, share_prior, tol, max_iter, span=None):
    start, stop = span or (0, X.shape[0])
    gamma = np.full((stop - start, len(alpha)), np.nan, weights.dtype)
    held = np.full((stop - start, 2), np.nan)
    log_sums, n_iter = np.full(stop - start, np.nan), np.full(stop - start, -1, np.int32)
    given = [X.indptr, X.indices, X.data, weights, alpha, np.array(share_prior)]
    freeze(*given)
    indptr, indices, counts, weights, alpha, share_prior = given
    kernel.infer_two_blocks(
        indptr, indices, counts, weights, alpha, n_first, share_prior, start, stop, tol, max_iter,
        gamma, held, log_sums, n_iter,
    )  # fmt: skip
    return gamma, held, log_sums, n_iter


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share_prior", [(1.0, 1.0), (0.05, 20.0)])
@pytest.mark.parametrize(("n_first", "n_topics"), [(1, 2), (10, 18), (3, 40)])
def test_equals_the_twin(kernel, dtype, share_prior, n_first, n_topics):
    X, weights = case(n_topics, dtype, kernel)
    alpha = np.random.default_rng(1).permutation(np.geomspace(0.01, 5.0, n_topics))
    gamma, held, log_sums, n_iter = run(kernel, X, weights, alpha, n_first, share_prior, 0.0, 8)
    single = dtype is np.float32
    for d, counts in enumerate(X.toarray().astype(np.float64)):
        b = weights[:, :n_topics].astype(np.float64)
        expected, _ = reference.fixed_point(counts, b, alpha, n_first, share_prior, 0.0, 8)
        tokens = counts.sum()
        assert n_iter[d] == (8 if tokens > 0 else 0)
        error = np.abs(gamma[d] - expected).sum()
        assert error <= (2e-5 if single else 1e-12) * (tokens + alpha.sum())
        by_block = np.add.reduceat(expected - alpha, [0, n_first])
        assert_allclose(held[d], by_block, rtol=0, atol=(2e-5 if single else 1e-12) * (tokens + 1))
        log_theta = reference.log_theta(expected, alpha, n_first, share_prior)
        both = digamma(sum(share_prior) + tokens)
        sums = counts @ np.log(b @ np.exp(log_theta)) + tokens * both
        assert_allclose(log_sums[d], sums, rtol=1e-4 if single else 1e-11, atol=1e-12)


@each_kernel
def test_tokens_of_blocks_are_not_lost_beside_a_great_alpha(kernel):
    X, weights = case(18, np.float32, kernel)
    alpha, share_prior = np.full(18, 1e6), (1.0, 2.0)
    _, held, _, _ = run(kernel, X, weights, alpha, 10, share_prior, 0.0, 20)
    for d, counts in enumerate(X.toarray().astype(np.float64)):
        b = weights[:, :18].astype(np.float64)
        expected, _ = reference.fixed_point(counts, b, alpha, 10, share_prior, 0.0, 20)
        by_block = np.add.reduceat(expected - alpha, [0, 10])
        assert_allclose(held[d], by_block, rtol=0, atol=1e-5 * (counts.sum() + 1))


@each_kernel
def test_stops_like_the_twin(kernel):
    X, weights = case(18, np.float64, kernel)
    alpha, share_prior = np.full(18, 0.3), (1.0, 2.0)
    gamma, _, _, n_iter = run(kernel, X, weights, alpha, 10, share_prior, 1e-3, 100)
    for d, counts in enumerate(X.toarray()):
        b = weights[:, :18]
        expected, sweeps = reference.fixed_point(counts, b, alpha, 10, share_prior, 1e-3, 100)
        assert n_iter[d] == (sweeps if counts.sum() > 0 else 0)
        assert_allclose(gamma[d], expected, rtol=1e-10)


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_dirichlet_where_the_share_prior_is_what_alpha_sums_to(kernel, dtype):
    """As far as `infer_documents` has not extrapolated."""
    X, weights = case(18, dtype, kernel)
    alpha = np.linspace(0.1, 1.0, 18)
    share_prior = alpha[:10].sum(), alpha[10:].sum()
    gamma, _, _, n_iter = run(kernel, X, weights, alpha, 10, share_prior, 0.0, 6)
    flat, iterations = np.empty_like(gamma), np.empty_like(n_iter)
    kernel.infer_documents(
        X.indptr, X.indices, X.data, weights, alpha, digamma(alpha), np.empty(N_WORDS), 0,
        X.shape[0], 0.0, 6, flat, iterations,
    )  # fmt: skip
    tokens = np.asarray(X.sum(axis=1)).ravel()
    error = np.abs(gamma - flat).sum(axis=1)
    assert (error <= (1e-4 if dtype is np.float32 else 1e-10) * (tokens + 10)).all()
