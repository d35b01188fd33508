# SPDX-License-Identifier: BSD-3-Clause
"""Vectors as a second view, against Bessel functions and plain NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import ive

from streamtopics.local import OneTopic
from streamtopics.local.directions import concentration, expected, explained, summed
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Statistics, Topics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.utils.parallel import SERIAL, workers

K, D = 3, 40
EVERY = np.arange(4, dtype=np.int32)


def unit_vectors(n, d, seed=0):
    found = np.random.default_rng(seed).normal(size=(n, d))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def directions_of(vectors, q):
    return np.column_stack((q.T @ vectors, q.T @ vectors.any(axis=1)))


@pytest.mark.parametrize("d", [2, 3, 10, 80])
@pytest.mark.parametrize("length", [0.3, 2.0, 30.0])
def test_expected_direction_is_the_ratio_of_bessel_functions(d, length):
    sums = np.zeros((2, d + 1))
    sums[:, 0], sums[:, -1] = (length, 2 * length), 4 * length
    kappa = concentration(sums)
    x = kappa * np.array([length, 2 * length])
    ratio = ive(d / 2, x) / ive(d / 2 - 1, x)
    found = expected(sums)
    assert_allclose(found[:, 0], kappa * ratio, rtol=0.08 if d == 2 else 0.04)
    assert not found[:, 1:].any()


def test_concentration_is_found_again():
    d, kappa = 20, 30.0
    # Of many draws the mean resultant length is the ratio of Bessel functions.
    ratio = ive(d / 2, kappa) / ive(d / 2 - 1, kappa)
    sums = np.zeros((1, d + 1))
    sums[0, 0], sums[0, -1] = 1e6 * ratio, 1e6
    assert_allclose(concentration(sums), kappa, rtol=0.03)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 400])
def test_products_are_those_of_matrices(dtype, n):
    E, means = unit_vectors(n, 11).astype(dtype), unit_vectors(K, 11, 1).astype(dtype)
    E[0] = 0
    q = np.random.default_rng(2).dirichlet(np.ones(K), n).astype(dtype)
    rtol = 1e-4 if dtype == np.float32 else 1e-12
    assert_allclose(explained(E, means, SERIAL), E @ means.T, rtol=rtol, atol=rtol)
    assert_allclose(summed(E, q, SERIAL), directions_of(E, q), rtol=rtol, atol=rtol)
    with workers(2) as pool:
        assert_array_equal(explained(E, means, pool), explained(E, means, SERIAL))
        assert_array_equal(summed(E, q, pool), summed(E, q, SERIAL))
    if n > 1:
        alone = explained(E[-1:], means, SERIAL)
        assert_array_equal(alone[0], explained(E, means, SERIAL)[-1])


def documents(d=5):
    rng = np.random.default_rng(1)
    X = rng.poisson(0.5, (D, 12)).astype(np.float64)
    X[3] = 0
    minibatch = minibatch_of(sparse.csr_matrix(X))
    vectors = unit_vectors(D, d)
    vectors[5] = 0
    weights = np.zeros((len(minibatch.words), 8))
    weights[:, : K + 1] = rng.dirichlet(np.ones(12), K + 1).T[minibatch.words]
    means = np.vstack((np.zeros(d), 4 * unit_vectors(K, d, 3)))
    return replace(minibatch, vectors=vectors), Topics(weights, np.array([1.0, 1, 2, 3]), means)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_one_topic_is_found_by_words_and_vectors(weight):
    minibatch, topics = documents()
    local = OneTopic(0.8, weight)
    seeds = np.zeros(D, np.uint64)
    found, _ = local.step(minibatch, topics, seeds, SERIAL, report=frozenset({"shares"}))
    X = minibatch.matrix(minibatch.counts).toarray()
    beta, background = topics.weights[:, 1 : K + 1], topics.weights[:, :1]
    log_q = np.log([1.0, 2, 3]) + X @ np.log(0.8 * beta + 0.2 * background)
    log_q += weight * minibatch.vectors @ topics.means[1:].T
    q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
    q /= q.sum(axis=1, keepdims=True)
    assert_allclose(found.directions[1:], directions_of(minibatch.vectors, q), atol=1e-12)
    assert not found.directions[0].any()
    assert found.n_empty == np.count_nonzero(~X.any(axis=1)) >= 1
    assert found.n_informative == D
    assert_allclose(found.shares, [0.2, *0.8 * q.mean(axis=0)])
    proportions = local.doc_topic(minibatch, topics, seeds, SERIAL)
    assert_allclose(proportions[:, 1:], 0.8 * q)


def statistics(seed):
    rng = np.random.default_rng(seed)
    counts = rng.random((4, K))
    directions = directions_of(unit_vectors(9, 6, seed), rng.dirichlet(np.ones(K), 9))
    return Statistics(EVERY, counts, np.array([counts.sum()]), directions=directions)


def test_posterior_takes_in_vectors_by_the_weights_of_words():
    prior = np.random.default_rng(0).random((K, 7))
    posterior = TopicPosterior(np.full((1, 1), 0.1), (4, K), np.ones(K), None, 0, prior)
    assert posterior.knows_nothing
    lam = prior.copy()
    for t, retain in enumerate([1.0, np.array([0.5, 0.9, 0.0]), 0.7]):
        found, gain = statistics(t), 1.0 + t
        blend = Blend(retain, gain, 1.0 - np.asarray(retain), found)
        kept = np.reshape(retain, (-1, 1)) * np.ones((K, 1))
        lam = kept * lam + gain * found.directions + (1 - kept) * prior
        assert_allclose(posterior.after(blend).directions, lam)
        before = posterior.of_words(EVERY)
        posterior.blend(blend)
        assert_allclose(posterior.directions, lam)
        before.blend(posterior.since(before, retain))
        assert_allclose(before.directions, lam)
    assert not posterior.knows_nothing


def test_posteriors_with_vectors_are_added():
    prior = np.ones((K, 7))
    base = TopicPosterior(np.full((1, 1), 0.1), (4, K), np.ones(K), None, 0, prior)
    base.blend(Blend(1.0, 1.0, 0.0, statistics(0)))
    both = []
    for seed in (1, 2):
        one = base.of_words(EVERY)
        one.blend(Blend(1.0, 1.0, 0.0, statistics(seed)))
        both.append(one)
    total = sum(statistics(seed).directions for seed in range(3))
    assert_allclose(both[0].added_to(both[1], base).directions, prior + total)
