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

from streamtopics import SVBLDA
from streamtopics.datasets import iter_minibatches, make_lda_corpus
from streamtopics.distributed.schedule import Schedule
from streamtopics.local import Gibbs
from streamtopics.metrics import left_to_right, relevant_words
from streamtopics.streams import (
    Checkpointer,
    DriftMonitor,
    EarlyStopping,
    ScoreHistory,
    TimeSplit,
    TopicTracker,
    stream,
)  # fmt: skip
from streamtopics.updates import Decay, ScaledDecay
from tests.conventions.every import METHODS, Case
from tests.conventions.test_every_estimator import bits

# In these 1.0 is a share of the documents, and 1 a number of them.
SHARES = {"min_df", "max_df", "n_neighbors"}


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
    model.set_params(**{k: cast(v, one) for k, v in given.items() if k not in SHARES})
    with warnings.catch_warnings():
        # Integers that wrap around.
        warnings.simplefilter("error", RuntimeWarning)
        case.taught(model, "fit")
        found = model.transform(case.X, **case.given) if case.y is None else model.components_
        public = sorted(k for k in vars(model) if k.endswith("_") and not k.startswith("_"))
        arrays = [getattr(model, k) for k in public]
    return bits(found) + [a.tobytes() for a in arrays if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("kind", CASTS)
@pytest.mark.parametrize("name", METHODS)
def test_they_count_as_those_of_python(name, kind):
    as_python, as_numpy = CASTS[kind]
    assert learnt(METHODS[name], as_numpy) == learnt(METHODS[name], as_python)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32])
def test_a_step_size_has_any_power(kind):
    assert Decay(kind(1), kind(200))(100) == Decay(1, 200)(100)
    assert ScaledDecay(kind(2), kind(1))(3) == 0.5


def test_fields_of_records_are_numbers_of_python():
    step = Gibbs(np.uint8(5), np.int8(2))
    assert [type(step.n_sweeps), type(step.n_averaged)] == [int, int]
    assert Gibbs(np.uint8(5)).averaged == 2
    assert type(Decay(np.float32(0.5)).kappa) is float
    assert Schedule(1, np.uint8(1), batch_size=np.uint8(200)).learns_here(0)


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
    times = np.repeat(np.arange(251), 2)
    assert len(list(TimeSplit(kind(2), test_size=kind(125)).split(times, groups=times))) == 2

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
