# SPDX-License-Identifier: BSD-3-Clause
"""What was saved and loaded is the same bit for bit, and goes on to the same bits."""

import copy
import pickle
import warnings
from collections import Counter
from functools import partial
from types import ModuleType

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
)
from streamtopics.estimators import Schedule
from streamtopics.priors import ClassWords, SeedWords, ZipfPrior, class_words_prior
from streamtopics.saving.known import KNOWN, name_of, named
from streamtopics.text import (
    NamedCounts,
    NamedVectorizer,
    SentenceVectorizer,
    StreamingCountVectorizer,
    StreamingPipeline,
)
from streamtopics.updates import (
    BPS,
    Decay,
    DirichletProcess,
    IncrementalVB,
    MemoizedVB,
    OnlineEM,
    Window,
)
from tests.estimators.table import CLASSES, rows
from tests.estimators.table import name_of as name_of_row
from tests.fingerprints.cases import CASES, parts
from tests.fingerprints.corpora import corpora
from tests.fingerprints.measures import fingerprint

CORPUS = corpora()["bursty"]
X = CORPUS.X
TEXTS = [" ".join(f"w{word}" for word in row.indices) for row in X[:200]]
STATEFUL = [
    StreamingLDA(3, update=Window(2), random_state=0),
    StreamingLDA(3, update=MemoizedVB(2), random_state=0),
    StreamingLDA(3, update=IncrementalVB(2), inference="gibbs", random_state=0),
    StreamingLDA(
        3,
        update=BPS(0.1),
        boosted_prior=ZipfPrior(),
        schedule=Schedule(averaging=None),
        random_state=0,
    ),
    StreamingLDA(
        3, schedule=Schedule(averaging="uniform"), doc_topic_prior_update="gamma", random_state=0
    ),
    StreamingMixture(60, births=DirichletProcess(min_documents=2), random_state=0),
    GibbsOnlineEM(3, random_state=np.random.RandomState(3)),
]


def again(model, tmp_path):
    path = tmp_path / "a.model"
    save(model, path)
    return load(path)


def file_of(model, tmp_path):
    again(model, tmp_path)
    return (tmp_path / "a.model").read_bytes()


def assert_the_same(model, other):
    """All of the state, as pickle sees it, up to which objects are shared."""
    same = parts_of(model) == parts_of(other)
    # Not compared in the assertion: pytest would show how they differ, for minutes.
    assert same


def parts_of(value, known=()):
    """Everything in a value as nested tuples that can be compared."""
    if id(value) in known:
        return "again"
    known = (*known, id(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.flags.f_contiguous, value.tobytes()
    if isinstance(value, np.generic):
        return type(value).__name__, value.tobytes()
    if isinstance(value, np.random.RandomState):
        return parts_of(value.get_state(legacy=False), known)
    if sparse.issparse(value):
        arrays = [parts_of(getattr(value, name)) for name in ("data", "indices", "indptr")]
        return type(value).__name__, value.shape, arrays
    if isinstance(value, dict):
        return [(parts_of(k, known), parts_of(v, known)) for k, v in value.items()]
    if isinstance(value, list | tuple | np.ndarray):
        return type(value).__name__, [parts_of(one, known) for one in value]
    if isinstance(value, ModuleType):
        return value.__name__
    if hasattr(value, "__dict__") and not callable(value):
        # Of frozen records what is computed when asked for does not count.
        fields = getattr(value, "__dataclass_fields__", None)
        state = value.__getstate__() if fields is None else {f: getattr(value, f) for f in fields}
        # Where scikit-learn's stop words are in memory.
        state = {name: part for name, part in (state or {}).items() if name != "_stop_words_id"}
        return type(value).__name__, parts_of(state, known)
    return type(value).__name__, repr(value)


def learnt(name):
    """A model of the fingerprints, and what it learnt from."""
    case = CASES[name]
    data = case.data(CORPUS)
    return case, case.learn(case.build(0), data), data


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case.build(0) is not None])
def test_every_estimator_goes_on_to_the_same_bits(name, tmp_path):
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore")
        case, model, data = learnt(name)
        loaded = again(model, tmp_path)
        assert_the_same(model, loaded)
        *_, last = parts(data)
        found = [case.measure(m.partial_fit(**last), data) for m in (model, loaded)]
    mine, other = ({k: fingerprint(v) for k, v in quantities.items()} for quantities in found)
    assert mine
    assert mine == other


def test_the_cases_are_all_public_estimators():
    built = {type(case.build(0)).__name__ for case in CASES.values()}
    classes = {n for n in streamtopics.__all__ if isinstance(getattr(streamtopics, n), type)}
    assert classes - built <= {"StreamingMixture", "GuidedTopics"}


@pytest.mark.parametrize(
    "model",
    [*rows(3, random_state=0), *(c(random_state=0) for c in CLASSES.values()), *STATEFUL],
    ids=lambda model: f"{name_of_row(model)}",
)
def test_every_rule_goes_on_to_the_same_bits(model, tmp_path):
    model = copy.deepcopy(model)
    unfitted = again(model, tmp_path)
    assert_the_same(model, unfitted)
    model.partial_fit(X[:100]).partial_fit(X[100:200])
    loaded = again(model, tmp_path)
    assert_the_same(model, loaded)
    for m in (model, loaded):
        m.partial_fit(X[200:])
    assert_array_equal(model.components_, loaded.components_)
    assert_array_equal(model.transform(X[:20]), loaded.transform(X[:20]))
    assert model.score(X[:50]) == loaded.score(X[:50])
    assert_the_same(model, loaded)


PIPELINES = {
    "open vocabulary": lambda: StreamingPipeline(
        [
            ("words", StreamingCountVectorizer(max_features=60, n_candidates=30)),
            ("topics", StreamingLDA(3, random_state=0)),
        ]
    ),
    "guided": lambda: StreamingPipeline(
        [
            ("words", NamedVectorizer().fit(TEXTS)),
            ("topics", GuidedTopics({"a": ["w1", "w2"], "b": ["w3"]}, random_state=0)),
        ]
    ),
    "hashing": lambda: StreamingPipeline(
        [
            ("words", HashingVectorizer(n_features=256, alternate_sign=False, norm=None)),
            ("topics", GibbsOnlineEM(3, random_state=0)),
        ]
    ),
    "tfidf": lambda: StreamingPipeline(
        [("words", TfidfVectorizer().fit(TEXTS)), ("topics", StreamingLDA(3, random_state=0))]
    ),
}


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_pipelines_over_raw_texts(make, tmp_path):
    model = make().partial_fit(TEXTS[:60]).partial_fit(TEXTS[60:120])
    loaded = again(model, tmp_path)
    for m in (model, loaded):
        m.partial_fit(TEXTS[120:])
    assert_array_equal(model.transform(TEXTS[:30]), loaded.transform(TEXTS[:30]))
    assert_array_equal(model[-1].components_, loaded[-1].components_)
    assert_the_same(model[-1], loaded[-1])


def test_a_pipeline_of_scikit_learn_keeps_its_words_and_their_kind(tmp_path):
    model = make_pipeline(
        CountVectorizer(dtype=np.float32, ngram_range=(1, 2), stop_words=["w1"], min_df=2),
        StreamingLDA(3, random_state=0),
    ).fit(TEXTS)
    loaded = again(model, tmp_path)
    assert loaded[0].dtype is np.float32
    assert_array_equal(loaded[0].get_feature_names_out(), model[0].get_feature_names_out())
    assert_array_equal(loaded.transform(TEXTS), model.transform(TEXTS))


def test_sentences_are_cut_and_counted_alike(tmp_path):
    texts = ["Topics are shares. Documents have topics.", "A stream never ends. It goes on."] * 3
    model = SentenceVectorizer().fit(texts)
    loaded = again(model, tmp_path)
    for one, other in zip(model.transform(texts), loaded.transform(texts), strict=True):
        assert_array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize(
    "prior", [SeedWords({0: ["w1"]}, 5.0), ZipfPrior(), np.full(120, 0.1), 0.1]
)
def test_priors_that_look_words_up(prior, tmp_path):
    counts = NamedCounts.of(X, [f"w{i}" for i in range(X.shape[1])])
    model = StreamingLDA(3, topic_word_prior=prior, random_state=0).partial_fit(counts[:100])
    loaded = again(model, tmp_path)
    for m in (model, loaded):
        m.partial_fit(counts[100:])
    assert_array_equal(model.components_, loaded.components_)


@pytest.mark.parametrize("prior", [ClassWords(), partial(class_words_prior, n_seeds=9)])
def test_functions_of_the_package_are_kept_by_name(prior, tmp_path):
    model = MultiViewLDA(2, 3, class_word_prior=prior, random_state=0)
    loaded = again(model, tmp_path)
    assert_the_same(loaded.class_word_prior, prior)
    assert getattr(loaded.class_word_prior, "func", None) is getattr(prior, "func", None)
    labels = CORPUS.labels
    for m in (model, loaded):
        m.fit(X, labels)
    assert_array_equal(model.predict(X), loaded.predict(X))


def test_a_random_state_goes_on_where_it_was(tmp_path):
    state = np.random.RandomState(5)
    state.randn(3)
    model = GibbsOnlineEM(3, random_state=state)
    loaded = again(model, tmp_path)
    assert_array_equal(loaded.random_state.randn(9), state.randn(9))


def test_what_is_referred_to_twice_is_one_object(tmp_path):
    prior = np.full(X.shape[1], 0.1)
    model = StreamingLDA(3, topic_word_prior=prior, boosted_prior=prior, update=BPS(0.1))
    loaded = again(model, tmp_path)
    assert loaded.topic_word_prior is loaded.boosted_prior
    pipeline = make_pipeline(model, model)
    loaded = again(pipeline, tmp_path)
    assert loaded[0] is loaded[1]
    cycle = StreamingLDA(3)
    cycle.note = [cycle]
    loaded = again(cycle, tmp_path)
    assert loaded.note[0] is loaded


def test_what_cannot_change_is_kept_by_its_values(tmp_path):
    """So a model with a default of a class is the same file as one with an equal record."""
    default, times = Decay(), (2019, 2020)
    one, other = StreamingLDA(3), StreamingLDA(3)
    one.note = [default, default, times, times]
    other.note = [pickle.loads(pickle.dumps(value)) for value in one.note]
    assert again(one, tmp_path).note == one.note
    assert file_of(one, tmp_path) == file_of(other, tmp_path)


@pytest.mark.parametrize("cut", [1, 2])
@pytest.mark.parametrize("update", [OnlineEM(), "online_em"])
def test_a_stream_that_was_cut_ends_in_the_same_file(update, cut, tmp_path):
    """Also where the rule of topics and that of documents' topics have the same default."""
    uncut, model = (StreamingLDA(3, update=update, random_state=0) for _ in range(2))
    for t, batch in enumerate((X[:100], X[100:200], X[200:])):
        model = again(model, tmp_path) if t == cut else model
        for m in (uncut, model):
            m.partial_fit(batch)
    assert file_of(model, tmp_path) == file_of(uncut, tmp_path)


@pytest.mark.parametrize("value", [
    None, True, -0.0, float("nan"), float("inf"), 10**30, "\ud800 \0 é", b"\0\xff", (), (1, ("a",)),
    [], {}, {1: "a", ("b", 2): [3]}, {"object": 1}, {1, 2}, frozenset({1, 2}), slice(1, None),
    np.float32(1.5), np.int64(3), np.bool_(True), np.datetime64("2026-01-02"),
    np.empty((0, 3)), np.array(5.0), np.arange(6.0).reshape(2, 3).T, np.arange(9)[::2],
    np.array(["a", "bc"]), np.array(["a", None, 1], object), np.array(["", ""]),
    np.array(["2026-01-02"], "M8[D]"), np.array([1 + 2j]), np.array([[True], [False]]),
    np.empty((2, 0), object), np.array([None, [1, 2], [3, 4]], object)[1:], int, np.uint8,
    np.array(b"x"), np.array(["", ""])[:0],
], ids=repr)  # fmt: skip
def test_plain_values_of_every_kind(value, tmp_path):
    model = StreamingLDA(3)
    model.note = value
    note = again(model, tmp_path).note
    assert type(note) is type(value)
    assert parts_of(note) == parts_of(pickle.loads(pickle.dumps(value)))


def test_an_array_that_is_in_a_file_becomes_one_in_memory(tmp_path):
    prior = np.memmap(tmp_path / "prior", np.float64, "w+", shape=(3, 4))
    prior[:] = 0.5
    loaded = again(StreamingLDA(3, topic_word_prior=prior), tmp_path).topic_word_prior
    assert type(loaded) is np.ndarray
    assert_array_equal(loaded, prior)


@pytest.mark.parametrize("kind", [
    sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array,
])  # fmt: skip
def test_sparse_matrices(kind, tmp_path):
    model = StreamingLDA(3)
    model.note = kind(X[:9])
    note = again(model, tmp_path).note
    assert type(note) is kind
    for name in ("data", "indices", "indptr"):
        assert parts_of(getattr(note, name)) == parts_of(getattr(model.note, name))


def test_every_public_record_and_estimator_is_in_the_list():
    rooms = Counter()
    for room in ("estimators", "updates", "local", "priors", "models", "was", "reviews", "dpp"):
        module = __import__(f"streamtopics.{room}", fromlist=["x"])
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            is_protocol = getattr(found, "_is_protocol", False)
            if isinstance(found, type) and not is_protocol and name not in NEVER_KEPT:
                rooms[room] += 1
                assert name_of(found) is not None, f"{room}.{name}; add it to saving/known.py"
    assert len(rooms) >= 5


@pytest.mark.parametrize("module", sorted(KNOWN.keys() - {"numpy"}))
def test_every_name_in_the_list_is_that_of_what_it_says(module):
    for name in KNOWN[module]:
        assert name_of(named(f"{module}.{name}")) == f"{module}.{name}"


# Results, bases and what lives as long as a call.
NEVER_KEPT = {"ASUM", "Columns", "Franchise", "HDP", "LDA", "MultiView", "PointSets", "SeedPull"}
