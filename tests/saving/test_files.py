# SPDX-License-Identifier: BSD-3-Clause
"""Files are there whole or not at all, whatever happens while they are written."""

import signal
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from streamtopics import SVBLDA, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.saving import files
from streamtopics.saving.files import replace_file
from tests.interrupts import Lines

X = make_lda_corpus(n_documents=40, n_features=30, n_components=3, random_state=0).X
OLD, NEW = (SVBLDA(2, random_state=seed).partial_fit(X) for seed in (0, 1))


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(path, error):
    with replace_file(path) as send:
        send(b"half")
        if error is not None:
            raise error


STEPS = [(True, "copymode"), *product((True, False), ("write", "fsync", "replace"))]


@pytest.mark.parametrize(("there", "step"), STEPS)
@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()], ids=type)
def test_any_step_that_fails_leaves_the_file_before(there, step, error, tmp_path, monkeypatch):
    if there:
        save(OLD, tmp_path / "a.model")
    before = content_of(tmp_path)

    def fail(*given, **more):
        raise error

    owners = {"fsync": files.os, "copymode": files.shutil, "replace": Path}
    with monkeypatch.context() as patched:
        if step != "write":
            patched.setattr(owners[step], step, fail)
        with pytest.raises(type(error)):
            write(tmp_path / "a.model", error if step == "write" else None)
    assert content_of(tmp_path) == before


def test_a_limit_of_the_size_of_files(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "a.model"
    save(OLD, path)
    before = content_of(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"large: .*a\.model"):
            save(NEW, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert content_of(tmp_path) == before


def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "a.model", tmp_path / "link"
    save(OLD, path)
    path.chmod(0o640)
    link.symlink_to(path)
    save(NEW, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert (load(path).components_ == NEW.components_).all()
    assert sorted(content_of(tmp_path)) == ["a.model", "link"]


def test_what_is_no_file_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileExistsError, match="no ordinary file"):
        save(OLD, tmp_path / "folder")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save(OLD, tmp_path / "nowhere" / "a.model")


def test_a_long_name(tmp_path):
    path = tmp_path / ("\u00e9" * 125)
    for model in (OLD, NEW):
        save(model, path)
    assert (load(path).components_ == NEW.components_).all()


SAVES = """
import sys
from streamtopics import load, save
one, other, path = (*map(load, sys.argv[1:3]), sys.argv[3])
save(one, path)
print("ready", flush=True)
while True:
    save(other, path)
    save(one, path)
"""


def test_a_kill_in_the_middle_of_a_save(tmp_path, python):
    wide = make_lda_corpus(n_documents=200, n_features=20_000, random_state=0).X
    models = [SVBLDA(20, random_state=seed).partial_fit(wide) for seed in (0, 1)]
    for seed, model in enumerate(models):
        save(model, tmp_path / f"{seed}")
    rng, folder = np.random.default_rng(0), tmp_path / "folder"
    folder.mkdir()
    for _ in range(3):
        paths = tmp_path / "0", tmp_path / "1", folder / "a"
        with python(["-c", SAVES, *map(str, paths)]) as child:
            assert child.stdout.readline() == "ready\n"
            try:
                child.wait(float(rng.uniform(0.1, 0.3)))
            except subprocess.TimeoutExpired:
                child.kill()
        found = load(folder / "a").components_
        assert any((found == model.components_).all() for model in models)
        assert all(name == "a" or name.endswith(".part") for name in content_of(folder))


def test_a_lack_of_memory_is_not_taken_for_a_damaged_file(tmp_path, monkeypatch):
    def short(*given, **more):
        raise MemoryError

    save(OLD, tmp_path / "a.model")
    monkeypatch.setattr("skops.io.load", short)
    with pytest.raises(MemoryError):
        load(tmp_path / "a.model")


def test_an_interrupt_at_any_line_leaves_no_other_file(tmp_path):
    path, means = tmp_path / "a.model", Lines(within=(files.__file__,))
    for there in (False, True):
        n_lines = means.during(lambda: save(NEW, path))
        for at in range(1, n_lines + 1):
            path.unlink()
            if there:
                save(OLD, path)
            descriptors = len([*Path("/proc/self/fd").iterdir()])
            with pytest.raises(KeyboardInterrupt):
                means.during(lambda: save(NEW, path), at)
            assert {*content_of(tmp_path)} <= {"a.model"}, at
            assert len([*Path("/proc/self/fd").iterdir()]) == descriptors, at
            save(NEW, path)
