# SPDX-License-Identifier: BSD-3-Clause
"""Beginnings of streams that are learnt anew: `Schedule(n_start_documents=...)`."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics import (
    BPSLDA,
    GibbsOnlineEM,
    GuidedTopics,
    StreamingLDA,
    StreamingMixture,
    TopicStream,
    editing,
    load,
    save,
)
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import DirichletProcess
from tests.small import SEA, SKY

X = make_lda_corpus(400, n_features=80, mean_length=20, random_state=0).X.astype(np.float32)
V = np.random.default_rng(0).normal(size=(400, 5))
# 65 is less than a tenth more than 60, and 66 is a tenth.
ENDS = 60, 65, 66, 200
KNOWN = np.full((3, 80), 0.05) + 2.0 * np.eye(3, 80)
MODELS = {
    "sampled": (StreamingLDA, {}),
    "one topic": (StreamingLDA, {"inference": "one_topic"}),
    "variational": (StreamingLDA, {"inference": "variational"}),
    "noise": (StreamingLDA, {"start": "noise"}),
    "mixture": (StreamingMixture, {}),
    "boosted": (BPSLDA, {"boosted_prior": KNOWN}),
    "online EM": (GibbsOnlineEM, {}),
}


def made(name: str, n_start_documents: int = 250):
    kind, settings = MODELS[name]
    schedule = Schedule(n_start_documents=n_start_documents)
    return kind(3, schedule=schedule, random_state=0, **settings)


@pytest.mark.parametrize("name", MODELS)
def test_the_beginning_is_learnt_as_one_minibatch(name):
    """Whenever there is a tenth more of it, and for the last time at its end."""
    model = made(name)
    for number, (start, stop) in enumerate(pairwise((0, *ENDS)), 1):
        model.partial_fit(X[start:stop])
        whole = made(name, 0).partial_fit(X[: 60 if stop == 65 else stop])
        if stop == 65:
            whole.partial_fit(X[60:65])
        assert_array_equal(model.components_, whole.components_)
        assert_array_equal(model.transform(X), whole.transform(X))
        assert model.n_batch_iter_ == number
        assert model.n_documents_seen_ == stop
        assert model.n_tokens_seen_ == whole.n_tokens_seen_ == X[:stop].sum()
    model.doc_topic_prior = 9.0  # The first call fixed the prior.
    model.partial_fit(X[200:300])
    assert_array_equal(model.components_, made(name, 0).partial_fit(X[:300]).components_)
    assert model._commit.begun is None
    # Whatever is set later, the documents are not there.
    model.set_params(schedule__n_start_documents=10_000).partial_fit(X[300:])
    assert model._commit.begun is None


def test_documents_have_their_vectors():
    model = made("mixture", 200)
    for start in range(0, 200, 50):
        model.partial_fit(X[start : start + 50], vectors=V[start : start + 50])
    whole = made("mixture", 0).partial_fit(X[:200], vectors=V[:200])
    assert_array_equal(model.components_, whole.components_)
    assert_array_equal(model.predict(X, vectors=V), whole.predict(X, vectors=V))


@pytest.mark.parametrize("name", ["sampled", "mixture"])
def test_a_stream_that_is_saved_at_its_beginning_goes_on(name, tmp_path):
    uncut, model = made(name), made(name)
    for start in (0, 100, 200, 300):
        batch = X[start : start + 100]
        uncut.partial_fit(batch)
        save(model.partial_fit(batch), tmp_path / "model")
        model = load(tmp_path / "model")
    assert_array_equal(model.components_, uncut.components_)


def test_documents_without_words_count():
    model, empty = made("sampled"), X[:5] * 0
    model.random_state = np.random.RandomState(0)  # For one seed.
    for batch in (empty, X[:40], X[40:80]):
        model.partial_fit(batch)
    assert model.n_documents_seen_ == 85
    whole = made("sampled", 0).partial_fit(sparse.vstack([empty, X[:80]]))
    assert_array_equal(model.components_, whole.components_)


def test_a_corpus_has_no_beginning():
    assert made("sampled").fit(X)._commit.begun is None
    assert_array_equal(made("sampled").fit(X).components_, made("sampled", 0).fit(X).components_)


def test_copies_of_a_beginning_are_not_merged():
    base = made("mixture").partial_fit(X[:100])
    one, other = (made("mixture").partial_fit(X[:100]) for _ in range(2))
    with pytest.raises(ValueError, match="learn n_start_documents=250 first"):
        one.merge(other, base=base)


@pytest.mark.parametrize(("kind", "settings"), [
    (StreamingLDA, {"update": "power_prior"}),
    (GibbsOnlineEM, {"schedule__averaging": "linear"}),
    (StreamingMixture, {"births": DirichletProcess(), "update": "power_prior"}),
], ids=["forgets", "averages", "births"])  # fmt: skip
def test_what_keeps_no_beginning_is_refused(kind, settings):
    model = kind(3, schedule=Schedule(n_start_documents=100)).set_params(**settings)
    with pytest.raises(ValueError, match=r"no beginning anew .*n_start_documents=100 to 0"):
        model.partial_fit(X[:50])


@pytest.mark.parametrize("model", [made("mixture", 200), GuidedTopics({"sea": ["sea"]}, 2)])
def test_a_topic_stream_needs_topics_that_keep_their_places(model):
    stream = TopicStream(model=model, vectorizer=NamedVectorizer(), random_state=0)
    with pytest.raises(ValueError, match=r"change places .* n_start_documents"):
        stream.partial_fit(SEA + SKY)
    assert stream.fit(SEA + SKY).partial_fit(SEA).totals().n.sum() == 140
    words = NamedVectorizer().fit(SEA + SKY)
    begun = [("words", words), ("topics", model.partial_fit(words.transform(SEA)))]
    with pytest.raises(ValueError, match="change places"):  # Also if the beginning ends here.
        TopicStream.from_pipeline(StreamingPipeline(begun)).partial_fit(SKY * 9)


def test_a_beginning_learnt_anew_counts_its_parts():
    X = make_lda_corpus(n_documents=1500, n_features=100, mean_length=30, random_state=0).X
    odd, found = np.zeros((10, 100), int), []
    odd[:, 0] = 30
    for n in (0, 5000):
        schedule = Schedule(n_start_rounds=10, n_start_documents=n)
        model = GibbsOnlineEM(5, schedule=schedule, random_state=0).partial_fit(X)
        found.append(model.partial_fit(odd).components_[:, 0].sum() / model.components_.sum())
    assert_allclose(found[0], found[1], rtol=0.2)


def test_new_words_do_not_end_the_beginning():
    words = StreamingCountVectorizer(max_features=40)
    topics = StreamingMixture(2, schedule=Schedule(n_start_documents=999), random_state=0)
    model = StreamingPipeline([("words", words), ("topics", topics)])
    for i in range(4):
        model.partial_fit([f"{text} new{i}" for text in SEA + SKY])
    assert topics._commit.begun.n_documents == 400
    topics.forget_words([words.vocabulary_["sea"]])
    assert topics._commit.begun.n_tokens == 400 * 6 - 160
    topics.partial_fit(topics._commit.begun.X)
    assert topics.n_tokens_seen_ == 800 * 6 - 160


def test_a_beginning_learnt_anew_is_rounded_as_the_stream():
    X = make_lda_corpus(n_documents=300, n_features=100, random_state=0).X
    how = {"inference": Gibbs(5, rounding=0.3), "random_state": 0}
    model = StreamingLDA(60, schedule=Schedule(n_start_documents=200), **how).partial_fit(X[:150])
    counts = model.partial_fit(X[150:]).posterior_.S
    assert not ((counts > 0) & (counts < 0.299)).any()


def test_an_edit_that_was_undone_leaves_the_beginning():
    models = [made("sampled", 500).partial_fit(X[:150]) for _ in range(2)]
    editing.merge(models[0], [0, 1])
    editing.undo(models[0])
    each = [model.partial_fit(X[150:]).components_ for model in models]
    assert_array_equal(*each)
