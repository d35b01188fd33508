# SPDX-License-Identifier: BSD-3-Clause
"""SupervisedLDA as a whole: what it finds, and what it is as an estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from streamtopics import RatingLDA, SupervisedLDA
from streamtopics.datasets import make_lda_corpus

CORPUS = make_lda_corpus(500, 3, 80, doc_topic_prior=0.4, random_state=0)
X = CORPUS.X.astype(np.float64)
Y = CORPUS.doc_topic @ np.array([1.0, 5.0, 9.0])
Y = Y + 0.3 * np.random.default_rng(0).standard_normal(500)


def model(n_components=3, **settings):
    return SupervisedLDA(
        n_components, **({"random_state": 0, "max_iter": 8, "learn_priors": True} | settings)
    )


def test_the_response_and_its_topics_are_recovered():
    found = model(max_iter=50, tol=1e-6).fit(X[:400], Y[:400])
    order = found.coef_.argsort()
    distance = np.abs(found.topic_word_[order] - CORPUS.topic_word).sum(axis=1) / 2
    assert distance.max() < 0.2
    assert_allclose(found.coef_[order], [1, 5, 9], atol=1.0)
    assert r2_score(Y[400:], found.predict(X[400:])) > 0.8


def halves(chosen, rate, rng):
    """Counts of ten words, five of which occur in a document."""
    return rng.poisson(rate * np.repeat(np.column_stack([chosen, ~chosen]), 5, axis=1))


@pytest.mark.parametrize("seed", [0, 1])
def test_ratings_draw_the_topics_to_what_they_depend_on(seed):
    """The words are divided in two ways, and ratings depend on the weaker one."""
    rng = np.random.default_rng(seed)
    other, good = rng.random((2, 600)) < 0.5
    counts = np.hstack([halves(other, 1.2, rng), halves(good, 1.0, rng)])
    y = np.where(good, 1.0, -1.0) + 0.1 * rng.standard_normal(600)
    settings = {"random_state": 0, "max_iter": 60, "tol": 1e-6}
    found = SupervisedLDA(2, **settings).fit(counts[:500], y[:500])
    plain = RatingLDA(2, qualitative=False, **settings).fit(counts[:500])
    line = LinearRegression().fit(plain.transform(counts[:500]), y[:500])
    rival = r2_score(y[500:], line.predict(plain.transform(counts[500:])))
    assert r2_score(y[500:], found.predict(counts[500:])) > rival + 0.2


def test_the_bound_is_monotone():
    found = model(tol=0.0, local_tol=1e-9, max_local_iter=300, max_iter=15).fit(X[:150], Y[:150])
    assert len(found.objective_) == 14
    assert np.diff(found.objective_).min() > -1e-8 * abs(found.objective_[-1])
    assert found.objective_[-1] > found.objective_[0]


def test_a_stream_learns():
    found, scores = model(), []
    for batch in np.array_split(np.arange(400), 8):
        found.partial_fit(X[batch], Y[batch])
        scores.append([r2_score(Y[400:], found.predict(X[400:])), found.score(X[400:])])
    assert np.all(np.greater(scores[-1], scores[0]))


@pytest.mark.parametrize("offset", [-40.0, 1e3, 1e6])
def test_it_does_not_matter_where_ratings_are_0(offset):
    expected, found = (
        model().partial_fit(X[:200], y[:200]).partial_fit(X[200:300], y[200:300])
        for y in (Y, Y + offset)
    )
    assert_allclose(found.objective_, expected.objective_, rtol=1e-8)
    assert_allclose(found.components_, expected.components_, rtol=1e-4, atol=1e-4)
    assert_allclose(found.coef_ - offset, expected.coef_, rtol=1e-5)
    assert_allclose(found.noise_variance_, expected.noise_variance_, rtol=1e-5)
    assert_allclose(found.predict(X[300:]) - offset, expected.predict(X[300:]), rtol=1e-5)


@pytest.mark.parametrize("rating", [0.0, 3.0, 1e3])
def test_with_ratings_that_do_not_differ_it_is_lda(rating):
    settings = {"random_state": 0, "max_iter": 20, "tol": 0.0}
    found = SupervisedLDA(3, **settings).fit(X, np.full(500, rating))
    plain = RatingLDA(3, qualitative=False, **settings).fit(X)
    assert_allclose(found.topic_word_, plain.topic_word_, rtol=1e-3, atol=1e-6)
    assert_allclose(found.coef_, rating)


def test_equal_ratings_with_a_rounded_mean_may_come_first():
    found = model().partial_fit(X[:200], np.full(200, 4.1)).partial_fit(X[200:400], Y[200:400])
    assert r2_score(Y[400:], found.predict(X[400:])) > 0.7


def test_moments_are_forgotten_as_the_topics_are():
    found = model(kappa=0.6).partial_fit(X[:200], Y[:200]).partial_fit(X[200:240], Y[200:240])
    moments, remembered = found._commit.moments, found._commit.remembered
    assert 40 < remembered < 240
    assert_allclose([moments.n, moments.topics.sum(), moments.second.sum()], remembered)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_tiny_count_predicts_what_a_small_one_does(dtype):
    """gamma - alpha would be rounding, or nothing at all."""
    found, two, one = model().fit(X, Y), np.zeros((1, 80)), np.zeros((1, 80))
    two[0, [0, 2]], one[0, 0] = (0.01, 0.02), 0.01
    for counts, scales in (two, [1e-4, 1e-8, 1e-20, 1e-27]), (one, [1e-27]):
        small, *tiny = (found.predict((counts * s).astype(dtype)) for s in [1.0, *scales])
        assert_allclose(tiny, [small] * len(tiny), rtol=1e-2)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiny_counts_are_learnt_as_small_ones(dtype, method):
    """Exponents grow as 1 / N, until they are all rounding, and gamma is alpha."""
    counts = np.random.default_rng(0).integers(1, 9, (12, 6)).astype(np.float64)
    y = np.arange(12) % 2
    for tiny in (np.arange(12)[:, None] == 0, True):
        scaled = (counts * np.where(tiny, s, 1.0) for s in (1e-8, 1e-12, 1e-20, 1e-24, 1e-30))
        small, *others = (
            getattr(SupervisedLDA(3, random_state=0), method)(part.astype(dtype), y)
            for part in scaled
        )
        for found in others:
            assert_allclose(found.coef_, small.coef_, rtol=1e-5)
            assert_allclose(found.components_, small.components_, rtol=1e-5)
            assert_allclose(found.objective_, small.objective_, rtol=1e-3)


def test_a_prior_of_any_mass_leaves_ordinary_documents_as_they_are():
    """Under a prior of 1e8 a topic and more all documents have the proportions of the prior."""
    large, *others = (model(doc_topic_prior=prior).fit(X, Y) for prior in (1e8, 1e9, 1e10))
    for found in others:
        assert_allclose(found.objective_[-1], large.objective_[-1], rtol=1e-4)
        assert_allclose(found.coef_, large.coef_, rtol=1e-2)
    tiny = model(doc_topic_prior=1e10).fit(X * 1e-24, Y)
    assert np.isfinite(tiny.coef_).all()
    assert np.isfinite(tiny.objective_).all()


def test_counts_of_a_stream_may_be_tiny_where_the_mean_of_ratings_moves():
    counts, y = np.random.default_rng(0).integers(1, 9, (12, 6)) * 1e-24, np.arange(12) % 2
    found = SupervisedLDA(3, random_state=0, doc_topic_prior=1e-10)
    for shift in (0.0, 1e6, 0.0):
        found.partial_fit(counts, y + shift).partial_fit(counts * 1e24, y)
    assert np.isfinite(found.coef_).all()
