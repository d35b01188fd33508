# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics watch`: follows a file that grows, or standard input."""

from __future__ import annotations

import math
import os
import signal
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from streamtopics import save
from streamtopics.cli import console, models, reading
from streamtopics.cli.fit import periods_to_show
from streamtopics.datasets import Follower, ReadingError, Record, follow
from streamtopics.report import report
from streamtopics.streams import (
    Alarm,
    BatchInfo,
    Checkpointer,
    DriftMonitor,
    ScoreHistory,
    TimedBatch,
    TopicTracker,
    resume,
    stream,
)
from streamtopics.streams.stream import packed, unpacked
from streamtopics.text import NamedVectorizer, StreamingPipeline

# Seconds between two looks, and after which a smaller minibatch will do.
POLL, PATIENCE = 0.2, 60.0
# Documents that a report shows, and their characters.
N_SHOWN, MOST_CHARACTERS = 2000, 4_000_000
STOP = b"streamtopics: ending as soon as this minibatch is learnt; once more ends it at once\n"
STANDARD_INPUT, STANDARD_ERROR = "-", 2


class Watch:
    """A model along its stream, and what goes with it; a callback that keeps the place.

    The place moves when a minibatch was learnt, so that a checkpoint has both or neither.
    """

    def __init__(self, options: Namespace) -> None:
        self.options = options
        self.is_pipe = options.file == STANDARD_INPUT
        folder = Path(f"{options.model}.checkpoints")
        self.history, self.tracker, self.monitor = ScoreHistory(), TopicTracker(), DriftMonitor()
        self.place: dict[str, Any] = {"position": None, "n_batches": 0, "tally": {}}
        self.place["shown"] = packed([], [])
        # Who names a tokenizer trusts it.
        options.trust = [*options.trust, *filter(None, [options.tokenizer])]
        found = resume(folder, options.trust)
        if found is None:
            self.model, self.learner = _begun(options)
            self.place["n_before"] = n_learnt(self.model)
        else:
            first, self.place, self.history, self.monitor, self.tracker = found.callbacks
            self.model, self.learner = found.model, models.Learner(found.model, first)
            if first is not None:
                self.model = models.pipeline(type(first), first.steps[0][1], found.model)
            n, what = console.counted(self.n_documents, "document"), type(self.model[-1]).__name__
            console.log(f"going on from {n} in {folder}, with the {what} there")
        self.tally = reading.Tally(self.place["tally"])
        # Texts and times of the last documents, for a report.
        self.shown: list[Any] = unpacked(self.place["shown"])
        also = (self.learner.first, self.place, self.history, self.monitor, self.tracker)
        self.checkpointer = Checkpointer(folder, every=options.every, also=also)
        self.batch: list[Record] = []
        self.position: tuple[int, ...] = ()
        # The signal that came; whether another came after it; whether nothing is lost by the first.
        self.number, self.repeated, self.waiting = 0, False, False

    @property
    def n_documents(self) -> int:
        """Documents of the stream, without those that the model had learnt before."""
        return n_learnt(self.model) + self.monitor.n_held_back - int(self.place["n_before"])

    def on_batch(self, model: BaseEstimator, info: BatchInfo) -> None:
        """Keep the place, what a report shows and words of an alarm, before the checkpoint."""
        self.place["n_batches"] += 1
        is_open = self.learner.first is None
        self.tally.add(self.model.steps[0][1], reading.texts_of(self.batch), learnt=is_open)
        if not self.is_pipe:
            self.place["position"] = self.position
        if self.options.report:
            self.shown += [[record.text, reading.time_of(record.time)] for record in self.batch]
            sizes = np.cumsum([len(text) for text, _ in reversed(self.shown)])
            n = int(np.searchsorted(sizes, MOST_CHARACTERS, side="right"))
            del self.shown[: -min(max(n, 1), N_SHOWN)]
        else:
            self.shown.clear()
        self.place["shown"] = packed(self.shown, (time for _, time in self.shown))
        if self.alarm is not None and self.tracker.feature_names is not None:
            named = _in_words(self.alarm, self.tracker.feature_names)
            self.monitor.alarms = (*self.monitor.alarms[:-1], named)

    @property
    def alarm(self) -> Alarm | None:
        """The alarm that the last minibatch rang."""
        last = self.monitor.alarms[-1:]
        return last[0] if last and last[0].batch == self.monitor.n_batches else None

    def tell(self, model: BaseEstimator, info: BatchInfo) -> None:
        """Say what there is to say, and write the model and the report, behind the checkpoint."""
        score = "nothing to score" if math.isnan(info.score) else f"{info.score:.3f} nats per word"
        now = datetime.now().isoformat(" ", "seconds")
        when = now if info.time is None else reading.time_of(info.time)
        documents = console.counted(self.n_documents, "document")
        if info.batch % self.options.every == 0:
            save(self.model, self.options.model)
        print(console.safe(f"{when}  {documents}, {score} before learning"), flush=True)
        if self.alarm is not None:
            print(console.safe(f"ALARM: {self.alarm}"), flush=True)
        if self.options.report and info.batch % self.options.every == 0:
            self.write_report()

    def write_report(self) -> None:
        """Write the report anew."""
        texts, times = [text for text, _ in self.shown], [time for _, time in self.shown]
        known = any(time is not None for time in times) and periods_to_show(times)
        report(
            self.model, self.options.report, texts=texts or None, times=times if known else None,
            sampled_from=max(len(texts), self.n_documents) if texts else None,
            tracker=self.tracker, alarms=self.monitor, intake=self.tally.rows(),
            scores={"before learning": [row.score for row in self.history.rows]},
        )  # fmt: skip

    def end(self) -> None:
        """Write the model and the report, and say where; not a model whose place is unknown."""
        self.tally.tell()
        if self.repeated or not any(self.checkpointer.path.glob("checkpoint-*")):
            return
        save(self.model, self.options.model)
        console.log(f"model written to {self.options.model}")
        if not models.n_words_of(self.model):
            console.warn(
                "note: the model has no word, as none was found in enough documents, or all are "
                "too common; begin another with --min-documents 1, --max-share 1, "
                "--stop-words none or --shortest 1"
            )
        if self.options.report:
            self.write_report()
            console.log(f"report written to {self.options.report}")

    def on_signal(self, number: int, frame: object) -> None:
        """End at once where nothing is lost or at the second signal, else after a minibatch."""
        self.repeated, self.number = self.number != 0, number
        if self.repeated or self.waiting:
            console.stop(number, frame)
        with suppress(OSError):  # not by print, which may be what was interrupted
            os.write(STANDARD_ERROR, STOP)

    def batches(self, found: Follower) -> Iterator[TimedBatch]:
        """Yield minibatches: when there are enough documents, or after some time.

        What was read of a file but is not enough, when the command is to end, is left for the
        next time; what came over a pipe would be lost, also before what cannot be read.
        """
        batch: list[Record] = []
        start = 0.0
        self.waiting = True
        try:
            for record in reading.with_text(found, self.tally.skipped):
                self.waiting = False
                if record is not None:
                    start = start if batch else time.monotonic()
                    batch.append(record)
                late = self.knows_words and time.monotonic() - start >= PATIENCE
                if batch and (len(batch) >= self.options.batch_size or late):
                    yield self._taken(batch, found)
                    batch = []
                self.waiting = not self.is_pipe
                if self.number:
                    break
        except ReadingError:
            if batch and self.is_pipe and self.knows_words:
                yield self._taken(batch, found)
            raise
        self.waiting = False
        if batch and (self.is_pipe or not self.number):
            yield self._taken(batch, found)

    @property
    def knows_words(self) -> bool:
        """Whether there is no vocabulary to be made from the first minibatch."""
        first = self.learner.first
        return first is None or hasattr(reading.vectorizer_of(first[0]), "vocabulary_")

    def _taken(self, batch: list[Record], found: Follower) -> TimedBatch:
        self.batch, self.position = batch, found.position
        texts = reading.texts_of(batch)
        if not self.place["n_batches"] and (script := models.unspaced(self.options, texts)):
            console.warn(f"note: {script}")
        if not self.knows_words:
            models.fit_words(self.options, self.learner.first[0], texts)
        if self.learner.first is not None and not hasattr(self.learner.model, "feature_names_in_"):
            self.tracker.feature_names = models.words_of(self.model)
        return TimedBatch(self.learner.taken(texts), reading.time_of(batch[-1].time))


def watch(options: Namespace) -> None:
    """Learn until the stream ends or an interrupt; then write the model."""
    console.check_target(options.model, kept=[options.file, options.seeds])
    console.check_target(options.report, ("html",), [options.file, options.seeds, options.model])
    own = Watch(options)
    how = reading.settings(options, own.tally.skipped)
    position = None if own.is_pipe else own.place["position"]
    found = follow(
        options.file, **how, tell_waits=True, poll=POLL, idle=options.idle, position=position
    )
    # The monitor, which learns what it holds back at the end, comes behind the checkpoint.
    callbacks: list[Any] = [own.tracker, own.history, own, own.checkpointer, own.tell, own.monitor]
    with console.handle([signal.SIGINT, *console.STOPPING], own.on_signal):
        try:
            stream(own.learner.model, own.batches(found), callbacks=callbacks)
        finally:
            found.close()
            if own.place["n_batches"]:
                own.end()
        if own.number:
            console.stop(own.number, None)
    if not own.place["n_batches"]:
        raise ValueError(f"there are no documents in {options.file}; {own.tally.skipped}")


def n_learnt(model: Pipeline) -> int:
    """Documents that a model has learnt from."""
    return int(getattr(model[-1], "n_documents_seen_", 0))


def _begun(options: Namespace) -> tuple[Any, models.Learner]:
    """Return a model, and what learns of it."""
    if options.model.exists():
        model = models.load_model(options.model, options.trust)
        n = console.counted(n_learnt(model), "document")
        console.log(
            f"beginning with the {type(model[-1]).__name__} in {options.model}, which has "
            f"learnt from {n}, in all passes; they are not counted below"
        )
        return model, models.learner_of(model)
    words: Any = models.vectorizer_for(options, None)
    words = NamedVectorizer(words) if options.seeds else words
    model = models.pipeline(StreamingPipeline, words, models.estimator(options))
    return model, models.learner_of(model) if options.seeds else models.Learner(model, None)


def _in_words(alarm: Alarm, names: ArrayLike) -> Alarm:
    """Return an alarm of a model that knows no words, in which columns have their names."""
    known = np.asarray(names)

    def named(word: str) -> str:
        return str(known[int(word)]) if word.isdecimal() and int(word) < len(known) else word

    topics = tuple(topic._replace(words=tuple(map(named, topic.words))) for topic in alarm.topics)
    new = tuple(topic._replace(words=tuple(map(named, topic.words))) for topic in alarm.new)
    words = tuple(word._replace(word=named(word.word)) for word in alarm.words)
    return alarm._replace(topics=topics, words=words, new=new)
