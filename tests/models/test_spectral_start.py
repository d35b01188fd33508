# SPDX-License-Identifier: BSD-3-Clause
"""A start from clusters of documents."""

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_info

from streamtopics.estimators import StreamingLDA, StreamingMixture
from streamtopics.local.step import minibatch_of
from streamtopics.models import spectral_start
from streamtopics.models.sources import NoiseStart
from streamtopics.models.spectral_start import (
    Contexts,
    SpectralStart,
    cluster_counts,
    document_vectors,
    k_means,
    members,
    word_vectors,
)
from streamtopics.posteriors import TopicPosterior

V, K = 24, 3
PRIOR = TopicPosterior(np.full((1, 1), 0.1), (V, K), np.ones(K))
WORDS = np.arange(V, dtype=np.int32)


def blocks(n: int = 90, seed: int = 0) -> np.ndarray:
    """Counts of documents of one of three subjects, whose words are apart, and the subjects."""
    rng = np.random.default_rng(seed)
    subject = rng.permutation(np.arange(n) % K)
    X = np.zeros((n, V))
    for d, k in enumerate(subject):
        np.add.at(X[d], rng.integers(8 * k, 8 * k + 8, size=6), 1)
    return X, subject


def batch(X: np.ndarray):
    return minibatch_of(sparse.csr_matrix(X.astype(np.float32)))


def company(X: np.ndarray) -> np.ndarray:
    """The same by its definition, entry by entry."""
    B = (X > 0).astype(float)
    L = B.sum(axis=1)
    C = np.zeros((X.shape[1], X.shape[1]))
    for d in range(len(X)):
        for w, v in permutations(np.flatnonzero(B[d]), 2):
            C[w, v] += 1 / (L[d] - 1)
    f = B.sum(axis=0) / B.sum()
    return C / np.maximum(C.sum(axis=1, keepdims=True), 1e-9) - f


def test_company_is_what_its_definition_says():
    X, _ = blocks(40)
    X[:2] = 0
    X[1, 3] = 2
    own, dense = Contexts.of(sparse.csr_matrix(X)), company(X)
    rng = np.random.default_rng(1)
    right = rng.normal(size=(V, 4)).astype(np.float32)
    assert_allclose(own.times(right), dense @ right, atol=1e-5)
    assert_allclose(own.transposed(right), dense.T @ right, atol=1e-5)


def test_vectors_of_words_span_the_leading_directions_of_their_company():
    X, _ = blocks(400)
    dense, df = company(X), (X > 0).sum(axis=0)
    M = dense / np.linalg.norm(dense, axis=1, keepdims=True) * np.sqrt(np.log1p(df))[:, None]
    U, s, _ = np.linalg.svd(M)
    exact = U * np.sqrt(s)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    found = word_vectors(sparse.csr_matrix(X), WORDS)
    # Lengths are told by random signs, within a twentieth or so.
    assert_allclose(found @ found.T, exact @ exact.T, atol=0.1)


def test_planted_subjects_are_found():
    X, subject = blocks()
    counts = cluster_counts(batch(X), *members(batch(X), K))
    planted = np.stack([X[subject == k].sum(axis=0) for k in range(K)], axis=1)
    best = [np.flatnonzero((counts == planted[:, [k]]).all(axis=0)) for k in range(K)]
    assert sorted(np.concatenate(best)) == list(range(K))


def test_clusters_of_a_sample_are_finished_with_all_documents(monkeypatch):
    rng = np.random.default_rng(0)
    subject = rng.integers(0, K, 400)
    vectors = 3.0 * np.eye(K)[subject] + rng.normal(size=(400, K))
    whole = k_means(vectors, K)
    monkeypatch.setattr(spectral_start, "SAMPLE", 90)
    found = k_means(vectors, K)
    assert found.inertia_ <= 1.001 * whole.inertia_
    means = [vectors[found.labels_ == k].mean(axis=0) for k in range(K)]
    assert_allclose(found.cluster_centers_, means)


def test_documents_are_sums_of_their_words():
    X, _ = blocks(30)
    vectors = np.random.default_rng(0).normal(size=(V, 5))
    found = document_vectors(sparse.csr_matrix(X), vectors)
    idf = np.log(len(X) / (X > 0).sum(axis=0))
    for d, own in enumerate(found):
        exact = sum(X[d, w] * idf[w] * vectors[w] for w in range(V))
        assert_allclose(own, exact / np.linalg.norm(exact), atol=1e-5)


def test_order_of_documents_and_seed_make_no_difference():
    X, _ = blocks()
    plain = SpectralStart()(PRIOR, batch(X), 0).rows(WORDS)
    other = SpectralStart()(PRIOR, batch(X[::-1]), 7).rows(WORDS)
    assert_array_equal(plain, other)


@pytest.mark.parametrize("n_background", [0, 1])
def test_each_token_is_in_the_topic_of_its_document(n_background):
    X, _ = blocks()
    start = SpectralStart()(PRIOR, batch(X), 0, n_background)
    assert start.n_documents == start.n_tokens == start.n_batches == 0
    own = start.rows(WORDS) - 0.1
    assert_allclose(own[:, n_background:].sum(axis=1), X.sum(axis=0))
    if n_background:
        assert_allclose(own[:, 0], X.sum(axis=0))


FEW = {
    "few": np.eye(2, V),
    "alike": np.ones((30, V)),
    "empty": np.vstack([np.zeros((5, V)), np.eye(1, V)]),
    "two": np.repeat(np.eye(2, V), 20, axis=0),
}


@pytest.mark.parametrize("X", FEW.values(), ids=FEW)
def test_topics_that_lack_documents_differ(X):
    counts = cluster_counts(batch(X), *members(batch(X), 5))
    assert counts.shape[1] == 5
    assert np.isfinite(counts).all()
    assert (counts.sum(axis=0) > 0).all()
    start = counts / counts.sum(axis=0)
    several = len(counts) > 1
    assert len(np.unique(start.round(12), axis=1).T) >= (4 if several else 1)


def test_a_prior_that_tells_topics_apart_says_which_is_which():
    X, _ = blocks()
    eta = np.full((V, K), 0.1)
    eta[:8, 1] = 5
    prior = TopicPosterior(eta, (V, K), np.ones(K))
    found, expected = (start()(prior, batch(X), 3) for start in (SpectralStart, NoiseStart))
    assert_array_equal(found.rows(WORDS), expected.rows(WORDS))


@pytest.mark.parametrize("estimator", [StreamingLDA, StreamingMixture])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_no_trace_of_the_start_is_left(estimator, method):
    X, _ = blocks(200)
    model = estimator(K, start="spectral", random_state=0, topic_word_prior=0.1)
    getattr(model, method)(X)
    passes = model.n_documents_seen_ / len(X)
    assert_allclose(model.posterior_.learnt_part.sum(), passes * X.sum())
    assert model.n_tokens_seen_ == passes * X.sum()


@pytest.mark.parametrize(("method", "n"), [("fit", 300), ("partial_fit", 300), ("fit", 20)])
def test_fit_starts_from_the_corpus_and_a_stream_from_its_first_minibatch(method, n, monkeypatch):
    sizes = []

    def counted(minibatch, n_clusters):
        sizes.append(minibatch.n_documents)
        return members(minibatch, n_clusters)

    monkeypatch.setattr(spectral_start, "members", counted)
    X, _ = blocks(n)
    model = StreamingMixture(K, start="spectral", batch_size=60, random_state=0)
    getattr(model, method)(X)
    model.partial_fit(X)
    assert sizes == [n]


def test_starts_in_several_threads_leave_the_number_of_threads_as_it_was():
    X, _ = blocks(300)
    models = [StreamingLDA(K, random_state=0) for _ in range(8)]
    before = [(one["internal_api"], one["num_threads"]) for one in threadpool_info()]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda model: model.fit(X).components_, models))
    assert [(one["internal_api"], one["num_threads"]) for one in threadpool_info()] == before
    assert all((one == found[0]).all() for one in found)
