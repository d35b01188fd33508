# SPDX-License-Identifier: BSD-3-Clause
"""The synthetic corpus against the moments of the distributions it is drawn from."""

import numpy as np
import pytest
from scipy import sparse

from streamtopics.datasets import make_lda_corpus

SIGMAS = 4.5


def dirichlet_variance(alpha):
    mean = alpha / alpha.sum()
    return mean * (1 - mean) / (alpha.sum() + 1)


def assert_mean(values, mean, variance):
    """The mean of independent rows is where its standard error says."""
    z = (values.mean(axis=0) - mean) / np.sqrt(variance / len(values))
    assert np.abs(z).max() < SIGMAS


def test_shapes_and_types():
    corpus = make_lda_corpus(30, 4, 20, random_state=0)
    assert isinstance(corpus.X, sparse.csr_matrix)
    assert corpus.X.shape == (30, 20)
    assert corpus.X.dtype == np.int64
    assert corpus.X.has_canonical_format
    assert corpus.X.data.min() >= 1
    assert corpus.topic_word.shape == (4, 20)
    assert corpus.doc_topic.shape == (30, 4)
    np.testing.assert_allclose(corpus.topic_word.sum(axis=1), 1)
    np.testing.assert_allclose(corpus.doc_topic.sum(axis=1), 1)
    np.testing.assert_array_equal(corpus.doc_topic_prior, np.full(4, 1 / 4))


def test_lengths_are_poisson():
    lengths = make_lda_corpus(5000, random_state=0).X.sum(axis=1).A1
    assert_mean(lengths, 60, 60)
    assert lengths.var() == pytest.approx(60, rel=0.1)


def test_proportions_are_dirichlet():
    alpha = np.array([0.1, 0.5, 1.0, 2.0])
    corpus = make_lda_corpus(5000, 4, 20, doc_topic_prior=alpha, random_state=0)
    variance = dirichlet_variance(alpha)
    assert_mean(corpus.doc_topic, alpha / alpha.sum(), variance)
    np.testing.assert_allclose(corpus.doc_topic.var(axis=0), variance, rtol=0.1)


def test_topics_are_dirichlet():
    eta = np.linspace(0.1, 2, 8)
    corpus = make_lda_corpus(1, 4000, 8, topic_word_prior=eta, random_state=0)
    assert_mean(corpus.topic_word, eta / eta.sum(), dirichlet_variance(eta))


def test_each_topic_may_have_its_prior():
    eta = np.array([[1e6, 1.0, 1.0], [1.0, 1e6, 1.0]])
    topics = make_lda_corpus(1, 2, 3, topic_word_prior=eta, random_state=0).topic_word
    np.testing.assert_array_equal(topics.argmax(axis=1), [0, 1])
    assert topics.max(axis=1).min() > 0.999


def test_words_follow_the_proportions_of_their_document():
    # Priors of 1 or more: words that are expected almost nowhere have no use in a chi-square.
    priors = {"doc_topic_prior": 1.0, "topic_word_prior": 2.0}
    corpus = make_lda_corpus(4000, 3, 15, **priors, random_state=0)
    X, mixture = corpus.X.toarray(), corpus.doc_topic @ corpus.topic_word
    lengths = X.sum(axis=1, keepdims=True)
    residual = X - lengths * mixture
    z = residual.sum(axis=0) / np.sqrt((lengths * mixture * (1 - mixture)).sum(axis=0))
    assert np.abs(z).max() < SIGMAS
    chi2 = (residual**2 / (lengths * mixture)).sum() / (len(X) * (X.shape[1] - 1))
    assert chi2 == pytest.approx(1, abs=0.03)


def test_given_topics():
    topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75]], dtype=np.float32)
    before = topics.copy()
    corpus = make_lda_corpus(3000, topic_word=topics, doc_topic_prior=[1, 3], random_state=0)
    np.testing.assert_array_equal(topics, before)
    np.testing.assert_array_equal(corpus.topic_word, topics)
    X = corpus.X.toarray()
    first = X[:, :2].sum(axis=1) / X.sum(axis=1)
    np.testing.assert_allclose(first, corpus.doc_topic[:, 0], atol=0.35)
    assert first.mean() == pytest.approx(1 / 4, abs=0.03)


def test_a_seed_gives_the_same_corpus():
    first, again, other = (make_lda_corpus(50, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.X.toarray(), again.X.toarray())
    np.testing.assert_array_equal(first.doc_topic, again.doc_topic)
    assert (first.X != other.X).nnz > 0
    state = np.random.RandomState(3)
    same, later = (make_lda_corpus(50, random_state=state) for _ in range(2))
    np.testing.assert_array_equal(same.X.toarray(), first.X.toarray())
    assert (later.X != first.X).nnz > 0


def test_short_documents_and_tiny_priors():
    corpus = make_lda_corpus(
        200, 5, 30, mean_length=0.5, doc_topic_prior=1e-6, topic_word_prior=1e-3, random_state=0
    )
    lengths = corpus.X.sum(axis=1).A1
    assert (lengths == 0).any()
    np.testing.assert_allclose(corpus.doc_topic.max(axis=1), 1)
    assert corpus.X.shape == (200, 30)
