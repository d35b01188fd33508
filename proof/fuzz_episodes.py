# SPDX-License-Identifier: BSD-3-Clause
"""An episode: one estimator or function, made from a seed, and calls of it that are checked."""

import inspect
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from proof import fuzz_checks as checks
from proof.complaints import complaints
from proof.copies import pickled, saved
from proof.fuzz_arguments import PLACES, Scene, arguments
from proof.fuzz_estimators import input_of, needed_by, parameters
from proof.fuzz_inputs import Rng, chance, counts, far_out, pick
from streamtopics.posteriors import TOO_EXTREME
from streamtopics.text import NamedCounts
from tests.conventions.every import public_estimators

CALLS = 8
LEARNS = (
    "fit", "fit_transform", "fit_predict", "partial_fit", "partial_fit_transform", "merge",
    "forget_words",
)  # fmt: skip
# Pass on what they were passed, whatever it is.
PASS_ON = (
    "datasets.iter_minibatches", "StreamingPipeline.inverse_transform",
    "StreamingCountVectorizer.get_stop_words",
)  # fmt: skip
# Have a model, a vectorizer or callbacks learn.
TEACH = (
    "streams.stream", "streams.prequential_score", "distributed.fit_partitions",
    "distributed.fit_stream", "distributed.take_in", "distributed.count_vocabulary",
)  # fmt: skip
# Methods of scikit-learn that fit, and then transform or predict.
TWO_CALLS = ("fit_transform", "fit_predict")
# What `fit` says of a minibatch that has no finite answer.
NO_ANSWER = (TOO_EXTREME, " found no solution: ")
# Of settings there are checks of scikit-learn; presets make another estimator.
NOT_CALLED = ("set_", "get_params", "get_metadata_routing", "preset", "build_", "decode")
COPIES = ("pickle", "save and load", "clone", "set_params")
ROOMS = (
    "datasets", "distributed", "dpp", "inspection", "local", "metrics", "models", "posteriors",
    "priors", "report", "saving", "streams", "text", "updates", "was",
)  # fmt: skip
# What scorers and callbacks are called by, once they are made.
CALLED = ("__call__", "on_batch", "learn", "finish", "split")
# Endless, or of the whole environment; made by functions alone; tried with estimators.
NOT_TRIED = {
    "Follower", "follow", "load_docstrings", "picture_formats", "Skipped",
    "PartitionError", "ReadingError", "page", "DensePosterior", "IterateAverage", "SideBySide",
    "TopicPosterior", "blend_together", "Franchise", "PointSets",
}  # fmt: skip


@dataclass
class Tally:
    """What episodes came to.

    Attributes
    ----------
    refusals : int
    doors : dict
        Calls and returns of each door.
    short : dict
        Where memory was short, with the seed of the first episode.
    failures : dict
        Of each distinct failure, what repeats it and what was said.
    tell : function or None
        Is told of each call as it begins.
    show : function or None
        Is told of errors and failures.
    """

    refusals: int = 0
    doors: dict[str, tuple[int, int]] = field(default_factory=dict)
    short: dict[str, int] = field(default_factory=dict)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    tell: Callable[[str], None] | None = None
    show: Callable[[str], None] | None = None

    def count(self, door: str, *, returned: bool) -> None:
        """Count a call."""
        n_calls, n_returns = self.doors.get(door, (0, 0))
        self.doors[door] = (n_calls + 1, n_returns + returned)
        self.refusals += not returned

    def fail(self, seed: int, door: str, kind: str, place: str, said: str) -> None:
        """Keep a failure, unless one like it is known."""
        key = " | ".join((door, kind, place))
        self.failures.setdefault(key, {"seed": seed, "said": said})
        if self.show:
            self.show(f"FAILURE {key}: {said}")


@cache
def subjects(only: str | None = None) -> list[str]:
    """Names of what episodes are of: estimators, and functions and records by their rooms."""
    names = [*public_estimators(), *public_functions()]
    found = [name for name in names if only is None or only.lower() in name.lower()]
    if not found:
        raise ValueError(f"nothing public has {only!r} in its name")
    return found


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


def run_episode(seed: int, only: str | None, tally: Tally) -> None:
    """The episode of a seed."""
    rng = np.random.default_rng(seed)
    # Of half of the episodes estimators, which have more to them than functions.
    names = subjects(only)
    estimators = [name for name in names if name in public_estimators()]
    functions = [name for name in names if name in public_functions()]
    take = estimators if estimators and (not functions or chance(rng, 0.7)) else functions
    name = pick(rng, take)
    with in_quiet(), far_out(chance(rng, 0.2)):
        if take is estimators:
            EstimatorEpisode(seed, rng, name, public_estimators()[name], tally).run()
        else:
            run_functions(seed, rng, name, public_functions()[name], tally)


@contextmanager
def in_quiet() -> Iterator[None]:
    """A folder of its own, without warnings."""
    with (
        TemporaryDirectory(dir=".") as folder,
        chdir(folder),
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def attempt(
    seed: int, door: str, act: Callable[..., Any], given: dict[str, Any], tally: Tally,
    learners: tuple[str, ...] = (), *, strict: bool = True,
) -> tuple[Any, BaseException | None]:  # fmt: skip
    """Make a call; what it returned, and what it raised. Arguments that learn may change.

    Unless `strict`, Python itself may say that an argument is of a wrong type.
    """
    if tally.tell:
        # Arguments are written out only for a reader, as that takes longer than most calls.
        said = ", ".join(f"{k}={brief(v)}" for k, v in given.items()) if tally.show else "..."
        tally.tell(f"{door}({said})")
    kept = {name: value for name, value in given.items() if name not in learners}
    before, found, error = [*map(checks.print_of, kept.values())], None, None
    with complaints() as heard:
        try:
            found = act(**given)
            if isinstance(found, Iterator):
                found = list(found)
        except Exception as raised:
            error = raised
    tally.count(door, returned=error is None)
    owner = getattr(act, "__self__", None)
    own = owner.get_params(deep=False) if isinstance(owner, BaseEstimator) else {}
    is_clear = error is None or checks.is_clear(error, own | given, strict=strict)
    check_raised(seed, door, error, heard, tally, is_clear=is_clear)
    if [*map(checks.print_of, kept.values())] != before:
        tally.fail(seed, door, "changed what it was passed", "arguments", brief(given))
    return found, error


def check_raised(
    seed: int, door: str, error: BaseException | None, heard: list[str], tally: Tally, *,
    is_clear: bool,
) -> None:  # fmt: skip
    """An error is a clear one, and nothing was warned of or ignored."""
    for said in heard:
        tally.fail(seed, door, "complaint", said, "")
    if error is None:
        return
    if tally.show:
        tally.show("".join(traceback.format_exception(error)).rstrip())
    place = f"{type(error).__name__} at {checks.place_of(error)}"
    if isinstance(error, MemoryError):
        tally.short.setdefault(f"{door} | {place}", seed)
    elif not is_clear:
        tally.fail(seed, door, "raw error", place, checks.text_of(error))


def check_numbers(
    seed: int, door: str, act: Any, given: dict[str, Any], found: Any, tally: Tally,
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
        tally.fail(seed, door, "not finite", " and ".join(sorted(strange)), brief(found))


def _is_after_fit(error: BaseException) -> bool:
    """Whether an error was raised by what comes after `fit`."""
    return bool({"transform", "predict"} & {frame.name for frame in checks.frames_of(error)})


def _is_of_a_later_minibatch(model: Any, before: Any, error: BaseException) -> bool:
    """Whether `fit` came to a minibatch without a finite answer: those before it stay learnt.

    `before` is what had been learnt before the call, and has to stay whole if nothing else was.
    """
    commit = getattr(model, "_commit", None)
    return (
        commit is not before
        and any(said in str(error) for said in NO_ANSWER)
        and "_learn_minibatches" in {frame.name for frame in checks.frames_of(error)}
        and getattr(commit, "n_batches", 0) > 0
    )


def brief(value: Any) -> str:
    """A value in few words."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape):
        return f"<{type(value).__name__} {value.shape} {value.dtype}>"
    shown = " ".join(repr(value).split())
    return shown if len(shown) < 120 else f"{shown[:120]}..."


def run_functions(seed: int, rng: Rng, name: str, door: Callable[..., Any], tally: Tally) -> None:
    """A few calls of one function, or of a record that is made for each."""
    for _ in range(CALLS // 2):
        call_function(seed, rng, name, door, arguments(rng, door, Scene(door=door.__name__)), tally)


def call_function(
    seed: int, rng: Rng, name: str, door: Callable[..., Any], given: dict[str, Any], tally: Tally
) -> None:
    """One call of a function, or of a record and what can be called of it."""
    learners = ("model", "vectorizer", "callbacks") if name in TEACH else ()
    found, error = attempt(seed, name, door, given, tally, learners, strict=False)
    if error is None and not isinstance(door, type):
        check_numbers(seed, name, door, given, found, tally)
    elif error is None and name.startswith(("metrics.", "streams.")):
        run_record(seed, rng, name, found, tally)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def run_record(seed: int, rng: Rng, name: str, record: Any, tally: Tally) -> None:
    """Calls of a scorer or a callback."""
    for method in CALLED:
        if not hasattr(record, method):
            continue
        act = record if method == "__call__" else getattr(record, method)
        given = arguments(rng, act, Scene(door=type(record).__name__))
        called = f"{name}()" if method == "__call__" else f"{name}.{method}"
        found, error = attempt(seed, called, act, given, tally, ("model",), strict=False)
        if error is None:
            check_numbers(seed, called, act, given, found, tally)


@cache
def _methods_of(kind: type) -> list[str]:
    """Public methods of a class; attributes of what was learnt are none."""
    names = [name for name in dir(kind) if not name.startswith(("_", *NOT_CALLED))]
    return [name for name in names if callable(getattr(kind, name, None))]


class EstimatorEpisode:
    """Calls of one estimator, each of which is checked."""

    def __init__(self, seed: int, rng: Rng, name: str, kind: type, tally: Tally) -> None:
        self.seed, self.rng, self.name, self.kind = seed, rng, name, kind
        self.tally = tally
        self.model: Any = None
        self.draw: Callable[[Rng], Any] = counts
        self.needs: tuple[str, ...] = ()
        # What is not finite of what was passed, beside X.
        self.strange: set[str] = set()

    def run(self) -> None:
        given = parameters(self.rng, self.kind)
        self.model, error = attempt(self.seed, self.name, self.kind, given, self.tally)
        if error is not None:
            return
        self.draw, self.needs = input_of(self.kind), needed_by(self.kind)
        for _ in range(int(self.rng.integers(2, CALLS))):
            self.step()

    def step(self) -> None:
        """One call: of learning in half of the cases, else of anything else that is there."""
        if chance(self.rng, 0.5):
            method = "partial_fit" if chance(self.rng, 0.7) else "fit"
            self.call(method if hasattr(self.model, method) else "fit")
        elif chance(self.rng, 0.25):
            self.copy(pick(self.rng, COPIES))
        else:
            self.call(pick(self.rng, self.methods()))

    def methods(self) -> list[str]:
        """Names of public methods that are there with these parameters."""
        found = []
        for name in _methods_of(self.kind):
            with suppress(ValueError, TypeError, AttributeError):
                getattr(self.model, name)
                found.append(name)
        return found

    # Calls of methods

    def call(self, method: str) -> None:
        """One call of a method and what is asked of it."""
        act = getattr(self.model, method)
        door = f"{self.name}.{method}"
        drawn_from = int(self.rng.integers(2**62))
        given = self.arguments(drawn_from, act)
        beside = [value for name, value in given.items() if name not in PLACES]
        self.strange |= checks.strange_numbers(beside)
        before = pickle.dumps(self.model)
        print_before = checks.fingerprint(self.model)
        learnt = getattr(self.model, "_commit", None)
        found, error = attempt(self.seed, door, act, given, self.tally)
        # What is done one after the other may fail after the first of it.
        is_after = error is not None and method in TWO_CALLS and _is_after_fit(error)
        if error is not None and _is_of_a_later_minibatch(self.model, learnt, error):
            self.check_finite(door)
        elif (error is not None or method not in LEARNS) and not is_after:
            kind = "state changed by an error" if error is not None else "a read learns"
            self.check_same(door, kind, print_before, before, repr(error)[:160])
        if error is None:
            if found is not self.model:
                check_numbers(self.seed, door, act, given, found, self.tally, self.strange)
            if method in LEARNS:
                self.check_learnt(door, method, before, drawn_from)

    def check_same(self, door: str, kind: str, was: bytes, before: bytes, said: str = "") -> None:
        """The estimator is as before."""
        if checks.fingerprint(self.model) != was:
            which = checks.difference(pickle.loads(before), self.model)
            if which:
                self.fail(door, kind, which, said)

    def arguments(self, drawn_from: int, act: Callable[..., Any]) -> dict[str, Any]:
        rng = np.random.default_rng(drawn_from)
        return arguments(rng, act, Scene(self.draw, self.model, self.needs, act.__name__))

    def check_learnt(self, door: str, method: str, before: bytes, drawn_from: int) -> None:
        """What was learnt is finite, and the same if a copy resumed instead."""
        self.check_finite(door)
        # Without a seed, what is drawn is of no stream.
        seeded = self.model.get_params().get("random_state", 0) is not None
        if method == "merge" or not seeded or not chance(self.rng, 0.3):
            return
        other = pickle.loads(before)
        given = self.arguments(drawn_from, getattr(other, method))
        try:
            with complaints():
                getattr(other, method)(**given)
        except Exception as error:
            self.fail(door, "a copy refuses", type(error).__name__, checks.text_of(error))
            return
        if which := checks.difference(self.model, other):
            self.fail(door, "a copy learns otherwise", which, "after pickling")

    def check_finite(self, door: str) -> None:
        """What was learnt is finite, unless what was given is not; to read it learns nothing."""
        was, before = checks.fingerprint(self.model), pickle.dumps(self.model)
        parameters = self.model.get_params()
        given = self.strange | checks.strange_numbers(parameters)
        learnt = {
            name: value
            for name, value in self.model.__getstate__().items()
            if name not in parameters
        }
        for name in checks.properties_of(self.model):
            error = None
            with complaints() as heard:
                try:
                    learnt[name] = getattr(self.model, name)
                except Exception as raised:
                    error = raised
            is_clear = error is None or checks.is_clear(error, {}, strict=True)
            door_of = f"{self.name}.{name}"
            check_raised(self.seed, door_of, error, heard, self.tally, is_clear=is_clear)
        self.check_same(door, "a read learns", was, before)
        for name, value in learnt.items():
            strange = checks.strange_numbers(value) - given - checks.allowed_in(self.kind, name)
            if strange:
                self.fail(door, "learnt what is not finite", name, " and ".join(sorted(strange)))

    # Copies

    def copy(self, way: str) -> None:
        """Pickle, save or clone the estimator, and ask whether it is still the same."""
        door = f"{self.name}, {way}"
        if way == "set_params":
            attempt(self.seed, door, self.settled, {}, self.tally)
            return
        act: Callable[..., Any] = {"pickle": pickled, "save and load": saved, "clone": clone}[way]
        found, error = attempt(
            self.seed, door, lambda model: act(model), {"model": self.model}, self.tally
        )
        if error is not None:
            return
        expected = self.kind(**found.get_params(deep=False)) if way == "clone" else self.model
        if which := checks.difference(expected, found):
            self.fail(door, "a copy is not the same", which, "")
        if way != "clone":
            self.model = found

    def settled(self) -> Any:
        """Another value of a parameter, drawn as at the beginning, for what comes after."""
        fresh = parameters(self.rng, self.kind)
        name = pick(self.rng, sorted(fresh)) if fresh else "nothing"
        return self.model.set_params(**{name: fresh.get(name)})

    def fail(self, door: str, kind: str, place: str, said: str) -> None:
        self.tally.fail(self.seed, door, kind, place, said)
