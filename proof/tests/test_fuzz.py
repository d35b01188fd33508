# SPDX-License-Identifier: BSD-3-Clause
"""Generated calls of everything public, and that each check of them can fail.

hypothesis draws which calls, shrinks what fails and remembers it; `--more N` draws N times as many.
"""

import pkgutil
import resource
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin

import streamtopics
from proof import complaints, fuzz_calls, fuzz_checks
from proof import fuzz_inputs as inputs
from proof.fuzz_arguments import Scene, arguments
from proof.fuzz_calls import (
    BrokenError,
    Estimator,
    attempt,
    call_in_place,
    places_of,
    public_functions,
)
from proof.fuzz_estimators import parameters
from tests.conventions.every import public_estimators

SEEDS = st.integers(0, 2**32 - 1)
STEPS = st.lists(
    st.tuples(st.sampled_from(["learn", "call", "pickle", "save", "clone", "set_params"]), SEEDS),
    min_size=1, max_size=6,
)  # fmt: skip
EPISODES, CALLS = 4, 6
ROOM = 8 << 30
"""Bytes of address space: 2**31 documents are refused memory at once, whatever the machine has."""
# Rooms that the documentation does not name to users.
INNER = {"base", "cli", "estimators", "families", "kernels", "reviews", "utils"}
# What refuses whatever is passed, as it has nothing to say of a drawn model.
ESTIMATORS, FUNCTIONS = sorted(public_estimators()), sorted(public_functions())


@pytest.fixture(scope="module", autouse=True)
def little_memory():
    """End nobody's processes: a call with a huge number raises a MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def drawn(test, n, pytestconfig):
    """Run a test of hypothesis, with as many examples as are asked for."""
    settings(
        max_examples=n * pytestconfig.getoption("more", 1), deadline=None,
        suppress_health_check=list(HealthCheck),
    )(test)()  # fmt: skip


@pytest.mark.parametrize("name", ESTIMATORS)
def test_calls_of_an_estimator(name, pytestconfig):
    @given(seed=SEEDS, steps=STEPS, is_far=st.booleans())
    def episode(seed, steps, is_far):
        with fuzz_calls.in_quiet(), inputs.far_out(is_far):
            kind = public_estimators()[name]
            estimator = Estimator(name, kind, parameters(np.random.default_rng(seed), kind))
            for what, of in steps if estimator.error is None else ():
                fuzz_calls.step(estimator, what, of)

    drawn(episode, EPISODES, pytestconfig)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls_of_a_function(name, pytestconfig):
    door = public_functions()[name]

    @given(seed=SEEDS, is_far=st.booleans())
    def episode(seed, is_far):
        with fuzz_calls.in_quiet(), inputs.far_out(is_far):
            rng = np.random.default_rng(seed)
            fuzz_calls.call_function(name, arguments(rng, door, Scene(door=door.__name__)), rng)

    drawn(episode, CALLS, pytestconfig)


PLACES = [(name, "", place) for name in FUNCTIONS for place in places_of(public_functions()[name])]
for name in ESTIMATORS:
    kind = public_estimators()[name]
    PLACES += [(name, "", place) for place in places_of(kind)]
    PLACES += [
        (name, method, place)
        for method in fuzz_calls.methods_of(kind)
        for place in places_of(getattr(kind, method))
    ]


@pytest.mark.parametrize(("name", "method", "place"), PLACES)
def test_each_wrong_value_in_each_place(name, method, place):
    for which in range(len(inputs.every_junk())):
        with fuzz_calls.in_quiet():
            call_in_place(name, method, place, which)


def untried(room):
    """Names of a room that are neither tried nor have a reason not to be."""
    module = import_module(f"streamtopics.{room}" if room else "streamtopics")
    names = {name for name in module.__all__ if callable(getattr(module, name))}
    tried = {name.partition(".")[2] for name in public_functions()} | set(public_estimators())
    kept = {name for name in names if not fuzz_calls.is_tried(getattr(module, name))}
    return names - tried - kept - fuzz_calls.NOT_TRIED - {"NamedCounts"}


def test_everything_public_is_tried():
    rooms = {room.name for room in pkgutil.iter_modules(streamtopics.__path__) if room.ispkg}
    assert {room: names for room in {"", *rooms} - INNER if (names := untried(room))} == {}


def test_most_functions_return_with_some_arguments():
    with fuzz_calls.in_quiet():
        assert sum(fuzz_calls.seed_of(name) is None for name in FUNCTIONS) < len(FUNCTIONS) / 10


def test_what_is_far_out_is_right():
    rng = np.random.default_rng(0)
    with inputs.far_out(True):
        found = np.concatenate([inputs.values_of(rng, 5, 6, whole=True) for _ in range(400)])
    assert (found >= 0).all()
    assert (found[found > 0].min(), found.max()) == (1e-30, 1e15)


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
        return [{"share": pd.Series([1.0, np.nan])}]


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


class BreaksRules(Right):
    def transform(self, X):
        raise SystemError("error return without exception set")


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


def called(kind, methods, monkeypatch):
    monkeypatch.setattr(complaints, "PACKAGE", Path(__file__).parent)
    estimator = Estimator(kind.__name__, kind, {})
    estimator.scene = (lambda rng: np.ones((2, 2)), ())
    for number, method in enumerate(methods * 4):
        if method in ("pickle", "clone"):
            estimator.copy(method)
        else:
            estimator.call(method, number)


@pytest.mark.parametrize("kind", [Right, Documented])
def test_what_keeps_its_promises_is_not_reported(kind, monkeypatch):
    called(kind, ["partial_fit", "transform", "pickle", "clone"], monkeypatch)


@pytest.mark.parametrize(
    ("kind", "methods", "said"),
    [
        (ChangedByErrors, ["partial_fit"], "changed n_"),
        (LearnsByReading, ["transform"], "changed n_"),
        (ReturnsNaN, ["transform"], "returned nan"),
        (LearnsNaN, ["partial_fit"], "learnt inner_ with nan"),
        (LearnsInPropertiesOnly, ["partial_fit"], "learnt mean_ with inf"),
        (Warns, ["transform"], "invalid value"),
        (Ignores, ["transform"], "ignored ValueError"),
        (BreaksRules, ["transform"], "SystemError"),
        (Spoils, ["partial_fit"], "changed what it was passed"),
        (Forgetful, ["partial_fit"], "Forgetful.partial_fit"),
        (Forgetful, ["partial_fit", "pickle"], "Forgetful"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_broken_promises_are_reported(kind, methods, said, monkeypatch):
    with pytest.raises(BrokenError, match=said):
        called(kind, methods, monkeypatch)


@pytest.mark.parametrize("change", [
    lambda model: setattr(model, "n_", 2), lambda model: model.__dict__.update(extra=[1.0]),
])  # fmt: skip
def test_models_that_are_passed_are_left_alone(change):
    with pytest.raises(BrokenError, match="changed what it was passed"):
        attempt("door", change, {"model": Right()})


@pytest.mark.parametrize("order", [1, -1])
def test_fingerprints_do_not_depend_on_which_objects_are_one(order):
    one, other = np.ones(3), np.ones(3)
    assert fuzz_checks.fingerprint([one, one]) == fuzz_checks.fingerprint([one, other])
    assert fuzz_checks.fingerprint([one]) != fuzz_checks.fingerprint([order * 2 * one])


@pytest.mark.parametrize(("n_tokens", "is_broken"), [(0, False), (30, True)])
def test_nan_of_no_tokens_is_not_allowed_of_many(n_tokens, is_broken):
    def score(X):
        """A mean; NaN if X has no tokens."""
        return np.nan

    X = np.full((2, 1), float(n_tokens))
    try:
        fuzz_calls.check_numbers("score", score, {"X": X}, np.nan)
    except BrokenError:
        assert is_broken
    else:
        assert not is_broken
