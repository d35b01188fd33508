# SPDX-License-Identifier: BSD-3-Clause
"""Calls of everything public, each of which is checked.

Whatever is passed, a call returns or raises an exception, in anybody's words, and then: what was
passed is as before; an estimator that raised, or that was only read, is as before; results and what
was learnt are finite unless the documentation says otherwise; nothing was warned of by NumPy or
ignored by Python; and a copy that learns the same is the same. `BrokenError` says what is not so.
`proof/tests/test_fuzz.py` draws calls with hypothesis, and tries each of some fifty values that are
seldom right in each place there is.
"""

import inspect
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from proof import fuzz_checks as checks
from proof.complaints import complaints
from proof.copies import pickled, saved
from proof.fuzz_arguments import AS_LONG, PLACES, Scene, arguments, rows_of
from proof.fuzz_estimators import input_of, lasting, needed_by, parameters, short_parameters
from proof.fuzz_inputs import chance, every_junk, pick
from streamtopics.posteriors import TOO_EXTREME
from streamtopics.text import NamedCounts
from tests.conventions.every import public_estimators

LEARNS = (
    "fit", "fit_transform", "fit_predict", "partial_fit", "partial_fit_transform", "merge",
    "add_documents", "finish", "forget_words",
)  # fmt: skip
# Pass on what they were passed, whatever it is.
PASS_ON = (
    "datasets.iter_minibatches", "StreamingPipeline.inverse_transform",
    "StreamingCountVectorizer.get_stop_words",
)  # fmt: skip
# Have a model, a vectorizer or callbacks learn.
TEACH = ("streams.", "distributed.", "editing.")
# Methods of scikit-learn that fit, and then transform or predict: what was fitted stays.
TWO_CALLS = ("fit_transform", "fit_predict")
# What `fit` says of a minibatch that has no finite answer: those before it stay learnt.
NO_ANSWER = (TOO_EXTREME, " found no solution: ")
# Of settings there are checks of scikit-learn; presets make another estimator.
NOT_CALLED = ("set_", "get_params", "get_metadata_routing", "preset", "build_", "decode")
ROOMS = (
    "datasets", "distributed", "dpp", "editing", "inspection", "local", "metrics", "models",
    "posteriors", "priors", "report", "saving", "streams", "text", "updates", "was",
)  # fmt: skip
# What scorers and callbacks are called by, once they are made.
CALLED = ("__call__", "on_batch", "learn", "finish", "split")
# Endless, or of the whole environment; made by functions alone; tried with estimators.
NOT_TRIED = {
    "Follower", "follow", "load_docstrings", "Skipped", "PartitionError",
    "ReadingError", "page", "DensePosterior", "IterateAverage", "Stacked", "TopicPosterior",
    "blend_together", "Franchise", "PointSets",
}  # fmt: skip
# Seeds of arguments that are tried until a call returns.
TRIES = 60


class BrokenError(AssertionError):
    """What should hold of a call does not."""


# What there is


@cache
def public_functions() -> dict[str, Callable[..., Any]]:
    """Functions, scorers, callbacks and other records that check what they hold, by room."""
    found = {"text.NamedCounts.of": NamedCounts.of}
    for room in ROOMS:
        module = import_module(f"streamtopics.{room}")
        for name in module.__all__:
            door = getattr(module, name)
            if name not in NOT_TRIED and name not in public_estimators() and is_tried(door):
                found[f"{room}.{name}"] = door
    return found


def is_tried(door: Any) -> bool:
    """Whether it is a function, or a class that checks something or can be called."""
    if not isinstance(door, type):
        return inspect.isfunction(door)
    if getattr(door, "_is_protocol", False) or issubclass(door, Exception):
        return False
    checks_itself = "__init__" in vars(door) and not is_dataclass(door)
    return hasattr(door, "__post_init__") or checks_itself or door.__name__.endswith("Scorer")


@cache
def methods_of(kind: type) -> list[str]:
    """Public methods of a class; attributes of what was learnt are none."""
    names = [name for name in dir(kind) if not name.startswith(("_", *NOT_CALLED))]
    return [name for name in names if callable(getattr(kind, name, None))]


@contextmanager
def in_quiet() -> Iterator[None]:
    """A folder of its own, without warnings."""
    with (
        TemporaryDirectory() as folder,
        chdir(folder),
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


# One call


def attempt(
    door: str, act: Callable[..., Any], given: dict[str, Any], learners: tuple[str, ...] = ()
) -> tuple[Any, BaseException | None]:
    """Make a call; what it returned, and what it raised. Arguments that learn may change."""
    kept = {name: value for name, value in given.items() if name not in learners}
    before, found, error = [*map(checks.print_of, kept.values())], None, None
    with complaints() as heard:
        try:
            found = act(**given)
            if isinstance(found, Iterator):
                found = list(found)
        except Exception as raised:
            error = raised
    said = f"{door}({', '.join(f'{name}={brief(value)}' for name, value in given.items())})"
    if heard:
        raise BrokenError(f"{said}: {heard}")
    if isinstance(error, checks.NEVER):
        raise BrokenError(f"{said}: {type(error).__name__} at {checks.place_of(error)}") from error
    if [*map(checks.print_of, kept.values())] != before:
        raise BrokenError(f"{said} changed what it was passed")
    return found, error


def check_numbers(
    door: str, act: Any, given: dict[str, Any], found: Any,
    learnt: frozenset[str] | set[str] = frozenset(),
) -> None:  # fmt: skip
    """Results are finite unless the documentation says otherwise, or arguments beside X are not.

    Nor need they be if what was `learnt` is not.
    """
    beside = {name: value for name, value in given.items() if name not in PLACES}
    X = next((given[name] for name in PLACES if name in given), None)
    if isinstance(given.get("estimator"), Pipeline):
        # It reads texts, which no numbers are.
        X = None
    strange = checks.strange_numbers(found) - checks.allowed_by(act, found, X)
    strange -= checks.strange_numbers(beside) | learnt
    if strange and door not in PASS_ON:
        raise BrokenError(f"{door} returned {' and '.join(sorted(strange))}: {brief(found)}")


def brief(value: Any) -> str:
    """A value in few words."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape):
        return f"<{type(value).__name__} {value.shape} {value.dtype}>"
    shown = " ".join(repr(value).split())
    return shown if len(shown) < 120 else f"{shown[:120]}..."


def call_function(name: str, given: dict[str, Any], rng: np.random.Generator) -> bool:
    """One call of a function, or of a record and what can be called of it; whether it returned."""
    door = public_functions()[name]
    learners = ("model", "vectorizer", "callbacks") if name.startswith(TEACH) else ()
    found, error = attempt(name, door, given, learners)
    if error is None and not isinstance(door, type):
        check_numbers(name, door, given, found)
    elif error is None and name.startswith(("metrics.", "streams.")):
        for method in CALLED:
            if hasattr(found, method):
                act = found if method == "__call__" else getattr(found, method)
                more = arguments(rng, act, Scene(door=type(found).__name__))
                answer, raised = attempt(f"{name}.{method}", act, more, ("model",))
                if raised is None:
                    check_numbers(f"{name}.{method}", act, more, answer)
    return error is None


# Calls of an estimator


class Estimator:
    """An estimator whose calls are checked.

    Parameters
    ----------
    name : str
    kind : type
    given : dict
        Parameters.
    """

    def __init__(self, name: str, kind: type, given: dict[str, Any]) -> None:
        self.name, self.kind = name, kind
        self.model, self.error = attempt(name, kind, given)
        self.scene: tuple[Any, tuple[str, ...]] = (input_of(kind), needed_by(kind))
        # What is not finite of what was passed, beside X.
        self.strange: set[str] = set()

    def methods(self) -> list[str]:
        """Names of public methods that are there with these parameters."""
        found = []
        for name in methods_of(self.kind):
            with suppress(ValueError, TypeError, AttributeError):
                getattr(self.model, name)
                found.append(name)
        return found

    def arguments(self, seed: int, method: str, model: Any = None) -> dict[str, Any]:
        """Arguments of a method, the same for the same seed."""
        model = self.model if model is None else model
        X, needs = self.scene
        scene = Scene(X, model, needs, method)
        return arguments(np.random.default_rng(seed), getattr(model, method), scene)

    def call(self, method: str, seed: int, more: dict[str, Any] | None = None) -> bool:
        """One call of a method and what is asked of it; whether it returned."""
        door, act = f"{self.name}.{method}", getattr(self.model, method)
        given = self.arguments(seed, method) | (more or {})
        beside = [value for name, value in given.items() if name not in PLACES]
        self.strange |= checks.strange_numbers(beside)
        before = pickle.dumps(self.model)
        found, error = attempt(door, act, given)
        if error is None and method in LEARNS:
            if found is not self.model:
                check_numbers(door, act, given, found, self.strange)
            self.check_finite(door)
            if not more:
                self.check_copy(door, method, before, seed)
        elif error is None or not self._may_have_learnt(method, error):
            self.check_same(door, before)
            if error is None:
                check_numbers(door, act, given, found, self.strange)
        return error is None

    def _may_have_learnt(self, method: str, error: BaseException) -> bool:
        """Whether what raised came after something was learnt, which stays."""
        is_later = method == "fit" and any(said in str(error) for said in NO_ANSWER)
        return is_later or method in TWO_CALLS

    def check_same(self, door: str, before: bytes) -> None:
        """The estimator is as before."""
        if which := checks.difference(pickle.loads(before), self.model):
            raise BrokenError(f"{door} changed {which}")

    def check_copy(self, door: str, method: str, before: bytes, seed: int) -> None:
        """A copy that goes on learns the same; without a seed draws are of no stream."""
        if method == "merge" or self.model.get_params().get("random_state", 0) is None:
            return
        other = pickle.loads(before)
        with complaints():
            getattr(other, method)(**self.arguments(seed, method, other))
        if which := checks.difference(self.model, other):
            raise BrokenError(f"{door}: a copy learns otherwise in {which}")

    def check_finite(self, door: str) -> None:
        """What was learnt is finite, unless what was given is not; to read it learns nothing."""
        before, settings = pickle.dumps(self.model), self.model.get_params()
        given = self.strange | checks.strange_numbers(settings)
        state = self.model.__getstate__().items()
        learnt = {name: value for name, value in state if name not in settings}
        for name in checks.properties_of(self.model):
            read, error = attempt(
                f"{self.name}.{name}", lambda at=name: getattr(self.model, at), {}
            )
            if error is None:
                learnt[name] = read
        self.check_same(door, before)
        for name, value in learnt.items():
            strange = checks.strange_numbers(value) - given - checks.allowed_in(self.kind, name)
            if strange:
                raise BrokenError(f"{door} learnt {name} with {' and '.join(sorted(strange))}")

    def copy(self, way: str) -> None:
        """Pickle, save or clone the estimator, and ask whether it is still the same."""
        ways: dict[str, Callable[[Any], Any]] = {"pickle": pickled, "save": saved, "clone": clone}
        found, error = attempt(f"{self.name}, {way}", ways[way], {"model": self.model})
        if error is not None:
            return
        expected = self.kind(**found.get_params(deep=False)) if way == "clone" else self.model
        if which := checks.difference(expected, found):
            raise BrokenError(f"{self.name}, {way}: a copy is another in {which}")
        if way != "clone":
            self.model = found

    def settle(self, seed: int) -> None:
        """Another value of a parameter, drawn as at the beginning, for what comes after."""
        rng = np.random.default_rng(seed)
        fresh = parameters(rng, self.kind)
        if fresh:
            name = pick(rng, sorted(fresh))
            attempt(f"{self.name}.set_params", self.model.set_params, {name: fresh[name]})


def step(estimator: Estimator, kind: str, seed: int) -> None:
    """A call of an estimator: of learning, of anything that is there, or a copy."""
    rng = np.random.default_rng(seed)
    if kind == "learn":
        method = "partial_fit" if chance(rng, 0.7) else "fit"
        estimator.call(method if hasattr(estimator.model, method) else "fit", seed)
    elif kind == "call":
        estimator.call(pick(rng, estimator.methods()), seed)
    elif kind == "set_params":
        estimator.settle(seed)
    else:
        estimator.copy(kind)


# Each wrong value in each place


def places_of(door: Callable[..., Any]) -> list[str]:
    """Parameters in which values are tried; more threads or draws would take long."""
    return [
        name
        for name, parameter in inspect.signature(door).parameters.items()
        if name not in ("self", "n_jobs", *AS_LONG)
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


@cache
def seed_of(name: str) -> int | None:
    """A seed of arguments with which a function returns."""
    door = public_functions()[name]
    for seed in range(TRIES):
        with suppress(Exception):
            door(**arguments(np.random.default_rng(seed), door, Scene(door=door.__name__)))
            return seed
    return None


@cache
def learnt(name: str) -> bytes:
    """An estimator that has learnt."""
    kind = public_estimators()[name]
    for seed in range(TRIES):
        estimator = Estimator(name, kind, short_parameters(kind))
        method = "partial_fit" if hasattr(kind, "partial_fit") else "fit"
        with suppress(Exception):
            given = estimator.arguments(seed, method)
            if rows_of(given.get("X", given.get("raw_documents"))):
                check_is_fitted(getattr(estimator.model, method)(**given))
                return pickle.dumps(estimator.model)
    raise BrokenError(f"{name} never learnt, with {TRIES} seeds of arguments")


@cache
def seed_of_method(name: str, method: str) -> int:
    """A seed of arguments with which a method of what has learnt returns, or 0."""
    estimator = placed(name)
    for seed in range(TRIES):
        model = pickle.loads(learnt(name))
        with suppress(Exception):
            getattr(model, method)(**estimator.arguments(seed, method, model))
            return seed
    return 0


def placed(name: str) -> Estimator:
    """An estimator that has learnt."""
    kind = public_estimators()[name]
    estimator = Estimator(name, kind, short_parameters(kind))
    estimator.model = pickle.loads(learnt(name))
    return estimator


def call_in_place(name: str, method: str, place: str, which: int) -> None:
    """Call with a value that is seldom right in a place, and what returned in the others."""
    value = every_junk()[which]
    if name in public_functions():
        rng, door = np.random.default_rng(seed_of(name) or 0), public_functions()[name]
        given = arguments(rng, door, Scene(door=door.__name__)) | {place: value}
        call_function(name, given, rng)
    elif method:
        estimator = placed(name)
        if hasattr(estimator.model, method):
            estimator.call(method, seed_of_method(name, method), {place: value})
    else:
        _learn_with(name, place, lasting(value), which)


def _learn_with(name: str, place: str, value: Any, which: int) -> None:
    """Learn with a value as a parameter, at once and later on; then call another method with it."""
    kind = public_estimators()[name]
    estimator = Estimator(name, kind, short_parameters(kind) | {place: value})
    if estimator.error is None:
        estimator.call("fit", seed_of_method(name, "fit"))
    if hasattr(kind, "partial_fit"):
        estimator = placed(name)
        setattr(estimator.model, place, value)
        estimator.call("partial_fit", seed_of_method(name, "partial_fit"))
    estimator = placed(name)
    setattr(estimator.model, place, value)
    methods = estimator.methods()
    method = methods[which % len(methods)]
    estimator.call(method, seed_of_method(name, method))
