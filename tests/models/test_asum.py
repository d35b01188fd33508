# SPDX-License-Identifier: BSD-3-Clause
"""The aspect and sentiment model: its start, its statistics, its rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.messages import Minibatch, SentenceBatch
from streamtopics.models.asum import ASUM, AspectStart, statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import BPS, SVB
from streamtopics.utils.parallel import SERIAL, workers
from tests.reference import asum as reference
from tests.reference import reviews
from tests.updates.given import take

CORPUS = reviews.draw(80)


def batch(documents):
    X = sparse.csr_matrix(np.concatenate(documents).astype(np.float64))
    words, places = np.unique(X.indices, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum([len(x) for x in documents])])
    rows = Minibatch(words.astype(np.int32), X.indptr, places.astype(np.int32), X.data)
    return SentenceBatch(rows, starts)


def posterior(prior=CORPUS.prior, n_aspects=3):
    eta = np.repeat(prior.T, n_aspects, axis=1)
    return TopicPosterior(eta, eta.shape)


def model(tol=1e-6, max_iter=500, frank_wolfe=False):
    return ASUM(tol, max_iter, frank_wolfe, 2, 1.0, 1.0, seed=5)


def learnt():
    state = posterior()
    for part in np.array_split(np.arange(80), 4):
        documents = batch([CORPUS.X[d] for d in part])
        take(SVB(), state, model().learner(state, documents, SERIAL))
    return state


def test_sentences_are_explained_by_the_mean_of_the_topics():
    state, some = learnt(), batch(CORPUS.X[:10])
    found = model().infer(state, some, SERIAL)
    log_beta = np.log(state.dense() / state.mass)
    for d in range(10):
        b = reference.log_likelihoods(CORPUS.X[d], log_beta, 2)
        pi, theta = reference.em(b, int(found.n_iter[d]))
        assert_allclose(found.proportions[d], (pi[:, None] * theta).ravel(), atol=1e-9)


@pytest.mark.parametrize("words_per_job", [5, 1024])
def test_words_are_counted_by_the_joint_responsibility(words_per_job, monkeypatch):
    monkeypatch.setattr("streamtopics.models.asum.WORDS_PER_JOB", words_per_job)
    state, documents = learnt(), CORPUS.X[:20]
    some = batch(documents)
    found = model().infer(state, some, SERIAL)
    given = statistics(some, found, SERIAL)
    dense = np.concatenate(documents).T @ found.probabilities
    assert_allclose(given.counts, dense[given.words], atol=1e-12)
    assert_allclose(given.counts.sum(), sum(x.sum() for x in documents))
    assert_array_equal(given.lengths, [x.sum() for x in documents])
    assert_allclose(given.local_bound, found.objective.sum())


def test_the_start_tells_aspects_apart_and_not_sentiments():
    flat = TopicPosterior(np.array([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]]), (50, 6))
    words = np.arange(0, 50, 7, dtype=np.int32)
    rows = AspectStart(flat, 2, 5).rows(words)
    assert_allclose(rows[:, 3:], 2 * rows[:, :3])
    assert len(np.unique(rows[:, :3])) == 24
    assert 0.5 < np.log(AspectStart(flat, 2, 5).rows(np.arange(50, dtype=np.int32))).std() < 1.5
    # The bits of a word depend on no other word, and another seed gives others.
    assert_array_equal(AspectStart(flat, 2, 5).rows(words[2:3]), rows[2:3])
    assert not np.array_equal(AspectStart(flat, 2, 6).rows(words), rows)


def test_the_start_leaves_no_trace():
    state = posterior()
    take(BPS(0.5), state, model().learner(state, batch(CORPUS.X), SERIAL))
    n_tokens = sum(x.sum() for x in CORPUS.X)
    assert_allclose(state.mass.sum(), state.prior_mass.sum() + 1.5 * n_tokens)
    assert_allclose(state.c, 1 + state.b)
    assert_allclose(state.c, 1 + 0.5 * n_tokens / state.prior_mass.sum())


def test_a_sentence_without_seeds_goes_with_its_document():
    """In the first minibatch already, whatever the number of seeds of each sentiment."""
    eta = np.full((2, 6), 0.01)
    eta[0, [0, 1, 2]] = eta[1, 3] = 1.0
    documents = [np.eye(6)[[0, 5]], np.eye(6)[[3, 4]], np.eye(6)[[5, 4, 5]]]
    state = posterior(eta, n_aspects=2)
    some = batch(documents)
    start = AspectStart(state, 2, 3)
    r = model().infer(start, some, SERIAL).probabilities.reshape(-1, 2, 2).sum(axis=2)
    assert (r[:2, 0] > 0.9).all()
    assert (r[2:4, 1] > 0.9).all()
    assert_allclose(r[4:], 0.5, atol=1e-6)


@pytest.mark.parametrize("frank_wolfe", [False, True])
def test_no_bit_depends_on_the_workers(frank_wolfe):
    state, some = posterior(), batch(CORPUS.X * 3)
    expected = model(1e-3, 50, frank_wolfe).infer(AspectStart(state, 2, 5), some, SERIAL)
    with workers(3) as pool:
        found = model(1e-3, 50, frank_wolfe).infer(AspectStart(state, 2, 5), some, pool)
        for name in ("proportions", "probabilities", "objective", "n_iter"):
            assert_array_equal(getattr(found, name), getattr(expected, name))
        counts = statistics(some, found, pool).counts
    assert_array_equal(counts, statistics(some, expected, SERIAL).counts)
