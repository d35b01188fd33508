# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that are numbers of NumPy, as grids of `np.arange` and `np.linspace` give them.

Those of few bits wrap around, -1 of them is 255, and those of 32 bits round what they meet: each
must count as the number of Python that it equals.
"""

import warnings
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from streamtopics import SVBLDA, HDPGibbsOnlineEM, LowRankDPP
from streamtopics.datasets import iter_minibatches, make_lda_corpus, make_rated_reviews
from streamtopics.distributed.schedule import Schedule
from streamtopics.dpp import Fourier
from streamtopics.inspection import (
    documents_of,
    format_topics,
    similar_documents,
    topic_table,
)  # fmt: skip
from streamtopics.local import Gibbs, Variational
from streamtopics.metrics import left_to_right, relevant_words, topic_coherence
from streamtopics.priors import Symmetric, seed_pulls
from streamtopics.streams import (
    Checkpointer,
    DriftMonitor,
    EarlyStopping,
    ScoreHistory,
    TopicTracker,
    stream,
)  # fmt: skip
from streamtopics.text import StreamingCountVectorizer
from streamtopics.updates import Decay, PowerPrior, ScaledDecay
from streamtopics.was import SBP, WAS
from tests.conventions.every import COUNTS, EVERY, METHODS, SENTENCES, Case, N
from tests.conventions.test_every_estimator import bits


def whole(kind: type) -> Callable[[Any], Any]:
    """Whole numbers that `kind` can hold as such; others stay."""
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    return lambda value: kind(value) if isinstance(value, int) and least <= value <= most else value


def rounded(kind: type) -> Callable[[Any], Any]:
    return lambda value: kind(value) if isinstance(value, float) else value


CASTS = {
    "int64": (lambda value: value, whole(np.int64)),
    "uint8": (lambda value: value, whole(np.uint8)),
    "int8": (lambda value: value, whole(np.int8)),
    "float64": (lambda value: value, rounded(np.float64)),
    "float32": (rounded(lambda value: float(np.float32(value))), rounded(np.float32)),
    "float16": (rounded(lambda value: float(np.float16(value))), rounded(np.float16)),
    "longdouble": (lambda value: value, rounded(np.longdouble)),
}


def cast(value: Any, one: Callable[[Any], Any]) -> Any:
    """The numbers of a parameter, those of a record or a tuple too."""
    if isinstance(value, tuple):
        return tuple(cast(item, one) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        given = {at.name: getattr(value, at.name) for at in fields(value) if at.init}
        return replace(value, **{name: cast(item, one) for name, item in given.items()})
    return value if isinstance(value, bool) else one(value)


def learnt(case: Case, one: Callable[[Any], Any]) -> list[bytes]:
    """What a model finds, and all arrays that it has learnt, as bits."""
    model = case.made
    given = model.get_params(deep=False)
    model.set_params(**{k: cast(v, one) for k, v in given.items()})
    with warnings.catch_warnings():
        # Integers that wrap around.
        warnings.simplefilter("error", RuntimeWarning)
        case.taught(model, "fit")
        found = model.transform(case.X, **case.given) if case.y is None else model.components_
        public = sorted(k for k in vars(model) if k.endswith("_") and not k.startswith("_"))
        arrays = [getattr(model, k) for k in public]
    return bits(found) + [a.tobytes() for a in arrays if isinstance(a, np.ndarray)]


# A default in single precision is another number, of which `fit` may tell.
@pytest.mark.filterwarnings("ignore:.*has no effect in fit")
@pytest.mark.parametrize("kind", CASTS)
@pytest.mark.parametrize("name", METHODS)
def test_they_count_as_those_of_python(name, kind):
    as_python, as_numpy = CASTS[kind]
    assert learnt(METHODS[name], as_numpy) == learnt(METHODS[name], as_python)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32])
def test_a_step_size_has_any_power(kind):
    assert Decay(kind(1), kind(200))(100) == Decay(1, 200)(100)
    assert ScaledDecay(kind(2), kind(1))(3) == 0.5


@pytest.mark.parametrize("wrong", [np.float16(0.0), np.float16(np.inf), np.float32(1e-12)])
def test_they_are_compared_with_bounds_as_those_of_python(wrong):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="doc_topic_prior"):
            SVBLDA(2, doc_topic_prior=wrong).fit(COUNTS)
        with pytest.raises(ValueError, match="mass"):
            Symmetric(wrong)
        SVBLDA(2, doc_topic_prior=np.float16(0.3)).fit(COUNTS)


def test_fields_of_records_are_numbers_of_python():
    step = Gibbs(np.uint8(5), np.int8(2))
    assert [type(step.n_sweeps), type(step.n_averaged)] == [int, int]
    assert Gibbs(np.uint8(5)).averaged == 2
    assert type(Decay(np.float32(0.5)).kappa) is float
    assert Schedule(1, np.uint8(1), batch_size=np.uint8(200)).learns_here(0)


def few(name: str, **parameters: Any) -> Callable[[Any], Any]:
    """Fit an estimator whose parameters are made of a number that is to be counted with."""

    def fitted(number: Callable[[Any], Any]) -> Any:
        case = EVERY[name]
        model = case.made.set_params(**{k: cast(v, number) for k, v in parameters.items()})
        case.taught(model)
        return case.taught(model).transform(case.X, **case.given)

    return fitted


def births(number: Callable[[Any], Any]) -> Any:
    model = HDPGibbsOnlineEM(
        number(250), update=PowerPrior(0.3), concentration=100.0, doc_concentration=100.0,
        n_sweeps=number(5), random_state=0,
    )  # fmt: skip
    for _ in range(6):
        model.partial_fit(COUNTS)
    return model.topic_ids_


def words_of_a_stream(number: Callable[[Any], Any]) -> Any:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.zipf(1.4, 60) % 400) for _ in range(300)]
    model = StreamingCountVectorizer(max_features=number(100), n_candidates=number(120))
    for at in range(0, 300, 50):
        model.partial_fit(texts[at : at + 50])
    return model.transform(texts)


def cube(number: Callable[[Any], Any]) -> Any:
    rng = np.random.default_rng(0)
    sets = [rng.random((4, 3)) for _ in range(5)]
    measure = Fourier(number(3), number(7))
    return LowRankDPP(measure, number(2), random_state=0, max_iter=number(1)).fit(sets).theta_


def labels(number):
    """Topics of documents of which some have a label, whose weight is a number."""
    case, y = EVERY["GuidedTopics"], [None] * N
    y[::3] = ["a"] * len(y[::3])
    model = clone(case.made).set_params(label_weight=number(7.3), seed_weight=number(1.7))
    return model.fit(case.X, y).transform(case.X)


# What wrapped around, or was rounded, in other ways than the rest.
SINGLE: dict[str, Callable[[Any], Any]] = {
    "parts of a minibatch": few("StreamingLDA", schedule__inner_batch_size=5, batch_size=12),
    "a first part": few("StreamingLDA", n_components=3, schedule__inner_batch_size=2),
    "a first part of a mixture": few(
        "StreamingMixture", n_components=30, schedule__inner_batch_size=5
    ),
    "parts for a mixture": few("StreamingMixture", schedule__inner_batch_size=5, batch_size=12),
    "factors": few("HiddenFactorsTopics", n_components=127),
    "aspects": few("AspectSentimentModel", n_aspects=100),
    "topics without seeds": few("GuidedTopics", n_unseeded=127),
    "labels": labels,
    "rates of topics": few("SVBHPP", rate="topic", rate_starts=(0.1, 0.7)),
    "births": births,
    "words of a stream": words_of_a_stream,
    "a cube": cube,
    "reviews": lambda number: (
        make_rated_reviews(
            number(100), n_components=number(3), qualitative_share=number(0.3), random_state=0
        ).X
    ),
    "coherence": lambda number: topic_coherence(
        [[0, 1], [1, 2]], COUNTS, measure="umass", smoothing=number(0.3), epsilon=number(0.003)
    ),
    "particles": lambda number: EVERY["WASTopicModel"].fitted.log_likelihood(
        SENTENCES, n_particles=number(100), random_state=number(7)
    ),
    "odds": lambda number: [
        row.odds for row in seed_pulls({"a": ["w"]}, ["w", "x"], number(5.3), base=number(0.07))
    ],
}


@pytest.mark.parametrize("kind", ["int8", "uint8", "float32", "float16", "longdouble"])
@pytest.mark.parametrize("name", SINGLE)
def test_so_they_do_in_what_is_learnt_along_a_stream(name, kind):
    as_python, as_numpy = CASTS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert bits(SINGLE[name](as_numpy)) == bits(SINGLE[name](as_python))


X = make_lda_corpus(300, 3, 300, random_state=0).X
TOPICS = np.random.default_rng(0).dirichlet(np.ones(300), size=3)


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_functions_and_callbacks_count_by_them(kind, tmp_path):
    assert [len(part.indptr) for part in iter_minibatches(X, kind(200))] == [201, 101]
    assert np.shape(relevant_words(TOPICS, n_words=kind(200))) == (3, 200)
    scores = [
        left_to_right(X[:9], TOPICS, [0.1] * 3, n_particles=n, n_resampled=n, random_state=n)
        for n in (kind(5), 5)
    ]
    assert np.array_equal(scores[0].log_likelihood, scores[1].log_likelihood)

    def watched(number: Callable[[int], Any]) -> Any:
        callbacks = [
            ScoreHistory(number(2)),
            EarlyStopping(number(255)),
            TopicTracker(n_words=number(20), n_snapshots=number(64)),
            DriftMonitor(ring=number(2), max_documents=number(50)),
            Checkpointer(tmp_path, every=number(1), keep=number(2)),
        ]
        stream(SVBLDA(3, random_state=0), iter_minibatches(X, 30), callbacks=callbacks)
        history, stopping, tracker, monitor, _ = callbacks
        kept = len(list(tmp_path.glob("*")))
        of_monitor = monitor.past.tolist(), len(monitor.documents), monitor.alarms
        return history.rows, stopping.mean, tracker.topics(), of_monitor, kept

    assert repr(watched(kind)) == repr(watched(int))


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_functions_count_further_than_numbers_of_8_bits_do(kind):
    model = SVBLDA(3, random_state=0).fit(X)
    many = documents_of(model, X, n_documents=kind(100))
    assert many == documents_of(model, X, n_documents=100)
    assert similar_documents(model, X, X[:1], n_documents=kind(3)) == similar_documents(
        model, X, X[:1], n_documents=3
    )
    table = topic_table(model, n_words=100)
    assert format_topics(table, kind(127)) == format_topics(table, 127)
    one, other = (SBP().draw_seats([n(100)] * 3, np.random.default_rng(0)) for n in (kind, int))
    assert repr(one) == repr(other)


def test_bounds_beyond_16_bits_are_bounds_of_numbers_of_16_bits():
    half = np.float16(0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = [make_lda_corpus(5, 3, 20, mean_length=n, random_state=0).X for n in (half, 0.5)]
        assert (found[0] != found[1]).nnz == 0
        given = "mean_length", "noise", "item_effect", "user_effect", "qualitative_share"
        one, other = (
            make_rated_reviews(20, **dict.fromkeys(given, n), random_state=0) for n in (half, 0.5)
        )
        assert (one.X != other.X).nnz == 0
        assert one.ratings.tobytes() == other.ratings.tobytes()
        assert WAS((half, half), half) == WAS((0.5, 0.5), 0.5)


@pytest.mark.parametrize("unit", ["D", "ns", "generic"])
def test_spans_of_time_are_no_numbers(unit):
    span = np.timedelta64(5) if unit == "generic" else np.timedelta64(5, unit)
    calls: dict[str, Callable[[], Any]] = {
        "n_components": lambda: SVBLDA(span).fit(COUNTS),
        "random_state": lambda: make_lda_corpus(5, random_state=span),
        "n_documents": lambda: make_lda_corpus(span),
        "n_words": lambda: relevant_words(TOPICS, n_words=span),
        "n_particles": lambda: left_to_right(X[:2], TOPICS, 0.1, n_particles=span),
        "tau": lambda: Decay(tau=span),
        "max_iter": lambda: Variational(max_iter=span),
    }
    for name, call in calls.items():
        with pytest.raises((TypeError, ValueError), match=f"{name} .*must be"):
            call()
