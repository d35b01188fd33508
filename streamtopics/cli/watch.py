# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics watch`: follows a file that grows, or standard input."""

from __future__ import annotations

import math
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from streamtopics.cli.beginning import begin
from streamtopics.cli.models import n_words_of, words_of
from streamtopics.cli.places import keep_place, place_of_file
from streamtopics.cli.reading import settings, texts_of, time_of, with_text
from streamtopics.cli.recent import add_recent, add_shares, nothing_recent, whole_stream
from streamtopics.cli.stopping import Stopping
from streamtopics.cli.tally import Tally
from streamtopics.cli.telling import complain, counted, note, safe
from streamtopics.cli.words import fit_words
from streamtopics.cli.writing import check_target
from streamtopics.datasets import Follower, ReadingError, Record, follow
from streamtopics.report import report
from streamtopics.streams import Alarm, BatchInfo, Checkpointer, TimedBatch, stream

PIPE_POLL = 1.0


class Watch:
    """A model along its stream, and what goes with it; a callback that keeps the place.

    The place moves when a minibatch was learnt, so that a checkpoint has both or neither.
    """

    def __init__(self, options: Namespace) -> None:
        self.options, self.stopping = options, Stopping()
        self.is_pipe = not Path(options.file).is_file()
        folder = options.checkpoints or Path(f"{options.model}.checkpoints")
        begun = begin(options, folder)
        self.file = begun.file
        self.model, self.learner, self.place = begun.model, begun.learner, begun.place
        self.tally = Tally(self.place.setdefault("tally", {}))
        self.history, self.monitor, self.tracker = begun.history, begun.monitor, begun.tracker
        also = (self.learner.front, self.place, self.history, self.monitor, self.tracker)
        self.checkpointer = Checkpointer(folder, every=options.every, also=also)
        self.pending = 0, 0, 0
        self.batch: list[Record] = []
        self.times_told = self.no_words_told = False

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        """Keep the place, what a report shows and words of an alarm, before the checkpoint."""
        self.place["batch"] += 1
        words, learnt = self.model.steps[0][1], self.learner.front is None
        self.tally.add(words, texts_of(self.batch), learnt=learnt)
        if not self.is_pipe:
            keep_place(self.place["places"], Path(self.options.file), self.pending)
        if self.options.report:
            add_recent(self.place["recent"], self.batch)
            if self.options.time_key:
                add_shares(self.place["recent"], self.batch, self.model, self.tracker)
        else:
            self.place["recent"] = nothing_recent()
        monitor, names = self.monitor, self.tracker.feature_names
        if monitor is not None and self.rings and names is not None:
            monitor.alarms = (*monitor.alarms[:-1], _in_words(monitor.alarms[-1], names))

    @property
    def rings(self) -> bool:
        """Whether the last minibatch rang the alarm."""
        monitor = self.monitor
        return bool(monitor and monitor.alarms and monitor.alarms[-1].batch == monitor.n_batches)

    def tell(self, model: Any, info: BatchInfo) -> None:
        """Say what there is to say, behind the checkpoint, so that nothing is lost if it fails."""
        score = "nothing to score" if math.isnan(info.score) else f"{info.score:.3f} nats per word"
        when = (
            time_of(info.time)
            if info.time is not None
            else datetime.now().isoformat(" ", "seconds")
        )
        held_back = 0 if self.monitor is None else self.monitor.n_held_back
        n_documents = info.n_documents_seen + held_back - self.place["n_before"]
        documents = counted(n_documents, "document")
        print(safe(f"{when}  {documents}, {score} before learning"), flush=True)
        if self.monitor is not None and self.rings:
            print(safe(f"ALARM: {self.monitor.alarms[-1]}"), flush=True)
        every = self.options.report_every
        if self.options.report and self.place["batch"] % every == 0:
            self.write_report()

    def keep(self, model: Any, info: BatchInfo) -> None:
        """Write the model, behind a checkpoint."""
        if info.batch % self.options.every == 0:
            self.write_model()

    def write_model(self) -> None:
        """Write the model, and say once if it knows no word."""
        self.file.write(self.model)
        if not self.no_words_told and not n_words_of(self.model):
            self.no_words_told = True
            complain(
                f"note: the model in {self.options.model} has no word, as none was found in enough "
                "documents, or all are too common; begin another with --min-documents 1, "
                "--max-share 1, --keep-stop-words or --shortest 1, and see whether the texts have "
                "spaces between words"
            )

    def write_report(self) -> None:
        """Write the report anew."""
        recent = self.place["recent"]
        left_out = counted(recent["n_left_out"], "document")
        lost = {"Left out of the shares over time": left_out} if recent["problem"] else {}
        if recent["problem"] and not self.times_told:
            self.times_told = True
            complain(f"note: the shares over time leave out {left_out}: {recent['problem']}")
        is_counted = self.learner.front is None and not self.place["n_before"]
        holders = self.model.steps[0][1].document_frequency_ if is_counted else None
        whole = whole_stream(recent, holders)
        report(
            self.model, self.options.report, texts=recent["texts"] or None,
            times=recent["times"] if whole.periods else None,
            sampled_from=whole if recent["texts"] else None,
            tracker=self.tracker, alarms=self.monitor, intake=self.tally.rows() | lost,
            scores={"before learning": [row.score for row in self.history.rows]},
        )  # fmt: skip

    def write_all(self) -> None:
        """Write the model and the report, and say where; not a model whose place is unknown."""
        if not any(self.checkpointer.path.glob("checkpoint-*")):
            return
        self.write_model()
        note(f"model written to {self.options.model}")
        if self.options.report:
            self.write_report()
            note(f"report written to {self.options.report}")

    def batches(self, found: Follower) -> Iterator[TimedBatch]:
        """Yield minibatches: when there are enough documents, or after some time.

        What was read of a file but is not enough, when the command is to end, is left for the
        next time; what came over a pipe would be lost, also before what cannot be read.
        """
        batch: list[Record] = []
        began, stopping = 0.0, self.stopping
        stopping.waiting = True
        try:
            for record in with_text(found, self.tally.skipped):
                stopping.waiting = False
                if record is not None:
                    began = began if batch else time.monotonic()
                    batch.append(record)
                late = self.knows_words and time.monotonic() - began >= self.options.seconds
                if batch and (len(batch) >= self.options.batch_size or late):
                    yield self._taken(batch, found)
                    batch = []
                stopping.waiting = not self.is_pipe
                if stopping.number is not None:
                    break
        except ReadingError:
            if batch and self.is_pipe and self.knows_words:
                yield self._taken(batch, found)
            raise
        stopping.waiting = False
        if batch and (self.is_pipe or stopping.number is None):
            yield self._taken(batch, found)

    @property
    def knows_words(self) -> bool:
        """Whether there is no vocabulary to be made from the first minibatch."""
        front = self.learner.front
        return front is None or hasattr(getattr(front[0], "vectorizer_", front[0]), "vocabulary_")

    def _taken(self, batch: list[Record], found: Follower) -> TimedBatch:
        self.batch = batch
        offset, line, head = map(int, found.position)
        self.pending = offset, line, head
        texts = texts_of(batch)
        if not self.knows_words:
            fit_words(self.learner.front[0], texts)
        if self.learner.front is not None and not hasattr(self.learner.model, "feature_names_in_"):
            self.tracker.feature_names = words_of(self.model)
        return TimedBatch(self.learner.taken(texts), time_of(batch[-1].time))


def run(options: Namespace) -> None:
    """Learn until the stream ends or an interrupt; then write the model."""
    if options.alarm is not None and options.alarm > 0.5:
        raise ValueError(f"--alarm must be at most 0.5; got {options.alarm}")
    check_target(options.model, kept=[options.file, options.seeds])
    check_target(options.report, kept=[options.file, options.seeds, options.model])
    watch = Watch(options)
    places, path = watch.place["places"], Path(options.file)
    found = follow(
        options.file, **settings(options, watch.tally.skipped),
        position=None if watch.is_pipe else place_of_file(places, path),
        tell_waits=True, idle=options.idle,
        poll=min(options.poll, PIPE_POLL) if watch.is_pipe else options.poll,
    )  # fmt: skip
    # The monitor, which learns what it holds back at the end, comes behind the checkpoint.
    callbacks: list[Any] = [watch.tracker, watch.history, watch, watch.checkpointer]
    callbacks += [watch.keep, watch.tell]
    callbacks += [] if watch.monitor is None else [watch.monitor]
    with watch.stopping.listening():
        try:
            stream(watch.learner.model, watch.batches(found), callbacks=callbacks)
        finally:
            found.close()
            if watch.place["batch"]:
                watch.tally.tell()
                if not watch.stopping.forced:
                    watch.write_all()
        watch.stopping.check()
    if not watch.place["batch"]:
        raise ValueError(f"there are no documents to read, and {watch.tally.skipped}")


def _in_words(alarm: Alarm, names: Any) -> Alarm:
    """Return an alarm of a model that knows no words, in which columns have their names."""

    def named(word: str) -> str:
        return str(names[int(word)]) if word.isdecimal() and int(word) < len(names) else word

    topics = tuple(replace(topic, words=tuple(map(named, topic.words))) for topic in alarm.topics)
    new = tuple(replace(topic, words=tuple(map(named, topic.words))) for topic in alarm.new)
    words = tuple(replace(word, word=named(word.word)) for word in alarm.words)
    return replace(alarm, topics=topics, words=words, new=new)
