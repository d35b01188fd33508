# SPDX-License-Identifier: BSD-3-Clause
"""A stream that was cut anywhere goes on from its last checkpoint to the bits of the uncut one."""

import datetime
import errno
import subprocess
import warnings
import zoneinfo
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.saving import LoadError, files
from streamtopics.streams import (
    Checkpointer,
    DriftMonitor,
    Resumed,
    ScoreHistory,
    TimedBatch,
    resume,
    stream,
)
from streamtopics.streams.stream import BatchInfo
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from tests.saving.state import is_same

ROOT = Path(__file__).parents[2]
X = make_lda_corpus(n_documents=400, n_features=60, n_components=3, random_state=0).X
BATCHES = [X[i : i + 20] for i in range(0, 400, 20)]
TEXTS = [[" ".join(f"w{word}" for word in row.indices) for row in batch] for batch in BATCHES]


def run(model, batches, checkpointer, skip=0, stop=None):
    """A stream as it is described for callbacks; the checkpointer comes last."""
    try:
        for number, batch in enumerate(batches, start=1):
            if number <= skip:
                continue
            if number == stop:
                raise KeyboardInterrupt
            model.partial_fit(batch)
            last = model[-1] if hasattr(model, "steps") else model
            n_documents, n_tokens = last.n_documents_seen_, last.n_tokens_seen_
            checkpointer.on_batch(
                model, BatchInfo(number, batch, None, 20, 0.0, n_documents, n_tokens, np.nan)
            )
    finally:
        checkpointer.finish(model)
    return model


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def counting():
    return StreamingPipeline(
        [
            ("words", StreamingCountVectorizer(max_features=30, n_candidates=10)),
            ("topics", GibbsOnlineEM(3, random_state=0)),
        ]
    )


@pytest.mark.parametrize(("make", "batches"), [
    (lambda: GibbsOnlineEM(3, random_state=0), BATCHES),
    (lambda: StreamingLDA(3, random_state=0), BATCHES),
    (counting, TEXTS),
])  # fmt: skip
@pytest.mark.parametrize("every", [1, 3])
def test_a_stream_cut_anywhere_goes_on_to_the_same_bits(make, batches, every, tmp_path):
    uncut = make()
    for batch in batches:
        uncut.partial_fit(batch)
    folder, rng = tmp_path / "run", np.random.default_rng(0)
    done, n_cuts = 0, 0
    while done < len(batches):
        found = resume(folder)
        model, skip = (make(), 0) if found is None else (found.model, found.n_batches)
        assert skip == done
        stop = skip + int(rng.integers(2, 8))
        try:
            run(model, batches, Checkpointer(folder, every=every), skip, stop=stop)
            done = len(batches)
        except KeyboardInterrupt:
            done, n_cuts = stop - 1, n_cuts + 1
    assert n_cuts >= 2
    found = resume(folder)
    assert found.n_batches == 20
    assert is_same(found.model, uncut)


def monitored():
    """A model that has learnt, and the monitor of its stream."""
    model, monitor = GibbsOnlineEM(3, random_state=0), DriftMonitor()
    for batch in BATCHES[:3]:
        monitor.learn(model, batch)
    return model, monitor


def test_callbacks_are_kept_with_the_model(tmp_path):
    model, monitor = monitored()
    monitor.same, monitor.other = model, GibbsOnlineEM(2, random_state=1).fit(BATCHES[0])
    info = BatchInfo(3, None, None, 20, 0.0, 60, 0.0, np.nan)
    Checkpointer(tmp_path / "run", every=1, also=[monitor]).on_batch(model, info)
    again, (kept,), *_ = resume(tmp_path / "run")
    assert type(kept) is DriftMonitor
    assert kept.same is again
    assert is_same(kept.other, monitor.other)
    for one, two in ((model, monitor), (again, kept)):
        for batch in BATCHES[3:6]:
            two.learn(one, batch)
    assert repr(kept.tests) == repr(monitor.tests)
    assert len(kept.tests) == 4
    assert is_same(again, model)


def test_callbacks_with_functions_are_refused_by_name(tmp_path):
    model, monitor = monitored()
    monitor.alarm = lambda model, X: True
    with pytest.raises(TypeError, match=r"<lambda>, but files keep only.*set None"):
        run(model, BATCHES[:1], Checkpointer(tmp_path / "run", every=1, also=[monitor]))
    assert not names(tmp_path / "run")


def test_the_last_ones_are_kept_and_the_newest_is_the_one_written_last(tmp_path):
    run(GibbsOnlineEM(3, random_state=0), BATCHES, Checkpointer(tmp_path, every=2))
    assert names(tmp_path) == [f"checkpoint-{n:09d}.model" for n in (8, 9, 10)]
    # Another stream in the same folder: what was there before is older.
    run(GibbsOnlineEM(3, random_state=1), BATCHES[:3], Checkpointer(tmp_path, every=1))
    assert names(tmp_path) == [f"checkpoint-{n:09d}.model" for n in (11, 12, 13)]
    assert resume(tmp_path).n_batches == 3


def test_what_a_kill_left_is_removed_before_another_is_written(tmp_path, monkeypatch):
    run(GibbsOnlineEM(3, random_state=0), BATCHES, Checkpointer(tmp_path, every=1))
    (tmp_path / "checkpoint-000000021.model").write_bytes(b"")
    monkeypatch.setattr("streamtopics.streams.checkpoint.save", raise_full)
    with pytest.raises(OSError, match="full"):
        run(GibbsOnlineEM(3, random_state=0), BATCHES, Checkpointer(tmp_path, every=1))
    assert len(names(tmp_path)) == 3


def raise_full(*given, **more):
    raise OSError(errno.ENOSPC, "the disk is full")


def test_nothing_is_written_of_a_minibatch_that_callbacks_have_not_seen(tmp_path):
    model, checkpointer = GibbsOnlineEM(3, random_state=0), Checkpointer(tmp_path, every=100)
    checkpointer.finish(model)
    assert not names(tmp_path)
    model.partial_fit(BATCHES[0])
    checkpointer.on_batch(model, BatchInfo(1, X, None, 20, 0.0, 20, 0.0, np.nan))
    model.partial_fit(BATCHES[1])
    checkpointer.finish(model)
    assert not names(tmp_path)
    checkpointer.on_batch(model, BatchInfo(2, X, None, 20, 0.0, 40, 0.0, np.nan))
    checkpointer.finish(model)
    checkpointer.finish(model)
    assert [resume(tmp_path).n_batches, len(names(tmp_path))] == [2, 1]


def test_a_damaged_newest_one_is_passed_over_with_a_warning(tmp_path):
    run(GibbsOnlineEM(3, random_state=0), BATCHES[:6], Checkpointer(tmp_path, every=2))
    newest = tmp_path / "checkpoint-000000003.model"
    content = newest.read_bytes()
    newest.write_bytes(content[:-100])
    with pytest.warns(
        UserWarning, match=r"000000003\.model cannot be loaded.*000000002\.model is used"
    ):
        found = resume(tmp_path)
    assert found.n_batches == 4
    whole = run(GibbsOnlineEM(3, random_state=0), BATCHES, Checkpointer(tmp_path / "a"))
    model = run(found.model, BATCHES, Checkpointer(tmp_path, every=100), 4)
    assert is_same(model, whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resume(tmp_path).n_batches == 20


def test_a_checkpointer_of_two_streams_keeps_the_end_of_both(tmp_path):
    checkpointer = Checkpointer(tmp_path)
    learner = stream(SVBLDA(2), BATCHES[:5], callbacks=[checkpointer])
    stream(learner, BATCHES[5:], callbacks=[checkpointer])
    assert resume(tmp_path).model.n_documents_seen_ == 400


def test_a_checkpointer_before_what_it_keeps_is_refused(tmp_path):
    history = ScoreHistory()
    checkpointer = Checkpointer(tmp_path, every=1, also=[history])
    with pytest.raises(ValueError, match="put Checkpointer last"):
        stream(SVBLDA(2), BATCHES, callbacks=[checkpointer, history])
    stream(SVBLDA(2), BATCHES[:3], callbacks=[history, checkpointer])
    again = resume(tmp_path)
    assert len(again.callbacks[0].rows) == again.n_batches == 3


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_checkpoint_that_cannot_be_read_gives_way_to_the_one_before(tmp_path, kind):
    stream(SVBLDA(2), BATCHES[:2], callbacks=[Checkpointer(tmp_path)])
    newest = tmp_path / "checkpoint-000000009.model"
    newest.mkdir() if kind == "folder" else newest.symlink_to("nowhere")
    with pytest.warns(UserWarning, match="is used, the one before"):
        assert resume(tmp_path).n_batches == 2


def test_where_none_is_whole_none_is_used(tmp_path):
    assert resume(tmp_path / "none") is None
    assert resume(tmp_path) is None
    run(GibbsOnlineEM(3, random_state=0), BATCHES[:2], Checkpointer(tmp_path, every=1))
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(LoadError, match="none of the checkpoints") as caught:
        resume(tmp_path)
    assert all(name in str(caught.value) for name in names(tmp_path))


def test_a_full_disk_ends_the_stream_and_the_one_before_is_whole(tmp_path, monkeypatch):
    model, checkpointer = GibbsOnlineEM(3, random_state=0), Checkpointer(tmp_path, every=1)
    run(model, BATCHES[:3], checkpointer)

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fsync", raise_full)
        with pytest.raises(OSError, match="full"):
            run(model, BATCHES[:6], checkpointer, 3)
    assert names(tmp_path) == [f"checkpoint-{n:09d}.model" for n in (1, 2, 3)]
    assert resume(tmp_path).n_batches == 3


N_PASSES = 10
RUNS = """
import sys
from tests.streams.test_checkpoint import *
found = resume(sys.argv[1])
model, skip = (found.model, found.n_batches) if found else (GibbsOnlineEM(3, random_state=0), 0)
print("ready", flush=True)
run(model, BATCHES * N_PASSES, Checkpointer(sys.argv[1], every=1), skip)
"""


def test_a_stream_that_is_killed_goes_on_to_the_same_bits(tmp_path, python):
    uncut = GibbsOnlineEM(3, random_state=0)
    for batch in BATCHES * N_PASSES:
        uncut.partial_fit(batch)
    folder, rng, done = tmp_path / "run", np.random.default_rng(0), [0]
    for n_runs in range(1, 100):
        with python(["-c", RUNS, str(folder)]) as child:
            assert child.stdout.readline() == "ready\n"
            try:
                child.wait(float(rng.uniform(0.0, 0.5)) if n_runs < 3 else None)
            except subprocess.TimeoutExpired:
                child.kill()
        found = resume(folder) or Resumed(None, (), 0)
        done.append(found.n_batches)
        if child.returncode == 0:
            break
    assert n_runs > 1
    assert done == sorted(done)
    assert done[-1] == 20 * N_PASSES
    assert is_same(found.model, uncut)
    assert all(name.startswith("checkpoint-") for name in names(folder))


@pytest.mark.parametrize("zone", [None, datetime.UTC, zoneinfo.ZoneInfo("Europe/Berlin")], ids=str)
def test_dates_with_and_without_a_zone_are_kept_in_a_checkpoint(tmp_path, zone):
    begin = datetime.datetime(2020, 1, 1, tzinfo=zone)
    batches = [TimedBatch(X, begin + datetime.timedelta(days=day)) for day in range(4)]
    history = ScoreHistory()
    saver = Checkpointer(tmp_path, every=2, also=[history])
    stream(SVBLDA(3, random_state=0), batches, callbacks=[history, saver])
    resumed = resume(tmp_path)
    assert [row.time for row in resumed.callbacks[0].rows] == [batch.time for batch in batches]


def test_times_that_could_not_be_loaded_again_are_not_written(tmp_path):
    batches = [TimedBatch(X, pd.Timestamp("2020-01-01"))]
    history = ScoreHistory()
    saver = Checkpointer(tmp_path, every=1, also=[history])
    with pytest.raises(TypeError, match="Timestamp"):
        stream(SVBLDA(3, random_state=0), batches, callbacks=[history, saver])
