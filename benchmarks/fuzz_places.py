# SPDX-License-Identifier: BSD-3-Clause
"""Every value that is seldom right, in every place of everything public, one at a time.

A place is a parameter of a function, of a method or of an estimator. Of the other parameters each
has a value with which the call returned, if one was found. What has to hold of the calls is as in
the episodes of chance, which come to a value in a place but seldom.
"""

import inspect
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.fuzz_arguments import AS_LONG, Scene, arguments
from benchmarks.fuzz_episodes import (
    NOT_CALLED,
    TEACH,
    EstimatorEpisode,
    Tally,
    call_function,
    in_quiet,
    public_functions,
    subjects,
)  # fmt: skip
from benchmarks.fuzz_estimators import input_of, lasting, needed_by, short_parameters
from benchmarks.fuzz_inputs import every_junk
from tests.conventions.every import public_estimators

# More threads would be started than there is work for; times are measured with these.
LEFT_OUT = ("n_jobs", *AS_LONG)
# Numbers of places of one seed.
SEEDS = 10**9
# Seeds of arguments that are tried until a call returns.
TRIES = 40
# A subject, its method, if it is an estimator, or "" for its making, and a parameter.
Place = tuple[str, str, str]


@cache
def places(only: str | None = None) -> list[Place]:
    """All of them, of what has this in its name."""
    found = []
    for name in subjects(only):
        if name not in public_estimators():
            found += [(name, "", parameter) for parameter in _parameters(public_functions()[name])]
            continue
        kind = public_estimators()[name]
        found += [(name, "", parameter) for parameter in _parameters(kind)]
        for method in dir(kind):
            act = getattr(kind, method)
            if callable(act) and not method.startswith(("_", *NOT_CALLED)):
                found += [(name, method, parameter) for parameter in _parameters(act)]
    return found


def run_place(number: int, only: str | None, tally: Tally) -> None:
    """All of the values in a place; the number is of the place, after those of other seeds."""
    name, method, parameter = places(only)[number % SEEDS]
    with in_quiet():
        for which in range(len(every_junk())):
            if name not in public_estimators():
                _call_function(number, name, parameter, which, tally)
                continue
            episode = Placed(number, name, parameter, which, tally)
            if method:
                episode.call_method(method)
            else:
                episode.make()


def _parameters(door: Callable[..., Any]) -> list[str]:
    return [
        name
        for name, parameter in inspect.signature(door).parameters.items()
        if name not in ("self", *LEFT_OUT)
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def _call_function(number: int, name: str, parameter: str, which: int, tally: Tally) -> None:
    door = public_functions()[name]
    rng = np.random.default_rng(_seed_of(name, number // SEEDS))
    given = arguments(rng, door, Scene(door=door.__name__)) | {parameter: every_junk()[which]}
    call_function(number, rng, name, door, given, tally)


@cache
def _seed_of(name: str, first: int) -> int:
    """A seed of arguments with which a function returns, or the first."""
    door, first = public_functions()[name], first * TRIES
    if name in TEACH:
        return first
    for seed in range(first, first + TRIES):
        try:
            door(**arguments(np.random.default_rng(seed), door, Scene(door=door.__name__)))
        except Exception:
            # Of any kind: the values are tried with others.
            continue
        return seed
    return first


@cache
def _learnt(name: str, first: int) -> tuple[bytes, int]:
    """An estimator that has learnt, if one did, and the seed of what it learnt from."""
    kind, first = public_estimators()[name], first * TRIES
    method = "partial_fit" if hasattr(kind, "partial_fit") else "fit"
    for seed in range(first, first + TRIES):
        model = kind(**short_parameters(kind))
        try:
            getattr(model, method)(**_arguments(seed, model, method))
        except Exception:
            continue
        return pickle.dumps(model), seed
    return pickle.dumps(kind(**short_parameters(kind))), first


@cache
def _seed_of_method(name: str, method: str, first: int) -> int:
    """A seed of arguments with which a method of what has learnt returns, or the first."""
    learnt, first = _learnt(name, first)[0], first * TRIES
    for seed in range(first, first + TRIES):
        model = pickle.loads(learnt)
        try:
            getattr(model, method)(**_arguments(seed, model, method))
        except Exception:
            continue
        return seed
    return first


def _arguments(seed: int, model: Any, method: str) -> dict[str, Any]:
    kind = type(model)
    scene = Scene(input_of(kind), model, needed_by(kind), method)
    return arguments(np.random.default_rng(seed), getattr(model, method), scene)


class Placed(EstimatorEpisode):
    """Calls of an estimator with one value in one place."""

    def __init__(self, number: int, name: str, parameter: str, which: int, tally: Tally) -> None:
        kind = public_estimators()[name]
        super().__init__(number, np.random.default_rng(which), name, kind, tally)
        self.parameter, self.which, self.first = parameter, which, number // SEEDS
        self.seed_of_arguments, self.in_call = 0, False

    def make(self) -> None:
        """Learn with the value as a parameter of the estimator, at once or later on."""
        learnt, self.seed_of_arguments = _learnt(self.name, self.first)
        value = lasting(every_junk()[self.which])
        self.model = self.kind(**short_parameters(self.kind) | {self.parameter: value})
        self.call("fit")
        self.model = pickle.loads(learnt)
        if hasattr(self.model, "partial_fit"):
            setattr(self.model, self.parameter, value)
            self.call("partial_fit")

    def call_method(self, method: str) -> None:
        """Call a method of what has learnt with the value, if it has it with its parameters."""
        self.model, self.in_call = pickle.loads(_learnt(self.name, self.first)[0]), True
        if hasattr(self.model, method):
            self.seed_of_arguments = _seed_of_method(self.name, method, self.first)
            self.call(method)

    def arguments(self, drawn_from: int, act: Callable[..., Any]) -> dict[str, Any]:
        """Arguments with which it returned, but for the value."""
        given = _arguments(self.seed_of_arguments, self.model, act.__name__)
        if self.in_call:
            given[self.parameter] = every_junk()[self.which]
        return given
