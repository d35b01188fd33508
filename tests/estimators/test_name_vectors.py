# SPDX-License-Identifier: BSD-3-Clause
"""GuidedTopics with vectors of the names, and of the documents."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics import GuidedTopics, load, save
from streamtopics.estimators import guided_topics
from streamtopics.local import OneTopic
from streamtopics.local.directions import expected
from streamtopics.text import NamedCounts
from tests.estimators.test_vectors import N_DIMENSIONS
from tests.estimators.test_vectors import planted as planted_clusters

NAMES = np.array(["sea", "air", "land"], dtype=object)
WORDS = np.array([f"w{i:02}" for i in range(30)], dtype=object)
NOTHING = {name: [] for name in NAMES}
# What people call the topics is near to them, and not the same.
VECTORS = dict(zip(NAMES, np.eye(N_DIMENSIONS)[:3] + 0.4 * np.eye(N_DIMENSIONS)[3], strict=True))


def planted(n: int = 600, seed: int = 0):
    """Topics that words tell, and vectors tell less of."""
    X, V, z = planted_clusters(n, seed, informed=0.4, distance=1.0, spread=0.9)
    return NamedCounts.of(X, WORDS), V, NAMES[z]


def guided(seeds=NOTHING, **parameters) -> GuidedTopics:
    return GuidedTopics(seeds, **({"name_vectors": VECTORS, "random_state": 0} | parameters))


def same(one: GuidedTopics, other: GuidedTopics) -> None:
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.posterior_.directions, other.posterior_.directions)
    assert_array_equal(one.doc_topic_prior_, other.doc_topic_prior_)


def test_names_without_seeds_are_learnt_better_than_the_nearest_name_tells():
    X, V, _ = planted()
    new, W, truth = planted(seed=1)
    model = guided().fit(X, vectors=V)
    nearest = NAMES[(W @ np.array(list(VECTORS.values())).T).argmax(axis=1)]
    right = (model.predict(new, vectors=W) == truth).mean()
    assert right > (nearest == truth).mean() + 0.1
    assert right > 0.85
    # Without vectors documents go by the words that were learnt.
    assert (model.predict(new) == truth).mean() > 0.75
    shares = model.predict_proba(new, vectors=W)
    assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(new, vectors=W))
    assert model.score(new, vectors=W) > model.score(new)
    centers = model.posterior_.directions[:, :-1]
    assert_array_equal(centers[:, :3].argmax(axis=1), [0, 1, 2])


def test_learning_ends_where_no_step_changes_it(monkeypatch):
    monkeypatch.setattr(guided_topics, "START_ROUNDS", 300)
    X, V, _ = planted()
    prior, weight = 30.0, 0.3
    model = guided(max_count=None, inference=OneTopic(1.0, vector_weight=weight)).fit(X, vectors=V)
    E = V / np.linalg.norm(V, axis=1, keepdims=True)
    N = np.array([v / np.linalg.norm(v) for v in VECTORS.values()])
    scores = np.log(model.doc_topic_prior_) + X @ np.log(model.topic_word_).T
    scores += weight * E @ expected(model.posterior_.directions / model.posterior_.c[:, None]).T
    q = np.exp(scores - scores.max(axis=1, keepdims=True))
    q /= q.sum(axis=1, keepdims=True)
    sums = np.column_stack((q.T @ E + prior * N, q.sum(axis=0) + prior))
    sums /= sums[:, -1].sum()
    found = model.posterior_.directions
    assert_allclose(found / found[:, -1].sum(), sums, atol=1e-4)
    words = q.T @ X.toarray() + 0.3
    assert_allclose(model.topic_word_, words / words.sum(axis=1, keepdims=True), atol=1e-4)


def test_a_stream_is_as_fit_and_goes_on_as_if_it_had_not_been_cut(tmp_path):
    X, V, _ = planted(900)

    def learn(model, start):
        return model.partial_fit(X[start : start + 300], vectors=V[start : start + 300])

    whole = learn(guided(n_start_documents=600), 0)
    cut = deepcopy(whole)
    save(cut, tmp_path / "model.topics")
    same(learn(whole, 300), guided().fit(X[:600], vectors=V[:600]))
    learn(whole, 600)
    for twin in (load(tmp_path / "model.topics"), pickle.loads(pickle.dumps(cut)), cut):
        same(learn(learn(twin, 300), 600), whole)
    array = guided(name_vectors=np.array(list(VECTORS.values()))).fit(X, vectors=V)
    save(array, tmp_path / "array.topics")
    same(learn(load(tmp_path / "array.topics"), 0), learn(array, 0))


@pytest.mark.parametrize(("given", "message"), [
    ({"fire": np.ones(N_DIMENSIONS)}, r"name_vectors has \['fire'\], not among"),
    (np.eye(2, N_DIMENSIONS), r"name_vectors, passed to .*for each of the 3 names; it has 2"),
    (np.full((3, 8), np.inf), r"name_vectors, passed to .*must be finite; row 0"),
    (np.eye(3, 5), r"vectors, .*has 8 dimensions, but the names have vectors of 5 dimensions"),
    (None, "has 8 dimensions, but the names have no vectors; vec"),
])  # fmt: skip
def test_wrong_vectors_of_names_are_refused_by_name(given, message):
    X, V, _ = planted(50)
    with pytest.raises(ValueError, match=message):
        guided({"sea": ["w00"]} if given is None else NOTHING, name_vectors=given).fit(X, vectors=V)


def test_documents_need_vectors_and_a_stream_keeps_to_its_names():
    X, V, _ = planted(100)
    with pytest.raises(ValueError, match=r"vectors must be passed to GuidedTopics.fit"):
        guided().fit(X)
    for inference in ("gibbs", "variational"):
        with pytest.raises(ValueError, match="with name_vectors 'one_topic'"):
            guided(inference=inference).fit(X, vectors=V)
    model = guided().partial_fit(X, vectors=V)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"vectors must be passed to GuidedTopics.partial_fit"):
        model.partial_fit(X)
    for call in (model.partial_fit, model.predict, model.predict_proba, model.transform):
        with pytest.raises(ValueError, match=r"has 7 dimensions, but the names have vectors of 8"):
            call(X, vectors=V[:, :7])
    assert pickle.dumps(model) == before
    for given in (None, np.eye(3, N_DIMENSIONS), np.eye(3)):
        with pytest.raises(ValueError, match="name_vectors is"):
            model.set_params(name_vectors=given).partial_fit(X, vectors=V)
    model.set_params(name_vectors=VECTORS).partial_fit(X, vectors=V)
    by_words = GuidedTopics({"sea": ["w00"]}, random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match="name_vectors is"):
        by_words.set_params(name_vectors=np.ones((1, 8))).partial_fit(X)


def test_documents_of_an_unnamed_topic_without_words_have_probabilities():
    rng, centres = np.random.default_rng(0), np.linalg.qr(np.ones((384, 1)), "complete")[0].T[1:4]
    k, names = rng.integers(3, size=300), np.array([f"w{i}" for i in range(18)], dtype=object)
    vectors = centres[k] + 0.03 * rng.normal(size=(300, 384))
    X = rng.poisson(np.kron(np.eye(3), np.full(6, 3.0))[k])
    guided = GuidedTopics(
        {"a": ["w0"], "b": ["w6"]}, 1, name_vectors={"a": centres[0], "b": centres[1]},
        inference=OneTopic(1.0, 0.3), random_state=0,
    )  # fmt: skip
    guided.fit(NamedCounts.of(sparse.csr_matrix(X), names), vectors=vectors)
    nothing = NamedCounts.of(sparse.csr_matrix((300, 18), dtype=int), names)
    assert_allclose(guided.predict_proba(nothing, vectors=vectors).sum(axis=1), 1, rtol=1e-6)
