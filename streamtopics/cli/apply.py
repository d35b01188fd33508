# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics apply`, `score`, `show`, `update` and `edit`; `summarize`, of no model."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from streamtopics import DPPSummarizer, save
from streamtopics.cli.console import (
    check_target,
    counted,
    log,
    one_line,
    per_word,
    safe,
    warn,
    write_rows,
)
from streamtopics.cli.models import (
    has_open_vocabulary,
    load_pipeline,
    load_stream,
    n_words_of,
    print_findings,
    print_topics,
    rows_of,
    rows_of_documents,
    words_of,
)
from streamtopics.cli.reading import Tally, cut, minibatches, place_of, records, texts_of
from streamtopics.editing import apply_edits, edits_from_json
from streamtopics.metrics import CoherenceScorer, DiversityScorer, open_vocabulary_probability
from streamtopics.streams import ProgressReport, ScoreHistory, stream
from streamtopics.streams.stream import mean_score
from streamtopics.text import NamedCounts

MINIBATCH, N_AT_ONCE, N_OPEN = 2500, 1000, 10_000


def apply(options: Namespace) -> None:
    """Write a line for each document, as they are read."""
    path, kind = options.output, "jsonl"
    if path is not None:
        check_target(path, ("jsonl", "csv"), [options.model_file, *options.files])
        kind = path.suffix[1:].lower()
    model, tally = load_pipeline(options.model_file, options.trust), Tally()
    found = records(options, tally.skipped, empty=True)
    batches = tally.over(cut(found, N_AT_ONCE), model.steps[0][1])
    n = write_rows(path, rows_of_documents(model, batches, options.leading, kind, options), kind)
    tally.tell()
    if path is not None:
        log(f"topics of {counted(n, 'document')} written to {path}")


def score(options: Namespace) -> None:
    """Print the score over the model's words, and the score over all words."""
    model, tally = load_pipeline(options.model_file, options.trust), Tally()
    counts, texts = [], list[str]()
    for batch in tally.over(cut(records(options, tally.skipped), MINIBATCH), model.steps[0][1]):
        counts.append(sparse.csr_matrix(model[:-1].transform(texts_of(batch))))
        texts += texts_of(batch)
    tally.tell()
    X = sparse.vstack(counts, format="csr")
    known = float(X.sum())
    if hasattr(model[-1], "feature_names_in_"):
        X = NamedCounts.of(X, words_of(model))
    print(f"{counted(X.shape[0], 'document')}, {counted(known, 'word')} that the model knows")
    print(f"over the words of the model: {per_word(float(model[-1].score(X)))}")
    if X.shape[1] > 1 and known:
        coherence, diversity = CoherenceScorer()(model[-1], X), DiversityScorer()(model)
        print(f"coherence of the topics (NPMI of 10 words): {coherence:.3f}")
        print(f"share of these words that are distinct: {diversity:.1%}")
    order = np.random.default_rng(0).permutation(len(texts))[:N_OPEN]
    try:
        found = open_vocabulary_probability(model, [texts[i] for i in order])
    except (TypeError, ValueError) as error:
        warn(f"there is no score over all words: {error}")
        return
    some = f", of a sample of {N_OPEN:,} documents" if len(texts) > N_OPEN else ""
    print(f"over all words, unknown ones spelled{some}: {per_word(found)}")


def show(options: Namespace) -> None:
    """Print the topics, and what is known of the model."""
    model = load_pipeline(options.model_file, options.trust)
    topics, rows = model[-1], rows_of(model, options.words, options.relevance)
    known: dict[str, Any] = {
        "estimator": type(topics).__name__,
        "parameters": {k: repr(v) for k, v in sorted(topics.get_params(deep=False).items())},
        "documents": int(topics.n_documents_seen_),
        "words": float(topics.n_tokens_seen_),
        "vocabulary": n_words_of(model),
        "open_vocabulary": has_open_vocabulary(model),
    }
    if options.json:
        print(json.dumps(known | {"topics": [row._asdict() for row in rows]}, indent=1))
        return
    print_topics(rows)
    print(
        f"\n{known['estimator']}: {counted(known['documents'], 'document')} in all passes, "
        f"{counted(known['words'], 'word')} over a vocabulary of {known['vocabulary']:,}"
        f"{', which follow the stream' if known['open_vocabulary'] else ''}"
    )
    for name, value in known["parameters"].items():
        print(f"  {name} = {safe(value)[:200]}")


def summarize(options: Namespace) -> None:
    """Print sentences, each with how many documents it stands for and where it is."""
    tally = Tally()
    found = list(records(options, tally.skipped))
    tally.add(None, texts_of(found))
    tally.tell()
    digest = DPPSummarizer().digest(texts_of(found), n_sentences=options.sentences)
    print(f"{counted(len(found), 'document')}; each sentence stands for so many of them:\n")
    for row in digest:
        place = place_of(found[row.document])
        print(f"{row.n_documents:>7,}  {one_line(row.sentence, 400)}  [{place}]")


def edit(options: Namespace) -> None:
    """Carry out the edits of a file, and write the model."""
    target = options.model or options.model_file
    check_target(target, kept=[options.edits])
    model = load_stream(options.model_file, options.trust)
    edits = edits_from_json(options.edits.read_text(encoding="utf-8-sig"))
    texts = [one.text for one in model.documents]
    for result in apply_edits(model, edits, X=texts or None):
        done = f"topic {', '.join(map(str, result.rows))}"
        said = f"refused: {result.refused}" if result.refused else done
        print(safe(f"{result.edit.kind:8} {said}"))
    save(model, target)
    print_topics(rows_of(model.pipeline_, 10, 0.6))
    print(f"\nmodel written to {target}")


def update(options: Namespace) -> None:
    """Score and learn each minibatch, write the model, and say what has changed."""
    target = options.model or options.model_file
    check_target(target, kept=options.files)
    model, tally, history = load_stream(options.model_file, options.trust), Tally(), ScoreHistory()
    check_is_fitted(model, "pipeline_")
    (_, words), *_, (_, topics) = model.pipeline_.steps
    is_open, n_before = has_open_vocabulary(model.pipeline_), model.n_documents_seen_
    n_tokens_before = topics.n_tokens_seen_
    found = tally.over(cut(records(options, tally.skipped), MINIBATCH), words, learnt=is_open)
    callbacks = [history] if options.quiet else [history, ProgressReport(title="learning")]
    stream(model, minibatches(found, options), callbacks=callbacks).finish()
    tally.tell()
    if not is_open and topics.n_tokens_seen_ == n_tokens_before:
        raise ValueError(
            f"no word of these documents is in the vocabulary of {options.model_file}, which is "
            "closed; nothing was written. `streamtopics fit` begins a model with other words"
        )
    save(model, target)
    print(counted(model.n_documents_seen_ - n_before, "new document"))
    print(f"before they were learnt: {per_word(mean_score(history.rows)[0])}\n")
    print_findings(model.findings())
    print(f"\nmodel written to {target}")
