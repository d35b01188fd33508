# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics watch`: follows a growing file, or standard input."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

from streamtopics import TopicStream, save
from streamtopics.cli import console, models, reading
from streamtopics.datasets import Follower, ReadingError, Record, follow
from streamtopics.story import Finding
from streamtopics.streams import BatchInfo, Checkpointer, ScoreHistory, TimedBatch, resume, stream

# Seconds between two looks, and until a smaller minibatch is enough.
POLL, PATIENCE = 0.2, 60.0
STOP = b"streamtopics: ending as soon as this minibatch is learnt; once more ends it at once\n"
STANDARD_INPUT, STANDARD_ERROR = "-", 2


class Watch:
    """A model along its stream; a callback that keeps the place in the file.

    The place moves after a minibatch is learnt, so a checkpoint has both or neither.
    """

    def __init__(self, options: Namespace) -> None:
        self.options = options
        self.place: dict[str, Any]
        self.is_pipe = options.file == STANDARD_INPUT
        folder = Path(f"{options.model}.checkpoints")
        # A user who names a tokenizer trusts it.
        options.trust = [*options.trust, *filter(None, [options.tokenizer])]
        if found := resume(folder, options.trust):
            self.model, (self.place, self.history) = found.model, found.callbacks
            n = console.counted(self.model.n_documents_seen_, "document")
            what = type(self.model.pipeline_[-1]).__name__
            console.log(f"going on from {n} in {folder}, with the {what} there")
        else:
            self.model, self.history = _begun(options), ScoreHistory()
            self.place = {"position": None, "n_batches": 0, "tally": {}, "told": []}
        self.tally = reading.Tally(self.place["tally"])
        also = (self.place, self.history)
        self.checkpointer = Checkpointer(folder, every=options.every, also=also)
        self.batch, self.position = list[Record](), tuple[int, ...]()
        self.findings: list[Finding] = []
        # The signal; whether another came later; whether an end at the first loses nothing.
        self.number, self.repeated, self.waiting = 0, False, False

    def on_batch(self, model: TopicStream, info: BatchInfo) -> None:
        """Keep the place, and look for findings, before the checkpoint."""
        self.place["n_batches"] += 1
        is_open = models.has_open_vocabulary(model.pipeline_)
        self.tally.add(model.steps[0][1], reading.texts_of(self.batch), learnt=is_open)
        self.place["tally"] = deepcopy(self.tally.n)  # of the records up to the place
        if not self.is_pipe:
            self.place["position"] = self.position
        if info.batch % self.options.every == 0:
            self.find()

    def finish(self, model: TopicStream) -> None:
        if self.place["n_batches"] and not self.repeated:
            self.find()

    def find(self) -> None:
        for finding in self.model.findings():
            told = [finding.kind, finding.topic, finding.word, finding.group]
            if told not in self.place["told"]:
                self.place["told"].append(told)
                self.findings.append(finding)

    def tell(self, model: TopicStream, info: BatchInfo) -> None:
        """Print the score and news, and write the files, after the checkpoint."""
        score = "nothing to score" if math.isnan(info.score) else f"{info.score:.3f} nats per word"
        when = datetime.now().isoformat(" ", "seconds") if info.time is None else info.time
        documents = console.counted(model.n_documents_seen_, "document")
        is_due = info.batch % self.options.every == 0
        if is_due:
            save(model, self.options.model)
        print(console.safe(f"{when}  {documents}, {score} before learning"))
        monitor = model.monitor_
        for alarm in monitor.alarms[-1:]:
            if alarm.batch == monitor.n_batches:
                print(console.safe(f"ALARM: {alarm}"))
        self.tell_findings()
        if is_due:
            self.write_report()

    def tell_findings(self) -> None:
        found, self.findings = self.findings, []
        models.print_findings(found)
        sys.stdout.flush()

    def write_report(self) -> None:
        if path := self.options.report:
            scores = {"before learning": [row.score for row in self.history.rows]}
            how: dict[str, Any] = {"intake": self.tally.rows(), "scores": scores}
            self.model.report(path, title=self.options.title, **how)

    def end(self) -> None:
        """Write the model and the report, unless a minibatch was interrupted."""
        self.tally.tell()
        kept = any(self.checkpointer.path.glob("checkpoint-*"))
        if self.repeated and kept and not self.is_pipe:
            console.log(f"the same command goes on from the checkpoint in {self.checkpointer.path}")
        if self.repeated or not kept:
            return
        # Documents held back for the alarm are learnt after the checkpoint.
        save(self.model.finish(), self.options.model)
        self.tell_findings()
        console.log(f"model written to {self.options.model}")
        if not models.n_words_of(self.model.pipeline_):
            console.warn(
                "note: the model has no word, because all words are in too few or too many "
                f"documents; begin another with {console.MORE_WORDS}"
            )
        self.write_report()
        if self.options.report:
            console.log(f"report written to {self.options.report}")

    @property
    def has_words(self) -> bool:
        """False before the first minibatch with seeds, because seeds need a vocabulary."""
        return self.place["n_batches"] > 0 or not self.options.seeds

    def on_signal(self, number: int, frame: object) -> None:
        """End at once if nothing is lost or at the second signal; otherwise after the minibatch."""
        self.repeated, self.number = self.number != 0, number
        if self.repeated or self.waiting:
            console.stop(number, frame)
        with suppress(OSError):  # not by print, perhaps interrupted itself
            os.write(STANDARD_ERROR, STOP)

    def batches(self, found: Follower) -> Iterator[TimedBatch]:
        """Yield minibatches: when there are enough documents, or after some time.

        After a signal, documents of a file are left for the next time. Documents of a pipe would be
        lost, so a last minibatch has them, also before an unreadable line.
        """
        batch: list[Record] = []
        start = 0.0
        self.waiting = True
        try:
            for record in reading.with_text(found, self.options, self.tally.skipped, self.tally.n):
                self.waiting = False
                if record is not None:
                    start = start if batch else time.monotonic()
                    batch.append(record)
                late = self.has_words and time.monotonic() - start >= PATIENCE
                if batch and (len(batch) >= self.options.batch_size or late):
                    yield self._taken(batch, found)
                    batch = []
                self.waiting = not self.is_pipe
                if self.number:
                    break
        except ReadingError:
            if batch and self.is_pipe and self.has_words:
                yield self._taken(batch, found)
            raise
        self.waiting = False
        if batch and (self.is_pipe or not self.number):
            yield self._taken(batch, found)

    def _taken(self, batch: list[Record], found: Follower) -> TimedBatch:
        self.batch, self.position = batch, found.position
        return reading.minibatch(batch, self.options)


def watch(options: Namespace) -> None:
    console.check_target(options.model, kept=[options.file, options.seeds])
    console.check_target(options.report, ("html",), [options.file, options.seeds, options.model])
    own = Watch(options)
    how = reading.settings(options, own.tally.skipped)
    position = None if own.is_pipe else own.place["position"]
    found = follow(
        options.file, **how, tell_waits=True, poll=POLL, idle=options.idle, position=position
    )
    callbacks: list[Any] = [own.history, own, own.checkpointer, own.tell]
    with console.handle([signal.SIGINT, *console.STOPPING], own.on_signal):
        try:
            stream(own.model, own.batches(found), callbacks=callbacks)
        finally:
            found.close()
            if own.place["n_batches"]:
                own.end()
        if own.number:
            console.stop(own.number, None)
    if not own.place["n_batches"]:
        raise ValueError(f"there are no documents in {options.file}; {own.tally.skipped}")


def _begun(options: Namespace) -> TopicStream:
    if options.model.exists():
        console.log(f"beginning with the model in {options.model}")
        return models.load_stream(options, options.model)
    words, topics = models.vectorizer_for(options), models.estimator(options)
    if getattr(topics, "n_unseeded", 0):
        topics.set_params(n_start_documents=0)  # Topics of a stream must keep their places.
    return TopicStream(model=topics, vectorizer=words)
