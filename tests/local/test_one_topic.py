# SPDX-License-Identifier: BSD-3-Clause
"""One topic a document: the statistics against their formulas, and the steps of EM."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, xlogy

from streamtopics.kernels import variational
from streamtopics.local import OneTopic
from streamtopics.local.step import part
from streamtopics.messages import Minibatch, Topics
from streamtopics.utils.parallel import SERIAL

each_share = pytest.mark.parametrize("share", [1.0, 0.8, 0.35])
SHARES_REPORT = frozenset({"shares"})


def random_case(seed=0, n_documents=30, n_words=25, n_components=5, zeros=0.3):
    """Counts (n_documents, n_words), weights (n_words, K) and alpha; document 3 is empty."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.3, (n_documents, n_words)).astype(float)
    counts[2] *= 0.37
    counts[3] = 0
    weights = rng.gamma(0.5, 1.0, (n_words, n_components))
    weights[rng.random(weights.shape) < zeros] = 0
    weights[:, 0] += 0.05
    return counts, weights, rng.gamma(1.0, 1.0, n_components) + 0.1


def minibatch_of(counts, dtype=np.float64):
    """A minibatch over all words."""
    rows, columns = np.nonzero(counts)
    indptr = np.searchsorted(rows, np.arange(len(counts) + 1)).astype(np.int32)
    words = np.arange(counts.shape[1], dtype=np.int32)
    return Minibatch(words, indptr, columns.astype(np.int32), counts[rows, columns].astype(dtype))


def topics_of(weights, alpha, dtype=np.float64):
    """Weights, padded as a model pads them."""
    padded = np.zeros((len(weights), variational.padded_width(weights.shape[1])), dtype)
    padded[:, : weights.shape[1]] = weights
    return Topics(padded, alpha)


def mixed(weights, share):
    """m and the topics' own part of it, (n_words, number of topics but the background)."""
    if share == 1:
        return weights, weights
    own = share * weights[:, 1:]
    return own + (1 - share) * weights[:, :1], own


def log_joint(counts, weights, alpha, share):
    """log alpha_k + sum_w n_dw log m_kw, where 0 log 0 is 0."""
    m, _ = mixed(weights, share)
    prior = np.log(alpha if share == 1 else alpha[1:])
    return prior + xlogy(counts[:, :, None], m).sum(axis=1)


def plain(counts, weights, alpha, share):
    """q (n_documents, topics) and the statistics (n_words, K), by the formulas."""
    log_q = log_joint(counts, weights, alpha, share)
    q = np.exp(log_q - logsumexp(log_q, axis=1, keepdims=True))
    m, own = mixed(weights, share)
    tokens = counts.T @ q
    part_of_topic = np.divide(own, m, out=np.zeros_like(m), where=m > 0)
    statistics = part_of_topic * tokens
    if share == 1:
        return q, statistics
    return q, np.column_stack([(tokens - statistics).sum(axis=1), statistics])


def step(counts, weights, alpha, share, dtype=np.float64):
    given = minibatch_of(counts, dtype), topics_of(weights, alpha, dtype)
    given += np.zeros(len(counts), np.uint64), SERIAL
    statistics, _ = OneTopic(share).step(*given, report=SHARES_REPORT)
    return statistics, OneTopic(share).doc_topic(*given)


@each_share
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_the_statistics_are_those_of_the_formulas(share, dtype, rtol):
    # Without a background a topic must give every word of a document some weight.
    counts, weights, alpha = random_case(zeros=0.0 if share == 1 else 0.3)
    statistics, theta = step(counts, weights, alpha, share, dtype)
    q, expected = plain(counts, weights, alpha, share)
    assert_allclose(statistics.counts, expected, rtol=rtol, atol=rtol / 100)
    if share < 1:
        q = np.column_stack([np.full(len(q), 1 - share), share * q])
    assert_allclose(theta, q, rtol=rtol, atol=rtol / 100)
    assert_allclose(statistics.lengths, counts.sum(axis=1), rtol=rtol)
    assert_allclose(statistics.shares, q[counts.sum(axis=1) > 0].mean(axis=0), rtol=rtol)


@each_share
def test_an_empty_document_has_the_prior_and_no_statistics(share):
    counts, weights, alpha = random_case()
    _, theta = step(counts, weights, alpha, share)
    own = alpha if share == 1 else alpha[1:]
    expected = own / own.sum()
    if share < 1:
        expected = np.concatenate([[1 - share], share * expected])
    assert_allclose(theta[3], expected, rtol=1e-12)
    none, _ = step(np.zeros((2, 25)), weights, alpha, share)
    assert_array_equal(none.counts, 0)
    assert none.shares is None


@each_share
@pytest.mark.parametrize("seed", range(4))
def test_the_likelihood_never_falls(share, seed):
    """beta, b and pi are estimated again from the statistics, as in the M-step."""
    counts, weights, alpha = random_case(seed, n_documents=40, zeros=0.0)
    weights, pi = weights / weights.sum(axis=0), alpha / alpha.sum()
    known = counts.sum(axis=1) > 0
    reached = []
    for _ in range(25):
        prior = pi if share == 1 else np.concatenate([pi[:1], pi[1:] / pi[1:].sum()])
        reached.append(logsumexp(log_joint(counts[known], weights, prior, share), axis=1).sum())
        statistics, theta = step(counts[known], weights, pi, share)
        weights = statistics.counts / statistics.counts.sum(axis=0)
        pi = np.maximum(theta.mean(axis=0), 1e-300)
    steps = np.diff(reached)
    assert steps.min() > -1e-9 * abs(reached[0])
    assert steps[0] > 1.0


@each_share
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_document_alone_is_as_among_others(share, dtype):
    counts, weights, alpha = random_case(n_documents=150)
    minibatch, topics = minibatch_of(counts, dtype), topics_of(weights, alpha, dtype)
    seeds = np.arange(len(counts), dtype=np.uint64)
    together = OneTopic(share).doc_topic(minibatch, topics, seeds, SERIAL)
    assert together.dtype == dtype
    for d in (0, 2, 3, 70, 149):
        alone, used = part(minibatch, d, d + 1)
        seen = Topics(np.ascontiguousarray(topics.weights[used]), alpha)
        found = OneTopic(share).doc_topic(alone, seen, seeds[d : d + 1], SERIAL)
        assert_array_equal(found[0], together[d])


def finite_step(*given):
    statistics, theta = step(*given)
    assert np.isfinite(statistics.counts).all()
    assert np.all(statistics.counts >= 0)
    assert_allclose(statistics.counts.sum(axis=1), given[0].sum(axis=0), rtol=1e-5)
    assert np.isfinite(theta).all()
    assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
    return theta


@each_share
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_long_documents_stay_finite(share, dtype):
    counts, weights, alpha = random_case(n_documents=6, zeros=0.0)
    counts = np.round(counts * 10_000 / np.maximum(counts.sum(axis=1, keepdims=True), 1))
    theta = finite_step(counts, weights, alpha, share, dtype)
    q, _ = plain(counts, weights, alpha, share)
    own = theta if share == 1 else theta[:, 1:] / share
    assert_array_equal(own.argmax(axis=1), q.argmax(axis=1))


@each_share
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_of_zero_stay_finite(share, dtype):
    """Words that no topic has, that the background alone has, and documents of only these."""
    counts, weights, alpha = random_case()
    weights[4] = 0
    weights[5, 1:], weights[5, 0] = 0, 1
    counts[:3] = 0
    counts[0, 4], counts[1, 5], counts[2, [4, 5]] = 6, 6, 3
    counts[5], weights[:5] = 1, weights[:5] * 1e-30
    finite_step(counts, weights, alpha, share, dtype)
