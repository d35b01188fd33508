# SPDX-License-Identifier: BSD-3-Clause
"""Calls of every public estimator that are to be disturbed, and what is asked of one that was.

Estimators and what they learn from are those of `tests.conventions.every`, and the methods of the
literature that have no class. After a call that was disturbed the estimator is as before or as
after the whole call; after `fit`, whose minibatches are steps, as after one of these; of a pipeline
that holds for each step. If the call returned all the same, it returned what the undisturbed one
does; no interrupt is swallowed. The estimator can be pickled, its lock is free, no thread, file or
descriptor is left, nothing was warned of or ignored, and it goes on to the same bits as one that
was never disturbed.
"""

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proof.complaints import complaints
from proof.copies import pickled
from proof.fault_means import Means
from proof.fuzz_checks import difference, fingerprint, place_of
from streamtopics import load, save
from streamtopics.base.frame import StreamingEstimator
from streamtopics.utils.steps import steps_of
from tests.conventions.every import METHODS, Case, N
from tests.interrupts import PATIENCE, Lines, is_free

PART = 8
FORGOTTEN = [0, 3]
Act = Callable[[Any, Path], Any]
DESCRIPTORS = Path("/proc/self/fd")
# By the number of a state.
OUTCOMES = {None: "neither", 0: "before"}


@dataclass(frozen=True)
class Call:
    """A call of an estimator.

    Attributes
    ----------
    model : object
        As it is before.
    act : function
        Makes the call, of a model and in a folder for files.
    goes_on : function or None
        Has a model learn more.
    has_steps : bool
        Whether the model may be as after a minibatch of the call.
    """

    model: Any
    act: Act
    goes_on: Callable[[Any], Any] | None = None
    has_steps: bool = False


# Doors


def parts_of(case: Case, lap: int) -> list[Case]:
    """Minibatches of a case, others for each lap; the labels of each are of all kinds."""
    rng = np.random.default_rng(lap)
    return [case.part(np.sort(rng.permutation(N)[:PART])) for _ in range(4)]


def _streamed(case: Case, parts: list[Case]) -> Any:
    """A model that has learnt from two minibatches, or from all where there are none."""
    if not hasattr(case.made, "partial_fit"):
        return case.fitted
    return parts[1].taught(parts[0].taught(case.made))


def _first(case: Case, parts: list[Case]) -> Call:
    return Call(case.made, lambda model, folder: parts[0].taught(model), parts[3].taught)


def _later(case: Case, parts: list[Case]) -> Call:
    found = _streamed(case, parts)
    return Call(found, lambda model, folder: parts[2].taught(model), parts[3].taught)


def _threads(case: Case, parts: list[Case]) -> Call:
    found = _later(case, parts)
    return Call(found.model.set_params(n_jobs=2), found.act, found.goes_on)


def _fit(case: Case, parts: list[Case]) -> Call:
    found = _streamed(case, parts)
    # The estimators that learn a corpus at once warn of a batch size.
    cuts = getattr(type(found), "_learn_all", None) is StreamingEstimator._learn_all
    if cuts and "batch_size" in found.get_params():
        found.set_params(batch_size=PART // 2)
    return Call(found, lambda model, folder: parts[2].taught(model, "fit"), has_steps=True)


def _merge(case: Case, parts: list[Case]) -> Call:
    # Copies that learn the beginning of a stream anew are not merged.
    none = {"n_start_documents": 0} if "n_start_documents" in case.made.get_params() else {}
    base = parts[0].taught(case.made.set_params(**none))
    mine, other = (part.taught(pickled(base)) for part in (parts[1], parts[2]))
    return Call(mine, lambda model, folder: model.merge(other, base=base), parts[3].taught)


def _forget_words(case: Case, parts: list[Case]) -> Call:
    found = _streamed(case, parts)
    return Call(found, lambda model, folder: model.forget_words(FORGOTTEN), parts[3].taught)


def _transform(case: Case, parts: list[Case]) -> Call:
    return Call(_streamed(case, parts), lambda model, folder: model.transform(parts[2].X))


def _score(case: Case, parts: list[Case]) -> Call:
    part = parts[2]
    return Call(_streamed(case, parts), lambda model, folder: model.score(part.X, part.y))


def _save(case: Case, parts: list[Case]) -> Call:
    return Call(_streamed(case, parts), lambda model, folder: save(model, folder / "a.model"))


def _load(case: Case, parts: list[Case]) -> Call:
    return Call(_streamed(case, parts), lambda model, folder: load(folder / "a.model"))


def _pickle(case: Case, parts: list[Case]) -> Call:
    return Call(_streamed(case, parts), lambda model, folder: pickle.dumps(model))


# What has to be there for a door to be, and how its call is made.
DOORS: dict[str, tuple[str, Callable[[Case, list[Case]], Call]]] = {
    "first": ("partial_fit", _first), "later": ("partial_fit", _later),
    "threads": ("n_jobs", _threads), "fit": ("fit", _fit), "merge": ("merge", _merge),
    "forget_words": ("forget_words", _forget_words), "transform": ("transform", _transform),
    "score": ("score", _score), "save": ("fit", _save), "load": ("fit", _load),
    "pickle": ("fit", _pickle),
}  # fmt: skip


def doors_of(name: str) -> list[str]:
    """The doors of an estimator."""
    case = METHODS[name]
    methods = {method for method in dir(case.made) if callable(getattr(case.made, method, None))}
    has = methods | case.made.get_params().keys()
    found = [door for door, (needed, _) in DOORS.items() if needed in has]
    return [door for door in found if door != "merge" or _merges(case)]


def _merges(case: Case) -> bool:
    """Whether models of these parameters can be merged."""
    call = _merge(case, parts_of(case, 0))
    try:
        call.act(call.model, Path())
    except TypeError:
        return False
    return True


# What is known of a call that is not disturbed


class Undisturbed:
    """A call as it is, for comparison.

    Attributes
    ----------
    call : Call
    states : list of (bytes, object)
        Fingerprint and model before, after, and after each step between.
    """

    def __init__(self, call: Call, folder: Path) -> None:
        self.call, self.folder = call, folder
        self.start = pickle.dumps(call.model)
        save(call.model, folder / "a.model")
        self.files, self.kept = files_of(folder), [kept_in(folder)]
        before, model = pickled(call.model), pickled(call.model)
        self.states = [(fingerprint(before), before)]
        last = steps_of(model)[-1][1]
        seen = [vars(last).get("_commit")]

        def watch() -> None:
            commit = vars(last).get("_commit")
            if commit is not seen[-1] and commit is not None and commit.n_batches:
                seen.append(commit)
                self.states.append((fingerprint(model), pickled(model)))

        _, self.result = self._made(Lines(watch=watch if call.has_steps else None), model)
        self.states.append((fingerprint(model), pickled(model)))
        self.kept.append(kept_in(folder))
        self.further = self._further(model)

    def _made(self, means: Means, model: Any, at: int = 0) -> tuple[int, bytes]:
        """Make the call: how many places it has, and the print of what it returned, no model."""
        found: list[Any] = []
        n = means.during(lambda: found.append(self.call.act(model, self.folder)), at)
        return n, b"" if found[0] is model else fingerprint(found[0])

    def _further(self, model: Any) -> Any:
        """A model that went on to learn."""
        return None if self.call.goes_on is None else self.call.goes_on(model)

    def places(self, means: Means) -> int:
        """How many places a call has where it can be disturbed."""
        return self._made(means, pickle.loads(self.start))[0]

    def state_of(self, model: Any) -> int | None:
        """Which state a model is in: 0 is that before; None if it is in none."""
        now = fingerprint(model)
        for number, (known, other) in enumerate(self.states):
            if now == known or not difference(other, model):
                return number
        return None

    # A call that is disturbed

    def disturbed(self, means: Means, at: int) -> tuple[str, list[str]]:
        """Disturb a call at a place: what came of it, and what should not be so.

        It is "not reached" if the call has fewer places this time; else the model is as "before",
        as "after" the call or one of its steps, as after "some steps" of a pipeline, or as
        "neither"; "finished" says that the call returned all the same.
        """
        for name, content in self.files.items():
            (self.folder / name).write_bytes(content)
        model = pickle.loads(self.start)
        threads, descriptors = set(threading.enumerate()), n_descriptors()
        raised, result, failures = None, b"", []
        with complaints() as heard:
            try:
                _, result = self._made(means, model, at)
            except BaseException as error:
                raised = error
        other = "" if raised is None else self._other_error(means, raised)
        if other and (means.is_exact or not means.struck or is_broken(raised)):
            failures.append(other[:160])
        if raised is None:
            failures += self._wrong_return(means, result)
        failures += [*heard, *left_behind(model, threads, descriptors)]
        if kept_in(self.folder) not in self.kept:
            failures.append(f"other files: {sorted(files_of(self.folder))}")
        state = self.state_of(model)
        if state is None and raised is not None and self._is_part(model):
            return "some steps", failures
        if state is None or (raised is None and state not in self.finished):
            failures.append(self._strange(model, "finished" if raised is None else "raised"))
        else:
            failures += self._goes_on(model, state)
        if not means.struck:
            return "not reached", failures
        outcome = "finished" if raised is None else OUTCOMES.get(state, "after")
        return (f"{outcome} by another error" if other else outcome), failures

    def _other_error(self, means: Means, error: BaseException) -> str:
        """What an error says that is not what the call was disturbed by."""
        # Where scikit-learn asks whether a method is there, any error says that it is not.
        asked = place_of(error).endswith(":_check") and isinstance(error, AttributeError)
        if means.struck and isinstance(error.__cause__ if asked else error, means.error):
            return ""
        said = str(error).replace(str(self.folder), "")
        return f"raised {type(error).__name__} at {place_of(error)}: {said}"

    def _wrong_return(self, means: Means, result: bytes) -> list[str]:
        """What is wrong with a call that returned, though it was disturbed."""
        failures = []
        if result != self.result:
            failures.append("returns something else")
        if means.struck and not issubclass(means.error, Exception):
            failures.append("swallowed an interrupt")
        return failures

    def _is_part(self, model: Any) -> bool:
        """Whether it is a pipeline, of which each step is in a state that it has among these."""
        known = [[step for _, step in steps_of(state)] for _, state in self.states]
        steps = [step for _, step in steps_of(model)]
        return len(steps) > 1 and all(
            any(not difference(state[n], step) for state in known) for n, step in enumerate(steps)
        )

    @property
    def finished(self) -> list[int]:
        """States after the whole call; 0 too if it changes nothing."""
        last = len(self.states) - 1
        same = [n for n, (known, _) in enumerate(self.states) if known == self.states[-1][0]]
        return [*same, last]

    def _strange(self, model: Any, came: str) -> str:
        (_, before), *_, (_, after) = self.states
        return (
            f"{came}, and differs from before in {difference(before, model) or 'nothing'}, "
            f"from after in {difference(after, model) or 'nothing'}"
        )

    def _goes_on(self, model: Any, state: int) -> list[str]:
        """What is wrong with a model that goes on from one of the states."""
        failures = []
        again = pickled(model)
        if which := difference(model, again):
            failures.append(f"a copy is not the same: {which}")
        if state in self.finished and 0 not in self.finished:
            goes_on = model
        elif state == 0:
            _, result = self._made(Lines(), model)
            if self.state_of(model) not in self.finished:
                return [*failures, f"does not repeat: {self._strange(model, 'repeated')}"]
            if result != self.result:
                failures.append("returns something else")
            goes_on = model
        else:
            return failures
        further = self._further(goes_on)
        if further is not None and (which := difference(self.further, further)):
            failures.append(f"goes on otherwise: {which}")
        return failures


def is_broken(error: BaseException | None) -> bool:
    """Whether a kernel broke Python's rules; Python and NumPy do so too, short of memory."""
    return isinstance(error, SystemError) and ".pyx:" in place_of(error)


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def kept_in(folder: Path) -> dict[str, bytes]:
    """What is in the files of a folder: models, of which the bytes of a file differ, or bytes."""
    found = files_of(folder)
    for name in found:
        with suppress(Exception):
            found[name] = fingerprint(load(folder / name))
    return found


def n_descriptors() -> int:
    """Open files of this process, where that can be told."""
    return len([*DESCRIPTORS.iterdir()]) if DESCRIPTORS.is_dir() else 0


def left_behind(model: Any, threads: set[threading.Thread], descriptors: int) -> list[str]:
    """Locks, threads and descriptors that a call left behind."""
    failures = []
    if not all(is_free(step) for _, step in [*steps_of(model), ("", model)]):
        failures.append("a lock is held")
    for thread in set(threading.enumerate()) - threads:
        thread.join(PATIENCE)
        if thread.is_alive():
            failures.append("a thread is left")
    if n_descriptors() > descriptors:
        failures.append("a file is left open")
    return failures


@contextmanager
def undisturbed(name: str, door: str, lap: int, folder: Path) -> Iterator[Undisturbed]:
    """A call of an estimator as it is."""
    case = METHODS[name]
    yield Undisturbed(DOORS[door][1](case, parts_of(case, lap)), folder)
