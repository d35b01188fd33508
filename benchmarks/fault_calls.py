# SPDX-License-Identifier: BSD-3-Clause
"""Calls of every public estimator that are to be disturbed, and what is asked of one that was.

Estimators and what they learn from are those of `tests.conventions.every`. After a call that was
disturbed the estimator is as before or as after the whole call; after `fit`, whose minibatches are
steps, as after one of these; of a pipeline that holds for each step. It can be pickled, its lock is
free, no thread, file or descriptor is left, and it goes on to the same bits as one that was never
disturbed.
"""

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.fault_means import Lines, Means
from benchmarks.fuzz_checks import difference, fingerprint
from streamtopics import load, parallel, save
from streamtopics.base.frame import lock_of
from streamtopics.steps import steps_of
from tests.conventions.every import EVERY, Case, N

# Seconds for what should be there at once.
PATIENCE = 100
PART = 8
FORGOTTEN = [0, 3]
Act = Callable[[Any, Path], Any]
DESCRIPTORS = Path("/proc/self/fd")


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
    """

    model: Any
    act: Act
    goes_on: Callable[[Any], Any] | None = None


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
    if "batch_size" in found.get_params():
        found.set_params(batch_size=PART // 2)
    return Call(found, lambda model, folder: parts[2].taught(model, "fit"))


def _merge(case: Case, parts: list[Case]) -> Call:
    base = parts[0].taught(case.made)
    mine, other = (part.taught(pickle.loads(pickle.dumps(base))) for part in (parts[1], parts[2]))
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
    case = EVERY[name]
    has = {*dir(case.made), *case.made.get_params()} - {"n_jobs"}
    if "n_jobs" in case.made.get_params():
        has.add("n_jobs")
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


def copied(model: Any) -> Any:
    """A copy of a model."""
    return pickle.loads(pickle.dumps(model))


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
        self.files = content_of(folder)
        before, model = copied(call.model), copied(call.model)
        self.states = [(fingerprint(before), before)]
        last = steps_of(model)[-1][1]
        seen = [vars(last).get("_commit")]

        def watch() -> None:
            commit = vars(last).get("_commit")
            if commit is not seen[-1] and commit is not None and commit.n_batches:
                seen.append(commit)
                self.states.append((fingerprint(model), copied(model)))

        self.result = self._result(Lines(watch=watch), model)
        self.states.append((fingerprint(model), copied(model)))
        self.new_files = content_of(folder)
        self.further = self._further(model)

    def _result(self, means: Lines, model: Any) -> bytes:
        """Make the call; the print of what it returned, unless that is the model."""
        found: list[Any] = []
        means.during(lambda: found.append(self.call.act(model, self.folder)))
        return b"" if found[0] is model else fingerprint(found[0])

    def _further(self, model: Any) -> Any:
        """A model that went on to learn."""
        return None if self.call.goes_on is None else self.call.goes_on(model)

    def places(self, means: Means) -> int:
        """How many places a call has where it can be disturbed."""
        model = pickle.loads(self.start)
        return means.during(lambda: self.call.act(model, self.folder))

    def outcome(self, model: Any) -> int | None:
        """Which state a model is in: 0 is that before; None if it is in none."""
        now = fingerprint(model)
        for number, (known, other) in enumerate(self.states):
            if now == known or not difference(other, model):
                return number
        return None

    # A call that is disturbed

    def tried(self, means: Means, at: int) -> tuple[str, list[str]]:
        """Disturb a call at a place: what came of it, and what should not be so."""
        for name, content in self.files.items():
            (self.folder / name).write_bytes(content)
        model, failures = pickle.loads(self.start), []
        threads, descriptors = set(threading.enumerate()), n_descriptors()
        came, other = "finished", ""
        try:
            means.during(lambda: self.call.act(model, self.folder), at)
        except BaseException as error:
            came = "raised"
            if not means.struck or not isinstance(error, means.error):
                other = f"raised {type(error).__name__}: {str(error).replace(str(self.folder), '')}"
        if other and (means.is_exact or not means.struck):
            failures.append(other[:100])
        failures += left_behind(model, threads, descriptors)
        if content_of(self.folder) not in (self.files, self.new_files):
            failures.append(f"other files: {sorted(content_of(self.folder))}")
        state = self.outcome(model)
        if state is None and came == "raised" and self._is_part(model):
            return "some steps after", failures
        if state is None or (came == "finished" and state not in self.finished):
            failures.append(self._strange(model, came))
        else:
            failures += self._goes_on(model, state)
        name = {None: "neither", 0: "before"}.get(state, "after")
        if means.struck and came == "finished":
            name = "swallowed"
        return (f"{name} by another error" if other else name), failures

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
        again = copied(model)
        if which := difference(model, again):
            failures.append(f"a copy is not the same: {which}")
        if state in self.finished and 0 not in self.finished:
            goes_on = model
        elif state == 0:
            result = self._result(Lines(), model)
            if self.outcome(model) not in self.finished:
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


def content_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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


def is_free(estimator: Any) -> bool:
    """Whether another thread can have the lock of an estimator."""
    found = []

    def take() -> None:
        lock = lock_of(estimator)
        if lock.acquire(blocking=False):
            lock.release()
            found.append(True)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return bool(found)


@contextmanager
def undisturbed(name: str, door: str, lap: int, folder: Path) -> Iterator[Undisturbed]:
    """A call of an estimator as it is; threads share jobs however small they are."""
    case = EVERY[name]
    with mock.patch.object(parallel, "WORTH_A_THREAD", 0.0):
        yield Undisturbed(DOORS[door][1](case, parts_of(case, lap)), folder)
