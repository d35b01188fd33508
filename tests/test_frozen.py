# SPDX-License-Identifier: BSD-3-Clause
"""What scikit-learn's FrozenEstimator holds is read as any other, and never learns."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline

from streamtopics import SVBLDA, MultiViewLDA, load, save
from streamtopics.distributed import apply_update, compute_update, fit_partitions, fit_stream
from streamtopics.estimators import Schedule
from streamtopics.streams import (
    Checkpointer,
    DriftMonitor,
    ScoreHistory,
    TopicTracker,
    resume,
    stream,
)
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, StreamingPipeline
from streamtopics.utils.steps import names_of, steps_of
from tests.report.made import made

TEXTS = made(120).texts
LATER = [f"{text} quite another" for text in TEXTS]


def words_learnt():
    return StreamingCountVectorizer(max_features=30, half_life=20).partial_fit(TEXTS)


def topics(n_components=2):
    return SVBLDA(n_components, random_state=0)


def before_topics(words):
    """A pipeline whose last step learns."""
    return StreamingPipeline([("words", words), ("topics", topics())])


def pipeline_learnt():
    words = words_learnt()
    lda = topics().partial_fit(words.transform(TEXTS))
    return StreamingPipeline([("words", words), ("topics", lda)])


def state(model):
    """All that a model has learnt."""
    return pickle.dumps([copy(step) for _, step in steps_of(model)])


def test_a_frozen_model_of_topics_before_the_last_step_stays_as_it_is():
    X = words_learnt().transform(TEXTS)
    labels = np.arange(len(TEXTS)) % 2
    lda = SVBLDA(3, schedule=Schedule(n_rounds=5), random_state=0).fit(X)
    last = MultiViewLDA(2, 1, random_state=0)
    pipeline = StreamingPipeline([("topics", FrozenEstimator(lda)), ("class", last)])
    before = state(lda)
    for one in (pipeline, copy(pipeline)):
        one.partial_fit(X, labels, classes=[0, 1])
    assert state(lda) == before
    assert last.n_batch_iter_ == 1
    assert last.n_features_in_ == 3


@pytest.mark.parametrize("learnt", ["fit", "partial_fit"])
@pytest.mark.parametrize("wrap", [FrozenEstimator, lambda x: FrozenEstimator(FrozenEstimator(x))])
def test_a_frozen_vectorizer_keeps_its_words(wrap, learnt):
    words = StreamingCountVectorizer(max_features=30 if learnt == "partial_fit" else None)
    getattr(words, learnt)(TEXTS)
    words.transform(TEXTS)  # It notes that its stop words were checked.
    before = state(words)
    pipeline, other = before_topics(wrap(words)), topics()
    for texts in (TEXTS, LATER):
        pipeline.partial_fit(texts)
        other.partial_fit(words.transform(texts))
    assert state(words) == before
    assert_array_equal(pipeline[-1].components_, other.components_)
    assert pipeline.top_words(3) == other.top_words(words.get_feature_names_out(), 3)


@pytest.mark.parametrize("kind", [Pipeline, StreamingPipeline])
def test_a_frozen_pipeline_as_a_step_keeps_what_it_learnt(kind):
    words = words_learnt()
    front = kind([("words", words), ("none", "passthrough"), ("nothing", None)])
    before = state(words)
    pipeline, other = before_topics(FrozenEstimator(front)), topics()
    for texts in (TEXTS, LATER):
        pipeline.partial_fit(texts)
        other.partial_fit(words.transform(texts))
    assert state(words) == before
    assert_array_equal(pipeline[-1].components_, other.components_)
    assert_array_equal(names_of(pipeline), words.get_feature_names_out())


def frozen_models():
    whole = FrozenEstimator(pipeline_learnt())
    learnt = pipeline_learnt()
    last = StreamingPipeline([("words", learnt[0]), ("topics", FrozenEstimator(learnt[1]))])
    nested = Pipeline([("all", FrozenEstimator(learnt))])
    return [whole, last, nested]


def by_partitions(model):
    with ThreadPoolExecutor(1) as client:
        fit_partitions(model, [LATER], client)


def by_minibatches(model):
    with ThreadPoolExecutor(1) as client:
        fit_stream(model, [LATER], client)


TEACHERS = {
    "stream": lambda model: stream(model, [LATER]),
    "stream with a monitor": lambda model: stream(model, [LATER], callbacks=[DriftMonitor()]),
    "DriftMonitor.learn": lambda model: DriftMonitor().learn(model, LATER),
    "fit_partitions": by_partitions,
    "fit_stream": by_minibatches,
    "compute_update": lambda model: compute_update(model, LATER),
    "apply_update": lambda model: apply_update(model, compute_update(pipeline_learnt(), LATER)),
}


@pytest.mark.parametrize("teach", TEACHERS.values(), ids=TEACHERS)
@pytest.mark.parametrize("place", range(3), ids=["whole", "last step", "nested"])
def test_all_that_teaches_refuses_a_frozen_model(teach, place):
    model = frozen_models()[place]
    before = state(model)
    with pytest.raises(TypeError, match=r"model must learn, but its last step is frozen"):
        teach(model)
    assert state(model) == before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [DriftMonitor, TopicTracker])
def test_a_stream_goes_by_a_frozen_vectorizer(kind):
    words = words_learnt()
    before = state(words)
    batches = [TEXTS, LATER] * 2
    frozen = before_topics(FrozenEstimator(words))
    plain = before_topics(StreamingCountVectorizer(vocabulary=words.get_feature_names_out()))
    for model in (frozen, plain):
        stream(model, batches, callbacks=[kind()])
    assert_array_equal(frozen[-1].components_, plain[-1].components_)
    scores = ScoreHistory(), ScoreHistory()
    for model, history in zip((frozen, plain), scores, strict=True):
        stream(clone(model), batches, callbacks=[history])
    assert scores[0].mean == scores[1].mean
    assert state(words) == before


def test_files_keep_what_is_frozen(tmp_path):
    frozen = before_topics(FrozenEstimator(words_learnt()))
    stream(frozen, [TEXTS], callbacks=[Checkpointer(tmp_path, every=1)])
    again = resume(tmp_path).model
    assert isinstance(again["words"], FrozenEstimator)
    for model in (frozen, again):
        model.partial_fit(LATER)
    assert again["words"].n_documents_seen_ == frozen["words"].n_documents_seen_ == len(TEXTS)
    assert_array_equal(again.transform(TEXTS), frozen.transform(TEXTS))
    for model in (*frozen_models(), NamedVectorizer(FrozenEstimator(words_learnt())).fit(TEXTS)):
        save(model, tmp_path / "model")
        found, expected = load(tmp_path / "model").transform(TEXTS), model.transform(TEXTS)
        assert_array_equal(*(getattr(X, "toarray", lambda X=X: X)() for X in (found, expected)))


REVIEWS = ["The screen is great. The battery is not!", "Great screen. Great battery.", "Bad!"]


@pytest.mark.parametrize("kind", [CountVectorizer, TfidfVectorizer, StreamingCountVectorizer])
def test_named_counts_are_of_the_words_of_a_frozen_vectorizer(kind):
    vectorizer = kind(stop_words="english").fit(["the great screen", "the great keyboard"])
    for within in (vectorizer, make_pipeline(vectorizer)):
        named = NamedVectorizer(FrozenEstimator(within))
        X = named.fit_transform(REVIEWS)
        assert_array_equal(X.toarray(), vectorizer.transform(REVIEWS).toarray())
        assert_array_equal(X.feature_names, vectorizer.get_feature_names_out())
        assert_array_equal(named.fit(REVIEWS).transform(REVIEWS).toarray(), X.toarray())
    with pytest.raises(AttributeError, match="get_feature_names_out"):
        NamedVectorizer(FrozenEstimator(HashingVectorizer())).fit_transform(REVIEWS)
