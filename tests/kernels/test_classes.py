# SPDX-License-Identifier: BSD-3-Clause
"""Inference under all classes at once: each sweep against the plain one, and who is given up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax

from streamtopics import kernels
from streamtopics.local.step import minibatch_of
from streamtopics.local.two_blocks import AllClasses, ClassWeights
from streamtopics.utils.parallel import SERIAL, workers
from tests.reference import two_blocks as reference

N_OWN, N_SHARED, N_WORDS = 3, 2, 60
ALPHA = np.array([0.4, 1.3, 2.0, 0.7, 3.0])
SHARE_PRIOR = (1.5, 0.6)
# Beside one document without words, long and short ones.
LENGTHS = (5, 40, 300, 1, 12, 2000)


@pytest.fixture(params=[1, 2, 8, 9, 20], ids="{} classes".format, name="beta")
def topics(request):
    """Topics of the classes (n_classes, K, V), and shared ones (R, V)."""
    rng = np.random.default_rng(request.param)
    own = rng.dirichlet(np.full(N_WORDS, 0.2), (request.param, N_OWN))
    return own + 1e-6, rng.dirichlet(np.full(N_WORDS, 0.3), N_SHARED) + 1e-6


def documents(beta, dtype):
    """Counts of documents, each of one of the classes; half counts too."""
    rng = np.random.default_rng(3)
    own, shared = beta
    rows = [np.zeros(N_WORDS)]
    for length in LENGTHS * 3:
        p = 0.5 * rng.dirichlet(np.ones(N_OWN)) @ own[rng.integers(len(own))]
        p += 0.5 * shared.mean(axis=0)
        rows.append(rng.multinomial(length, p / p.sum()) * rng.choice([1.0, 0.5]))
    return sparse.csr_matrix(np.array(rows, dtype))


def weights_of(beta, X):
    """The weights of the words of X, from the kernels."""
    (own, shared), minibatch = beta, minibatch_of(X)
    words, kernel = minibatch.words, kernels.classes
    groups = -(-len(own) // kernel.CLASSES_TOGETHER)
    out = np.full((len(words), groups, N_OWN, kernel.CLASSES_TOGETHER), np.nan, X.dtype)
    mass = np.array([2.0, 4.0, 0.5])
    for j, rows in enumerate(own):
        kernel.spread(np.ascontiguousarray(rows.T[words] * mass), 1 / mass, j, out)
    of_all, factors = shared.T[words].astype(X.dtype), np.empty(len(words))
    kernel.scale_words(out, of_all, len(own), factors)
    return minibatch, ClassWeights(out, of_all, np.log(factors))


def inferred(beta, X, margin=np.inf, tol=0.0, max_iter=100, pool=SERIAL):
    """log p(class) + bound of each document; the later classes are the more frequent ones."""
    minibatch, weights = weights_of(beta, X)
    log_prior = log_softmax(0.1 * np.arange(len(beta[0])))
    ascent = AllClasses(SHARE_PRIOR, tol, max_iter, margin)
    return ascent.log_joint(minibatch, weights, ALPHA, log_prior, pool)


def plain(beta, X, tol, max_iter):
    """The same by loops over documents and classes."""
    own, shared = beta
    of_all = np.array([np.concatenate([rows, shared]).T for rows in own])
    out = np.empty((X.shape[0], len(own)))
    for d, counts in enumerate(X.toarray().astype(np.float64)):
        given = counts[counts > 0], of_all[:, counts > 0]
        gammas, _ = reference.fixed_points(*given, ALPHA, N_OWN, SHARE_PRIOR, tol, max_iter)
        for j, (b, gamma) in enumerate(zip(of_all, gammas, strict=True)):
            out[d, j] = reference.bound(counts, b, ALPHA, N_OWN, SHARE_PRIOR, gamma)
    return out + log_softmax(0.1 * np.arange(len(own)))


def test_weights_are_the_words_rows_scaled(beta):
    own, shared = beta
    minibatch, weights = weights_of(beta, documents(beta, np.float64))
    everything = np.concatenate([*own, shared]).T[minibatch.words]
    largest = everything.max(axis=1)
    assert_allclose(weights.log_factors, np.log(largest), rtol=1e-12)
    lanes = weights.own.transpose(1, 3, 0, 2).reshape(-1, len(largest), N_OWN)
    expected = own.transpose(0, 2, 1)[:, minibatch.words] / largest[:, None]
    assert_allclose(lanes[: len(own)], expected, rtol=1e-12)
    assert_allclose(weights.shared, shared.T[minibatch.words] / largest[:, None], rtol=1e-12)


@pytest.mark.parametrize("max_iter", range(5))
@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-9), (np.float32, 2e-5)])
def test_the_first_sweeps_are_the_plain_ones(beta, dtype, close, max_iter):
    X = documents(beta, dtype)
    found = inferred(beta, X, max_iter=max_iter)
    assert_allclose(found, plain(beta, X, 0.0, max_iter), rtol=close, atol=close)


def test_extrapolation_ends_where_plain_sweeps_do(beta):
    X = documents(beta, np.float64)
    found, expected = inferred(beta, X, tol=1e-9, max_iter=2000), plain(beta, X, 1e-11, 5000)
    # A few documents have more than one maximum; none is missed by much.
    assert np.quantile(np.abs(found - expected), 0.97) < 1e-6
    early = plain(beta, X, 0.0, 30)
    assert (
        np.abs(inferred(beta, X, max_iter=30) - expected).mean() < np.abs(early - expected).mean()
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_class_that_matters_is_given_up(beta, dtype):
    X = documents(beta, dtype)
    every = inferred(beta, X, tol=1e-5)
    best = inferred(beta, X, margin=0.0, tol=1e-5)
    likely = inferred(beta, X, margin=20.0, tol=1e-5)
    assert_array_equal(best.argmax(axis=1), every.argmax(axis=1))
    p = np.exp(log_softmax(every, axis=1))
    assert_allclose(np.exp(log_softmax(likely, axis=1)), p, atol=2e-5)
    if len(beta[0]) >= 8:  # Some are given up, else it would not be a test.
        assert (best < every - 1e-3).any()
        assert (likely < every - 1e-3).any()


@pytest.mark.parametrize("margin", [0.0, np.inf])
def test_a_document_does_not_depend_on_others_nor_on_workers(beta, margin):
    X = sparse.vstack([documents(beta, np.float32)] * 40).tocsr()
    whole = inferred(beta, X, margin)
    with workers(2) as pool:
        assert_array_equal(inferred(beta, X, margin, pool=pool), whole)
    for d in (0, 3, 6):
        assert_array_equal(inferred(beta, X[[d]], margin), whole[[d]])


@pytest.mark.parametrize("margin", [0.0, 20.0, np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_class_does_not_depend_on_those_beside_it(dtype, margin):
    rng = np.random.default_rng(5)
    kinds = rng.dirichlet(np.full(N_WORDS, 0.2), (7, N_OWN)) + 1e-6
    # So that those of one kind are in different lanes, and beside others.
    kind = np.arange(20) % 7
    beta = kinds[kind], rng.dirichlet(np.full(N_WORDS, 0.3), N_SHARED) + 1e-6
    minibatch, weights = weights_of(beta, documents(beta, dtype))
    ascent = AllClasses(SHARE_PRIOR, 1e-3, 100, margin)
    found = ascent.log_joint(minibatch, weights, ALPHA, np.full(20, -np.log(20)), SERIAL)
    assert_array_equal(found, found[:, kind])


def test_a_document_without_words_is_the_prior(beta):
    found = inferred(beta, documents(beta, np.float64))[0]
    assert_array_equal(found, log_softmax(0.1 * np.arange(len(beta[0]))))
