# SPDX-License-Identifier: BSD-3-Clause
"""Generated calls, a few hundred of them; and that each check of `benchmarks.fuzz` can fail."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from benchmarks import fuzz, fuzz_checks
from benchmarks.fuzz_episodes import EstimatorEpisode, Tally, attempt, public_functions, subjects
from tests.conventions.every import public_estimators

ROOT = Path(__file__).parents[1]


def command(*arguments):
    """The command, in a process that has used no threads yet."""
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzz", *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )


def test_generated_calls_break_no_promise():
    found = command("--calls", "400", "--seed", "0")
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.startswith("4")


def test_a_run_goes_on_from_its_state(tmp_path):
    path = str(tmp_path / "state.json")
    only = ("--only", "priors.", "--state", path)
    first = command("--calls", "20", *only)
    again = command("--calls", "20", *only)
    numbers = [int(found.stdout.split()[0]) for found in (first, again)]
    assert numbers[1] >= numbers[0] + 20


def test_everything_public_is_tried():
    assert set(public_estimators()) <= set(subjects())
    assert {"metrics.perplexity", "text.split_sentences"} <= set(public_functions())


def test_a_name_that_nothing_has_is_refused():
    found = command("--only", "nothing of the kind")
    assert found.returncode == 2
    assert "nothing public" in found.stderr


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


class Documented(Right):
    def transform(self, X):
        """NaN where there is nothing."""
        return np.full(3, np.nan)


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


def failures_of(kind, *methods):
    """Kinds of failures of an estimator after calls of methods."""
    tally = Tally()
    episode = EstimatorEpisode(0, np.random.default_rng(0), kind.__name__, kind, tally)
    episode.model, episode.draw = kind(), lambda rng: np.ones((2, 2))
    for method in methods * 8:
        if method == "pickle":
            episode.copy(method)
        else:
            episode.call(method)
    return {key.split(" | ")[1] for key in tally.failures}


@pytest.mark.parametrize("kind", [Right, Documented])
def test_what_keeps_its_promises_is_not_reported(kind):
    assert failures_of(kind, "partial_fit", "transform", "pickle") == set()


@pytest.mark.parametrize(
    ("kind", "methods", "expected"),
    [
        (ChangedByErrors, ["partial_fit"], "state changed by an error"),
        (LearnsByReading, ["transform"], "a read learns"),
        (ReturnsNaN, ["transform"], "not finite"),
        (Raw, ["transform"], "raw error"),
        (Spoils, ["partial_fit"], "changed what it was passed"),
        (Forgetful, ["partial_fit"], "a copy learns otherwise"),
        (Forgetful, ["partial_fit", "pickle"], "a copy is not the same"),
    ],
)
def test_broken_promises_are_reported(kind, methods, expected):
    assert expected in failures_of(kind, *methods)


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
    assert tally.refusals == 1


def test_a_message_of_numpy_is_not_one_of_the_package():
    for door in (lambda: np.zeros(3).reshape(2), lambda: np.array([1]).argmax(axis=4)):
        tally = Tally()
        attempt(0, "door", door, {}, tally)
        assert len(tally.failures) == 1


@pytest.mark.parametrize("order", [1, -1])
def test_fingerprints_do_not_depend_on_which_objects_are_one(order):
    one, other = np.ones(3), np.ones(3)
    assert fuzz_checks.fingerprint([one, one]) == fuzz_checks.fingerprint([one, other])
    assert fuzz_checks.fingerprint([one]) != fuzz_checks.fingerprint([order * 2 * one])


# Processes


def crashing(seed, only, tally):
    tally.tell(f"door(seed={seed})")
    if seed == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    tally.calls = tally.episodes = 1


def broken(seed, only, tally):
    raise KeyError("of the fuzzer itself")


def test_a_crash_is_reported_with_its_seed_and_the_run_goes_on(tmp_path):
    path = tmp_path / "state.json"
    state = fuzz.run(50, fuzz.fresh_state(0), None, path, crashing)
    assert state["calls"] >= 50
    assert state["failures"] == {"door | died | SIGSEGV": {"seed": 2, "said": "door(seed=2)"}}
    assert fuzz.read_state(path, 0) == state
    assert "--episode 2" in fuzz.told_of(state)


def test_an_error_of_the_fuzzer_is_reported():
    state = fuzz.fresh_state(0)
    assert fuzz.run_chunk(range(3), None, state, broken) == 1
    ((key, failure),) = state["failures"].items()
    assert "exit code 1" in key
    assert "of the fuzzer itself" in failure["said"]
