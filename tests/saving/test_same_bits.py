# SPDX-License-Identifier: BSD-3-Clause
"""What was saved and loaded is the same bit for bit, and goes on to the same bits."""

import copy
import pickle
import warnings
from functools import partial
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import streamtopics
from streamtopics import (
    GibbsOnlineEM,
    GuidedTopics,
    MultiViewLDA,
    StreamingLDA,
    StreamingMixture,
    load,
    save,
    text,
)
from streamtopics.estimators import Schedule
from streamtopics.priors import ClassWords, SeedWords, ZipfPrior, class_words_prior
from streamtopics.saving.models import OURS, is_known
from streamtopics.updates import BPS, DirichletProcess, Window
from tests.estimators.table import CLASSES, rows
from tests.estimators.table import name_of as name_of_row
from tests.fingerprints.cases import CASES, parts
from tests.fingerprints.corpora import corpora
from tests.fingerprints.measures import fingerprint
from tests.saving.state import is_same, parts_of

CORPUS = corpora()["bursty"]
X = CORPUS.X
TEXTS = [" ".join(f"w{word}" for word in row.indices) for row in X[:200]]
LEARNS_ALPHA = {"schedule": Schedule(averaging="uniform"), "doc_topic_prior_update": "gamma"}
BOOSTED = {"boosted_prior": ZipfPrior(), "schedule": Schedule(averaging=None)}
STATEFUL = [
    StreamingLDA(3, update=Window(2), random_state=0),
    StreamingLDA(3, update=BPS(0.1), **BOOSTED, random_state=0),
    StreamingLDA(3, **LEARNS_ALPHA, random_state=0),
    StreamingMixture(60, births=DirichletProcess(min_documents=2), random_state=0),
    GibbsOnlineEM(3, random_state=np.random.RandomState(3)),
]


def again(model, tmp_path):
    path = tmp_path / "a.model"
    save(model, path)
    return load(path)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case.build(0) is not None])
def test_every_estimator_goes_on_to_the_same_bits(name, tmp_path):
    case = CASES[name]
    data = case.data(CORPUS)
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore")
        model = case.learn(case.build(0), data)
        loaded = again(model, tmp_path)
        assert is_same(model, loaded)
        *_, last = parts(data)
        found = [case.measure(m.partial_fit(**last), data) for m in (model, loaded)]
    mine, other = ({k: fingerprint(v) for k, v in quantities.items()} for quantities in found)
    assert mine
    assert mine == other


def test_the_cases_are_all_public_estimators():
    built = {type(case.build(0)).__name__ for case in CASES.values()}
    classes = {n for n in streamtopics.__all__ if isinstance(getattr(streamtopics, n), type)}
    # That of TopicStream is in tests/test_topic_stream.py.
    assert classes - built <= {"StreamingMixture", "GuidedTopics", "TopicStream"}


@pytest.mark.parametrize(
    "model",
    [*rows(3, random_state=0), *(c(random_state=0) for c in CLASSES.values()), *STATEFUL],
    ids=lambda model: f"{name_of_row(model)}",
)
def test_every_rule_goes_on_to_the_same_bits(model, tmp_path):
    model = copy.deepcopy(model)
    unfitted = again(model, tmp_path)
    assert is_same(model, unfitted)
    model.partial_fit(X[:100]).partial_fit(X[100:200])
    loaded = again(model, tmp_path)
    assert is_same(model, loaded)
    for m in (model, loaded):
        m.partial_fit(X[200:])
    assert_array_equal(model.components_, loaded.components_)
    assert_array_equal(model.transform(X[:20]), loaded.transform(X[:20]))
    assert model.score(X[:50]) == loaded.score(X[:50])
    assert is_same(model, loaded)


HASHING = HashingVectorizer(n_features=256, alternate_sign=False, norm=None)
GUIDED = GuidedTopics({"a": ["w1", "w2"], "b": ["w3"]}, random_state=0)
PIPELINES = {
    "open vocabulary": (
        text.StreamingCountVectorizer(max_features=60, n_candidates=30),
        StreamingLDA(3, random_state=0),
    ),
    "guided": (text.NamedVectorizer().fit(TEXTS), GUIDED),
    "hashing": (HASHING, GibbsOnlineEM(3, random_state=0)),
    "tfidf": (TfidfVectorizer().fit(TEXTS), StreamingLDA(3, random_state=0)),
}


@pytest.mark.parametrize("steps", PIPELINES.values(), ids=PIPELINES)
def test_pipelines_over_raw_texts(steps, tmp_path):
    model = text.StreamingPipeline([*zip(("words", "topics"), copy.deepcopy(steps), strict=True)])
    model.partial_fit(TEXTS[:60]).partial_fit(TEXTS[60:120])
    loaded = again(model, tmp_path)
    for m in (model, loaded):
        m.partial_fit(TEXTS[120:])
    assert_array_equal(model.transform(TEXTS[:30]), loaded.transform(TEXTS[:30]))
    assert_array_equal(model[-1].components_, loaded[-1].components_)
    assert is_same(model[-1], loaded[-1])


def test_a_pipeline_of_scikit_learn_keeps_its_words_and_their_kind(tmp_path):
    words = CountVectorizer(dtype=np.float32, ngram_range=(1, 2), stop_words=["w1"], min_df=2)
    model = make_pipeline(words, StreamingLDA(3, random_state=0)).fit(TEXTS)
    loaded = again(model, tmp_path)
    assert loaded[0].dtype is np.float32
    assert_array_equal(loaded[0].get_feature_names_out(), model[0].get_feature_names_out())
    assert_array_equal(loaded.transform(TEXTS), model.transform(TEXTS))


def test_sentences_are_cut_and_counted_alike(tmp_path):
    texts = ["Topics are shares. Documents have topics.", "A stream never ends. It goes on."] * 3
    model = text.SentenceVectorizer().fit(texts)
    loaded = again(model, tmp_path)
    for one, other in zip(model.transform(texts), loaded.transform(texts), strict=True):
        assert_array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize(
    "prior", [SeedWords({0: ["w1"]}, 5.0), ZipfPrior(), np.full(120, 0.1), 0.1]
)
def test_priors_that_look_words_up(prior, tmp_path):
    counts = text.NamedCounts.of(X, [f"w{i}" for i in range(X.shape[1])])
    model = StreamingLDA(3, topic_word_prior=prior, random_state=0).partial_fit(counts[:100])
    loaded = again(model, tmp_path)
    for m in (model, loaded):
        m.partial_fit(counts[100:])
    assert_array_equal(model.components_, loaded.components_)


@pytest.mark.parametrize("prior", [ClassWords(), partial(class_words_prior, n_seeds=9)])
def test_functions_of_the_package_are_kept_by_name(prior, tmp_path):
    model = MultiViewLDA(2, 3, class_word_prior=prior, random_state=0)
    loaded = again(model, tmp_path)
    assert is_same(loaded.class_word_prior, prior)
    assert getattr(loaded.class_word_prior, "func", None) is getattr(prior, "func", None)
    labels = CORPUS.labels
    for m in (model, loaded):
        m.fit(X, labels)
    assert_array_equal(model.predict(X), loaded.predict(X))


def test_what_is_referred_to_twice_is_one_object(tmp_path):
    prior = np.full(X.shape[1], 0.1)
    model = StreamingLDA(3, topic_word_prior=prior, boosted_prior=prior, update=BPS(0.1))
    loaded = again(model, tmp_path)
    assert loaded.topic_word_prior is loaded.boosted_prior
    pipeline = make_pipeline(model, model)
    loaded = again(pipeline, tmp_path)
    assert loaded[0] is loaded[1]


@pytest.mark.parametrize("value", [
    None, True, -0.0, float("nan"), float("inf"), 10**30, "\ud800 \0 é", b"\0\xff", (), (1, ("a",)),
    [], {}, {1: "a", "b": [3]}, {"object": 1}, {1, 2}, frozenset({1, 2}), slice(1, None),
    np.float32(1.5), np.int64(3), np.bool_(True), np.datetime64("2026-01-02"),
    np.empty((0, 3)), np.array(5.0), np.arange(6.0).reshape(2, 3).T, np.arange(9)[::2],
    np.array(["a", "bc"]), np.array(["a", None, 1], object), np.array(["", ""]),
    np.array(["2026-01-02"], "M8[D]"), np.array([1 + 2j]), np.array([[True], [False]]),
    np.empty((2, 0), object), np.array([None, [1, 2], [3, 4]], object)[1:], int, np.uint8,
    np.array(b"x"), np.array(["", ""])[:0],
    sparse.csr_matrix(X[:9]), sparse.csr_array(X[:9]), sparse.csc_matrix(X[:9]), X[:9].tocsc(),
], ids=lambda value: repr(value)[:40])  # fmt: skip
def test_plain_values_of_every_kind(value, tmp_path):
    model = StreamingLDA(3)
    model.note = value
    note = again(model, tmp_path).note
    assert type(note) is type(value)
    assert parts_of(note) == parts_of(pickle.loads(pickle.dumps(value)))


def test_every_public_record_and_estimator_is_known():
    for room in ("estimators", "updates", "local", "priors", "models", "was", "reviews", "dpp"):
        module = import_module(f"streamtopics.{room}")
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            is_protocol = getattr(found, "_is_protocol", False)
            if isinstance(found, type) and not is_protocol and name not in NEVER_KEPT:
                assert is_known(f"{found.__module__}.{name}"), f"add it to saving/models.py: {name}"


def test_every_known_name_is_that_of_something_there():
    names = [m.name for m in walk_packages(streamtopics.__path__, "streamtopics.")]
    # A kernel may have instructions that this processor lacks.
    modules = [
        import_module(name) for name in names if not {"__main__", "kernels"} & {*name.split(".")}
    ]
    own = [(m.__name__, name, found) for m in modules for name, found in vars(m).items()]
    there = {name for module, name, found in own if getattr(found, "__module__", None) == module}
    assert there >= {*OURS.split()}


# Results, bases and what lives as long as a call.
NEVER_KEPT = {"ASUM", "Columns", "Franchise", "HDP", "MultiView", "PointSets", "Rule", "SeedPull"}
