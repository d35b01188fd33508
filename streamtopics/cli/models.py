# SPDX-License-Identifier: BSD-3-Clause
"""Models made by the options, or loaded; and printed results."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

import streamtopics
from streamtopics import TopicStream
from streamtopics.cli.console import one_line, safe
from streamtopics.cli.reading import texts_of, time_of
from streamtopics.datasets import Record
from streamtopics.estimators.presets import PRESETS
from streamtopics.inspection import TopicRow, topic_table
from streamtopics.saving import load
from streamtopics.story import Finding
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, Tokenizer, stop_words
from streamtopics.text.vocabulary import is_free
from streamtopics.utils.steps import learns
from streamtopics.utils.structure import is_missing

NAMES = (
    "StreamingLDA", "StreamingMixture", "GuidedTopics", "GibbsOnlineEM", "VariationalOnlineEM",
    "SVBLDA", "BPSLDA", "SVBHPP", "HDPGibbsOnlineEM", "HDPVarGibbs",
)  # fmt: skip
N_TOPICS = 20
WIDTH, PRIOR_THRESHOLD = 100, 0.5
N_DOCUMENTS, N_TOPICS_SHOWN, N_LABEL = 3, 5, 4


def load_stream(options: Namespace, path: Path | None = None) -> TopicStream:
    """Load a stream, or a pipeline over raw texts as a stream."""
    path = path or options.model_file
    model = load(path, options.trust)
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        model = TopicStream.from_pipeline(model)
    if not isinstance(model, TopicStream):
        kind = type(model).__name__
        raise ValueError(
            f"{path} holds a {kind}, but must hold a TopicStream or a pipeline over raw texts"
        )
    return model


def has_open_vocabulary(model: Pipeline) -> bool:
    words = model.steps[0][1]
    return learns(words) and hasattr(words, "n_documents_seen_")


def n_words_of(model: Pipeline) -> int:
    return sum(not is_free(word) for word in model[:-1].get_feature_names_out())


def named_words(row: TopicRow) -> str:
    return f"{row.name}: " * bool(row.name) + " ".join(row.words)


def print_topics(rows: Sequence[TopicRow]) -> None:
    """Print the topics, the heaviest first; mark topics that are mostly prior."""
    print(f"{'topic':>5}  {'weight':>6}  words")
    for row in rows:
        mark = "(mostly prior) " if row.prior_retention > PRIOR_THRESHOLD else ""
        line = safe(f"{row.topic:>5}  {row.weight:>6.1%}  {mark}{named_words(row)}")
        print(line if len(line) <= WIDTH else line[: WIDTH + 1].rsplit(" ", 1)[0])


def print_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        print(fill(safe(f"* {finding}"), WIDTH, subsequent_indent="  "))


def print_documents(rows: Sequence[TopicRow], model: TopicStream) -> None:
    kept = model.documents
    shares = model.transform([one.text for one in kept])
    for row in [row for row in rows if row.prior_retention <= PRIOR_THRESHOLD][:N_TOPICS_SHOWN]:
        print(f"\ntopic {row.topic}: {safe(' '.join(row.words[:N_LABEL]))}")
        share = shares[:, row.topic]
        for i in np.argsort(-share, kind="stable")[:N_DOCUMENTS]:
            print(f"  {share[i]:>4.0%}  {one_line(kept[i].text)}  [{safe(str(kept[i].id))}]")


def rows_of_documents(
    model: TopicStream, batches: Iterable[list[Record]], leading: int, kind: str, options: Namespace
) -> Iterator[dict[str, Any]]:
    """Yield the leading topics of each document, with its place and kept fields."""
    table = topic_table(model, relevance=options.relevance)
    labels = {row.topic: named_words(row._replace(words=row.words[:N_LABEL])) for row in table}
    shown = np.sort([*labels])  # Hidden topics have no label.
    for batch in batches:
        shares = np.asarray(model.transform(texts_of(batch)), dtype=np.float64)
        order = shown[np.argsort(-shares[:, shown], axis=1, kind="stable")[:, :leading]]
        for record, share, first in zip(batch, shares, order.tolist(), strict=True):
            row = {"id": record.fields[options.id_key]} if options.id_key else {}
            row |= {"source": record.source, "line": record.line, "time": time_of(record.time)}
            is_empty = not record.text.strip()
            found = [
                {"topic": k, "share": round(float(share[k]), 4), "label": labels[k]} for k in first
            ]
            told: dict[str, Any] = {"topics": [] if is_empty else found}
            if kind == "csv":
                each = [(i, name) for i, one in enumerate(found, start=1) for name in one]
                told = {f"{name}_{i}": None if is_empty else found[i - 1][name] for i, name in each}
            names = {key: f"kept_{key}" for key in (*row, *told, "topics")}
            if options.id_key == "id":
                del names["id"]
            kept = {names.get(key, key): record.fields[key] for key in options.keep}
            kept = {key: None if is_missing(value) else value for key, value in kept.items()}
            row = json.loads(json.dumps(row | kept, default=str), parse_constant=lambda _: None)
            yield row | told


def estimator(options: Namespace) -> Any:
    n_topics = options.topics[0] if options.topics else 0
    name = options.estimator or ("GuidedTopics" if options.seeds else "StreamingLDA")
    if (name == "GuidedTopics") != bool(options.seeds):
        raise ValueError("--seeds FILE needs --estimator GuidedTopics")
    if options.seeds:
        if len(options.topics or ()) > 1:
            raise ValueError("--topics takes one number beside --seeds, not several to compare")
        try:
            named = json.loads(options.seeds.read_text(encoding="utf-8-sig"))
        except ValueError as error:
            raise ValueError(f"{options.seeds} is not JSON: {error}") from error
        made: Any = streamtopics.GuidedTopics(named, n_unseeded=max(0, n_topics - len(named)))
    elif name in NAMES:
        made = getattr(streamtopics, name)(n_components=n_topics or N_TOPICS)
    elif name in PRESETS:
        made = streamtopics.StreamingLDA.preset(name, n_topics or N_TOPICS)
    else:
        known = sorted({*NAMES, *PRESETS})
        near = get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]}? There are" if near else "use one of"
        raise ValueError(f"there is no estimator {name!r} of topics; {meant} {', '.join(known)}")
    made.set_params(random_state=0, n_jobs=-1)
    passes = [("max_iter", options.max_iter)] if options.max_iter else []
    for parameter, value in [*passes, *sorted(options.set, key=lambda one: one[0].count("__"))]:
        made.set_params(**{parameter: value})
    return made


def vectorizer_for(options: Namespace, n_documents: int | None = None) -> Any:
    """The vectorizer of a corpus of `n_documents`, or of a stream if None."""
    least, name = options.min_documents, options.tokenizer
    shortest = options.shortest or (2 if name else 3)
    words = StreamingCountVectorizer(
        stop_words=None if options.stop_words == "none" else stop_words(options.stop_words),
        tokenizer=Tokenizer(name, shortest) if name else None,
        token_pattern=None if name else rf"(?u)\b[^\W\d_]{{{shortest},}}\b",
        min_df=least if n_documents is None else min(least, max(1, n_documents // 2)),
        max_df=options.max_share, max_features=options.max_words, phrases=options.phrases,
        dtype=np.float32, n_jobs=-1,
    )  # fmt: skip
    return NamedVectorizer(words) if options.seeds else words
