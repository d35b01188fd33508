# SPDX-License-Identifier: BSD-3-Clause
"""Questions to a model: documents, posteriors, recommendations, digests."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, normalize

import streamtopics as st
from streamtopics.datasets import make_lda_corpus, make_rated_reviews
from streamtopics.dpp.summary_kernel import counts_of_nearest
from streamtopics.inspection import documents_of, similar_documents
from streamtopics.models import (
    BetaBinomial,
    GaussianMixture,
    LinearRegression,
    MeanFieldRegression,
    NaiveBayesMixture,
)
from tests.small import COUNTS

X = make_lda_corpus(n_documents=300, n_features=100, random_state=0).X
TEXTS = ["the sea is blue and wide", "blue waves of the sea", "bread and salt", "salt on bread"] * 5


@pytest.fixture(scope="module")
def model():
    return st.GibbsOnlineEM(5, random_state=0).fit(X)


def test_documents_of_a_topic_are_those_of_its_largest_shares(model):
    shares = model.transform(X)
    found = documents_of(model, X, n_documents=4)
    assert [row.topic for row in found] == np.repeat(range(5), 4).tolist()
    for k in range(5):
        mine = documents_of(model, X, k, n_documents=4)
        assert [row for row in found if row.topic == k] == mine
        assert_allclose([row.share for row in mine], np.sort(shares[:, k])[::-1][:4])
        assert all(shares[row.document, k] == row.share for row in mine)
    assert len(documents_of(model, X[:3], 0, n_documents=9)) == 3


def test_equal_shares_are_in_the_order_of_the_documents():
    one = st.StreamingLDA(1).fit(X)
    assert [row.document for row in documents_of(one, X, n_documents=3)] == [0, 1, 2]


def test_similar_documents_by_the_definition(model):
    shares = model.transform(X)
    found = similar_documents(model, X, X[[5, 9]], n_documents=300)
    assert [row.query for row in found] == [0] * 300 + [1] * 300
    for row in found[::7]:
        affinity = np.sqrt(shares[row.document] * shares[[5, 9][row.query]]).sum()
        assert_allclose(row.similarity, affinity, rtol=1e-6)
    assert (found[0].document, found[300].document) == (5, 9)
    values = [row.similarity for row in found[:300]]
    assert values == sorted(values, reverse=True)
    nearly = np.random.default_rng(0).normal(0.2, 1e-5, (99, 5))
    found = similar_documents(FunctionTransformer(), nearly, nearly, n_documents=1)
    assert [row.document for row in found] == [*range(99)]


def test_a_pipeline_answers_for_texts():
    vectorizer = CountVectorizer(stop_words="english")
    pipeline = make_pipeline(vectorizer, st.StreamingLDA(2, random_state=0, max_iter=30)).fit(TEXTS)
    found = similar_documents(pipeline, TEXTS, ["waves of the blue sea"], n_documents=10)
    assert {row.document % 4 for row in found} == {0, 1}


def test_what_gives_no_shares_is_refused(model):
    with pytest.raises(ValueError, match="topic must be at most 4"):
        documents_of(model, X, 5)
    with pytest.raises(ValueError, match=r"sum to 1; PCA\.transform does not"):
        documents_of(PCA(2).fit(X.toarray()), X.toarray())
    with pytest.raises(NotFittedError):
        documents_of(st.GibbsOnlineEM(), X)


# Posteriors of small models

RNG = np.random.default_rng(0)
SAMPLES = RNG.normal(5, 2, (200, 2))
TARGETS = SAMPLES @ [1.0, -2.0] + RNG.normal(size=200)
CLASSES = (TARGETS > -5).astype(float)


def laws_of(model):
    """The laws of the numbers of a small model, as the guide reads them."""
    found, posterior = {}, model.posterior_
    for name, block in posterior.blocks.items():
        laws = block.family.marginals(posterior[name])
        found |= {(name, parameter): law for parameter, law in laws.items()}
    return found


@pytest.mark.parametrize(
    ("small", "y", "n_rows"),
    [
        (BetaBinomial(), None, 2),
        (LinearRegression(), TARGETS, 4),
        (LinearRegression(fit_intercept=False), TARGETS, 3),
        (MeanFieldRegression(), TARGETS, 2 * 2 + 3 + 1),
        (GaussianMixture(n_components=3, mean=5.0), None, 3 + 3 * 2 * 2),
        (NaiveBayesMixture(mixture=GaussianMixture(mean=5.0)), CLASSES, 2 + 4 + 2 * 2 * 2 * 2),
    ],
)
def test_a_law_for_each_number_of_a_model(small, y, n_rows):
    data = (SAMPLES > 5).astype(float) if isinstance(small, BetaBinomial) else SAMPLES
    laws = laws_of(st.StreamingBayes(small, random_state=0).fit(data, y))
    assert sum(np.size(law.mean()) for law in laws.values()) == n_rows
    for law in laws.values():
        (low, high), (lower, higher) = law.interval(0.95), law.interval(0.999)
        ends = np.array([lower, low, law.mean(), high, higher])
        assert (np.diff(ends, axis=0) > 0).all()


def test_posterior_of_a_regression_is_that_of_its_own_reading():
    model = st.StreamingBayes(LinearRegression()).fit(SAMPLES, TARGETS)
    law = laws_of(model)["regression", "coefficient"]
    coefficients = LinearRegression().coefficients(model.posterior_)
    assert_allclose(law.mean(), coefficients)
    # As least squares has it, as there are many data.
    design = np.column_stack([SAMPLES, np.ones(200)])
    rest = TARGETS - design @ coefficients
    error = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (rest @ rest) / 200)
    assert_allclose(law.std(), error, rtol=0.05)


def test_the_weight_of_a_single_component_is_one():
    mixture = GaussianMixture(n_components=1, mean=4.0)
    for small, y in ((mixture, None), (NaiveBayesMixture(mixture=mixture), CLASSES)):
        laws = laws_of(st.StreamingBayes(small, random_state=0).fit(SAMPLES, y))
        (law,) = (law for (block, _), law in laws.items() if block == "weights")
        assert {*np.ravel(law.mean())} == {1.0}
        assert {*np.ravel(law.std())} == {0.0}


@pytest.fixture(scope="module")
def rated():
    data = make_rated_reviews(600, n_features=100, n_components=3, random_state=0)
    model = st.HiddenFactorsTopics(3, random_state=0, max_iter=5)
    return data, model.fit(data.X, data.ratings, items=data.item, users=data.user)


def test_recommended_items_are_those_of_the_best_predictions(rated):
    data, model = rated
    labels = model.items_.labels
    users = np.repeat(data.user[0], len(labels))
    ratings = model.predict(items=labels, users=users)
    empty = data.X[: len(labels)] * 0
    assert (ratings == model.predict(empty, items=labels, users=users)).all()
    found = model.recommend(data.user[0], n_items=5)
    assert_allclose([row.rating for row in found], np.sort(ratings)[::-1][:5])
    best = found[0].item
    assert model.recommend(data.user[0], n_items=4, exclude=[best]) == found[1:]
    everything = model.recommend(data.user[0], n_items=10**6)
    assert sorted(row.item for row in everything) == labels.tolist()


def test_users_without_ratings_get_what_an_average_user_likes(rated):
    data, model = rated
    unknown = int(data.user.max()) + 1
    assert model.recommend(unknown, n_items=3) == model.recommend(unknown + 1, n_items=3)


def test_wrong_recommendations_are_refused(rated):
    _, model = rated
    with pytest.raises(ValueError, match="user were int64 before, but recommend got <U2"):
        model.recommend("me")
    with pytest.raises(ValueError, match="n_items must be at least 0; got -1"):
        model.recommend(1, n_items=-1)
    with pytest.raises(ValueError, match="exclude were int64 before"):
        model.recommend(1, exclude=["that"])
    with pytest.raises(ValueError, match="predict needs X, items or users"):
        model.predict()
    with pytest.raises(NotFittedError):
        st.HiddenFactorsTopics().recommend(1)


def test_documents_that_a_sentence_of_a_digest_stands_for():
    news = ["Red wine was good.", "The trains are late.", "Hm!", "Late again: the trains!"]
    digest = st.DPPSummarizer().digest(news * 3, n_sentences=9)
    assert [found.n_documents for found in digest] == [3, 3, 3, 3]
    two = st.DPPSummarizer().digest([*news, "Trains: late, late.", "12"], n_sentences=2)
    counts = {found.sentence: found.n_documents for found in two}
    # Those without a word of trains are left out.
    assert sum(counts.values()) == 3


def test_counts_of_nearest_by_the_definition():
    rng = np.random.default_rng(0)
    features = sparse.random(40, 12, density=0.2, random_state=1, format="csr")
    chosen, weights = features[:4], rng.random(12)
    ends = [4, 9, 9, 20, 21, 40]
    documents = [features[i:j] for i, j in pairwise(ends)]
    units = normalize(features.toarray() * weights)
    expected = np.zeros(4, int)
    for i, j in pairwise(ends):
        cosines = (units[i:j] @ units[:4].T).max(axis=0, initial=0.0)
        expected[cosines.argmax()] += cosines.max() > 0
    assert counts_of_nearest(chosen, documents, weights).tolist() == expected.tolist()
    assert expected.sum() == 4
    assert counts_of_nearest(chosen, [], weights).tolist() == [0] * 4
    assert counts_of_nearest(chosen[:0], documents, weights).tolist() == []


def test_a_search_among_no_documents_finds_none():
    model = st.StreamingLDA(2, random_state=0).fit(COUNTS)
    assert all(len(one) == 0 for one in documents_of(model, COUNTS[:0]))
