# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics apply`, `score`, `show`, `update`, `edit` and `summarize`."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics import DPPSummarizer, save
from streamtopics.cli import console, models, reading
from streamtopics.editing import apply_edits, edits_from_json
from streamtopics.inspection import topic_table
from streamtopics.metrics import CoherenceScorer, DiversityScorer, open_vocabulary_probability
from streamtopics.streams import ProgressReport, ScoreHistory, stream
from streamtopics.streams.batches import named

MINIBATCH, N_AT_ONCE, N_OPEN = 2500, 1000, 10_000


def apply(options: Namespace) -> None:
    """Write the topics of each document, in order of reading."""
    path, kind = options.output, console.kind_of(options.output)
    console.check_target(path, ("jsonl", "csv"), [options.model_file, *options.files])
    model, tally = models.load_stream(options), reading.Tally()
    found = reading.cut(reading.records(options, tally.skipped, empty=True), N_AT_ONCE)
    batches = tally.over(found, model.steps[0][1])
    rows = models.rows_of_documents(model, batches, options.leading, kind, options)
    console.write_rows(path, rows)
    tally.tell()
    if path is not None:
        n = console.counted(tally.n["documents"], "document")
        console.log(f"topics of {n} written to {path}")


def score(options: Namespace) -> None:
    """Print scores over the model's words and over all words."""
    model, tally = models.load_stream(options), reading.Tally()
    (_, words), *_, (_, topics) = model.steps
    counts, texts = [], list[str]()
    for batch in tally.over(reading.cut(reading.records(options, tally.skipped), MINIBATCH), words):
        counts.append(sparse.csr_matrix(model.pipeline_[:-1].transform(reading.texts_of(batch))))
        texts += reading.texts_of(batch)
    tally.tell()
    X = sparse.vstack(counts, format="csr")
    known, X = float(X.sum()), named(topics, X)
    n = console.counted(len(texts), "document")
    print(f"{n}, {console.counted(known, 'word')} that the model knows")
    print(f"over the words of the model: {console.per_word(float(topics.score(X)))}")
    if X.shape[1] > 1 and known:
        coherence, diversity = CoherenceScorer()(topics, X), DiversityScorer()(model.pipeline_)
        print(f"coherence of the topics (NPMI of 10 words): {coherence:.3f}")
        print(f"share of these words that are distinct: {diversity:.1%}")
    order = np.random.default_rng(0).permutation(len(texts))[:N_OPEN]
    try:
        found = open_vocabulary_probability(model.pipeline_, [texts[i] for i in order])
    except (TypeError, ValueError) as error:
        console.warn(f"there is no score over all words: {error}")
        return
    some = f", of a sample of {N_OPEN:,} documents" if len(texts) > N_OPEN else ""
    print(f"over all words, unknown ones spelled{some}: {console.per_word(found)}")


def show(options: Namespace) -> None:
    model = models.load_stream(options)
    topics = model.steps[-1][1]
    rows = topic_table(model, n_words=options.words, relevance=options.relevance)
    known: dict[str, Any] = {
        "estimator": type(topics).__name__,
        "parameters": {k: repr(v) for k, v in sorted(topics.get_params(deep=False).items())},
        "documents": int(topics.n_documents_seen_),
        "words": float(topics.n_tokens_seen_),
        "vocabulary": models.n_words_of(model.pipeline_),
        "open_vocabulary": models.has_open_vocabulary(model.pipeline_),
    }
    if options.json:
        print(json.dumps(known | {"topics": [row._asdict() for row in rows]}, indent=1))
        return
    models.print_topics(rows)
    print(
        f"\n{known['estimator']}: {console.counted(known['documents'], 'document')} in all passes, "
        f"{console.counted(known['words'], 'word')} over a vocabulary of {known['vocabulary']:,}"
        f"{', which follow the stream' if known['open_vocabulary'] else ''}"
    )
    for name, value in known["parameters"].items():
        print(f"  {name} = {console.safe(value)[:200]}")


def summarize(options: Namespace) -> None:
    """Print sentences, with their places and numbers of nearest documents."""
    tally = reading.Tally()
    found = list(reading.records(options, tally.skipped))
    tally.n["documents"] = len(found)
    tally.tell()
    digest = DPPSummarizer().digest(reading.texts_of(found), n_sentences=options.sentences)
    print(f"{console.counted(len(found), 'document')}; each sentence stands for so many of them:\n")
    for row in digest:
        place = reading.place_of(found[row.document])
        print(f"{row.n_documents:>7,}  {console.one_line(row.sentence, 400)}  [{place}]")


def edit(options: Namespace) -> None:
    target = options.model or options.model_file
    console.check_target(target, kept=[options.edits])
    model = models.load_stream(options)
    edits = edits_from_json(options.edits.read_text(encoding="utf-8-sig"))
    texts = [one.text for one in model.documents]
    for result in apply_edits(model, edits, X=texts or None):
        done = f"topic {', '.join(map(str, result.rows))}"
        said = f"refused: {result.refused}" if result.refused else done
        print(console.safe(f"{result.edit.kind:8} {said}"))
    save(model, target)
    models.print_topics(topic_table(model))
    print(f"\nmodel written to {target}")


def update(options: Namespace) -> None:
    """Score and learn minibatches, write the model, and print changes."""
    target = options.model or options.model_file
    console.check_target(target, kept=options.files)
    model, tally, history = models.load_stream(options), reading.Tally(), ScoreHistory()
    (_, words), *_, (_, topics) = model.steps
    is_open = models.has_open_vocabulary(model.pipeline_)
    n_before, n_tokens_before = model.n_documents_seen_, topics.n_tokens_seen_
    found = reading.cut(reading.records(options, tally.skipped), MINIBATCH)
    parts = tally.over(found, words, learnt=is_open)
    batches = (reading.minibatch(part, options) for part in parts)
    callbacks = [history] if options.quiet else [history, ProgressReport(title="learning")]
    stream(model, batches, callbacks=callbacks).finish()
    tally.tell()
    if not is_open and topics.n_tokens_seen_ == n_tokens_before:
        raise ValueError(
            f"no word of these documents is in the closed vocabulary of {options.model_file}; "
            "nothing was written. Begin a model with other words by `streamtopics fit`"
        )
    save(model, target)
    print(console.counted(model.n_documents_seen_ - n_before, "new document"))
    print(f"before they were learnt: {console.per_word(history.mean)}\n")
    models.print_findings(model.findings())
    print(f"\nmodel written to {target}")
