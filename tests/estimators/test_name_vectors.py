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

D, N_DIMENSIONS = 600, 8
NAMES = np.array(["sea", "air", "land"], dtype=object)
WORDS = np.array([f"w{i:02}" for i in range(30)], dtype=object)
NOTHING = {name: [] for name in NAMES}
# What people call the topics is near to them, and not the same.
VECTORS = dict(zip(NAMES, np.eye(N_DIMENSIONS)[:3] + 0.4 * np.eye(N_DIMENSIONS)[3], strict=True))


def planted(n: int = D, seed: int = 0, spread: float = 0.9):
    """Topics that words tell, and vectors tell less of."""
    rng = np.random.default_rng(seed)
    z = rng.integers(3, size=n)
    V = np.eye(N_DIMENSIONS)[z] + spread * rng.normal(size=(n, N_DIMENSIONS))
    rates = 0.1 + 0.4 * np.eye(3).repeat(10, axis=1)[z]
    X = sparse.csr_matrix(rng.poisson(rates).astype(np.float64))
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
    N = np.array(list(VECTORS.values()))
    N /= np.linalg.norm(N, axis=1, keepdims=True)
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
    parts = [slice(i, i + 300) for i in range(0, 900, 300)]
    parameters = {"n_start_documents": 600}
    whole = guided(**parameters)
    for i, part in enumerate(parts):
        whole.partial_fit(X[part], vectors=V[part])
        if i == 1:
            same(whole, guided().fit(X[:600], vectors=V[:600]))
    cut = guided(**parameters).partial_fit(X[:300], vectors=V[:300])
    save(cut, tmp_path / "model.topics")
    for twin in (load(tmp_path / "model.topics"), pickle.loads(pickle.dumps(cut)), deepcopy(cut)):
        for part in parts[1:]:
            twin.partial_fit(X[part], vectors=V[part])
        same(twin, whole)
    array = guided(name_vectors=np.array(list(VECTORS.values()))).fit(X, vectors=V)
    save(array, tmp_path / "array.topics")
    read = load(tmp_path / "array.topics").partial_fit(X[:300], vectors=V[:300])
    same(read, array.partial_fit(X[:300], vectors=V[:300]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fire": np.ones(N_DIMENSIONS)}, r"name_vectors has \['fire'\], not among"),
        (np.eye(2, N_DIMENSIONS), r"name_vectors, passed to .*for each of the 3 names; it has 2"),
        (np.full((3, 8), np.inf), r"name_vectors, passed to .*must be finite; row 0"),
        (np.eye(3, 5), r"vectors, .*has 8 dimensions, but the names have vectors of 5 dimensions"),
    ],
)
def test_wrong_vectors_of_names_are_refused_by_name(given, message):
    X, V, _ = planted(50)
    with pytest.raises(ValueError, match=message):
        guided(name_vectors=given).fit(X, vectors=V)
    seeds = {"sea": ["w00"]}
    with pytest.raises(ValueError, match="has 8 dimensions, but the names have no vectors; vec"):
        guided(seeds, name_vectors=None).fit(X, vectors=V)


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
