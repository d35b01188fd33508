# SPDX-License-Identifier: BSD-3-Clause
"""A share of `benchmarks.faults` for every public estimator; and that its checks can fail."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from benchmarks import fault_calls, fault_means, faults, kills
from benchmarks.fault_calls import Call, Undisturbed, doors_of, undisturbed
from benchmarks.fault_means import Lines, Memory, compiled
from streamtopics import SVBLDA, load, save
from streamtopics.base.frame import lock_of
from streamtopics.kernels import rows
from tests.conventions.every import EVERY
from tests.kernels.test_rows import add_rows_arguments

ROOT = Path(__file__).parents[1]
# Places for each door, and more of the last ones, where a step is taken.
PLACES, LAST = 3, 5


@pytest.mark.parametrize("name", EVERY)
def test_a_call_that_is_disturbed_is_done_or_not_done(name, tmp_path):
    means = [Lines(), Lines(MemoryError)]
    for door in doors_of(name):
        folder = tmp_path / door
        folder.mkdir()
        with undisturbed(name, door, 0, folder) as call:
            n = call.places(means[0])
            places = [faults.place_of(number, n) for number in range(min(PLACES, n))]
            if door == "later":
                places += range(n - LAST, n + 1)
            for number, at in enumerate(places):
                came, failures = call.tried(means[number % 2], at)
                assert (came != "neither", failures) == (True, []), (door, at)


def test_every_place_has_its_turn():
    for n in (1, 2, 3, 10, 987):
        assert sorted(faults.place_of(number, n) for number in range(n)) == list(range(1, n + 1))


@pytest.mark.parametrize("name", EVERY)
def test_a_save_that_is_killed_leaves_the_old_file_or_the_new_one(name, tmp_path, python):
    path = tmp_path / "a.model"
    known = []
    for model in kills.two_models(name):
        save(model, path)
        known.append(path.read_bytes())
    code = f"from benchmarks.kills import save_for_ever; save_for_ever({name!r}, {str(path)!r})"
    with python(["-c", code]) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(float(np.random.default_rng(len(name)).uniform(0.0, 0.01)))
        child.kill()
    assert path.read_bytes() in known
    load(path)
    if hasattr(os, "O_TMPFILE"):
        # A name for an instant, of what is whole.
        assert all(other.read_bytes() in known for other in tmp_path.iterdir())


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
    """A process in which the library is there before all others."""
    more = {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=os.environ | more, capture_output=True, text=True,
    )  # fmt: skip


def test_allocations_that_fail(library, tmp_path):
    state = tmp_path / "state.json"
    arguments = ("--only", "MultiViewLDA", "--door", "later", "--state", str(state))
    for times in (1, 2):
        done = preloaded(library, "-m", "benchmarks.faults", "--allocations", "60", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        counts = faults.read_state(state)["counts"]
        assert set(counts) == set(faults.ALLOCATIONS)
        for names in counts.values():
            assert sum(names["MultiViewLDA"].values()) >= 20 * times


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
    code = f"from tests.test_faults import all_or_nothing; all_or_nothing({str(library)!r})"
    done = preloaded(library, "-c", code)
    assert done.returncode == 0, done.stderr


def test_a_lack_of_memory_is_not_taken_for_wrong_parameters(monkeypatch):
    def short(self):
        raise MemoryError

    monkeypatch.setattr(SVBLDA, "_composition", short)
    with pytest.raises(MemoryError):
        hasattr(SVBLDA(), "merge")


# Checks that can fail


class Right(BaseEstimator):
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


@pytest.fixture
def failures_of(monkeypatch, tmp_path):
    def found(kind):
        monkeypatch.setattr(fault_means, "PACKAGE", __file__)
        monkeypatch.setattr(fault_calls, "save", lambda model, path: path.write_bytes(b""))
        call = Undisturbed(Call(kind(), lambda model, folder: model.partial_fit(folder)), tmp_path)
        places = range(1, call.places(Lines()) + 1)
        return " ".join(said for at in places for said in call.tried(Lines(), at)[1])

    return found


def test_what_is_right_is_not_reported(failures_of):
    assert failures_of(Right) == ""


@pytest.mark.parametrize(("kind", "expected"), [
    (Half, "differs from before in n_, from after in m_"),
    (KeepsItsLock, "a lock is held"),
    (LeavesFiles, "other files"),
    (Remembers, "does not repeat"),
    (Hides, "raised ValueError"),
])  # fmt: skip
def test_what_is_not_right_is_reported(kind, expected, failures_of):
    assert expected in failures_of(kind)


def dying(walk, lap, numbers, library, writer):
    faults.tell(writer, {"n": 40})
    faults.tell(writer, {"at": 7})
    os.abort()


def test_a_process_that_dies_is_reported_with_its_place(monkeypatch):
    monkeypatch.setattr(faults, "take_turn", dying)
    state = faults.read_state(None)
    faults.run(1, [faults.Walk("SVBLDA", "later", "interrupts")], state)
    assert list(state["failures"].values()) == ["SVBLDA:later:interrupts:0:7"]
    assert "died: SIGABRT" in faults.told_of(state)
