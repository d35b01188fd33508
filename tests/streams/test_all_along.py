# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks that go along together: a stream that is cut and resumed equals the uncut one."""

import numpy as np
import pytest

from streamtopics import GibbsOnlineEM, StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.report import report
from streamtopics.streams import (
    Checkpointer,
    DriftMonitor,
    ScoreHistory,
    TimedBatch,
    TopicTracker,
    resume,
    stream,
)
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

X = make_lda_corpus(n_documents=1200, n_features=80, n_components=4, random_state=0).X
NAMES = [f"word{j}" for j in range(80)]
COUNTS = [TimedBatch(X[i : i + 100], f"2026-{i // 100 + 1:02}") for i in range(0, 1200, 100)]


def texts_of(batch):
    rows = (np.repeat(row.indices, row.data.astype(int)) for row in batch.X)
    return TimedBatch([" ".join(NAMES[j] for j in row) for row in rows], batch.time)


TEXTS = [texts_of(batch) for batch in COUNTS]
MODELS = {
    "counts": (lambda: GibbsOnlineEM(4, random_state=0), COUNTS),
    "texts": (
        lambda: StreamingPipeline(
            [
                ("words", StreamingCountVectorizer(max_features=70)),
                ("topics", StreamingLDA(4, random_state=0)),
            ]
        ),
        TEXTS,
    ),
}


def watchers(kind):
    # A pipeline knows the names of its words.
    return (
        ScoreHistory(),
        TopicTracker(feature_names=NAMES if kind == "counts" else None),
        DriftMonitor(random_state=0),
    )


def state_of(model, callbacks):
    history, tracker, monitor = callbacks
    topics = model[-1] if hasattr(model, "steps") else model
    return (
        topics.components_.tobytes(),
        repr(history.rows),
        repr(tracker.topics()),
        repr(monitor.tests),
    )


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
    found = resume(tmp_path)
    start = 0 if found is None else found.n_batches
    assert start in (cut - 1, cut)
    if found is None:
        model, callbacks = make(), watchers(kind)
    else:
        model, callbacks = found.model, found.callbacks
    stream(model, batches, callbacks=callbacks, skip=start)
    assert state_of(model, callbacks) == state_of(uncut, along)


def test_a_report_of_what_went_along(tmp_path):
    make, batches = MODELS["texts"]
    model, callbacks = make(), watchers("texts")
    stream(model, batches, callbacks=callbacks)
    history, tracker, monitor = callbacks
    texts = [text for batch in batches for text in batch.X]
    path = tmp_path / "report.html"
    report(
        model, path, texts=texts, tracker=tracker, alarms=monitor,
        scores={"score": [row.score for row in history.rows[1:]]},
    )  # fmt: skip
    assert 10_000 < path.stat().st_size < 2_000_000
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]
