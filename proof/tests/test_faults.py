# SPDX-License-Identifier: BSD-3-Clause
"""A share of `proof.faults` for every public estimator; and that its checks can fail."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from proof import children, complaints, fault_calls, faults, kills
from proof.fault_calls import Call, Undisturbed, doors_of, undisturbed
from proof.fault_means import Memory, compiled
from streamtopics import load, save
from streamtopics.kernels import _hdp, _minibatch, _was, rows
from streamtopics.saving import files
from streamtopics.streams import stream
from streamtopics.utils.parallel import WithCache, lock_of
from tests.conventions.every import EVERY, METHODS, N
from tests.interrupts import Lines
from tests.kernels.test_rows import add_rows_arguments
from tests.saving.state import parts_of

ROOT = Path(__file__).parents[2]
# Places for each door, and more of the last ones, where a step is taken.
PLACES, LAST = 3, 5


@pytest.mark.parametrize("name", METHODS)
def test_a_call_that_is_disturbed_is_done_or_not_done(name, tmp_path):
    means = [Lines(), Lines(MemoryError)]
    for door in doors_of(name) if name in EVERY else ["later"]:
        folder = tmp_path / door
        folder.mkdir()
        with undisturbed(name, door, 0, folder) as call:
            n = call.places(means[0])
            places = [*np.linspace(1, n, min(PLACES, n)).astype(int)]
            if door == "later":
                places += range(n - LAST, n + 1)
            for number, at in enumerate(places):
                outcome, failures = call.disturbed(means[number % 2], at)
                assert (outcome != "neither", failures) == (True, []), (door, at)


# Saves two models over one file, when that was told.
SAVES = """
import sys
from itertools import cycle
from streamtopics import load, save
*others, path = sys.argv[1:]
models = [load(other) for other in others]
print("ready", flush=True)
for model in cycle(models):
    save(model, path)
"""


@pytest.mark.parametrize("name", EVERY)
def test_a_save_that_is_killed_leaves_the_old_file_or_the_new_one(name, tmp_path, python):
    case, folder = EVERY[name], tmp_path / "saves"
    others, path = [tmp_path / "one", tmp_path / "other"], folder / "a.model"
    for other, rows_ in zip(others, (np.arange(N), np.arange(2, N)), strict=True):
        save(case.part(rows_).taught(case.made, "fit"), other)
    known = [parts_of(load(other)) for other in others]
    folder.mkdir()
    shutil.copy(others[0], path)
    with python(["-c", SAVES, *map(str, others), str(path)]) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(float(np.random.default_rng(len(name)).uniform(0.0, 0.01)))
        child.kill()
        assert child.wait() == -signal.SIGKILL
    assert parts_of(load(path)) in known
    assert all(other == path or other.suffix == ".part" for other in folder.iterdir())


# The command, and allocations


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if shutil.which("gcc") is None or sys.platform != "linux":
        pytest.skip("there is no gcc to compile an allocator with that fails")
    try:
        return compiled(tmp_path_factory.mktemp("library"))
    except OSError as error:
        pytest.skip(str(error))


def preloaded(library, *arguments):
    """A process in which the library is there before all others, and coverage is not measured.

    What measures it allocates as well, between any two lines, which would fail in its place.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    more = {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=kept | more, capture_output=True, text=True,
    )  # fmt: skip


def all_or_nothing(library):
    """Write to three stores, where each allocation fails once: all are changed, or none."""
    for kind in ("objects", "kernels"):
        means, at, came = Memory(Path(library), kind), 0, []
        while not came or means.struck:
            at += 1
            made = [add_rows_arguments(seed, np.float64) for seed in range(3)]
            calls, wanted = [arguments for arguments, _ in made], [want for _, (want, _) in made]
            before, state = [S.copy() for S, *_ in calls], {"n": 0}
            with suppress(MemoryError):
                means.during(partial(rows.write, calls, [(state, "n", 1)]), at)
            now = [S for S, *_ in calls]
            changed = [bool((was != S).any()) for S, was in zip(now, before, strict=True)]
            assert len({*changed, state["n"] == 1}) == 1, (kind, at, changed)
            came.append(all(changed))
            if came[-1]:
                for S, want in zip(now, wanted, strict=True):
                    np.testing.assert_allclose(S, want, rtol=1e-14)
        assert came[-1], kind
        assert False in came, kind


def test_a_lack_of_memory_leaves_no_part_of_an_update(library):
    code = f"from proof.tests.test_faults import all_or_nothing; all_or_nothing({str(library)!r})"
    done = preloaded(library, "-c", code)
    assert done.returncode == 0, done.stderr


def kernel_calls():
    """Calls of kernels that return arrays, of which NumPy makes copies where it has no memory."""
    indices = np.array([3, 1, 3], np.int32)
    starts, words = np.array([0, 2, 3]), np.array([1, 0, 2], np.int32)

    def sampled():
        lam = np.arange(1.0, 7.0).reshape(3, 2)
        sampler = _hdp.Sampler(
            lam, lam.sum(axis=0), 2, np.ones(3), 3.0, np.array([0.5, 0.4]), 1.0, 1.0, None, True
        )
        counts = np.full(3, 2, np.int32), np.ones(3)
        sampler.sample(words[:3], words, *counts, np.array([5, 6], np.uint64), 0, 0, 2, 1)
        return sampler.results()

    return [
        sampled,
        lambda: rows.used_columns(indices, 5),
        lambda: _minibatch.document_seeds(7, 0, 3),
        lambda: _was.content_seeds(np.array([0, 1, 2]), starts, words),
    ]


def bits_of(arrays):
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    return [(array.dtype.str, array.shape, array.tobytes()) for array in arrays]


def keep_result(found, act):
    found.append(act())


def same_or_refused(library):
    """Make calls of kernels in which each of Python's allocations fails once."""
    means = Memory(Path(library), "objects")
    for number, act in enumerate(kernel_calls()):
        expected, found = bits_of(act()), []
        keep = partial(keep_result, found, act)
        for at in range(1, means.during(keep) + 1):
            found.clear()
            # The latter comes of sums of NumPy.
            with suppress(MemoryError, SystemError):
                means.during(keep, at)
            assert all(bits_of(arrays) == expected for arrays in found), (number, at)


def test_a_kernel_short_of_memory_returns_nothing_else(library):
    code = f"from proof.tests.test_faults import same_or_refused; same_or_refused({str(library)!r})"
    done = preloaded(library, "-c", code)
    assert done.returncode == 0, done.stderr


def written(path):
    with files.replace_file(path) as write:
        write(b"new")


def whole_and_closed(library, folder):
    """Write a file and its folder, where each of Python's allocations fails once."""
    means, path = Memory(Path(library), "objects"), Path(folder) / "a"
    for act in (lambda: files.sync_folder(path.parent), lambda: written(path)):
        path.write_bytes(b"old")
        n = means.during(act)
        assert n
        for at in range(1, n + 1):
            path.write_bytes(b"old")
            before = fault_calls.n_descriptors()
            try:
                means.during(act, at)
            except (MemoryError, TypeError, SystemError):
                # The latter two are what Python says of a path without memory.
                assert fault_calls.n_descriptors() == before, at
            found = fault_calls.files_of(path.parent)
            assert found in ({"a": b"old"}, {"a": b"new"}), at
            assert fault_calls.n_descriptors() == before, at


def test_a_lack_of_memory_leaves_no_file_open(library, tmp_path):
    given = f"{str(library)!r}, {str(tmp_path)!r}"
    code = f"from proof.tests.test_faults import whole_and_closed; whole_and_closed({given})"
    done = preloaded(library, "-c", code)
    assert done.returncode == 0, done.stderr


# Checks that can fail


class Right(WithCache, BaseEstimator):
    """Sets what it learns at once."""

    def partial_fit(self, X):
        n = getattr(self, "n_", 0)
        self.n_ = n + 1
        return self


class Half(Right):
    def partial_fit(self, X):
        self.n_ = getattr(self, "n_", 0) + 1
        self.m_ = self.n_
        return self


class KeepsItsLock(Right):
    def partial_fit(self, X):
        lock = lock_of(self)
        lock.acquire()
        self.n_ = getattr(self, "n_", 0) + 1
        lock.release()
        return self


class LeavesFiles(Right):
    def partial_fit(self, X):
        part = X / "part"
        part.write_text("")
        part.unlink()
        self.n_ = getattr(self, "n_", 0) + 1
        return self


class Remembers(Right):
    """Learns otherwise after a call that was not finished, of which it does not tell."""

    calls = 0

    def partial_fit(self, X):
        Remembers.calls += 1
        n = getattr(self, "n_", 0)
        self.n_ = n + 1 + (Remembers.calls > 2)
        return self


class Hides(Right):
    def partial_fit(self, X):
        try:
            return super().partial_fit(X)
        except KeyboardInterrupt:
            raise ValueError("X is wrong") from None


class Swallows(Right):
    def partial_fit(self, X):
        with suppress(KeyboardInterrupt):
            n = getattr(self, "n_", 0) + 1
            self.n_ = n
        self.n_ = n if "n" in locals() else 1
        return self


class ReturnsOtherwise(Right):
    def partial_fit(self, X):
        super().partial_fit(X)
        found = [1.0]
        with suppress(KeyboardInterrupt):
            found.append(2.0)
        return found


class Warns(Right):
    def partial_fit(self, X):
        np.zeros(1) / np.zeros(1)
        return super().partial_fit(X)


class Commit(NamedTuple):
    n_batches: int


class Twice(BaseEstimator):
    """Learns in two steps."""

    _commit = Commit(0)

    def partial_fit(self, X):
        for _ in range(2):
            self._commit = Commit(self._commit.n_batches + 1)
        return self


HERE = (__file__,)


@pytest.fixture
def failures_of(monkeypatch, tmp_path):
    def found(kind, has_steps=False):
        monkeypatch.setattr(fault_calls, "save", lambda model, path: path.write_bytes(b""))
        monkeypatch.setattr(fault_calls, "Lines", partial(Lines, within=HERE))
        monkeypatch.setattr(complaints, "PACKAGE", Path(__file__).parent)
        means = Lines(within=HERE)
        act = Call(kind(), lambda model, folder: model.partial_fit(folder), has_steps=has_steps)
        call = Undisturbed(act, tmp_path)
        places = range(1, call.places(means) + 1)
        return " ".join(said for at in places for said in call.disturbed(means, at)[1])

    return found


@pytest.mark.parametrize(("kind", "has_steps"), [(Right, False), (Twice, True)])
def test_what_is_right_is_not_reported(kind, has_steps, failures_of):
    assert failures_of(kind, has_steps) == ""


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(("kind", "expected"), [
    (Half, "differs from before in n_, from after in m_"),
    (Twice, "differs from before in _commit, from after in _commit"),
    (KeepsItsLock, "a lock is held"),
    (LeavesFiles, "other files"),
    (Remembers, "does not repeat"),
    (Hides, "raised ValueError"),
    (Swallows, "swallowed an interrupt"),
    (ReturnsOtherwise, "returns something else"),
    (Warns, "invalid value encountered"),
])  # fmt: skip
def test_what_is_not_right_is_reported(kind, expected, failures_of):
    assert expected in failures_of(kind)


def dying_in(said):
    def turn(walk, kind, lap, seed, most, library, writer):
        faults.tell(writer, {"at": 7, "n": 40})
        os.write(2, f"\n{said}\n".encode())
        os.kill(os.getpid(), signal.SIGSEGV)

    return turn


@pytest.mark.parametrize(("said", "outcome"), [
    ("died in /a/site-packages/numpy/_core/_multiarray_umath.so", "died in numpy"),
    ('  File "/usr/lib/python3.11/threading.py", line 5 in start', "died in threading"),
    ("died in /a/streamtopics/kernels/rows.so", "died"),
])  # fmt: skip
def test_what_died_within_a_library_is_counted_as_its_own(said, outcome, monkeypatch):
    monkeypatch.setattr(faults, "take_turn", dying_in(said))
    outcomes, failures = faults.run_turn(("SVBLDA", "later"), "objects", 0, 0, 5)
    assert outcomes == {outcome: 1}
    assert len(failures) == (outcome == "died")
    assert all("place 7 of 40" in where for where in failures.values())


class Forever(Undisturbed):
    def disturbed(self, means, at):
        while True:
            time.sleep(1)


def test_a_call_that_does_not_end_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(faults, "PATIENCE", 0.1)
    monkeypatch.setattr(fault_calls, "Undisturbed", Forever)
    ((key, said),) = faults.run("interrupts", 1, [("SVBLDA", "later")]).items()
    assert "died: SIGALRM" in key
    assert "in disturbed" in said


def test_allocations_that_fail(library):
    arguments = ("--only", "MultiViewLDA", "--door", "later", "--allocations", "30")
    done = preloaded(library, "-m", "proof.faults", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kernels: 10 (" in done.stdout


DIES = """
import ctypes, sys
from pathlib import Path
from proof.fault_means import loaded
loaded(Path(sys.argv[1]))
ctypes.string_at(1)
"""


def test_it_is_said_in_which_library_a_process_dies(library):
    done = preloaded(library, "-c", DIES, str(library))
    assert done.returncode == -signal.SIGSEGV
    assert "died in /" in done.stderr


# States and processes


def test_a_silent_process_is_ended(monkeypatch):
    monkeypatch.setattr(children, "TICK", 0.01)
    monkeypatch.setattr(children, "SILENCE", 0.02)
    monkeypatch.setattr(children, "PATIENCE", 0.02)
    with children.child_of(lambda writer: time.sleep(100)) as child:
        assert list(child.lines()) == []
        assert child.how_it_ended() == "silence"


@pytest.mark.parametrize("seconds", [0.0, 100.0])
def test_a_kill_is_told_from_an_end(seconds):
    was_killed, told = kills.killed(lambda writer: time.sleep(0.3), seconds)
    assert (was_killed, told) == (seconds == 0.0, b"")
    with pytest.raises(SystemExit, match="by itself, -6"):
        kills.killed(lambda writer: os.abort(), 100.0)


@pytest.mark.parametrize("name", kills.STREAMED)
def test_a_stream_cut_before_its_last_minibatch_ends_in_the_same_file(name, tmp_path):
    """What is one array in memory is one again once it is loaded, also where a rule has it."""
    batches = kills.batches_of(name)[:4]
    uncut = stream(METHODS[name].made, batches)
    save(stream(METHODS[name].made, batches[:3]), tmp_path / "a.model")
    cut = stream(load(tmp_path / "a.model"), batches, skip=3)
    assert parts_of(cut) == parts_of(uncut)
