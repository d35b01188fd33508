# SPDX-License-Identifier: BSD-3-Clause
"""A stream that was cut anywhere goes on from its last checkpoint to the bits of the uncut one."""

import datetime
import errno
import subprocess
import zoneinfo

import numpy as np
import pandas as pd
import pytest

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.report import report
from streamtopics.saving import LoadError, files
from streamtopics.streams import (
    BatchInfo,
    Checkpointer,
    DriftMonitor,
    Resumed,
    ScoreHistory,
    TimedBatch,
    TopicTracker,
    resume,
    stream,
)
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from tests.saving.state import is_same

X = make_lda_corpus(n_documents=400, n_features=60, n_components=3, random_state=0).X
BATCHES = [X[i : i + 20] for i in range(0, 400, 20)]
TEXTS = [[" ".join(f"w{word}" for word in row.indices) for row in batch] for batch in BATCHES]


def lda():
    return GibbsOnlineEM(3, random_state=0)


def run(model, batches, folder, skip=0, every=1):
    return stream(model, batches, callbacks=[Checkpointer(folder, every=every)], skip=skip)


def cut(batches, stop):
    """Minibatches that end with an interrupt in the place of the one of this number."""
    yield from batches[: stop - 1]
    if stop <= len(batches):
        raise KeyboardInterrupt


def info(batch, n_documents_seen):
    return BatchInfo(batch, None, None, 20, 0.0, n_documents_seen, 0.0, np.nan)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def numbered(*numbers):
    return [f"checkpoint-{n:09d}.model" for n in numbers]


def counting():
    words = StreamingCountVectorizer(max_features=30, n_candidates=10)
    return StreamingPipeline([("words", words), ("topics", lda())])


@pytest.mark.parametrize(
    ("make", "batches"),
    [(lda, BATCHES), (lambda: StreamingLDA(3, random_state=0), BATCHES), (counting, TEXTS)],
)
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
            run(model, cut(batches, stop), folder, skip, every)
            done = len(batches)
        except KeyboardInterrupt:
            done, n_cuts = stop - 1, n_cuts + 1
    assert n_cuts >= 2
    found = resume(folder)
    assert found.n_batches == 20
    assert is_same(found.model, uncut)


def monitored():
    """A model that has learnt, and the monitor of its stream."""
    model, monitor = lda(), DriftMonitor()
    for batch in BATCHES[:3]:
        monitor.learn(model, batch)
    return model, monitor


def test_callbacks_are_kept_with_the_model(tmp_path):
    model, monitor = monitored()
    monitor.same, monitor.other = model, GibbsOnlineEM(2, random_state=1).fit(BATCHES[0])
    Checkpointer(tmp_path / "run", every=1, also=[monitor]).on_batch(model, info(3, 60))
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
    saver = Checkpointer(tmp_path / "run", every=1, also=[monitor])
    with pytest.raises(TypeError, match=r"<lambda>, but files keep only.*set None"):
        stream(model, BATCHES[:1], callbacks=[saver])
    assert not names(tmp_path / "run")


def test_the_last_ones_are_kept_and_the_newest_is_the_one_written_last(tmp_path):
    run(lda(), BATCHES, tmp_path, every=2)
    assert names(tmp_path) == numbered(8, 9, 10)
    # Another stream in the same folder: what was there before is older.
    run(lda(), BATCHES[:3], tmp_path)
    assert names(tmp_path) == numbered(11, 12, 13)
    assert resume(tmp_path).n_batches == 3


def test_what_a_kill_left_is_removed_before_another_is_written(tmp_path, monkeypatch):
    run(lda(), BATCHES, tmp_path)
    (tmp_path / "checkpoint-000000021.model").write_bytes(b"")
    monkeypatch.setattr("streamtopics.streams.checkpoint.save", raise_full)
    with pytest.raises(OSError, match="full"):
        run(lda(), BATCHES, tmp_path)
    assert len(names(tmp_path)) == 3


def raise_full(*given, **more):
    raise OSError(errno.ENOSPC, "the disk is full")


def test_nothing_is_written_of_a_minibatch_that_callbacks_have_not_seen(tmp_path):
    model, checkpointer = lda(), Checkpointer(tmp_path, every=100)
    checkpointer.finish(model)
    assert not names(tmp_path)
    checkpointer.on_batch(model.partial_fit(BATCHES[0]), info(1, 20))
    model.partial_fit(BATCHES[1])
    checkpointer.finish(model)
    assert not names(tmp_path)
    checkpointer.on_batch(model, info(2, 40))
    checkpointer.finish(model)
    checkpointer.finish(model)
    assert [resume(tmp_path).n_batches, len(names(tmp_path))] == [2, 1]


def test_a_damaged_newest_one_is_passed_over_with_a_warning(tmp_path):
    run(lda(), BATCHES[:6], tmp_path, every=2)
    newest = tmp_path / "checkpoint-000000003.model"
    newest.write_bytes(newest.read_bytes()[:-100])
    with pytest.warns(
        UserWarning, match=r"000000003\.model cannot be loaded.*000000002\.model is used"
    ):
        found = resume(tmp_path)
    assert found.n_batches == 4
    whole = run(lda(), BATCHES, tmp_path / "a")
    assert is_same(run(found.model, BATCHES, tmp_path, 4, every=100), whole)
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
    run(lda(), BATCHES[:2], tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(LoadError, match="none of the checkpoints") as caught:
        resume(tmp_path)
    assert all(name in str(caught.value) for name in names(tmp_path))


def test_a_full_disk_ends_the_stream_and_the_one_before_is_whole(tmp_path, monkeypatch):
    model = run(lda(), BATCHES[:3], tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fsync", raise_full)
        with pytest.raises(OSError, match="full"):
            run(model, BATCHES[:6], tmp_path, 3)
    assert names(tmp_path) == numbered(1, 2, 3)
    assert resume(tmp_path).n_batches == 3


N_PASSES = 10
RUNS = """
import sys
from tests.streams.test_checkpoint import *
found = resume(sys.argv[1])
model, skip = (found.model, found.n_batches) if found else (lda(), 0)
print("ready", flush=True)
run(model, BATCHES * N_PASSES, sys.argv[1], skip)
"""


def test_a_stream_that_is_killed_goes_on_to_the_same_bits(tmp_path, python):
    uncut = lda()
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
    batches = [TimedBatch(X, pd.Timedelta(1))]
    history = ScoreHistory()
    saver = Checkpointer(tmp_path, every=1, also=[history])
    with pytest.raises(TypeError, match="Timedelta"):
        stream(SVBLDA(3, random_state=0), batches, callbacks=[history, saver])


# Callbacks that go along together

WORDS = [f"word{j}" for j in range(80)]
Y = make_lda_corpus(n_documents=1200, n_features=80, n_components=4, random_state=0).X
COUNTS = [TimedBatch(Y[i : i + 100], f"2026-{i // 100 + 1:02}") for i in range(0, 1200, 100)]


def texts_of(batch):
    rows = (np.repeat(row.indices, row.data.astype(int)) for row in batch.X)
    return TimedBatch([" ".join(WORDS[j] for j in row) for row in rows], batch.time)


def pipeline():
    words = StreamingCountVectorizer(max_features=70)
    return StreamingPipeline([("words", words), ("topics", StreamingLDA(4, random_state=0))])


MODELS = {
    "counts": (lambda: GibbsOnlineEM(4, random_state=0), COUNTS),
    "texts": (pipeline, [texts_of(batch) for batch in COUNTS]),
}


def watchers(kind):
    # A pipeline knows the names of its words.
    tracker = TopicTracker(feature_names=WORDS if kind == "counts" else None)
    return ScoreHistory(), tracker, DriftMonitor(random_state=0)


def state_of(model, callbacks):
    history, tracker, monitor = callbacks
    topics = model[-1] if hasattr(model, "steps") else model
    return topics.components_.tobytes(), *map(repr, (history.rows, tracker.topics(), monitor.tests))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("cut", [1, 6, 11])
def test_a_stream_that_is_cut_goes_on_from_its_checkpoint(kind, cut, tmp_path):
    make, batches = MODELS[kind]
    uncut, along = make(), watchers(kind)
    stream(uncut, batches, callbacks=along)

    model, callbacks = make(), watchers(kind)

    def killed(model, info):
        if info.batch == cut:
            raise RuntimeError("cut")

    keeper = Checkpointer(tmp_path, every=1, also=callbacks)
    with pytest.raises(RuntimeError, match="cut"):
        stream(model, batches, callbacks=[*callbacks, killed, keeper])
    # The checkpoint is of the minibatch before, as the one that was cut is not finished.
    found = resume(tmp_path) or Resumed(make(), watchers(kind), 0)
    assert found.n_batches in (cut - 1, cut)
    model, callbacks = found.model, found.callbacks
    stream(model, batches, callbacks=callbacks, skip=found.n_batches)
    assert state_of(model, callbacks) == state_of(uncut, along)


def test_a_report_of_what_went_along(tmp_path):
    make, batches = MODELS["texts"]
    model, callbacks = make(), watchers("texts")
    stream(model, batches, callbacks=callbacks)
    history, tracker, monitor = callbacks
    texts = [text for batch in batches for text in batch.X]
    path = tmp_path / "report.html"
    scores = {"score": [row.score for row in history.rows[1:]]}
    report(model, path, texts=texts, tracker=tracker, alarms=monitor, scores=scores)
    assert 10_000 < path.stat().st_size < 2_000_000
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]
