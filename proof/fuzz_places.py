# SPDX-License-Identifier: BSD-3-Clause
"""Every value that is seldom right, in every place of everything public, one at a time.

A place is a parameter of a function, of a method or of an estimator. Of the other parameters each
has a value with which the call returned; where none was found that is a failure. What has to hold
of the calls is as in the episodes of chance, which come to a value in a place but seldom.
"""

import inspect
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from proof.fuzz_arguments import AS_LONG, Scene, arguments, rows_of
from proof.fuzz_episodes import (
    NOT_CALLED,
    EstimatorEpisode,
    Tally,
    call_function,
    in_quiet,
    public_functions,
    subjects,
)  # fmt: skip
from proof.fuzz_estimators import input_of, lasting, needed_by, short_parameters
from proof.fuzz_inputs import every_junk
from tests.conventions.every import public_estimators

# More threads would be started than there is work for; times are measured with these.
LEFT_OUT = ("n_jobs", *AS_LONG)
# Numbers of places of one seed.
SEEDS = 10**9
# Seeds of arguments that are tried until a call returns.
TRIES = 200
# What refuses whatever is passed: the rules of these forget nothing, the topics of these have no
# fixed places, and the clusters of this are always the same.
FORGET_NOTHING = (
    "BPSLDA", "GibbsOnlineEM", "GuidedTopics", "HDPGibbsOnlineEM", "HDPVarGibbs", "SVBLDA",
    "StreamingLDA", "StreamingMixture", "VariationalOnlineEM",
)  # fmt: skip
NEVER = (
    *(f"{name}.drift_report" for name in FORGET_NOTHING), "HDPGibbsOnlineEM.merge",
    "HDPVarGibbs.merge", "StreamingMixture.births_report",
)  # fmt: skip
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
    door, seed = public_functions()[name], _seed_of(name, number // SEEDS)
    _tell_of_none(number, name, seed, tally)
    rng = np.random.default_rng(seed or 0)
    given = arguments(rng, door, Scene(door=door.__name__)) | {parameter: every_junk()[which]}
    call_function(number, rng, name, door, given, tally)


def _tell_of_none(number: int, door: str, seed: int | None, tally: Tally) -> None:
    """Have it fail that there are no arguments with which a door returns, unless that is known."""
    if seed is None and door not in NEVER:
        tally.fail(number, door, "never returned", f"with {TRIES} seeds of arguments", "")


def _first(returns: Callable[[int], object], first: int) -> int | None:
    """The first of some seeds with which a call returns what is not False; None if none does."""
    for seed in range(first * TRIES, (first + 1) * TRIES):
        try:
            if returns(seed) is not False:
                return seed
        except Exception:
            # Of any kind: the values are tried with others.
            continue
    return None


@cache
def _seed_of(name: str, first: int) -> int | None:
    """A seed of arguments with which a function returns."""
    door = public_functions()[name]
    scene = Scene(door=door.__name__)
    return _first(lambda seed: door(**arguments(np.random.default_rng(seed), door, scene)), first)


@cache
def _learnt(name: str, first: int) -> tuple[bytes, int | None]:
    """An estimator that has learnt, if one did, and the seed of what it learnt from."""
    kind = public_estimators()[name]
    method = "partial_fit" if hasattr(kind, "partial_fit") else "fit"
    models = []

    def learns(seed: int) -> bool:
        model = kind(**short_parameters(kind))
        given = _arguments(seed, model, method)
        if not rows_of(given.get("X", given.get("raw_documents"))):
            return False
        check_is_fitted(getattr(model, method)(**given))
        models.append(model)
        return True

    seed = _first(learns, first)
    return pickle.dumps(models[-1] if models else kind(**short_parameters(kind))), seed


@cache
def _seed_of_method(name: str, method: str, first: int) -> int | None:
    """A seed of arguments with which a method of what has learnt returns."""
    learnt, _ = _learnt(name, first)

    def returns(seed: int) -> Any:
        model = pickle.loads(learnt)
        return getattr(model, method)(**_arguments(seed, model, method))

    return _first(returns, first)


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
        """Learn with the value as a parameter of the estimator, at once or later on.

        Later on another method is called with it, too; which one changes with the value, the place
        and the seed.
        """
        learnt, seed = _learnt(self.name, self.first)
        _tell_of_none(self.seed, self.name, seed, self.tally)
        self.seed_of_arguments = seed or 0
        value = lasting(every_junk()[self.which])
        self.model = self.kind(**short_parameters(self.kind) | {self.parameter: value})
        self.call("fit")
        self.model = pickle.loads(learnt)
        if hasattr(self.model, "partial_fit"):
            setattr(self.model, self.parameter, value)
            self.call("partial_fit")
        self.model = pickle.loads(learnt)
        setattr(self.model, self.parameter, value)
        methods = self.methods()
        method = methods[(self.seed + self.first + self.which) % len(methods)]
        self.seed_of_arguments = _seed_of_method(self.name, method, self.first) or 0
        self.call(method)

    def call_method(self, method: str) -> None:
        """Call a method of what has learnt with the value, if it has it with its parameters."""
        self.model, self.in_call = pickle.loads(_learnt(self.name, self.first)[0]), True
        if hasattr(self.model, method):
            seed = _seed_of_method(self.name, method, self.first)
            _tell_of_none(self.seed, f"{self.name}.{method}", seed, self.tally)
            self.seed_of_arguments = seed or 0
            self.call(method)

    def arguments(self, drawn_from: int, act: Callable[..., Any]) -> dict[str, Any]:
        """Arguments with which it returned, but for the value."""
        given = _arguments(self.seed_of_arguments, self.model, act.__name__)
        if self.in_call:
            given[self.parameter] = every_junk()[self.which]
        return given
