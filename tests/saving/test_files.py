# SPDX-License-Identifier: BSD-3-Clause
"""Files are there whole or not at all, whatever happens while they are written."""

import errno
import os
import signal
import subprocess
import sys
from io import FileIO
from pathlib import Path

import numpy as np
import pytest

from streamtopics import SVBLDA, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.saving import files
from tests.interrupts import Lines

X = make_lda_corpus(n_documents=40, n_features=30, n_components=3, random_state=0).X
OLD, NEW = (SVBLDA(2, random_state=seed).partial_fit(X) for seed in (0, 1))
ROOT = Path(__file__).parents[2]


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def named_files(monkeypatch):
    """A system that has no files without a name."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.fixture(params=["nameless", "named"])
def system(request, monkeypatch):
    if request.param == "named":
        named_files(monkeypatch)


def full_after(n_bytes, monkeypatch):
    """Let a disk take so many bytes, and then be full."""
    write, left = os.write, n_bytes

    def limited(descriptor, data):
        nonlocal left
        part = min(len(data), left)
        if part == 0 and len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left -= part
        return write(descriptor, memoryview(data)[:part])

    monkeypatch.setattr(files.os, "write", limited)


@pytest.mark.parametrize("there", [True, False], ids=["a file before", "none"])
def test_a_disk_that_is_full_at_any_byte(there, system, tmp_path, monkeypatch):
    path = tmp_path / "a.model"
    save(NEW, path)
    whole = path.read_bytes()
    path.unlink()
    if there:
        save(OLD, path)
    before = content_of(tmp_path)
    for n_bytes in [*range(0, len(whole), 37), *range(60), len(whole) - 1]:
        with monkeypatch.context() as patched:
            full_after(n_bytes, patched)
            with pytest.raises(OSError, match=r"a\.model") as caught:
                save(NEW, path)
        assert caught.value.errno == errno.ENOSPC
        assert content_of(tmp_path) == before
    with monkeypatch.context() as patched:
        full_after(len(whole), patched)
        save(NEW, path)
    assert content_of(tmp_path) == {"a.model": whole}


ERRORS = [OSError(errno.EIO, "bad"), KeyboardInterrupt()]


@pytest.mark.parametrize("name", ["fsync", "link", "fchmod"])
@pytest.mark.parametrize("error", ERRORS, ids=type)
def test_any_step_that_fails_leaves_the_file_before(name, error, system, tmp_path, monkeypatch):
    path = tmp_path / "a.model"
    save(OLD, path)
    before = content_of(tmp_path)
    real, called = getattr(os, name), []

    def fail(*args, **kwargs):
        if called:
            return real(*args, **kwargs)
        called.append(args)
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(files.os, name, fail)
        if name == "link" and not hasattr(os, "O_TMPFILE"):
            save(OLD, path)
        else:
            with pytest.raises(type(error)):
                save(NEW, path)
    assert content_of(tmp_path) == before


@pytest.mark.parametrize("error", ERRORS, ids=type)
def test_a_file_that_cannot_be_closed_is_not_there(error, system, tmp_path, monkeypatch):
    class Failing(FileIO):
        def close(self):
            was_open = not self.closed
            super().close()
            if was_open:
                raise error

    save(OLD, path := tmp_path / "a.model")
    before = content_of(tmp_path)
    monkeypatch.setattr(files, "FileIO", Failing)
    with pytest.raises(type(error)):
        save(NEW, path)
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
        with pytest.raises(OSError, match=r"a\.model"):
            save(NEW, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert content_of(tmp_path) == before


def test_permissions_and_links_stay(system, tmp_path):
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


def test_a_long_name(system, tmp_path):
    path = tmp_path / ("\u00e9" * 125)
    for model in (OLD, NEW):
        save(model, path)
    assert (load(path).components_ == NEW.components_).all()


SAVES = """
import sys
from streamtopics import load, save
one, other, path = (*map(load, sys.argv[1:3]), sys.argv[3])
print("ready", flush=True)
while True:
    save(one, path)
    save(other, path)
"""


WRITES = """
import sys
from pathlib import Path
from sklearn.feature_extraction.text import CountVectorizer
from streamtopics import StreamingLDA, load, save
from streamtopics.saving.models import write
from streamtopics.text import SentenceVectorizer, StreamingCountVectorizer, StreamingPipeline

texts = ["The wind over the sea.", "Bread with salt.", "Salt in the sea."] * 3
counter = CountVectorizer(stop_words=["the", "with", "over", "in"])
models = [
    counter.fit(texts),
    SentenceVectorizer(CountVectorizer(stop_words="english")).fit(texts),
    StreamingPipeline(
        [
            ("words", StreamingCountVectorizer(stop_words="english")),
            ("topics", StreamingLDA(2, random_state=0)),
        ]
    ).fit(texts),
]
for i, model in enumerate(models):
    model.transform(texts)
    save(model, f"{sys.argv[1]}/{i}.model")
    again = load(f"{sys.argv[1]}/{i}.model")
    again.transform(texts)
    save(again, f"{sys.argv[1]}/{i}.again")
write({"the", "with", "over", "in", "of"}, Path(sys.argv[1]) / "set", kind="words")
"""


def test_the_same_model_is_the_same_bytes_in_any_process(tmp_path):
    """Nothing in a file hangs on where objects are in memory, or on the order of sets."""
    found = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-c", WRITES, str(folder)], check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        )  # fmt: skip
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert len(found[0]) == 7
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []
    assert all(found[0][f"{i}.model"] == found[0][f"{i}.again"] for i in range(3))


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="a kill leaves a hidden part")
def test_a_kill_in_the_middle_of_a_save(tmp_path, python):
    wide = make_lda_corpus(n_documents=200, n_features=20_000, random_state=0).X
    folder, known = tmp_path / "folder", []
    folder.mkdir()
    for seed in (0, 1):
        save(SVBLDA(20, random_state=seed).partial_fit(wide), tmp_path / f"{seed}")
        known.append((tmp_path / f"{seed}").read_bytes())
    rng = np.random.default_rng(0)
    arguments = [str(tmp_path / "0"), str(tmp_path / "1"), str(folder / "a.model")]
    for _ in range(3):
        with python(["-c", SAVES, *arguments]) as child:
            assert child.stdout.readline() == "ready\n"
            signal_after(child, float(rng.uniform(0.0, 0.3)))
        if content := content_of(folder):
            # Between its two names a whole file may be there twice.
            assert set(content.values()) <= set(known)
            load(folder / "a.model")


def signal_after(child, seconds):
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()


def test_an_interrupt_at_any_line_leaves_no_other_file(system, tmp_path):
    path, means = tmp_path / "a.model", Lines(within=(files.__file__,))
    for there in (False, True):
        n_lines = means.during(lambda: save(NEW, path))
        new = content_of(tmp_path)
        for at in range(1, n_lines + 1):
            path.unlink()
            if there:
                save(OLD, path)
            before, descriptors = content_of(tmp_path), len([*Path("/proc/self/fd").iterdir()])
            with pytest.raises(KeyboardInterrupt):
                means.during(lambda: save(NEW, path), at)
            assert content_of(tmp_path) in (before, new), at
            assert len([*Path("/proc/self/fd").iterdir()]) == descriptors, at
            save(NEW, path)


def test_a_lack_of_memory_is_not_taken_for_a_damaged_file(tmp_path, monkeypatch):
    def short(*args):
        raise MemoryError

    save(OLD, tmp_path / "a.model")
    for place in ("models.Rebuilder.value", "container._empty_arrays"):
        with monkeypatch.context() as patched:
            patched.setattr(f"streamtopics.saving.{place}", short)
            with pytest.raises(MemoryError):
                load(tmp_path / "a.model")
