# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics fit`: the topics of files; `report`: a page of a saved model."""

from __future__ import annotations

import re
from argparse import Namespace
from itertools import chain, islice

import numpy as np
from scipy import sparse

from streamtopics import TopicStream, save
from streamtopics.cli import console, models, reading
from streamtopics.datasets import Record, Skipped
from streamtopics.inspection import compare_n_components, topic_table
from streamtopics.metrics import completion_split
from streamtopics.streams import ProgressReport, stream

TEST_EVERY, MINIBATCH, N_AT_ONCE, N_SELECTION, N_LEADING = 10, 2500, 1000, 20_000, 3


def fit(options: Namespace) -> None:
    kept = [*options.files, options.seeds]
    for target, kinds in (
        (options.model, ()), (options.report, ("html",)),
        (options.topics_out, ("csv", "json", "jsonl")), (options.documents_out, ("csv", "jsonl")),
    ):  # fmt: skip
        console.check_target(target, kinds, kept)
        kept.append(target)
    if options.keep and not options.documents_out:
        raise ValueError("--keep needs --documents-out FILE, or `apply`")
    topics, tally = models.estimator(options), reading.Tally()
    size = options.batch_size or MINIBATCH
    if options.batch_size:
        topics.set_params(batch_size=size)
    if not options.quiet:
        console.log("reading the documents")
    found = reading.records(options, tally.skipped)
    first, more = list(islice(found, options.vocabulary_from)), next(found, None)
    if more is not None and options.documents_out and "-" in options.files:
        raise ValueError(
            "--documents-out cannot read standard input again; use `streamtopics apply` afterwards"
        )
    held_out = first[TEST_EVERY - 1 :: TEST_EVERY][:MINIBATCH]
    learnt = [r for i, r in enumerate(first, 1) if i % TEST_EVERY or i > MINIBATCH * TEST_EVERY]
    texts, _, labels = reading.minibatch(learnt, options)
    if len(options.topics) > 1:
        some = texts[:N_SELECTION]
        X = models.vectorizer_for(options, len(some)).fit_transform(some)
        best = compare_n_components(topics, X, options.topics, random_state=0, n_jobs=topics.n_jobs)
        topics.set_params(n_components=best.chosen)
        print(re.sub(r"\bnan\b", "  -", str(best)), end="\n\n")
    model = TopicStream(model=topics, vectorizer=models.vectorizer_for(options, len(texts)))
    model.fit(texts, **labels)
    if not models.n_words_of(model.pipeline_):
        remedy = "there is no letter in them; name the field of the texts by --text-key"
        remedy = f"try {console.MORE_WORDS}" if any(map(str.isalpha, chain(*texts))) else remedy
        n = console.counted(len(texts), "document")
        raise ValueError(f"no vocabulary could be made from the first {n}; {remedy}")
    words = model.pipeline_.steps[0][1]
    tally.add(words, reading.texts_of(first), learnt=True)
    if more is not None:
        parts = reading.cut(chain([more], found), size)
        parts = tally.over(parts, words, learnt=not options.seeds)
        batches = (reading.minibatch(part, options) for part in parts)
        callbacks = [] if options.quiet else [ProgressReport(title="streaming")]
        stream(model, batches, callbacks=callbacks).finish()
    counted = console.counted
    learnt_of = (
        f"{counted(model.n_documents_seen_, 'document')}, {counted(model.n_tokens_seen_, 'word')} "
        f"over a vocabulary of {models.n_words_of(model.pipeline_):,}; "
        f"{counted(len(held_out), 'document')} held out\n"
    )
    if held_out and (options.time_key or options.group_key or options.report or options.model):
        # Scored, not learnt; but shares, findings and the report are about all documents.
        held, _, labels = reading.minibatch(held_out, options)
        model.add_documents(held, **{"times": [None] * len(held), **labels})
    tally.tell()
    # Files first, in case the reader of the output has gone.
    written = write_all(options, model, tally, first if more is None else None)
    print(learnt_of)
    one_topic = "one topic" if more is None else "one topic of the first documents"
    print_learnt(options, model, texts, reading.texts_of(held_out), one_topic)
    if written:
        print("", *written, sep="\n")


def report(options: Namespace) -> None:
    """Write a page about a saved model, and about documents if given."""
    console.check_target(options.output, ("html",), [options.model_file, *options.files])
    model, tally = models.load_stream(options), reading.Tally()
    if options.files:
        model = TopicStream.from_pipeline(model.pipeline_)
        found = reading.cut(reading.records(options, tally.skipped), N_AT_ONCE)
        for batch in tally.over(found, model.pipeline_.steps[0][1]):
            texts, _, labels = reading.minibatch(batch, options)
            model.add_documents(texts, **labels)
        tally.tell()
    model.report(options.output, title=options.title, intake=tally.rows())
    print(f"report written to {options.output}")


def print_learnt(
    options: Namespace, model: TopicStream, texts: list[str], held: list[str], one_topic: str
) -> None:
    counted, topics = model.pipeline_[:-1].transform, model.pipeline_[-1]
    if options.time_key or options.group_key:
        models.print_findings(model.findings())
        print()
    rows = topic_table(model, n_words=options.words, relevance=options.relevance)
    models.print_topics(rows)
    if model.n_documents_seen_ < len(rows):
        console.warn(f"note: there are more topics ({len(rows)}) than documents; try --topics 1")
    models.print_documents(rows, model)
    X = counted(held)
    tokens = completion_split(sparse.csr_matrix(X))[1].sum(axis=0).A1
    print(f"\nheld out: {console.per_word(float(topics.score(X)))}", end="")
    if tokens.any():
        # With the prior of a topic.
        one = counted(texts).sum(axis=0).A1 + 0.02
        score = float(tokens @ np.log(one / one.sum()) / tokens.sum())
        print(f"; {one_topic} alone: {console.per_word(score)}", end="")
    print()


def write_all(
    options: Namespace, model: TopicStream, tally: reading.Tally, whole: list[Record] | None
) -> list[str]:
    """Write the requested files; return a line about each.

    `whole` holds all documents; None reads the files again.
    """
    if path := options.model:
        save(model, path)
    if path := options.topics_out:
        table = topic_table(model, n_words=options.words, relevance=options.relevance)
        console.write_rows(path, [row._asdict() for row in table])
    if path := options.documents_out:
        again = reading.records(options, Skipped()) if whole is None else whole
        batches = reading.cut(again, N_AT_ONCE)
        found = models.rows_of_documents(model, batches, N_LEADING, console.kind_of(path), options)
        console.write_rows(path, found)
    if path := options.report:
        model.report(path, title=options.title, intake=tally.rows())
    targets = {
        "model": options.model, "topics": options.topics_out,
        "topics of documents": options.documents_out, "report": options.report,
    }  # fmt: skip
    return [f"{what} written to {path}" for what, path in targets.items() if path]
