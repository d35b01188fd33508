# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of supervised LDA against its plain twin, for every instruction set."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from tests.kernels.variants import each, variants
from tests.reference import supervised as reference

KERNELS = variants("supervised")
N_WORDS = 25


def corpus(K, seed=0):
    """Four documents, the third without words, with tokens of different weights."""
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.7, (4, N_WORDS))
    dense[2] = 0
    X = sparse.csr_matrix(dense, dtype=np.int32)
    token_weight = rng.choice([1.0, 0.5, 0.3], X.nnz)
    topics = rng.gamma(0.5, 1.0, (N_WORDS, K)) + 1e-3
    alpha, x = rng.gamma(1.0, 1.0, K) + 0.05, 3 * rng.standard_normal(K)
    y = rng.standard_normal(4)
    return X.indptr, X.indices, X.data, token_weight, topics, alpha, x, y


@pytest.mark.parametrize("variance", [0.02, 1.5])
@pytest.mark.parametrize("K", [1, 3, 20])
@each(KERNELS)
def test_kernel_equals_its_twin(kernel, K, variance):
    indptr, indices, n_tokens, token_weight, topics, alpha, x, y = corpus(K)
    gamma = alpha + np.random.default_rng(1).gamma(1.0, 2.0, (4, K))
    start = gamma.copy()
    topic_counts, bounds = np.full((4, K), np.nan), np.full(4, np.nan)
    counts, within = np.zeros((N_WORDS, K)), np.zeros((K, K))
    kernel.infer_supervised(
        indptr, indices, n_tokens, token_weight, topics, alpha, x, variance, y, 0, 4, 0.0, 3,
        gamma, topic_counts, bounds, counts, within,
    )  # fmt: skip
    all_counts, all_within = np.zeros((N_WORDS, K)), np.zeros((K, K))
    for d in (0, 1, 3):
        own = slice(indptr[d], indptr[d + 1])
        expected, tokens, spread, bound = reference.infer(
            n_tokens[own], token_weight[own], topics[indices[own]], alpha, x, variance, y[d],
            start[d], 3,
        )  # fmt: skip
        assert_allclose(gamma[d], expected, rtol=1e-7)
        assert_allclose(topic_counts[d], tokens.sum(axis=0), rtol=1e-6, atol=1e-12)
        assert_allclose(bounds[d], bound, rtol=1e-8)
        all_counts[indices[own]] += tokens
        all_within += spread
    assert_allclose(counts, all_counts, rtol=1e-6, atol=1e-10)
    assert_allclose(within, all_within, rtol=1e-6, atol=1e-10)
    assert_allclose(gamma[2], alpha)
    assert_allclose(topic_counts[2], 0)
    assert bounds[2] == 0


@each(KERNELS)
def test_a_response_that_the_topics_all_but_determine(kernel):
    """x^2 / (2 N^2 variance) is in the thousands, alike for both topics."""
    counts = np.array([3, 1, 2], dtype=np.int32)
    given = np.array([0, 3], dtype=np.int32), np.arange(3, dtype=np.int32), counts, np.ones(3)
    topics, alpha = np.array([[0.5, 0.2], [0.1, 0.3], [0.4, 0.5]]), np.array([0.7, 0.4])
    x, variance, y = np.array([-1.0, 1.0]), 1e-5, np.array([1 / 3])
    gamma, topic_counts, bounds = np.array([[2.7, 4.4]]), np.zeros((1, 2)), np.zeros(1)
    expected, tokens, _, bound = reference.infer(
        counts, np.ones(3), topics, alpha, x, variance, y[0], gamma[0], 3
    )
    kernel.infer_supervised(
        *given, topics, alpha, x, variance, y, 0, 1, 0.0, 3, gamma, topic_counts, bounds,
        np.zeros((3, 2)), np.zeros((2, 2)),
    )  # fmt: skip
    assert_allclose(gamma[0], expected, rtol=1e-6)
    assert_allclose(topic_counts[0], tokens.sum(axis=0), rtol=1e-6)
    assert_allclose(bounds[0], bound, rtol=1e-6)


def test_documents_outside_the_span_are_left_alone():
    indptr, indices, n_tokens, token_weight, topics, alpha, x, y = corpus(3)
    kernel = next(iter(KERNELS.values()))
    gamma = np.tile(alpha + 1.0, (4, 1))
    topic_counts, bounds = np.full((4, 3), -1.0), np.full(4, -1.0)
    kernel.infer_supervised(
        indptr, indices, n_tokens, token_weight, topics, alpha, x, 1.0, y, 1, 2, 0.0, 3,
        gamma, topic_counts, bounds, np.zeros((N_WORDS, 3)), np.zeros((3, 3)),
    )  # fmt: skip
    changed = np.array([False, True, False, False])
    assert_allclose(gamma[~changed], np.tile(alpha + 1.0, (3, 1)))
    assert ((topic_counts == -1).all(axis=1) == ~changed).all()
    assert ((bounds == -1) == ~changed).all()
