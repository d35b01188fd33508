# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines over raw texts: made as the options say, or loaded; and tables of what they know."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import streamtopics
from streamtopics import TopicStream
from streamtopics.cli.console import MORE_WORDS, counted, ignore_closed_pipe, one_line, safe
from streamtopics.cli.reading import texts_of, time_of, vectorizer_of
from streamtopics.datasets import Record
from streamtopics.estimators.presets import PRESETS
from streamtopics.inspection import TopicRow, compare_n_components, documents_of, topic_table
from streamtopics.saving import load
from streamtopics.story import Finding
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, Tokenizer, stop_words
from streamtopics.text.languages import unspaced_script

NAMES = (
    "StreamingLDA", "StreamingMixture", "GuidedTopics", "GibbsOnlineEM", "VariationalOnlineEM",
    "SVBLDA", "BPSLDA", "SVBHPP", "HDPGibbsOnlineEM", "HDPVarGibbs",
)  # fmt: skip
N_TOPICS, N_SELECTION = 20, 20_000
FREE = "<free "
WIDTH, PRIOR_THRESHOLD = 100, 0.5
N_DOCUMENTS, N_TOPICS_SHOWN, N_LABEL = 3, 5, 4


# Models that are there


def load_stream(path: Path, trusted: list[str]) -> TopicStream:
    """Return a stream that was saved, or the stream of a pipeline over raw texts."""
    model = load(path, trusted)
    if isinstance(model, TopicStream):
        return model
    steps = model.steps if isinstance(model, Pipeline) else []
    if len(steps) < 2 or not hasattr(vectorizer_of(steps[0][1]), "build_analyzer"):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that does not take raw texts; the command "
            "needs a TopicStream, as `streamtopics fit` writes, or a pipeline of a vectorizer and "
            "a topic model"
        )
    return TopicStream.from_pipeline(model)


def load_pipeline(path: Path, trusted: list[str]) -> Pipeline:
    """Return the fitted pipeline of a stream that was saved, to be read."""
    model = load_stream(path, trusted)
    check_is_fitted(model, "pipeline_")
    return model.pipeline_


def has_open_vocabulary(model: Pipeline) -> bool:
    """Whether the words of a pipeline follow the stream."""
    return hasattr(model.steps[0][1], "n_documents_seen_")


def words_of(model: Pipeline) -> np.ndarray:
    """Return the words of the columns."""
    return np.asarray(model[:-1].get_feature_names_out())


def n_words_of(model: Pipeline) -> int:
    """Return how many columns have a word."""
    return sum(not str(word).startswith(FREE) for word in words_of(model))


# Tables of topics and of documents


def rows_of(model: Pipeline, n: int, relevance: float) -> list[TopicRow]:
    """Return the table of topics, without columns that have no word yet."""
    rows = topic_table(model[-1], words_of(model), n, relevance=relevance)
    kept = []
    for row in rows:
        known = [i for i, word in enumerate(row.words) if not str(word).startswith(FREE)]
        words = [str(row.words[i]) for i in known]
        kept.append(row._replace(words=words, probabilities=[row.probabilities[i] for i in known]))
    return kept


def named_words(row: TopicRow) -> str:
    """Return the words of a topic, after its name if there is one."""
    return f"{row.name}: " * bool(row.name) + " ".join(row.words)


def print_topics(rows: Sequence[TopicRow]) -> None:
    """Print the topics, the heaviest first; those that are mostly prior say so."""
    print(f"{'topic':>5}  {'weight':>6}  words")
    for row in rows:
        mark = "(mostly prior) " if row.prior_retention > PRIOR_THRESHOLD else ""
        line = safe(f"{row.topic:>5}  {row.weight:>6.1%}  {mark}{named_words(row)}")
        print(line if len(line) <= WIDTH else line[: WIDTH + 1].rsplit(" ", 1)[0])


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings, each from a line of its own on."""
    for finding in findings:
        print(fill(safe(f"* {finding}"), WIDTH, subsequent_indent="  "))


def print_documents(rows: Sequence[TopicRow], model: TopicStream) -> None:
    """Print the beginning and the id of a few documents of each of the largest topics."""
    shown = [row for row in rows if row.prior_retention <= PRIOR_THRESHOLD][:N_TOPICS_SHOWN]
    kept = model.documents
    if not kept or not shown:
        return
    texts = [document.text for document in kept]
    found = documents_of(model.pipeline_, texts, n_documents=N_DOCUMENTS)
    for row in shown:
        print(f"\ntopic {row.topic}: {safe(' '.join(row.words[:N_LABEL]))}")
        for document in found:
            if document.topic == row.topic:
                one = kept[document.document]
                print(f"  {document.share:>4.0%}  {one_line(one.text)}  [{safe(str(one.id))}]")


def rows_of_documents(
    model: Pipeline, batches: Iterable[list[Record]], leading: int, kind: str, options: Namespace
) -> Iterator[dict[str, Any]]:
    """Yield the leading topics of each document, with where it is from, and its fields to keep."""
    rows, names = rows_of(model, N_LABEL, options.relevance), ("topic", "share", "label")
    labels = {row.topic: named_words(row) for row in rows}
    for batch in batches:
        shares = np.asarray(model.transform(texts_of(batch)), dtype=np.float64)
        # Hidden topics have no label.
        shown = np.sort([*labels])
        order = shown[np.argsort(-shares[:, shown], axis=1, kind="stable")[:, :leading]]
        for record, share, first in zip(batch, shares, order, strict=True):
            row: dict[str, Any] = {}
            if options.id_key:
                row["id"] = record.fields[options.id_key]
            row |= {"source": record.source, "line": record.line, "time": time_of(record.time)}
            row |= {key: record.fields[key] for key in options.keep}
            topics: list[Any] = [(int(k), round(float(share[k]), 4), labels[int(k)]) for k in first]
            is_empty = not record.text.strip()
            if kind == "jsonl":
                found = [dict(zip(names, one, strict=True)) for one in topics]
                row["topics"] = [] if is_empty else found
            else:
                for i, one in enumerate(topics, start=1):
                    cells = zip(names, [None] * len(names) if is_empty else one, strict=True)
                    row |= {f"{name}_{i}": value for name, value in cells}
            yield row


# Models to make


def estimator(options: Namespace) -> Any:
    """Return an estimator as the options say."""
    n_topics = options.topics[0] if options.topics else 0
    name = options.estimator or ("GuidedTopics" if options.seeds else "StreamingLDA")
    if (name == "GuidedTopics") != bool(options.seeds):
        raise ValueError("--seeds FILE is of --estimator GuidedTopics, and of no other")
    if options.seeds:
        try:
            named = json.loads(options.seeds.read_text(encoding="utf-8-sig"))
        except ValueError as error:
            raise ValueError(f"{options.seeds} is no JSON: {error}") from error
        made: Any = streamtopics.GuidedTopics(named, n_unseeded=max(0, n_topics - len(named)))
    else:
        made = by_name(name, n_topics or N_TOPICS)
    made.set_params(random_state=0, n_jobs=-1)
    if options.max_iter:
        made.set_params(max_iter=options.max_iter)
    for parameter, value in sorted(options.set, key=lambda one: one[0].count("__")):
        made.set_params(**{parameter: value})
    return made


def by_name(name: str, n_components: int) -> Any:
    """Return the estimator of a class, or else of a preset of `StreamingLDA`."""
    if name in NAMES:
        return getattr(streamtopics, name)(n_components=n_components)
    if name in PRESETS:
        return streamtopics.StreamingLDA.preset(name, n_components)
    known = sorted({*NAMES, *PRESETS})
    near = get_close_matches(name, known, n=1)
    meant = f"did you mean {near[0]}? There are" if near else "use one of"
    raise ValueError(f"there is no estimator {name!r} of topics; {meant} {', '.join(known)}")


def word_pattern(shortest: int) -> str:
    """Return the pattern of words, which are runs of so many letters or more."""
    return rf"(?u)\b[^\W\d_]{{{shortest},}}\b"


def vectorizer_for(options: Namespace, n_documents: int | None) -> Any:
    """Return what counts words; of a corpus of so many documents, or None of a stream."""
    least, name = options.min_documents, options.tokenizer
    shortest = options.shortest or (2 if name else 3)
    words = StreamingCountVectorizer(
        stop_words=None if options.stop_words == "none" else stop_words(options.stop_words),
        tokenizer=Tokenizer(name, shortest) if name else None,
        token_pattern=None if name else word_pattern(shortest),
        min_df=least if n_documents is None else min(least, max(1, n_documents // 2)),
        max_df=options.max_share,
        max_features=options.max_words,
        phrases=options.phrases,
        dtype=np.float32,
        n_jobs=-1,
    )
    return NamedVectorizer(words) if options.seeds else words


def unspaced(options: Namespace, texts: list[str]) -> str:
    """Return what to do about texts without spaces between words, "" about others."""
    found = unspaced_script(texts)
    if options.tokenizer or found is None:
        return ""
    script, name = found
    such = f", such as --tokenizer {name} (pip install {re.split('[.:]', name)[0]})" if name else ""
    return (
        f"the texts are in {script}, which has no spaces between words; cut them by --tokenizer "
        f"MODULE:FUNCTION{such}"
    )


def no_vocabulary(options: Namespace, texts: list[str]) -> ValueError:
    """Return the error of texts in which there is no word, with what helps."""
    remedy = "there is no letter in them; name the field of the texts by --text-key"
    if any(re.search(word_pattern(1), text) for text in texts):
        remedy = unspaced(options, texts) or f"try {MORE_WORDS}"
    return ValueError(
        f"no vocabulary could be made from the first {counted(len(texts), 'document')}; {remedy}"
    )


def choose(options: Namespace, made: BaseEstimator, texts: list[str]) -> None:
    """Print figures of each number of topics, and set the one that is best."""
    if len(options.topics) < 2:
        return
    texts = texts[:N_SELECTION]
    X = vectorizer_for(options, len(texts)).fit_transform(texts)
    n_jobs = made.get_params()["n_jobs"]
    found = compare_n_components(made, X, options.topics, random_state=0, n_jobs=n_jobs)
    made.set_params(n_components=found.chosen)
    with ignore_closed_pipe():
        print(re.sub(r"\bnan\b", "  -", str(found)))
        if found.chosen == options.topics[-1]:
            print("The largest number was chosen: more might be better still; try some.")
        print()
