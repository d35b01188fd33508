# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics watch`: follows a file that grows, or standard input."""

from __future__ import annotations

import math
import time
from argparse import Namespace
from collections import deque
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from streamtopics import save
from streamtopics.cli.estimators import estimator
from streamtopics.cli.fit import vectorizer_for
from streamtopics.cli.models import Learner, learner_of, load_model, pipeline, words_of
from streamtopics.cli.reading import settings, texts_of
from streamtopics.cli.telling import counted, note, safe, tell_skipped
from streamtopics.cli.writing import check_target
from streamtopics.datasets import Follower, Record, Skipped, follow
from streamtopics.report import report
from streamtopics.streams import (
    BatchInfo,
    Checkpointer,
    DriftMonitor,
    ScoreHistory,
    TimedBatch,
    TopicTracker,
    resume,
    stream,
)
from streamtopics.text import StreamingPipeline

N_SHOWN = 2000


class Watch:
    """A model along its stream, and what goes with it; a callback that keeps the place.

    The place moves when a minibatch was learnt, so that a checkpoint has both or neither.
    """

    def __init__(self, options: Namespace) -> None:
        self.options, self.skipped = options, Skipped()
        folder = options.checkpoints or Path(f"{options.model}.checkpoints")
        found = resume(folder)
        closed = False
        if found is not None:
            front, self.place, *others = found.callbacks
            closed = front is not None
            self.model = found.model
            if closed:
                self.model = pipeline(type(front), front.steps[0][1], found.model)
            note(f"going on from {counted(found.n_documents, 'document')} in {folder}")
        else:
            self.model, self.place, others = _start(options), {"batch": 0, "position": None}, []
            closed = not isinstance(self.model, StreamingPipeline) or options.model.exists()
        self.learner = learner_of(self.model) if closed else Learner(self.model, None)
        self.history, self.monitor, self.tracker = others or _companions(options, self)
        also = (self.learner.front, self.place, self.history, self.monitor, self.tracker)
        self.checkpointer = Checkpointer(folder, every=options.every, also=also)
        self.pending: tuple[int, int, int] | None = None
        self.recent: deque[Record] = deque(maxlen=N_SHOWN)

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        """Keep the place, and say what there is to say."""
        self.place["batch"] += 1
        self.place["position"] = self.pending
        score = "nothing to score" if math.isnan(info.score) else f"{info.score:.3f} nats per word"
        when = info.time if info.time is not None else datetime.now().isoformat(" ", "seconds")
        documents = counted(info.n_documents_seen, "document")
        print(safe(f"{when}  {documents}, {score} before learning"), flush=True)
        alarms = self.monitor.alarms if self.monitor is not None else ()
        if alarms and alarms[-1].batch == self.monitor.n_batches:
            print(safe(f"ALARM: {alarms[-1]}"), flush=True)
        every = self.options.report_every
        if self.options.report and self.place["batch"] % every == 0:
            self.write_report()

    def write_report(self) -> None:
        """Write the report anew."""
        shown = list(self.recent)
        times = [_as_text(record.time) for record in shown] if self.options.time_key else None
        report(
            self.model, self.options.report, texts=texts_of(shown) or None,
            times=times or None, tracker=self.tracker, alarms=self.monitor,
            scores={"before learning": [row.score for row in self.history.rows]},
        )  # fmt: skip

    def batches(self, found: Follower) -> Iterator[TimedBatch]:
        """Yield minibatches: when there are enough documents, or after some time."""
        batch: list[Record] = []
        began = 0.0
        for record in found:
            if record is not None:
                began = began if batch else time.monotonic()
                batch.append(record)
            full = len(batch) >= self.options.batch_size
            if batch and (full or time.monotonic() - began >= self.options.seconds):
                yield self._taken(batch, found)
                batch = []
        if batch:
            yield self._taken(batch, found)

    def _taken(self, batch: list[Record], found: Follower) -> TimedBatch:
        self.recent.extend(batch)
        offset, line, head = map(int, found.position)
        self.pending = offset, line, head
        return TimedBatch(self.learner.taken(texts_of(batch)), _as_text(batch[-1].time))


def run(options: Namespace) -> None:
    """Learn until the stream ends or an interrupt; then write the model."""
    if options.alarm > 0.5:
        raise ValueError(f"--alarm must be at most 0.5; got {options.alarm}")
    check_target(options.model)
    check_target(options.report)
    watch = Watch(options)
    found = follow(
        options.file, **settings(options, watch.skipped), format=options.format,
        position=watch.place["position"], poll=options.poll, idle=options.idle, tell_waits=True,
    )  # fmt: skip
    # The monitor, which learns what it holds back at the end, comes behind the checkpoint.
    callbacks = [watch.tracker, watch.history, watch, watch.checkpointer]
    callbacks += [] if watch.monitor is None else [watch.monitor]
    try:
        stream(watch.learner.model, watch.batches(found), callbacks=callbacks)
    finally:
        found.close()
        tell_skipped(watch.skipped)
        if watch.place["batch"]:
            save(watch.model, options.model)
            if options.report:
                watch.write_report()
            note(f"model written to {options.model}")
    if not watch.place["batch"]:
        raise ValueError("there were no documents to read; nothing was written")


def _start(options: Namespace) -> Any:
    if options.model.exists():
        return load_model(options.model)
    return pipeline(StreamingPipeline, vectorizer_for(options, None), estimator(options))


def _companions(options: Namespace, watch: Watch) -> list[Any]:
    monitor = DriftMonitor(alpha=options.alarm) if options.alarm else None
    names = None if watch.learner.front is None else words_of(watch.model)
    return [ScoreHistory(), monitor, TopicTracker(feature_names=names)]


def _as_text(when: Any) -> Any:
    return when.isoformat() if hasattr(when, "isoformat") else when
