# SPDX-License-Identifier: BSD-3-Clause
"""Returns what `streamtopics watch` goes on with: a checkpoint, a saved model or a new one."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

from streamtopics.cli.estimators import estimator
from streamtopics.cli.model_file import ModelFile
from streamtopics.cli.models import Learner, learner_of, load_model, pipeline, topics_of
from streamtopics.cli.recent import nothing_recent
from streamtopics.cli.seeds import check_seeds
from streamtopics.cli.telling import counted, note
from streamtopics.cli.words import vectorizer_for
from streamtopics.streams import DriftMonitor, ScoreHistory, TopicTracker, resume
from streamtopics.text import NamedVectorizer, StreamingPipeline

ALARM = 0.01


class Beginning(NamedTuple):
    """A model and its file, what learns, how far the stream was read, and what goes along."""

    file: ModelFile
    model: Any
    learner: Learner
    place: dict[str, Any]
    history: ScoreHistory
    monitor: DriftMonitor | None
    tracker: TopicTracker


def begin(options: Namespace, folder: Path) -> Beginning:
    """Go on from the newest checkpoint in a folder, or else begin."""
    found, file = resume(folder), ModelFile(options.model, folder)
    if found is None:
        file.forget()
        alarm = ALARM if options.alarm is None else options.alarm
        monitor = DriftMonitor(alpha=alarm) if alarm else None
        model, learner = _start(options)
        place = {
            "batch": 0, "places": {}, "recent": nothing_recent(), "model": file.checksum,
            "n_before": int(getattr(topics_of(model), "n_documents_seen_", 0)),
        }  # fmt: skip
        return Beginning(file, model, learner, place, ScoreHistory(), monitor, TopicTracker())
    front, *others = found.callbacks
    again = Beginning(file, found.model, Learner(found.model, front), *others)
    if front is not None:
        again = again._replace(model=pipeline(type(front), front.steps[0][1], found.model))
    topics = topics_of(again.model)
    check_seeds(options.seeds, topics, folder)
    _check_alarm(options.alarm, again.monitor, folder)
    file.check(again.place.get("model", ""))
    held_back = 0 if again.monitor is None else again.monitor.n_held_back
    n_documents = found.n_documents + held_back - again.place["n_before"]
    n = counted(n_documents, "document")
    note(f"going on from {n} in {folder}, with the {type(topics).__name__} there")
    return again


def _check_alarm(alarm: float | None, monitor: DriftMonitor | None, folder: Path) -> None:
    """Refuse another rate of false alarms than the one that the stream was begun with."""
    known = 0.0 if monitor is None else monitor.alpha
    if alarm is not None and alarm != known:
        raise ValueError(
            f"--alarm is {alarm:g}, but the stream in {folder} was begun with {known:g}, which "
            "cannot be changed. Leave out --alarm to go on with it, or begin another by another "
            "--model"
        )


def _start(options: Namespace) -> tuple[Any, Learner]:
    """Return a model, and what learns of it."""
    if options.model.exists():
        model = load_model(options.model)
        topics = topics_of(model)
        check_seeds(options.seeds, topics, options.model)
        n = counted(getattr(topics, "n_documents_seen_", 0), "document")
        note(
            f"beginning with the {type(topics).__name__} in {options.model}, which has learnt from "
            f"{n}, in all passes; they are not counted below"
        )
        return model, learner_of(model)
    words: Any = vectorizer_for(options, None)
    words = NamedVectorizer(words) if options.seeds else words
    model = pipeline(StreamingPipeline, words, estimator(options))
    return model, learner_of(model) if options.seeds else Learner(model, None)
