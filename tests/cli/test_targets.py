# SPDX-License-Identifier: BSD-3-Clause
"""Files that the command writes when the disk is full, or when it is told to end."""

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from tests.cli.texts import lines

TWO = ["texts.txt", "--topics", "2", "--max-share", "1"]
FIT = ["fit", *TWO, "--quiet"]
WATCH = ["watch", *TWO, "--idle", "0.1", "--batch-size", "100", "--every", "1"]
# What is written, by which command, and a size that is too small for it.
TARGETS = {
    "made.model": ([*FIT, "--model", "made.model"], 1000),
    "t.csv": ([*FIT, "--topics-out", "t.csv"], 50),
    "t.json": ([*FIT, "--topics-out", "t.json"], 50),
    "d.jsonl": ([*FIT, "--documents-out", "d.jsonl"], 1000),
    "r.html": ([*FIT, "--report", "r.html"], 20_000),
    "a.csv": (["apply", "old.model", "texts.txt", "--output", "a.csv"], 1000),
    "old.model": (["update", "old.model", "texts.txt", "--quiet"], 1000),
    "w.model.checkpoints/checkpoint-000000001.model": ([*WATCH, "--model", "w.model"], 10_000),
}  # fmt: skip


@pytest.fixture(name="folder")
def folder_of_files(tmp_path, monkeypatch, run):
    (tmp_path / "texts.txt").write_text("\n".join([*lines(300), ""]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # Else what is compiled under a limit of the size of files is cut, and stays so.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    run(*FIT, "--model", "old.model")
    return tmp_path


@contextmanager
def files_of_at_most(n):
    """Let writing more than so many bytes to a file fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(folder):
    found = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


@pytest.mark.parametrize("target", TARGETS)
def test_what_cannot_be_written_leaves_all_as_it_was(folder, run, target):
    arguments, n = TARGETS[target]
    if target in {"t.csv", "t.json", "d.jsonl", "r.html", "a.csv"}:
        (folder / target).write_bytes(b"what was there before")
    before = files(folder)
    with files_of_at_most(n):
        _, err = run(*arguments, status=2)
    assert "File too large" in err
    assert target.rsplit("/", 1)[-1] in err
    assert "Traceback" not in err
    assert files(folder) == before
    run(*arguments)
    assert files(folder)[target] != before.get(target)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("when", ["reading", "learning"])
def test_signals_in_fit_leave_all_as_it_was(folder, number, status, when, python):
    files_to_read = ["-"] if when == "reading" else ["texts.txt"]
    arguments = ["fit", *files_to_read, "--max-share", "1", "--model", "old.model"]
    arguments += ["--report", "r.html", "--max-iter", "1000000"]
    before = files(folder)
    with python(["-m", "streamtopics", *arguments], stdin=subprocess.PIPE) as process:
        assert "reading" in process.stderr.readline()
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == status, err
    assert err.splitlines()[-1] == "streamtopics: interrupted"
    assert "Traceback" not in err
    assert files(folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        [*FIT, "--model", "texts.txt"],
        [*FIT, "--report", "linked.txt"],
        [*FIT, "--seeds", "seeds.json", "--topics-out", "seeds.json"],
        [*FIT, "--model", "new.html", "--report", "./new.html"],
        ["apply", "old.model", "texts.txt", "--output", "texts.txt"],
        ["apply", "old.model", "texts.txt", "--output", "old.model"],
        ["update", "old.model", "texts.txt", "--model", "texts.txt"],
        [*WATCH, "--model", "texts.txt"],
        [*WATCH, "--model", "new", "--report", "texts.txt"],
        [*WATCH, "--model", "new", "--report", "new"],
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[-4:]),
)
def test_no_file_that_is_read_is_written(folder, run, arguments):
    """Nor two to one name."""
    (folder / "seeds.json").write_text('{"water": ["ship"]}', encoding="utf-8")
    (folder / "linked.txt").symlink_to("texts.txt")
    before = files(folder)
    assert "name another file to write to" in run(*arguments, status=2)[1]
    assert files(folder) == before


def test_a_folder_that_cannot_be_written_to_is_refused_before_reading(folder, run, monkeypatch):
    """As the system says; who may do everything can write to all folders."""
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    _, err = run("fit", "not there.txt", "--model", "m.model", status=2)
    assert "nothing can be written to m.model" in err
