# SPDX-License-Identifier: BSD-3-Clause
"""An episode: one estimator or function, made from a seed, and calls of it that are checked."""

import inspect
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks import fuzz_checks as checks
from benchmarks.fuzz_arguments import PLACES, Scene, arguments
from benchmarks.fuzz_estimators import input_of, parameters, public_estimators
from benchmarks.fuzz_inputs import Rng, chance, counts, pick
from streamtopics import load, save

CALLS = 8
LEARNS = ("fit", "fit_transform", "fit_predict", "partial_fit", "merge", "forget_words")
# Pass on what they were passed, whatever it is.
PASS_ON = ("datasets.iter_minibatches",)
# Of settings there are checks of scikit-learn; presets make another estimator.
NOT_CALLED = ("set_", "get_params", "get_metadata_routing", "preset", "build_", "decode")
COPIES = ("pickle", "save and load", "clone", "set_params")
ROOMS = ("metrics", "priors", "inspection", "text", "datasets", "streams", "updates", "was")
# Endless or of the whole environment; without X or a setting; tried with estimators.
NOT_TRIED = {"follow", "load_docstrings", "load_statements", "picture_formats", "Follower"}


@dataclass
class Tally:
    """What episodes came to.

    Attributes
    ----------
    calls, refusals, episodes : int
    failures : dict
        Of each distinct failure, what repeats it and what was said.
    tell : function or None
        Is told of each call as it begins.
    show : function or None
        Is told of errors and failures.
    """

    calls: int = 0
    refusals: int = 0
    episodes: int = 0
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    tell: Callable[[str], None] | None = None
    show: Callable[[str], None] | None = None

    def fail(self, seed: int, door: str, kind: str, place: str, said: str) -> None:
        """Keep a failure, unless one like it is known."""
        key = " | ".join((door, kind, place))
        self.failures.setdefault(key, {"seed": seed, "said": said})
        if self.show:
            self.show(f"FAILURE {key}: {said}")


def subjects(only: str | None = None) -> list[str]:
    """Names of what episodes are of: estimators, and functions by their rooms."""
    names = [*public_estimators(), *public_functions()]
    found = [name for name in names if only is None or only.lower() in name.lower()]
    if not found:
        raise ValueError(f"nothing public has {only!r} in its name")
    return found


@cache
def public_functions() -> dict[str, Callable[..., Any]]:
    """Functions, records and scorers of the rooms, by room and name."""
    estimators, found = public_estimators(), {}
    for room in ROOMS:
        module = import_module(f"streamtopics.{room}")
        for name in module.__all__:
            door = getattr(module, name)
            if name in NOT_TRIED or name in estimators or not callable(door):
                continue
            if inspect.isfunction(door) or name.endswith("Scorer"):
                found[f"{room}.{name}"] = door
    return found


def run_episode(seed: int, only: str | None, tally: Tally) -> None:
    """The episode of a seed."""
    rng = np.random.default_rng(seed)
    # Of half of the episodes estimators, which have more to them than functions.
    names = subjects(only)
    estimators = [name for name in names if name in public_estimators()]
    functions = [name for name in names if name in public_functions()]
    take = estimators if estimators and (not functions or chance(rng, 0.7)) else functions
    name = pick(rng, take)
    tally.episodes += 1
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if take is estimators:
            EstimatorEpisode(seed, rng, name, public_estimators()[name], tally).run()
        else:
            run_functions(seed, rng, name, public_functions()[name], tally)


def attempt(
    seed: int,
    door: str,
    act: Callable[..., Any],
    given: dict[str, Any],
    tally: Tally,
    *,
    strict: bool = True,
) -> tuple[Any, BaseException | None]:
    """Make a call; what it returned, and what it raised."""
    tally.calls += 1
    if tally.tell:
        tally.tell(f"{door}({', '.join(f'{k}={brief(v)}' for k, v in given.items())})")
    before = checks.bits_of(list(given.values()))
    try:
        found, error = act(**given), None
        if inspect.isgenerator(found):
            found = list(found)
    except Exception as raised:
        found, error = None, raised
        tally.refusals += 1
        if tally.show:
            tally.show("".join(traceback.format_exception(raised)).rstrip())
        if not isinstance(raised, MemoryError) and not checks.is_clear(raised, strict=strict):
            place = f"{type(raised).__name__} at {checks.place_of(raised)}"
            tally.fail(seed, door, "raw error", place, checks.text_of(raised))
    if checks.bits_of(list(given.values())) != before:
        tally.fail(seed, door, "changed what it was passed", "arguments", brief(given))
    return found, error


def check_numbers(
    seed: int, door: str, act: Any, given: dict[str, Any], found: Any, tally: Tally
) -> None:
    """Results are finite unless the documentation says otherwise, or arguments beside X are not."""
    beside = {name: value for name, value in given.items() if name not in PLACES}
    strange = checks.strange_numbers(found) - checks.promised(act, found)
    strange -= checks.strange_numbers(beside)
    if strange and door not in PASS_ON:
        tally.fail(seed, door, "not finite", " and ".join(sorted(strange)), brief(found))


def brief(value: Any) -> str:
    """A value in few words."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape):
        return f"<{type(value).__name__} {value.shape} {value.dtype}>"
    shown = " ".join(repr(value).split())
    return shown if len(shown) < 120 else f"{shown[:120]}..."


def run_functions(seed: int, rng: Rng, name: str, door: Callable[..., Any], tally: Tally) -> None:
    """A few calls of one function, or of a scorer that is made for each."""
    for _ in range(CALLS // 2):
        act, called = door, name
        given = arguments(rng, door, Scene())
        found, error = attempt(seed, called, act, given, tally, strict=False)
        if isinstance(door, type) and error is None:
            act, called, given = found, f"{name}()", arguments(rng, found, Scene())
            found, error = attempt(seed, called, act, given, tally, strict=False)
        if error is None:
            check_numbers(seed, called, act, given, found, tally)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


class EstimatorEpisode:
    """Calls of one estimator, each of which is checked."""

    def __init__(self, seed: int, rng: Rng, name: str, kind: type, tally: Tally) -> None:
        self.seed, self.rng, self.name, self.kind = seed, rng, name, kind
        self.tally = tally
        self.model: Any = None
        self.draw: Callable[[Rng], Any] = counts

    def run(self) -> None:
        given = parameters(self.rng, self.kind)
        self.model, error = attempt(self.seed, self.name, self.kind, given, self.tally)
        if error is not None:
            return
        self.draw = input_of(self.kind)
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
        for name in dir(self.kind):
            if name.startswith(("_", *NOT_CALLED)):
                continue
            # Attributes of what was learnt are no methods.
            if callable(getattr(self.kind, name, None)):
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
        before = pickle.dumps(self.model)
        print_before = checks.fingerprint(self.model)
        found, error = attempt(self.seed, door, act, given, self.tally)
        changed = checks.fingerprint(self.model) != print_before
        if changed and (error is not None or method not in LEARNS):
            which = checks.difference(pickle.loads(before), self.model)
            kind = "state changed by an error" if error is not None else "a read learns"
            if which:
                self.fail(door, kind, which, repr(error)[:160])
        if error is None:
            if found is not self.model:
                check_numbers(self.seed, door, act, given, found, self.tally)
            if method in LEARNS:
                self.check_learnt(door, method, before, drawn_from)
        del found

    def arguments(self, drawn_from: int, act: Callable[..., Any]) -> dict[str, Any]:
        rng = np.random.default_rng(drawn_from)
        return arguments(rng, act, Scene(self.draw, self.model))

    def check_learnt(self, door: str, method: str, before: bytes, drawn_from: int) -> None:
        """What was learnt is finite, and the same if a copy resumed instead."""
        for name in ("topic_word_", "components_", "doc_topic_prior_"):
            found, error = self.read(name)
            if error is None and (strange := checks.strange_numbers(found)):
                self.fail(door, "learnt what is not finite", name, " and ".join(strange))
        if method == "merge" or not chance(self.rng, 0.3):
            return
        other = pickle.loads(before)
        given = self.arguments(drawn_from, getattr(other, method))
        try:
            getattr(other, method)(**given)
        except Exception as error:
            self.fail(door, "a copy refuses", type(error).__name__, checks.text_of(error))
            return
        if which := checks.difference(self.model, other):
            self.fail(door, "a copy learns otherwise", which, "after pickling")

    def read(self, name: str) -> tuple[Any, BaseException | None]:
        """An attribute that may not be there."""
        try:
            return getattr(self.model, name), None
        except (AttributeError, ValueError) as error:
            return None, error

    # Copies

    def copy(self, way: str) -> None:
        """Pickle, save or clone the estimator, and ask whether it is still the same."""
        door = f"{self.name}, {way}"
        act: Callable[..., Any] = {
            "pickle": pickled, "save and load": saved, "clone": cloned, "set_params": self.settled,
        }[way]  # fmt: skip
        given = {"model": self.model} if way != "set_params" else {}
        found, error = attempt(self.seed, door, act, given, self.tally)
        if error is not None or way in ("clone", "set_params"):
            return
        which = checks.difference(self.model, found)
        if which:
            self.fail(door, "a copy is not the same", which, "")
        self.model = found

    def settled(self) -> Any:
        """Another value of a parameter, drawn as at the beginning, for what comes after."""
        fresh = parameters(self.rng, self.kind)
        name = pick(self.rng, sorted(fresh)) if fresh else "nothing"
        return self.model.set_params(**{name: fresh.get(name)})

    def fail(self, door: str, kind: str, place: str, said: str) -> None:
        self.tally.fail(self.seed, door, kind, place, said)


def pickled(model: Any) -> Any:
    """The estimator, pickled and read again."""
    return pickle.loads(pickle.dumps(model))


def saved(model: Any) -> Any:
    """The estimator, saved and loaded."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.model"
        save(model, path)
        return load(path)


def cloned(model: Any) -> Any:
    """The estimator without what it learnt."""
    return clone(model)
