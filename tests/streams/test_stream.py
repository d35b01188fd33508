# SPDX-License-Identifier: BSD-3-Clause
"""A stream of minibatches through a model, and the callbacks along it."""

import pickle
import signal
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.pipeline import Pipeline

from streamtopics import (
    SVBLDA,
    AspectSentimentModel,
    DPPSummarizer,
    GibbsOnlineEM,
    HDPGibbsOnlineEM,
    HiddenFactorsTopics,
    LowRankDPP,
    MultiViewLDA,
    RatingLDA,
    StreamingBayes,
    StreamingLDA,
    StreamingMixture,
    SupervisedLDA,
    WASTopicModel,
)
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.models import BetaBinomial
from streamtopics.streams import DriftMonitor, ScoreHistory, TimedBatch, stream
from streamtopics.streams.batches import seen_by
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import PowerPrior
from tests.interrupts import alarm_after
from tests.reference.dpp_sets import make_dpp_sets

RNG = np.random.default_rng(0)
SEED = {"random_state": 0}
COUNTS = [RNG.poisson(1.0, (30, 12)).astype(float) for _ in range(4)]
SENTENCES = [[X[i : i + 3] for i in range(0, 30, 3)] for X in COUNTS]
NODES = [np.minimum(X, 1.0)[:, :2] for X in COUNTS]
WORDS = np.array([letter * 3 for letter in "abcdefghijkl"])
TEXTS = [[" ".join(np.repeat(WORDS, row.astype(int))) for row in X] for X in COUNTS]
LABELS = {"y": np.array(["a", "b"] * 15), "classes": ["a", "b"]}
RATINGS = {"y": RNG.uniform(1, 5, 30)}
REVIEWS = {**RATINGS, "items": RNG.integers(0, 5, 30), "users": RNG.integers(0, 5, 30)}
DRAWN = list(make_dpp_sets(120, n_features=12, n_components=3, noise=0.05, random_state=1).sets)
ITEMS = np.array([np.isin(np.arange(12), drawn) * 1.0 for drawn in DRAWN])
SETS = [ITEMS[i : i + 30] for i in range(0, 120, 30)]


def pipeline():
    vectorizer = StreamingCountVectorizer(max_features=8)
    return StreamingPipeline([("words", vectorizer), ("topics", SVBLDA(2, **SEED))])


CASES = {
    "svb": (SVBLDA(3, **SEED), COUNTS, {}),
    "gibbs": (GibbsOnlineEM(3, **SEED), COUNTS, {}),
    "forgetting": (StreamingLDA(3, update=PowerPrior(0.9), **SEED), COUNTS, {}),
    "default": (StreamingLDA(3, schedule=Schedule(inner_batch_size=10), **SEED), COUNTS, {}),
    "mixture": (StreamingMixture(3, **SEED), COUNTS, {}),
    "hdp": (HDPGibbsOnlineEM(2, n_sweeps=3, **SEED), COUNTS, {}),
    "classes": (MultiViewLDA(1, 1, **SEED), COUNTS, LABELS),
    "sentiment": (AspectSentimentModel(1, **SEED), SENTENCES, {}),
    "sentences": (WASTopicModel(3, n_sweeps=3, n_burn_in=1, **SEED), SENTENCES, {}),
    "nodes": (StreamingBayes(BetaBinomial(), **SEED), NODES, {}),
    "ratings": (RatingLDA(2, **SEED), COUNTS, REVIEWS),
    "supervised": (SupervisedLDA(2, **SEED), COUNTS, RATINGS),
    "factors": (HiddenFactorsTopics(2, **SEED), COUNTS, REVIEWS),
    "sets": (LowRankDPP("items", 3, **SEED), SETS, {}),
    "texts": (pipeline(), TEXTS, {}),
}
each = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def unpack(case):
    model, batches, data = case
    return clone(model), batches, data


def scoring(model, data):
    """The data that the score takes."""
    return {name: data[name] for name in data if name != "classes"}


def bits(model):
    return pickle.dumps(model)


class Notes:
    """Writes down what it is told."""

    def __init__(self, ends_at=None):
        self.infos, self.ends_at, self.n_finished = [], ends_at, 0

    def on_batch(self, model, info):
        self.infos.append(info)
        return info.batch == self.ends_at

    def finish(self, model):
        self.n_finished += 1


def corpus(n_batches=6, size=50):
    X = make_lda_corpus(n_documents=n_batches * size, n_features=80, random_state=0).X
    return [X[i : i + size] for i in range(0, X.shape[0], size)]


@each
def test_a_stream_is_a_loop_of_partial_fit_bit_for_bit(case):
    model, batches, data = unpack(case)
    loop = clone(model)
    for X in batches:
        loop.partial_fit(X, **data)
    told = [TimedBatch(X, data=data) for X in batches] if data else batches
    assert stream(model, iter(told)) is model
    scored = stream(clone(model), told, callbacks=[Notes()], score=True)
    assert bits(model) == bits(loop) == bits(scored)


@each
def test_the_score_is_that_of_the_model_before_it_learns(case):
    model, batches, data = unpack(case)
    loop, expected = clone(model), [np.nan]
    for X, ahead in pairwise(batches):
        loop.partial_fit(X, **data)
        expected.append(loop.score(ahead, **scoring(loop, data)))
    notes = Notes()
    stream(model, [TimedBatch(X, data=data) for X in batches], callbacks=[notes], score=True)
    assert np.isfinite(expected[1:]).all()
    np.testing.assert_array_equal([info.score for info in notes.infos], expected)


@each
def test_a_minibatch_without_documents_changes_nothing(case):
    model, batches, data = unpack(case)
    stream(model, [TimedBatch(batches[0], data=data)])
    before, notes = bits(model), Notes()
    none = {name: value if name == "classes" else value[:0] for name, value in data.items()}
    stream(model, [TimedBatch(batches[0][:0], data=none)], callbacks=[notes], score=True)
    assert notes.infos[0].n_documents == 0
    assert np.isnan(notes.infos[0].score)
    assert bits(model) == before


@each
def test_counters_are_those_of_the_minibatch_and_of_the_model(case):
    model, batches, data = unpack(case)
    notes = Notes()
    stream(model, [TimedBatch(X, data=data) for X in batches], callbacks=[notes])
    sizes = [len(X) for X in batches]
    tokens = [np.sum(COUNTS[i]) for i in range(4)]
    assert [info.batch for info in notes.infos] == [1, 2, 3, 4]
    assert [info.n_documents for info in notes.infos] == sizes
    assert [info.n_documents_seen for info in notes.infos] == list(np.cumsum(sizes))
    found = [info.n_tokens for info in notes.infos]
    if isinstance(model, StreamingBayes | LowRankDPP):
        assert np.isnan(found).all()
    elif isinstance(model, StreamingPipeline):
        known = np.array(found) / tokens
        assert (known <= 1).all()
        assert known[0] < 1, "there are more words than columns"
    else:
        assert found == tokens
        assert [info.n_tokens_seen for info in notes.infos] == list(np.cumsum(tokens))
    assert all(info.X is X for info, X in zip(notes.infos, batches, strict=True))
    assert all(np.isnan(info.score) for info in notes.infos)


def test_a_summarizer_learns_too_and_has_no_score():
    model, notes = DPPSummarizer(2), Notes()
    texts = [["One here. Two there. Three more.", "A word. Another word."], ["Again one. More."]]
    stream(model, texts, callbacks=[notes])
    assert [info.n_documents for info in notes.infos] == [2, 1]
    assert np.isnan(notes.infos[-1].n_tokens_seen)
    with pytest.raises(AttributeError, match="no attribute 'score'"):
        stream(model, texts, score=True)
    assert model.n_documents_seen_ == 3


def test_texts_that_can_be_read_once_are_scored_and_learnt():
    model, notes = pipeline(), Notes()
    stream(model, ((text for text in batch) for batch in TEXTS), callbacks=[notes], score=True)
    assert bits(model) == bits(stream(pipeline(), TEXTS))
    assert np.isfinite(notes.infos[-1].score)


def test_times_reach_callbacks_and_the_models_that_take_them():
    times = ["mon", "tue", "wed", "thu"]
    notes, model = Notes(), StreamingLDA(2, update=PowerPrior(0.9), **SEED)
    stream(model, map(TimedBatch, COUNTS, times), callbacks=[notes])
    assert [info.time for info in notes.infos] == times
    assert [record.time for record in model.drift_] == times
    notes, takes_none = Notes(), WASTopicModel(2, n_sweeps=2, n_burn_in=1, **SEED)
    stream(takes_none, [TimedBatch(SENTENCES[0], 7)], callbacks=[notes])
    assert notes.infos[0].time == 7
    last = StreamingPipeline([("words", StreamingCountVectorizer(max_features=20)), ("lda", model)])
    last = stream(clone(last), map(TimedBatch, TEXTS, times))
    assert [record.time for record in last[-1].drift_] == times


def test_a_fitted_model_learns_on_and_counts_on():
    batches, notes = corpus(), Notes()
    model = stream(SVBLDA(3, **SEED), batches[:2])
    stream(model, batches[2:], callbacks=[notes], score=True)
    assert [info.batch for info in notes.infos] == [1, 2, 3, 4]
    assert notes.infos[0].n_documents_seen == 150
    assert np.isfinite(notes.infos[0].score)
    assert seen_by(model).n_documents == 300


def test_what_comes_with_a_minibatch_is_known_or_refused_by_name():
    model = SVBLDA(2, **SEED)
    with pytest.raises(TypeError, match="unexpected keyword argument 'users'"):
        stream(model, [TimedBatch(COUNTS[0], data={"users": [1]})])
    with pytest.raises(TypeError, match="DriftMonitor has the model learn from X alone"):
        stream(model, [TimedBatch(COUNTS[0], data={"y": None})], callbacks=[DriftMonitor()])
    assert seen_by(model) == (0, 0.0)


def test_minibatches_that_are_skipped_are_not_looked_at():
    model = SVBLDA(2, **SEED)
    stream(model, [object(), "no minibatch", *COUNTS], skip=2)
    stream(model, [object()] * 4, skip=4)
    assert bits(model) == bits(stream(SVBLDA(2, **SEED), COUNTS))


def test_true_ends_the_stream_when_all_were_called():
    first, last = Notes(ends_at=2), Notes()
    left = iter(corpus())
    model = stream(SVBLDA(2, **SEED), left, callbacks=[first, last])
    assert [len(notes.infos) for notes in (first, last)] == [2, 2]
    assert [notes.n_finished for notes in (first, last)] == [1, 1]
    assert model.n_batch_iter_ == 2
    assert len(list(left)) == 4, "the others were not read"


@pytest.mark.parametrize(("verdict", "n"), [(np.True_, 1), (True, 1), (3, len(COUNTS))])
def test_truth_values_alone_end_it(verdict, n):
    model = stream(SVBLDA(2, **SEED), COUNTS, callbacks=[lambda model, info: verdict])
    assert model.n_batch_iter_ == n


def test_callbacks_are_called_in_order():
    calls = []

    def write(name, model, info):
        calls.append((name, info.batch, model.n_batch_iter_))

    stream(SVBLDA(2, **SEED), COUNTS[:2], callbacks=[partial(write, "a"), partial(write, "b")])
    assert calls == [("a", 1, 1), ("b", 1, 1), ("a", 2, 2), ("b", 2, 2)]


def test_an_empty_stream_finishes_and_calls_nothing_else():
    notes = Notes()
    model = stream(SVBLDA(2), [], callbacks=[notes], score=True)
    assert (notes.infos, notes.n_finished) == ([], 1)
    assert "_commit" not in vars(model)


def test_callbacks_wait_for_a_model_that_cannot_start_yet():
    model, notes = StreamingLDA(2, **SEED), Notes()
    stream(model, [np.zeros((0, 12)), *COUNTS], callbacks=[notes], score=True)
    assert [info.batch for info in notes.infos] == [2, 3, 4, 5]
    assert [info.n_documents_seen for info in notes.infos] == [30, 60, 90, 120]


def test_one_callback_may_learn_in_the_place_of_partial_fit():
    batches, monitor, by_hand = corpus(), DriftMonitor(), DriftMonitor()
    notes, model, loop = Notes(), GibbsOnlineEM(3, **SEED), GibbsOnlineEM(3, **SEED)
    stream(model, batches, callbacks=[notes, monitor])
    for X in batches:
        by_hand.learn(loop, X)
    by_hand.finish(loop)
    assert bits(model) == bits(loop)
    assert repr(monitor.tests) == repr(by_hand.tests) != "()"
    # A fifth of each minibatch but the first is held back.
    assert [info.n_documents_seen for info in notes.infos] == [50, 90, 130, 170, 210, 250]
    assert model.n_documents_seen_ == 300


class Fails(Notes):
    """Fails at a minibatch, or in the end."""

    def __init__(self, at=None, finish=False, error=ValueError):
        super().__init__()
        self.at, self.fails, self.error = at, finish, error

    def on_batch(self, model, info):
        super().on_batch(model, info)
        if info.batch == self.at:
            raise self.error("on_batch failed")

    def finish(self, model):
        super().finish(model)
        if self.fails:
            raise self.error(f"finish of {self.at} failed")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_everything_finishes_and_the_first_error_is_raised(error):
    callbacks = [Notes(), Fails(2, True, error), Fails(None, True), Notes()]
    model = SVBLDA(2, **SEED)
    with pytest.raises(error, match="on_batch failed") as caught:
        stream(model, COUNTS, callbacks=callbacks)
    assert [callback.n_finished for callback in callbacks] == [1, 1, 1, 1]
    assert [len(callback.infos) for callback in callbacks] == [2, 2, 1, 1]
    assert len(caught.value.__notes__) == 2
    assert "Then Fails.finish failed: ValueError('finish of None" in caught.value.__notes__[1]
    assert bits(model) == bits(stream(SVBLDA(2, **SEED), COUNTS[:2]))


def test_where_only_finishes_fail_the_first_is_raised():
    callbacks = [Fails(None, True, KeyError), Fails(None, True), Notes()]
    with pytest.raises(KeyError, match="finish of None") as caught:
        stream(SVBLDA(2, **SEED), COUNTS, callbacks=callbacks)
    assert callbacks[-1].n_finished == 1
    assert ["ValueError" in note for note in caught.value.__notes__] == [True]


def test_a_minibatch_that_fails_is_named_and_not_learnt():
    model, notes = SVBLDA(2, **SEED), Notes()
    with pytest.raises(ValueError, match="Negative") as caught:
        stream(model, [COUNTS[0], -COUNTS[1], COUNTS[2]], callbacks=[notes])
    assert caught.value.__notes__ == ["This was minibatch 2 of the stream."]
    assert notes.n_finished == 1
    assert bits(model) == bits(stream(SVBLDA(2, **SEED), COUNTS[:1]))


def test_a_source_that_fails_finishes_too():
    def source():
        yield COUNTS[0]
        raise OSError("gone")

    notes = Notes()
    with pytest.raises(OSError, match="gone"):
        stream(SVBLDA(2, **SEED), source(), callbacks=[notes])
    assert (len(notes.infos), notes.n_finished) == (1, 1)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs the timer of POSIX")
def test_an_interrupted_stream_has_learnt_whole_minibatches():
    batches = corpus(8)
    states = [bits(clone(SVBLDA(3, **SEED)))]
    stream(SVBLDA(3, **SEED), batches, callbacks=[lambda model, info: states.append(bits(model))])
    interrupted = 0
    for k in range(60):
        model, notes = SVBLDA(3, **SEED), Notes()
        try:
            with alarm_after(2e-4 * (k + 1)):
                stream(model, batches, callbacks=[notes], score=True)
        except KeyboardInterrupt:
            interrupted += 1
            assert notes.n_finished <= 1
        n = seen_by(model).n_documents // 50
        assert bits(model) == states[n]
        assert n - len(notes.infos) in (0, 1)
        stream(model, batches, skip=n)
        assert bits(model) == states[-1]
    assert interrupted > 10


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"batches": COUNTS[0]}, TypeError, "cut the ndarray by .*iter_minibatches"),
        ({"batches": "text"}, TypeError, "must be minibatches; cut the str"),
        ({"skip": -1}, ValueError, "skip must be at least 0; got -1"),
        ({"skip": 5}, ValueError, "skip is 5, but batches has 4 minibatches"),
        ({"callbacks": ScoreHistory()}, TypeError, "not iterable"),
        ({"callbacks": [ScoreHistory]}, TypeError, r"such as ScoreHistory\(\)"),
        ({"callbacks": [3]}, TypeError, "a function of model and info.*got 3"),
        ({"callbacks": [DriftMonitor()] * 2}, TypeError, r"learn.*\['DriftMonitor', 'DriftMon"),
        ({"model": Pipeline([("lda", SVBLDA())])}, TypeError, "model must be an estimator"),
        ({"model": LatentDirichletAllocation()}, TypeError, "model must be an estimator"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_learnt(arguments, error, message):
    model = SVBLDA(2, **SEED)
    with pytest.raises(error, match=message):
        stream(**{"model": model, "batches": COUNTS} | arguments)
    assert "_commit" not in vars(model)


def test_minibatches_may_be_numbered():
    """As the data sets of other libraries are, which iter takes without `__iter__`."""

    class Numbered:
        def __getitem__(self, number):
            return [np.eye(5), np.ones((3, 5))][number]

    model = stream(SVBLDA(3, random_state=0), Numbered())
    assert model.n_batch_iter_ == 2


def test_scores_weigh_whole_minibatches_beside_a_monitor():
    batches, history = np.random.default_rng(0).poisson(1.0, (8, 60, 20)), ScoreHistory()
    stream(GibbsOnlineEM(2), [*batches], callbacks=[history, DriftMonitor()])
    assert [(one.n_documents, one.n_tokens) for one in history.rows] == [
        (60, X.sum()) for X in batches
    ]
