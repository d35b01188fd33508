# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics fit`: the topics of files; `report`: a page of a saved model."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from streamtopics import SVBLDA, save
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.cli.console import (
    check_target,
    counted,
    ignore_closed_pipe,
    log,
    per_word,
    warn,
    write_rows,
)
from streamtopics.cli.models import (
    Learner,
    choose,
    estimator,
    fit_words,
    learner_of,
    load_model,
    n_words_of,
    pipeline,
    print_documents,
    print_topics,
    rows_of,
    rows_of_documents,
    unspaced,
    vectorizer_for,
)
from streamtopics.cli.reading import Tally, columns, cut, place_of, records, texts_of
from streamtopics.datasets import Record, Skipped
from streamtopics.inspection.periods import LEAST, Periods, periods_of
from streamtopics.report.documents import Whole, whole_of
from streamtopics.saving.files import replace_file
from streamtopics.streams import ProgressReport, stream
from streamtopics.text import NamedVectorizer, StreamingPipeline

TEST_EVERY, MINIBATCH, N_SAMPLE = 10, 2500, 5000
# Characters of the place of a document in a report.
LONGEST_PLACE = 100


class Learnt(NamedTuple):
    """A fitted pipeline, and what was read."""

    model: Any
    tally: Tally
    held_out: list[str]
    whole: list[Record] | None


def fit(options: Namespace) -> None:
    """Read, learn, print what was found and write what was asked for."""
    kept = [*options.files, options.seeds]
    for target, kinds in (
        (options.model, ()), (options.report, ("html",)),
        (options.topics_out, ("csv", "json", "jsonl")), (options.documents_out, ("csv", "jsonl")),
    ):  # fmt: skip
        check_target(target, kinds, kept)
        kept.append(target)
    keys = columns(options)
    if keys and not options.documents_out:
        raise ValueError("--id-key and --keep are of --documents-out FILE, or of `apply`")
    made = estimator(options)
    if not options.quiet:
        log("reading the documents")
    tally = Tally(n_sample=N_SAMPLE)
    learnt = learn(options, made, records(options, tally.skipped, keys), tally)
    tally.tell()
    with ignore_closed_pipe():
        print_learnt(options, learnt)
    write_all(options, learnt)


def report(options: Namespace) -> None:
    """Write a page of a saved model, with a sample of the documents where there are files."""
    check_target(options.output, ("html",), [options.model_file, *options.files])
    model, tally = load_model(options.model_file, options.trust), Tally(n_sample=N_SAMPLE)
    if options.files:
        for _ in tally.over(cut(records(options, tally.skipped), 1000), model.steps[0][1]):
            pass
        tally.tell()
    write_report(options, options.output, Learnt(model, tally, [], None))
    print(f"report written to {options.output}")


def learn(
    options: Namespace, made: StreamingTopicModel, found: Iterator[Record], tally: Tally
) -> Learnt:
    """Learn a corpus at once, or what is more than that as a stream."""
    first = list(islice(found, options.vocabulary_from))
    more = next(found, None)
    if script := unspaced(options, texts_of(first)):
        warn(f"note: {script}")
    size = options.batch_size or MINIBATCH
    if options.batch_size:
        made.set_params(batch_size=size)
    held_out = first[TEST_EVERY - 1 :: TEST_EVERY][:size]
    kept = [r for i, r in enumerate(first, 1) if i % TEST_EVERY or i > size * TEST_EVERY]
    choose(options, made, texts_of(kept))
    named = bool(options.seeds)
    if more is None or named:
        words: Any = vectorizer_for(options, len(first))
        words = NamedVectorizer(words) if named else words
        model = pipeline(StreamingPipeline if named else Pipeline, words, made)
        fit_words(options, words, texts_of(first))
        made.fit(words.transform(texts_of(kept)))
        tally.add(words, texts_of(first), learnt=True)
        tally.sample.add(kept)
    else:
        model = pipeline(StreamingPipeline, vectorizer_for(options, None), made)
    if more is not None:
        if options.documents_out and "-" in options.files:
            raise ValueError(
                "--documents-out reads the files again, which standard input does not allow; "
                "write it to a file first, or use `streamtopics apply` afterwards"
            )
        learner = learner_of(model) if named else Learner(model, None)
        rest = chain([] if named else kept, [more], found)
        batches = tally.over(cut(rest, size), model.steps[0][1], learnt=not named)
        taken = (learner.taken(texts_of(batch)) for batch in batches)
        callbacks = [] if options.quiet else [ProgressReport(title="streaming")]
        stream(learner.model, taken, callbacks=callbacks)
        if not named:
            tally.add(model.steps[0][1], texts_of(held_out), learnt=True)
    return Learnt(model, tally, texts_of(held_out), first if more is None else None)


def print_learnt(options: Namespace, learnt: Learnt) -> None:
    """Print the topics, documents of them and the score."""
    model, n_documents = learnt.model, learnt.tally.sample.n
    topics, n_held_out = model[-1], len(learnt.held_out)
    n_passes = max(1.0, topics.n_documents_seen_ / n_documents) if n_documents else 1.0
    print(
        f"{counted(n_documents, 'document')}, "
        f"{counted(topics.n_tokens_seen_ / n_passes, 'word')} "
        f"over a vocabulary of {n_words_of(model):,}; {counted(n_held_out, 'document')} held out\n"
    )
    rows = rows_of(model, options.words, options.relevance)
    print_topics(rows)
    if n_documents < len(rows):
        warn(f"note: {len(rows)} topics are more than there are documents; try --topics 1")
    print_documents(rows, model, learnt.tally.sample.records)
    score = one = float("nan")
    if learnt.held_out:
        X = model[:-1].transform(learnt.held_out)
        score = float(topics.score(X))
        overall = topics.topic_weights_ @ topics.topic_word_ * topics.n_tokens_seen_
        one = float(SVBLDA(1, random_state=0).partial_fit(overall[None, :]).score(X))
    alone = f"; one topic alone: {per_word(one)}" if one == one else ""
    print(f"\nheld out: {per_word(score)}{alone}")


def write_all(options: Namespace, learnt: Learnt) -> None:
    """Write what was asked for, and say where it is."""
    model, written = learnt.model, {}
    if path := options.model:
        save(model, path)
        written["model"] = path
    if path := options.topics_out:
        rows = [row._asdict() for row in rows_of(model, options.words, options.relevance)]
        if path.suffix.lower() == ".json":
            with replace_file(path) as send:
                send((json.dumps(rows, indent=1) + "\n").encode())
        else:
            write_rows(path, rows, path.suffix[1:].lower())
        written["topics"] = path
    if path := options.documents_out:
        again: Iterable[Record] | None = learnt.whole
        if again is None:
            again = records(options, Skipped(), columns(options))
        kind = path.suffix[1:].lower()
        write_rows(path, rows_of_documents(model, cut(again, 1000), 3, kind, options), kind)
        written["topics of documents"] = path
    if path := options.report:
        write_report(options, path, learnt)
        written["report"] = path
    if written:
        print()
    for what, path in written.items():
        print(f"{what} written to {path}")


# Reports


def write_report(options: Namespace, path: Path, learnt: Learnt) -> None:
    """Write a report, with a sample of the documents that were read, where there are some.

    If not all of them can be read again, shares over time are of the sample.
    """
    from streamtopics.report import report as write_page  # `report` is a verb here

    shown, n_read = learnt.tally.sample.records, learnt.tally.sample.n + len(learnt.held_out)
    full = _read_whole(options, learnt.model, learnt.whole) if options.files else None
    times: Any = [record.time for record in shown] if options.files and options.time_key else None
    if times and (full.periods if full else periods_to_show(times)) is None:
        times = None
    places = [place_of(record) for record in shown]
    # The line is at the end.
    titles = [p if len(p) <= LONGEST_PLACE else f"…{p[1 - LONGEST_PLACE :]}" for p in places]
    write_page(
        learnt.model, path, texts=texts_of(shown) or None, times=times, titles=titles or None,
        sampled_from=(full or n_read) if shown else None, intake=learnt.tally.rows(),
    )  # fmt: skip


def periods_to_show(times: list[Any]) -> Periods | None:
    """Return periods of times, or None where these cannot be read, and say so."""
    try:
        return periods_of(times, LEAST)
    except (TypeError, ValueError) as error:
        warn(f"note: the report has no times: {error}")
        return None


def _read_whole(options: Namespace, model: Pipeline, kept: list[Record] | None) -> Whole | None:
    """Read all documents again for a report, or take those that were kept.

    None if they cannot be read twice, as from standard input.
    """
    files = [Path(name) for name in options.files]
    if kept is None and not all(file.is_file() or file.is_dir() for file in files):
        return None

    def again() -> Iterable[Record]:
        return records(options, Skipped()) if kept is None else kept

    periods = periods_to_show([record.time for record in again()]) if options.time_key else None
    return whole_of(model, (texts_of(batch) for batch in cut(again(), MINIBATCH)), periods)
