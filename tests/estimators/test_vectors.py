# SPDX-License-Identifier: BSD-3-Clause
"""StreamingMixture with vectors of the documents beside their words."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.pipeline import make_pipeline

from streamtopics import StreamingMixture
from streamtopics.estimators import Schedule
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import SVB, DirichletProcess, Memory, PowerPrior

K, D, N_DIMENSIONS = 3, 600, 8


def planted(n=D, seed=0, informed=0.2, distance=3.0, spread=1.0):
    """Clusters that words tell a little of and vectors more."""
    rng = np.random.default_rng(seed)
    z = rng.integers(K, size=n)
    V = distance * np.eye(N_DIMENSIONS)[z] + spread * rng.normal(size=(n, N_DIMENSIONS))
    rates = 0.1 + informed * np.eye(K).repeat(10, axis=1)[z]
    return sparse.csr_matrix(rng.poisson(rates).astype(np.float64)), V, z


def mixture(n_components: int = K, **parameters) -> StreamingMixture:
    return StreamingMixture(n_components, **{"start": "spectral", "random_state": 0} | parameters)


def directions(V):
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def streamed(model, X, V, size):
    for i in range(0, X.shape[0], size):
        model.partial_fit(X[i : i + size], vectors=V[i : i + size])
    return model


def test_vectors_tell_clusters_that_words_tell_less_of():
    X, V, _ = planted()
    model = mixture().fit(X, vectors=V)
    by_words = mixture().fit(X)
    new, W, zs = planted(seed=1)
    assert nmi(zs, model.predict(new, vectors=W)) > nmi(zs, by_words.predict(new)) + 0.1
    assert model.score(new, vectors=W) > by_words.score(new)
    theta = model.transform(new, vectors=W)
    assert_array_equal(theta.argmax(axis=1), model.predict(new, vectors=W))
    # Without vectors, documents go by their words.
    assert nmi(zs, model.predict(new)) > nmi(zs, by_words.predict(new)) - 0.05


def test_centers_are_the_directions_of_the_clusters():
    X, V, _ = planted()
    model = mixture().fit(X, vectors=V)
    clusters = model.predict(X, vectors=V)
    means = directions([directions(V)[clusters == k].mean(axis=0) for k in range(K)])
    centers = directions(model.posterior_.directions[1:, :-1])
    assert_allclose((centers * means).sum(axis=1), 1, atol=0.02)


def test_a_document_has_words_or_a_vector_or_both():
    X, V, z = planted(informed=0.6)
    X, V = X.tolil(), V.copy()
    X[:100], V[100:150], V[150:200] = 0, np.nan, 0
    X = X.tocsr()
    model = mixture(schedule=Schedule(growth=1)).fit(X, vectors=V)
    found = model.predict(X, vectors=V)
    assert nmi(z[:100], found[:100]) > 0.6
    assert nmi(z[200:], found[200:]) > 0.8
    assert_array_equal(found[100:200], model.predict(X[100:200]))
    assert_allclose(model.posterior_.directions[1:, -1].sum(), K + 2 * 500, rtol=1e-6)
    neither = model.transform(X[:1] * 0, vectors=np.zeros((1, N_DIMENSIONS)))
    assert_allclose(neither[0], model.weights_)


def test_two_streams_are_merged():
    X, V, _ = planted(900)
    rule = {"update": SVB(), "schedule": Schedule(growth=1.0)}
    base = mixture(**rule).partial_fit(X[:300], vectors=V[:300])
    mine, theirs = deepcopy(base), deepcopy(base)
    mine.partial_fit(X[300:600], vectors=V[300:600])
    theirs.partial_fit(X[600:], vectors=V[600:])
    learnt = [m.posterior_.directions.copy() for m in (mine, theirs, base)]
    mine.merge(theirs, base=base)
    assert_allclose(mine.posterior_.directions, learnt[0] + learnt[1] - learnt[2], atol=1e-9)
    words = mixture(**rule).partial_fit(X[:300])
    with pytest.raises(ValueError, match="another kind of vectors"):
        mine.merge(words, base=None)


def test_vectors_are_forgotten_as_words_are():
    X, V, _ = planted(1200)
    model = streamed(mixture(update=PowerPrior(0.5), schedule=Schedule(None, 1)), X, V, 200)
    number = model.posterior_.directions[1:, -1].sum()
    assert_allclose(number, K + 200 * (2 - 0.5**5), rtol=1e-6)


def test_clusters_are_born_and_die_with_their_vectors():
    rng = np.random.default_rng(0)

    def batch(topics):
        z = rng.choice(topics, size=300)
        X = rng.poisson(0.05 + 0.6 * np.eye(4).repeat(10, axis=1)[z])
        V = 4 * np.eye(N_DIMENSIONS)[z] + rng.normal(size=(300, N_DIMENSIONS))
        return sparse.csr_matrix(X.astype(np.float64)), V

    model = mixture(8, update=PowerPrior(Memory(600)), births=DirichletProcess())
    for topics in ([0, 1], [0, 1], [1, 2], *[[2, 3]] * 10):
        X, V = batch(topics)
        model.partial_fit(X, vectors=V)
    alive = model.weights_ > 0
    assert {life.died is None for life in model.births_} == {True, False}
    centers, number = np.hsplit(model.posterior_.directions[1:], [-1])
    assert set(centers[alive].argmax(axis=1)) == {2, 3}
    assert (number[alive] > 10).all()
    assert_allclose(centers[~alive], 0, atol=1e-9)


@pytest.mark.parametrize(("change", "message"), [
    (lambda V: V[:-1], "vectors, passed to StreamingMixture.fit, must have a row for each"),
    (lambda V: np.where(V[4, 2] == V, np.inf, V), "row 4"),
])  # fmt: skip
def test_wrong_vectors_are_refused_by_name(change, message):
    X, V, _ = planted(50)
    with pytest.raises(ValueError, match=message):
        mixture().fit(X, vectors=change(V))
    with pytest.raises(TypeError, match="vectors"):
        mixture().fit(X, vectors=sparse.csr_matrix(V))


def test_a_stream_keeps_to_its_vectors():
    X, V, _ = planted(100)
    model = mixture().partial_fit(X, vectors=V)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"vectors must be passed to .*partial_fit.*8 dimensions"):
        model.partial_fit(X)
    for call in (model.partial_fit, model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match=r"has 7 dimensions, but .* vectors of 8 dimensions"):
            call(X, vectors=V[:, :7])
    assert pickle.dumps(model) == before
    by_words = mixture().partial_fit(X)
    for call in (by_words.partial_fit, by_words.predict):
        with pytest.raises(ValueError, match=r"has 8 dimensions, but .* no vectors"):
            call(X, vectors=V)
    model.fit(X)
    assert model.posterior_.directions is None


def test_vectors_go_through_pipelines():
    texts = ["a ship at sea", "the deep sea", "a plane in the sky", "the blue sky"] * 20
    V = np.tile(np.eye(2)[[0, 0, 1, 1]], (20, 1))

    def pipeline_to(model):
        words = StreamingCountVectorizer(max_features=20)
        return StreamingPipeline([("words", words), ("topics", model)])

    stream = streamed(pipeline_to(mixture(2)), np.array(texts, dtype=object), V, 40)
    assert stream[-1].posterior_.directions.shape == (3, 3)
    with config_context(enable_metadata_routing=True):
        model = mixture(2).set_fit_request(vectors=True).set_predict_request(vectors=True)
        model = model.set_score_request(vectors=True).set_partial_fit_request(vectors=True)
        pipeline = make_pipeline(CountVectorizer(), model)
        found = pipeline.fit(texts, vectors=V).predict(texts, vectors=V)
        assert nmi(np.tile([0, 0, 1, 1], 20), found) == 1
        assert np.isfinite(pipeline.score(texts, vectors=V))
        routed = pipeline_to(clone(model))
        assert routed.partial_fit(texts, vectors=V)[-1].posterior_.n_dimensions == 2
    both = mixture(2)
    X = CountVectorizer().fit_transform(texts)
    assert_array_equal(both.fit_predict(X, vectors=V), both.predict(X, vectors=V))
    assert_array_equal(both.fit_transform(X, vectors=V), both.transform(X, vectors=V))


def test_averages_keep_the_vectors():
    rng, k = np.random.default_rng(0), np.arange(600) % 2
    vectors = np.eye(3)[k] + 0.05 * rng.normal(size=(600, 3))
    X = rng.poisson(np.array([[2, 2, 0.1, 0.1], [0.1, 0.1, 2, 2]])[k])
    model = StreamingMixture(2, schedule=Schedule(averaging="uniform"), random_state=0)
    shares = model.fit(X, vectors=vectors).transform(0 * X, vectors=vectors)
    assert abs((shares.argmax(axis=1) == k).mean() - 0.5) > 0.45
