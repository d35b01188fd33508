# SPDX-License-Identifier: BSD-3-Clause
"""Multi-view LDA: its bound by enumeration, its stream against a plain one, and recovery."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import digamma

from streamtopics import MultiViewLDA
from streamtopics.kernels import variational
from streamtopics.local.step import minibatch_of
from streamtopics.local.two_blocks import TwoBlocks
from streamtopics.messages import Topics
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import BPS, Rounds
from streamtopics.utils.parallel import SERIAL
from tests.reference import two_blocks as reference
from tests.reference.variational import exp_digamma_rows

ALPHA, N_FIRST = np.array([0.3, 0.7, 0.2, 1.0]), 2
SHARE_PRIORS = [(1.0, 1.0), (0.3, 4.0)]
N_WORDS = 3


def true_topics(seed=0, n_words=N_WORDS, n_topics=4):
    """beta of shape (n_topics, n_words)."""
    return np.random.default_rng(seed).dirichlet(np.full(n_words, 0.5), n_topics)


def inferred(dense, beta, share_prior, tol=1e-10, max_iter=5000):
    """What the local step finds, and its settings."""
    minibatch = minibatch_of(sparse.csr_matrix(dense))
    weights = np.zeros((len(minibatch.words), variational.padded_width(len(beta))))
    weights[:, : len(beta)] = beta.T[minibatch.words]
    local = TwoBlocks(N_FIRST, share_prior, tol, max_iter)
    (documents,) = local.infer([(minibatch, Topics(weights, ALPHA))], SERIAL)
    return local, documents


def bounds_of(dense, beta, share_prior, documents):
    """On log p(words) of each document, in nats."""
    return np.array([
        reference.bound(counts, beta.T, ALPHA, N_FIRST, share_prior, gamma)
        for counts, gamma in zip(dense, documents.gamma, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize("share_prior", SHARE_PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_under_the_enumerated_likelihood(share_prior, seed):
    beta = true_topics(seed)
    every = [words for n in (1, 3, 5) for words in product(range(N_WORDS), repeat=n)]
    dense = np.array([np.bincount(words, minlength=N_WORDS) for words in every], np.float64)
    local, documents = inferred(dense, beta, share_prior)
    exact = [reference.log_likelihood(w, ALPHA, N_FIRST, share_prior, beta) for w in every]
    gap = np.array(exact) - bounds_of(dense, beta, share_prior, documents)
    assert (gap > 0).all()
    assert gap.max() < 2.5  # Else it would be of no use to tell classes.
    log_theta = [reference.log_theta(g, ALPHA, N_FIRST, share_prior) for g in documents.gamma]
    both = digamma(sum(share_prior) + dense.sum(axis=1))
    assert_allclose(local.log_theta(documents) - log_theta, np.tile(both[:, None], 4))


@pytest.mark.parametrize("share_prior", SHARE_PRIORS)
def test_the_bound_is_stationary_in_every_parameter(share_prior):
    beta, rng = true_topics(3, 6), np.random.default_rng(5)
    counts = rng.poisson(2.0, 6).astype(np.float64)
    _, documents = inferred(counts[None], beta, share_prior)
    gamma = documents.gamma[0]
    phi = reference.responsibilities(beta.T, gamma, ALPHA, N_FIRST, share_prior)
    v = reference.shares(gamma, ALPHA, N_FIRST, share_prior)
    best = reference.bound(counts, beta.T, ALPHA, N_FIRST, share_prior, gamma)

    def bound(parameters):
        """Of log gamma, log v and the logits of phi."""
        free = np.exp(parameters[: len(gamma) + 2])
        logits = parameters[len(gamma) + 2 :].reshape(phi.shape)
        others = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        return reference.bound(
            counts, beta.T, ALPHA, N_FIRST, share_prior, free[:-2], others, free[-2:]
        )

    at = np.concatenate([np.log(gamma), np.log(v), np.log(phi).ravel()])
    assert_allclose(bound(at), best, rtol=1e-12)
    assert np.abs(approx_fprime(at, bound, 1e-6)).max() < 1e-4
    for _ in range(20):
        assert bound(at + 0.1 * rng.normal(size=len(at))) < best


@pytest.mark.parametrize("share_prior", SHARE_PRIORS)
def test_sweeps_never_lower_the_bound(share_prior):
    beta = true_topics(7, 30)
    dense = np.random.default_rng(0).poisson(0.7, (20, 30)).astype(np.float64)
    bounds = []
    for sweeps in range(1, 30):
        _, documents = inferred(dense, beta, share_prior, 0.0, sweeps)
        bounds.append(bounds_of(dense, beta, share_prior, documents))
    rises = np.diff(bounds, axis=0)
    assert rises.min() > -1e-9
    assert rises[0].max() > 0.1


def stream_of_counts(n_classes=3, n_words=20):
    """Minibatches of counts and classes; the last class comes late, the last word never."""
    rng = np.random.default_rng(17)
    batches = []
    for b in range(4):
        X = rng.poisson(rng.gamma(0.3, 2.0, (15, n_words))).astype(np.float64)
        X[:, -1] = 0
        y = rng.integers(n_classes - (b < 2), size=15)
        X += 2.0 * (np.arange(n_words) % n_classes == y[:, None]) * (X > 0)
        batches.append((X, y))
    batches[1][0][4] = 0
    return batches


def statistics_of(X, y, seen, alpha, n_own, sweeps):
    """Expected tokens (V, K) of each block; `seen` are rows and masses of each."""
    learnt = [np.zeros_like(rows) for rows, _ in seen]
    for counts, j in zip(X, y, strict=True):
        used = np.flatnonzero(counts)
        rows = np.concatenate([seen[j][0][used], seen[-1][0][used]], axis=1)
        mass = np.concatenate([seen[j][1], seen[-1][1]])
        weights = exp_digamma_rows(rows, digamma(mass))
        gamma, _ = reference.fixed_point(
            counts[used], weights, alpha, n_own, (1.0, 1.0), 0.0, sweeps
        )
        phi = reference.responsibilities(weights, gamma, alpha, n_own, (1.0, 1.0))
        learnt[j][used] += counts[used, None] * phi[:, :n_own]
        learnt[-1][used] += counts[used, None] * phi[:, n_own:]
    return learnt


def reference_stream(batches, prior, starts, alpha, n_own, *, scale, norm, n_passes, sweeps):
    """lam (V, K) of each block after the minibatches, by loops over documents.

    `prior` are the etas (V, K) of the blocks, `starts` the rows and masses that are seen
    of a block that knows nothing.
    """
    lam, known = [eta.copy() for eta in prior], [False] * len(prior)
    own_eta = sum(eta.sum() for eta in prior[:-1])
    for X, y in batches:
        seen = [
            (rows, rows.sum(axis=0)) if knows else start
            for rows, start, knows in zip(lam, starts, known, strict=True)
        ]
        for _ in range(n_passes):
            learnt = statistics_of(X, y, seen, alpha, n_own, sweeps)
            own = sum(s.sum() for s in learnt[:-1])
            proposal = []
            for before, s, eta in zip(lam, learnt, prior, strict=True):
                by_topic = s.sum(axis=0) / eta.sum(axis=0)
                boost = scale * (own / own_eta if norm == "whole" else by_topic)
                proposal.append(before + s + (0.0 if eta is prior[-1] else boost) * eta)
            seen = [(rows, rows.sum(axis=0)) for rows in proposal]
        lam = proposal
        known = [knows or s.any() for knows, s in zip(known, learnt, strict=True)]
    return lam


@pytest.mark.parametrize("norm", ["whole", "topic"])
@pytest.mark.parametrize("n_passes", [1, 3])
@pytest.mark.parametrize("scale", [0.0, 0.4])
def test_equals_the_reference_stream(norm, n_passes, scale):
    batches, sweeps = stream_of_counts(), 12
    rng = np.random.default_rng(3)
    class_word_prior = rng.uniform(0.05, 1.0, (3, 20))
    model = MultiViewLDA(
        2, 3, update=Rounds(BPS(scale, norm), n_passes), class_word_prior=class_word_prior,
        topic_word_prior=0.3, max_local_iter=sweeps, local_tol=0.0, random_state=4,
    )  # fmt: skip
    for X, y in batches:
        model.partial_fit(X, y, classes=[0, 1, 2])
    prior = [np.tile(row[:, None], 2) for row in class_word_prior] + [np.full((20, 3), 0.3)]
    starts = []
    for i, eta in enumerate(prior):
        start = model._model().start(TopicPosterior(eta, eta.shape), i)
        starts.append((start.rows(np.arange(20, dtype=np.int32)), start.mass))
    alpha = np.repeat([5.0, 10 / 3], [2, 3])
    expected = reference_stream(
        batches, prior, starts, alpha, 2, scale=scale, norm=norm, n_passes=n_passes, sweeps=sweeps
    )
    assert_allclose(model.components_.T, np.concatenate(expected, axis=1), rtol=1e-7)
    assert_allclose(model.posterior_.mass, model.components_.sum(axis=1))


def test_classes_are_told_by_the_bound_under_mean_topics():
    batches = stream_of_counts()
    model = MultiViewLDA(2, 3, local_tol=1e-12, max_local_iter=5000, random_state=0)
    for X, y in batches:
        model.partial_fit(X, y, classes=[0, 1, 2])
    X, _ = batches[3]
    expected = np.empty((len(X), 3))
    alpha = np.repeat([5.0, 10 / 3], [2, 3])
    for j in range(3):
        topics = model.topic_word_[[2 * j, 2 * j + 1, 6, 7, 8]].T
        for d, counts in enumerate(X):
            gamma, _ = reference.fixed_point(counts, topics, alpha, 2, (1.0, 1.0), 1e-12, 5000)
            expected[d, j] = reference.bound(counts, topics, alpha, 2, (1.0, 1.0), gamma)
    expected += np.log((model.class_count_ + 1) / (model.class_count_ + 1).sum())
    minibatch = minibatch_of(sparse.csr_matrix(X))
    found = model._model().log_joint(model.posterior_, minibatch, np.inf, SERIAL)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-8, atol=1e-8)
    assert_allclose(model.class_count_, np.bincount(np.concatenate([y for _, y in batches])))
