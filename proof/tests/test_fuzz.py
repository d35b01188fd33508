# SPDX-License-Identifier: BSD-3-Clause
"""Generated calls, a few hundred of them; and that each check of `proof.fuzz` can fail."""

import json
import os
import pkgutil
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

import streamtopics
from proof import complaints, fuzz, fuzz_checks, fuzz_places
from proof import fuzz_inputs as inputs
from proof.fuzz_episodes import (
    NOT_TRIED,
    EstimatorEpisode,
    Tally,
    attempt,
    check_numbers,
    is_tried,
    public_functions,
    subjects,
)
from streamtopics import StreamingBayes
from streamtopics.base import frame
from streamtopics.models import LinearRegression
from tests.conventions.every import public_estimators

ROOT = Path(__file__).parents[1]
N_CALLS = 250
# Rooms that the documentation does not name to users.
INNER = {"base", "cli", "estimators", "families", "kernels", "reviews", "utils"}


def command(*arguments):
    """The command, in a process that has used no threads yet."""
    return subprocess.run(
        [sys.executable, "-m", "proof.fuzz", *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )


def test_generated_calls_break_no_promise():
    found = command("--calls", str(N_CALLS), "--seed", "0")
    assert found.returncode == 0, found.stdout + found.stderr
    assert int(found.stdout.split()[0]) >= N_CALLS


def test_a_run_goes_on_from_its_state(tmp_path, python):
    path = tmp_path / "state.json"
    found = []
    for wanted in ("60", "120"):
        asked = ("--calls", wanted, "--only", "priors.", "--state", str(path))
        with python(["-m", "proof.fuzz", *asked]) as run:
            _, errors = run.communicate()
            assert run.wait() == 0, errors
        found.append(json.loads(path.read_text()))
    assert 60 <= found[0]["calls"] < 120 <= found[1]["calls"] < 180
    assert found[1]["next"] > found[0]["next"]


def untried(room):
    """Names of a room that are neither tried nor have a reason not to be."""
    module = import_module(f"streamtopics.{room}" if room else "streamtopics")
    names = {name for name in module.__all__ if callable(getattr(module, name))}
    tried = {name.partition(".")[2] for name in public_functions()} | set(public_estimators())
    kept = {name for name in names if not is_tried(getattr(module, name))}
    return names - tried - kept - NOT_TRIED - {"NamedCounts"}


def test_everything_public_is_tried():
    assert set(public_estimators()) <= set(subjects())
    rooms = {room.name for room in pkgutil.iter_modules(streamtopics.__path__) if room.ispkg}
    assert {room: names for room in {"", *rooms} - INNER if (names := untried(room))} == {}
    assert {"metrics.perplexity", "saving.load", "streams.DriftMonitor"} <= set(public_functions())


def test_what_is_far_out_is_right():
    rng = np.random.default_rng(0)
    with inputs.far_out(True):
        drawn = np.concatenate([inputs.values_of(rng, 5, 6, whole=True) for _ in range(400)])
    assert not inputs.FAR_OUT.get()
    found = drawn[drawn > 0]
    assert (drawn >= 0).all()
    assert (found.min(), found.max()) == (1e-30, 1e15)


def test_a_name_that_nothing_has_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        fuzz.main(["--only", "nothing of the kind"])
    assert "nothing public" in capsys.readouterr().err


# Checks that can fail


class Right(TransformerMixin, BaseEstimator):
    """Keeps all promises."""

    def fit(self, X, y=None):
        return self.partial_fit(X)

    def partial_fit(self, X, y=None):
        self.n_ = getattr(self, "n_", 0) + 1
        return self

    def transform(self, X):
        return np.zeros((3, 2))


class RefusesAfterFit(Right):
    def transform(self, X):
        raise ValueError("this one is never shown")


class ChangedByErrors(Right):
    def partial_fit(self, X, y=None):
        self.n_ = getattr(self, "n_", 0) + 1
        raise ValueError("X must be right")


class LearnsByReading(Right):
    def transform(self, X):
        self.n_ = getattr(self, "n_", 0) + 1
        return np.zeros((3, 2))


class ReturnsNaN(Right):
    def transform(self, X):
        return [{"share": np.full(3, np.nan)}]


class ReturnsInfinity(Right):
    def transform(self, X):
        return np.full(3, np.inf)


class ReturnsFrames(Right):
    def transform(self, X):
        return pd.DataFrame({"share": [np.nan]})


class Documented(Right):
    def transform(self, X):
        """NaN where there is nothing."""
        return np.full(3, np.nan)


class LearnsNaN(Right):
    def partial_fit(self, X, y=None):
        self.inner_ = {"means": [np.array([np.nan])]}
        return self


class LearnsInPropertiesOnly(Right):
    @property
    def mean_(self):
        return np.inf


class RawProperties(Right):
    @property
    def mean_(self):
        return [][0]


class ChangedBySaving(Right):
    def __getstate__(self):
        self.n_ = getattr(self, "n_", 0) + 1
        return super().__getstate__()


class Warns(Right):
    def transform(self, X):
        np.zeros(1) / np.zeros(1)
        return np.zeros((3, 2))


class Ignores(Right):
    def transform(self, X):
        class Breaks:
            def __del__(self):
                raise ValueError("nobody is told")

        Breaks()
        return np.zeros((3, 2))


class Raw(Right):
    def transform(self, X):
        return np.zeros(3)[X]


class Spoils(Right):
    def partial_fit(self, X, y=None):
        X[:] = 7.0
        return self


class Forgetful(Right):
    """Whose copies are not as good."""

    def __setstate__(self, state):
        self.__dict__.update(dict.fromkeys(state, None))

    def partial_fit(self, X, y=None):
        self.n_ = 1 if getattr(self, "n_", 0) is None else 2
        return self


@pytest.fixture
def failures_of(monkeypatch):
    """Kinds of failures of an estimator after calls of methods."""
    monkeypatch.setattr(complaints, "PACKAGE", Path(__file__).parent)

    def found(kind, *methods):
        tally = Tally()
        episode = EstimatorEpisode(0, np.random.default_rng(0), kind.__name__, kind, tally)
        episode.model, episode.draw = kind(), lambda rng: np.ones((2, 2))
        for method in methods * 8:
            if method in ("pickle", "clone"):
                episode.copy(method)
            else:
                episode.call(method)
        return {key.split(" | ")[1] for key in tally.failures}

    return found


@pytest.mark.parametrize("kind", [Right, Documented])
def test_what_keeps_its_promises_is_not_reported(kind, failures_of):
    assert failures_of(kind, "partial_fit", "transform", "pickle", "clone") == set()


@pytest.mark.parametrize(
    ("kind", "methods", "expected"),
    [
        (ChangedByErrors, ["partial_fit"], "state changed by an error"),
        (ChangedByErrors, ["fit_transform"], "state changed by an error"),
        (LearnsByReading, ["transform"], "a read learns"),
        (ReturnsNaN, ["transform"], "not finite"),
        (ReturnsInfinity, ["transform"], "not finite"),
        (ReturnsFrames, ["transform"], "not finite"),
        (LearnsNaN, ["partial_fit"], "learnt what is not finite"),
        (LearnsInPropertiesOnly, ["partial_fit"], "learnt what is not finite"),
        (RawProperties, ["partial_fit"], "raw error"),
        (ChangedBySaving, ["pickle"], "changed what it was passed"),
        (Warns, ["transform"], "complaint"),
        (Ignores, ["transform"], "complaint"),
        (Raw, ["transform"], "raw error"),
        (Spoils, ["partial_fit"], "changed what it was passed"),
        (Forgetful, ["partial_fit"], "a copy learns otherwise"),
        (Forgetful, ["partial_fit", "pickle"], "a copy is not the same"),
    ],
)
def test_broken_promises_are_reported(kind, methods, expected, failures_of):
    assert expected in failures_of(kind, *methods)


def test_what_was_fitted_stays_where_transform_fails(failures_of):
    assert "state changed by an error" not in failures_of(RefusesAfterFit, "fit_transform")


def fits_rows(door, *rows):
    """Kinds of failures of an estimator that learns from targets, a row at a time."""
    tally = Tally()
    model = StreamingBayes(LinearRegression(), batch_size=1, random_state=0)
    episode = EstimatorEpisode(0, np.random.default_rng(0), "StreamingBayes", type(model), tally)
    episode.model = model.fit([[1.0, 2.0]] * 4, [1.0] * 4)
    episode.arguments = lambda drawn_from, act: {"X": np.array(rows), "y": np.ones(len(rows))}
    episode.call(door)
    assert tally.refusals == 1
    return {key.split(" | ")[1] for key in tally.failures}, episode.model


def test_what_was_learnt_before_a_minibatch_without_an_answer_stays():
    kinds, model = fits_rows("fit", [1.0, 2.0], [1e10, 1e19], [1e19, 1e10])
    assert not kinds
    assert 0 < model.n_batch_iter_ < 3


@contextmanager
def only_what_was_learnt_stays(estimator):
    before = vars(estimator).get("_commit")
    try:
        yield
    except ValueError:
        estimator._commit, estimator.seed_ = before, -1
        raise


def test_where_the_first_minibatch_has_no_answer_nothing_stays(monkeypatch):
    rows = [[1e19, 1e19]] * 2
    assert fits_rows("partial_fit", *rows)[0] == fits_rows("fit", *rows)[0] == set()
    for instead in (nullcontext, only_what_was_learnt_stays):
        monkeypatch.setattr(frame, "unchanged_unless_learnt", instead)
        assert fits_rows("fit", *rows)[0] == {"state changed by an error"}


def test_numbers_of_a_series_are_seen():
    assert fuzz_checks.strange_numbers(pd.Series([1.0, np.inf], dtype=object)) == {"inf"}


def raises(error):
    def door():
        raise error

    return door


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("division by zero"), ValueError(""), RecursionError("too deep")]
)
def test_errors_of_other_kinds_are_reported(error):
    tally = Tally()
    attempt(3, "door", raises(error), {}, tally)
    (failure,) = tally.failures.values()
    assert failure["seed"] == 3
    assert (tally.refusals, tally.doors) == (1, {"door": (1, 0)})


def test_a_lack_of_memory_is_told_apart():
    tally = Tally()
    attempt(3, "door", raises(MemoryError()), {}, tally)
    assert (list(tally.short.values()), tally.failures) == ([3], {})


@pytest.mark.parametrize("change", [
    lambda model: setattr(model, "n_", 2), lambda model: model.__dict__.update(extra=[1.0]),
])  # fmt: skip
def test_models_that_are_passed_are_left_alone(change):
    tally = Tally()
    attempt(0, "door", change, {"model": Right()}, tally)
    assert list(tally.failures) == ["door | changed what it was passed | arguments"]


def test_an_array_is_allowed_infinity_by_what_says_so_alone():
    def silent():
        return np.array([np.inf])

    def told():
        """Return -inf."""
        return -silent()

    for door, n_failures in ((silent, 1), (told, 0)):
        tally = Tally()
        check_numbers(0, "door", door, {}, door(), tally)
        assert len(tally.failures) == n_failures


def test_a_message_of_numpy_is_not_one_of_the_package():
    for door in (lambda: np.zeros(3).reshape(2), lambda: np.array([1]).argmax(axis=4)):
        tally = Tally()
        attempt(0, "door", door, {}, tally)
        assert len(tally.failures) == 1


@pytest.mark.parametrize(("value", "strict", "n_failures"), [
    (7.0, False, 0), (None, False, 0), (7.0, True, 1), ("x", True, 1), (None, True, 1),
])  # fmt: skip
def test_python_may_say_which_type_a_function_was_passed(value, strict, n_failures):
    tally = Tally()
    attempt(0, "door", lambda X: X.shape, {"X": value}, tally, strict=strict)
    assert len(tally.failures) == n_failures


def of_two(one, other):
    return one, other


def test_python_may_say_what_a_function_of_the_caller_does_not_take_alone():
    for given, n_failures in (({"act": of_two}, 0), ({"act": len}, 1)):
        tally = Tally()
        attempt(0, "door", lambda act: of_two(1), given, tally)
        assert len(tally.failures) == n_failures


def refuses(X):
    raise RuntimeError("nobody knows why")


def test_a_place_without_a_right_call_fails(monkeypatch):
    monkeypatch.setattr(fuzz_places, "places", lambda only: [("refuses", "", "X")])
    monkeypatch.setattr(fuzz_places, "public_functions", lambda: {"refuses": refuses})
    monkeypatch.setattr(fuzz_places, "TRIES", 5)
    tally = Tally()
    fuzz_places.run_place(0, None, tally)
    assert "refuses | never returned | with 5 seeds of arguments" in tally.failures


@pytest.mark.parametrize("order", [1, -1])
def test_fingerprints_do_not_depend_on_which_objects_are_one(order):
    one, other = np.ones(3), np.ones(3)
    assert fuzz_checks.fingerprint([one, one]) == fuzz_checks.fingerprint([one, other])
    assert fuzz_checks.fingerprint([one]) != fuzz_checks.fingerprint([order * 2 * one])


@pytest.mark.parametrize(("n_tokens", "n_failures"), [(0, 0), (30, 1)])
def test_nan_of_no_tokens_is_not_allowed_of_many(n_tokens, n_failures):
    def score(X):
        """A mean; NaN if X has no tokens."""
        return np.nan

    tally, X = Tally(), np.full((2, 1), float(n_tokens))
    check_numbers(0, "score", score, {"X": X}, score(X), tally)
    assert len(tally.failures) == n_failures


# Processes


def crashing(seed, only, tally):
    tally.tell(f"door(seed={seed})")
    if seed == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    tally.count("door", returned=seed > 40)


def broken(seed, only, tally):
    raise KeyError("of the fuzzer itself")


def test_a_crash_is_reported_with_its_seed_and_the_run_goes_on():
    state = fuzz.run(50, fuzz.fresh_state(0), None, None, crashing)
    assert state["calls"] >= 50
    assert state["failures"] == {"door | died | SIGSEGV": {"seed": 2, "said": "door(seed=2)"}}
    assert "python -m proof.fuzz --episode 2" in fuzz.told_of(state)
    state["of"] = {"only": "metrics", "places": True}
    command = "python -m proof.fuzz --only 'metrics' --places --episode 2"
    assert command in fuzz.told_of(state)


def test_an_error_of_the_fuzzer_is_reported_and_ends_a_run(monkeypatch):
    monkeypatch.setattr(fuzz, "MOST_IDLE", 2)
    state = fuzz.fresh_state(0)
    with pytest.raises(RuntimeError, match="2 processes in a row made no call"):
        fuzz.run(50, state, None, None, broken)
    ((key, failure),) = state["failures"].items()
    assert "exit code 1" in key
    assert "of the fuzzer itself" in failure["said"]


def test_what_never_returned_fails_a_long_run():
    state = fuzz.fresh_state(0) | {"calls": 1000, "doors": {"a": [900, 1], "b": [100, 0]}}
    assert "never returned, of 100 calls: b" in fuzz.told_of(state)
    assert not fuzz.is_wrong(state)
    assert fuzz.is_wrong(state | {"calls": fuzz.MANY})


def test_every_value_in_every_place_of_a_function_and_an_estimator(tmp_path):
    """All of them are run in continuous integration."""
    for only in ("coherence", "SentenceVectorizer"):
        path = tmp_path / f"{only}.json"
        state = fuzz.run_places(fuzz.fresh_state(0), only, path)
        assert state["next"] == len(fuzz.places(only)) > 5
        assert state["calls"] > 250
        assert state["failures"] == {}
