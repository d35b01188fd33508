# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic corpora against the moments of the distributions that they are drawn from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.datasets import make_lda_corpus, make_rated_reviews

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
    X = corpus.X
    assert isinstance(X, sparse.csr_matrix)
    assert (X.shape, X.dtype, X.has_canonical_format) == ((30, 20), np.int64, True)
    assert X.data.min() >= 1
    assert corpus.topic_word.shape == (4, 20)
    assert corpus.doc_topic.shape == (30, 4)
    assert_allclose(corpus.topic_word.sum(axis=1), 1)
    assert_allclose(corpus.doc_topic.sum(axis=1), 1)
    assert_array_equal(corpus.doc_topic_prior, np.full(4, 1 / 4))


def test_lengths_are_poisson():
    lengths = make_lda_corpus(5000, random_state=0).X.sum(axis=1).A1
    assert_mean(lengths, 60, 60)
    assert lengths.var() == pytest.approx(60, rel=0.1)


def test_proportions_are_dirichlet():
    alpha = np.array([0.1, 0.5, 1.0, 2.0])
    corpus = make_lda_corpus(5000, 4, 20, doc_topic_prior=alpha, random_state=0)
    variance = dirichlet_variance(alpha)
    assert_mean(corpus.doc_topic, alpha / alpha.sum(), variance)
    assert_allclose(corpus.doc_topic.var(axis=0), variance, rtol=0.1)


def test_topics_are_dirichlet():
    eta = np.linspace(0.1, 2, 8)
    corpus = make_lda_corpus(1, 4000, 8, topic_word_prior=eta, random_state=0)
    assert_mean(corpus.topic_word, eta / eta.sum(), dirichlet_variance(eta))


def test_each_topic_may_have_its_prior():
    eta = np.array([[1e6, 1.0, 1.0], [1.0, 1e6, 1.0]])
    topics = make_lda_corpus(1, 2, 3, topic_word_prior=eta, random_state=0).topic_word
    assert_array_equal(topics.argmax(axis=1), [0, 1])
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
    assert_array_equal(topics, before)
    assert_array_equal(corpus.topic_word, topics)
    X = corpus.X.toarray()
    first = X[:, :2].sum(axis=1) / X.sum(axis=1)
    assert_allclose(first, corpus.doc_topic[:, 0], atol=0.35)
    assert first.mean() == pytest.approx(1 / 4, abs=0.03)


def test_a_seed_gives_the_same_corpus():
    first, again, other = (make_lda_corpus(50, random_state=seed) for seed in (3, 3, 4))
    assert_array_equal(first.X.toarray(), again.X.toarray())
    assert_array_equal(first.doc_topic, again.doc_topic)
    assert (first.X != other.X).nnz > 0
    state = np.random.RandomState(3)
    same, later = (make_lda_corpus(50, random_state=state) for _ in range(2))
    assert_array_equal(same.X.toarray(), first.X.toarray())
    assert (later.X != first.X).nnz > 0


def test_short_documents_and_tiny_priors():
    priors = {"doc_topic_prior": 1e-6, "topic_word_prior": 1e-3}
    corpus = make_lda_corpus(200, 5, 30, mean_length=0.5, **priors, random_state=0)
    lengths = corpus.X.sum(axis=1).A1
    assert (lengths == 0).any()
    assert_allclose(corpus.doc_topic.max(axis=1), 1)
    assert corpus.X.shape == (200, 30)


@pytest.mark.parametrize(("profile", "n"), [("document", 300), ("item", 50), ("user", 100)])
def test_shapes_and_distributions_of_reviews(profile, n):
    data = make_rated_reviews(300, profile=profile, random_state=0)
    assert data.X.shape == (300, 200)
    assert data.profile_topic.shape == (n, 5)
    assert_allclose(data.profile_topic.sum(axis=1), 1)
    assert_allclose(data.topic_word.sum(axis=1), 1)
    assert set(data.signs) == {-1, 1}


def test_signs_are_opinions_beside_what_the_user_gives():
    data = make_rated_reviews(500, noise=0.0, random_state=1)
    assert_array_equal(data.signs, np.where(data.item_effects[data.item] >= 0, 1, -1))
    beside = data.ratings - data.user_effects[data.user]
    assert_array_equal(data.signs, np.where(beside >= 6, 1, -1))


def test_words_of_reviews_come_in_the_shares_stated():
    data = make_rated_reviews(20, mean_length=20_000, profile="document", random_state=2)
    columns = np.where(data.signs > 0, 5, 6)
    p = data.qualitative[:, None]
    expected = (1 - p) * (data.profile_topic @ data.topic_word[:5]) + p * data.topic_word[columns]
    X = data.X.toarray()
    assert np.abs(X / X.sum(axis=1, keepdims=True) - expected).sum(axis=1).max() < 0.1
    assert abs(make_rated_reviews(3000, random_state=0).qualitative.mean() - 0.2) < 0.01


def test_the_same_seed_draws_the_same_reviews():
    one, other = (make_rated_reviews(50, random_state=3) for _ in range(2))
    assert (one.X != other.X).nnz == 0
    assert_array_equal(one.ratings, other.ratings)
