# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics fit`: the topics of files; `report`: a page of a saved model."""

from __future__ import annotations

import json
from argparse import Namespace
from itertools import chain, islice
from typing import Any

from streamtopics import SVBLDA, TopicStream, save
from streamtopics.cli import console, models, reading
from streamtopics.datasets import Skipped
from streamtopics.saving.files import replace_file
from streamtopics.streams import ProgressReport, stream

TEST_EVERY, MINIBATCH, N_AT_ONCE = 10, 2500, 1000


def fit(options: Namespace) -> None:
    """Read, learn, print what was found and write what was asked for."""
    kept = [*options.files, options.seeds]
    for target, kinds in (
        (options.model, ()), (options.report, ("html",)),
        (options.topics_out, ("csv", "json", "jsonl")), (options.documents_out, ("csv", "jsonl")),
    ):  # fmt: skip
        console.check_target(target, kinds, kept)
        kept.append(target)
    if options.keep and not options.documents_out:
        raise ValueError("--keep is of --documents-out FILE, or of `apply`")
    made, tally, size = models.estimator(options), reading.Tally(), options.batch_size or MINIBATCH
    if options.batch_size:
        made.set_params(batch_size=size)
    if not options.quiet:
        console.log("reading the documents")
    found = reading.records(options, tally.skipped)
    first, more = list(islice(found, options.vocabulary_from)), next(found, None)
    if more is not None and options.documents_out and "-" in options.files:
        raise ValueError(
            "--documents-out reads the files again, which standard input does not allow; "
            "write it to a file first, or use `streamtopics apply` afterwards"
        )
    if script := models.unspaced(options, reading.texts_of(first)):
        console.warn(f"note: {script}")
    held_out = reading.texts_of(first[TEST_EVERY - 1 :: TEST_EVERY][:size])
    learnt = [r for i, r in enumerate(first, 1) if i % TEST_EVERY or i > size * TEST_EVERY]
    models.choose(options, made, reading.texts_of(learnt))
    model = TopicStream(model=made, vectorizer=models.vectorizer_for(options, len(learnt)))
    texts, labels = reading.documents_of(learnt, options)
    model.fit(texts, **labels)
    if not models.n_words_of(model.pipeline_):
        raise models.no_vocabulary(options, texts)
    words = model.pipeline_.steps[0][1]
    tally.add(words, reading.texts_of(first), learnt=True)
    if more is not None:
        batches = tally.over(
            reading.cut(chain([more], found), size), words, learnt=not options.seeds
        )
        callbacks = [] if options.quiet else [ProgressReport(title="streaming")]
        stream(model, reading.minibatches(batches, options), callbacks=callbacks).finish()
    tally.tell()
    with console.ignore_closed_pipe():
        print_learnt(options, model, held_out)
    write_all(options, model, tally, first if more is None else None)


def report(options: Namespace) -> None:
    """Write a page of a saved model, about the documents of the files where there are files."""
    console.check_target(options.output, ("html",), [options.model_file, *options.files])
    model, tally = models.load_stream(options.model_file, options.trust), reading.Tally()
    if options.files:
        model = TopicStream.from_pipeline(model.pipeline_)
        found = reading.cut(reading.records(options, tally.skipped), N_AT_ONCE)
        for batch in tally.over(found, model.pipeline_.steps[0][1]):
            texts, labels = reading.documents_of(batch, options)
            model.add_documents(texts, **labels)
        tally.tell()
    model.report(options.output, title=options.title, intake=tally.rows())
    print(f"report written to {options.output}")


def print_learnt(options: Namespace, model: TopicStream, held_out: list[str]) -> None:
    """Print findings, the topics, documents of them and the score."""
    *_, (_, topics) = model.pipeline_.steps
    n_documents, counted = model.n_documents_seen_, console.counted
    print(
        f"{counted(n_documents, 'document')}, {counted(model.n_tokens_seen_, 'word')} "
        f"over a vocabulary of {models.n_words_of(model.pipeline_):,}; "
        f"{counted(len(held_out), 'document')} held out\n"
    )
    if options.time_key or options.group_key:
        models.print_findings(model.findings())
        print()
    rows = models.rows_of(model.pipeline_, options.words, options.relevance)
    models.print_topics(rows)
    if n_documents < len(rows):
        console.warn(f"note: {len(rows)} topics are more than there are documents; try --topics 1")
    models.print_documents(rows, model)
    score = one = float("nan")
    if held_out:
        X = model.pipeline_[:-1].transform(held_out)
        score = float(topics.score(X))
        overall = topics.topic_weights_ @ topics.topic_word_ * topics.n_tokens_seen_
        one = float(SVBLDA(1, random_state=0).partial_fit(overall[None, :]).score(X))
    alone = f"; one topic alone: {console.per_word(one)}" if one == one else ""
    print(f"\nheld out: {console.per_word(score)}{alone}")


def write_all(
    options: Namespace, model: TopicStream, tally: reading.Tally, whole: list[Any] | None
) -> None:
    """Write what was asked for, and say where it is; `whole` is all that was read, or None."""
    pipeline, written = model.pipeline_, {}
    if path := options.model:
        save(model, path)
        written["model"] = path
    if path := options.topics_out:
        rows = [row._asdict() for row in models.rows_of(pipeline, options.words, options.relevance)]
        if path.suffix.lower() == ".json":
            with replace_file(path) as send:
                send((json.dumps(rows, indent=1) + "\n").encode())
        else:
            console.write_rows(path, rows, path.suffix[1:].lower())
        written["topics"] = path
    if path := options.documents_out:
        again = reading.records(options, Skipped()) if whole is None else whole
        kind = path.suffix[1:].lower()
        found = models.rows_of_documents(pipeline, reading.cut(again, N_AT_ONCE), 3, kind, options)
        console.write_rows(path, found, kind)
        written["topics of documents"] = path
    if path := options.report:
        model.report(path, title=options.title, intake=tally.rows())
        written["report"] = path
    if written:
        print()
    for what, path in written.items():
        print(f"{what} written to {path}")
