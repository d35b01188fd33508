# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of rated reviews against its plain twin, for every instruction set."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from streamtopics.kernels import variational
from tests.kernels.variants import each, variants
from tests.reference import profiles as reference

KERNELS = variants("profiles")
N_WORDS, OMEGA = 30, np.array([4.0, 1.5])
RELATIVE = {np.float32: 2e-3, np.float64: 1e-9}


def profile_case(K, dtype, seed=0):
    """Three profiles of 2, 0 and 3 documents, one without words and one without a sign."""
    rng = np.random.default_rng(seed)
    first = np.array([0, 2, 2, 5], dtype=np.int32)
    dense = rng.poisson(0.6, (5, N_WORDS)) * rng.choice([1.0, 0.5], (5, 1))
    dense[3] = 0
    X = sparse.csr_matrix(dense, dtype=dtype)
    weights = np.zeros((N_WORDS, variational.padded_width(K + 2)), dtype)
    weights[:, : K + 2] = rng.gamma(0.3, 1.0, (N_WORDS, K + 2)) + 1e-3
    column = np.array([K, K + 1, K, K, -1], dtype=np.int32)
    prior = rng.gamma(1.0, 1.0, (3, K)) + 0.05
    return first, X, weights, column, prior, dense


@pytest.mark.parametrize("learn", [True, False], ids=["learnt", "given"])
@pytest.mark.parametrize("K", [1, 3, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each(KERNELS)
def test_kernel_equals_its_twin(kernel, dtype, K, learn):
    first, X, weights, column, prior, dense = profile_case(K, dtype)
    gamma = (prior + 2.0).astype(dtype)
    if not learn:
        gamma /= gamma.sum(axis=1, keepdims=True)
    pi = np.tile(OMEGA + 1, (5, 1)).astype(dtype)
    start = gamma.astype(np.float64), pi.astype(np.float64)
    share, log_sums = np.full(X.nnz, np.nan, dtype), np.empty(3)
    kernel.infer_profiles(
        first, X.indptr, X.indices, X.data, weights, column, prior, OMEGA, 0, 3, 0.0, 4, learn,
        gamma, pi, share, log_sums,
    )  # fmt: skip
    for g in range(3):
        members = range(first[g], first[g + 1])
        documents = []
        for d in members:
            words = np.flatnonzero(dense[d])
            qualitative = None if column[d] < 0 else weights[words, column[d]].astype(float)
            documents.append((dense[d, words], weights[words, :K].astype(float), qualitative))
        expected, of_p = start[0][g], start[1][list(members)]
        for _ in range(4):
            before = of_p
            expected, of_p, _ = reference.sweep(documents, prior[g], OMEGA, expected, of_p, learn)
            for i, (_, _, qualitative) in enumerate(documents):
                of_p[i] = before[i] if qualitative is None else of_p[i]
        _, _, logs = reference.sweep(documents, prior[g], OMEGA, expected, of_p, learn)
        if dense[list(members)].sum():
            assert_allclose(gamma[g], expected, rtol=RELATIVE[dtype])
            assert_allclose(pi[list(members)], of_p, rtol=RELATIVE[dtype])
        assert_allclose(log_sums[g], logs, rtol=RELATIVE[dtype], atol=1e-12)
        for d, p, (_, weight, qualitative) in zip(members, of_p, documents, strict=True):
            terms, other = reference.token_terms(expected, p, weight, qualitative, learn)
            own = slice(X.indptr[d], X.indptr[d + 1])
            assert_allclose(share[own], other / (terms.sum(axis=1) + other), rtol=RELATIVE[dtype])


def test_what_is_certain_is_finite():
    """Weights at the floor and an omega near 0 give shares of 0 and 1, and no NaN."""
    K, dtype = 2, np.float32
    weights = np.zeros((2, variational.padded_width(K + 2)), dtype)
    weights[:, : K + 2] = [[2e-18, 2e-18, 1.0, 2e-18], [1.0, 1.0, 2e-18, 2e-18]]
    first = np.array([0, 2], dtype=np.int32)
    indptr, indices = np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32)
    gamma, pi = np.ones((1, K), dtype), np.ones((2, 2), dtype)
    share, log_sums = np.zeros(2, dtype), np.zeros(1)
    next(iter(KERNELS.values())).infer_profiles(
        first, indptr, indices, np.ones(2, dtype), weights, np.array([K, K], np.int32),
        np.full((1, K), 1e-3), np.full(2, 1e-3), 0, 1, 0.0, 50, True, gamma, pi, share, log_sums,
    )  # fmt: skip
    assert np.isfinite(np.concatenate([gamma.ravel(), pi.ravel(), log_sums])).all()
    assert_allclose(share, [1, 0], atol=1e-6)
