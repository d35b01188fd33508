# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines over raw texts: made as the options say, or loaded; what they know and learn."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

import streamtopics
from streamtopics.cli.console import readers_may_go
from streamtopics.cli.reading import vectorizer_of
from streamtopics.estimators.presets import PRESETS
from streamtopics.inspection import TopicRow, compare_n_components, topic_table
from streamtopics.saving import load
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer

NAMES = (
    "StreamingLDA", "StreamingMixture", "GuidedTopics", "GibbsOnlineEM", "VariationalOnlineEM",
    "SVBLDA", "BPSLDA", "SVBHPP", "HDPGibbsOnlineEM", "HDPVarGibbs",
)  # fmt: skip
N_TOPICS, N_COMPARED = 20, 20_000
FREE = "<free "


class Learner(NamedTuple):
    """A pipeline split in two: the steps that only transform texts, and those that learn.

    Attributes
    ----------
    model : object
        To call `partial_fit` and `score` of.
    front : Pipeline or None
        What makes counts of texts for it; None if it takes texts.
    """

    model: Any
    front: Any

    def taken(self, texts: list[str]) -> Any:
        """Return what the model takes for texts."""
        return texts if self.front is None else self.front.transform(texts)


# Models that are there


def load_model(path: Path, trusted: list[str]) -> Any:
    """Return a pipeline over raw texts that was saved."""
    model = load(path, trusted)
    steps = model.steps if isinstance(model, Pipeline) else []
    if len(steps) < 2 or not hasattr(vectorizer_of(steps[0][1]), "build_analyzer"):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that does not take raw texts; the command "
            "needs a pipeline of a vectorizer and a topic model, as `streamtopics fit` writes"
        )
    return model


def has_open_vocabulary(model: Pipeline) -> bool:
    """Whether the words of a pipeline follow the stream."""
    return hasattr(model, "partial_fit") and hasattr(model.steps[0][1], "n_documents_seen_")


def learner_of(model: Pipeline) -> Learner:
    """Return what learns of a pipeline."""
    if has_open_vocabulary(model):
        return Learner(model, None)
    return Learner(model.steps[-1][1], model[:-1])


def topics_of(model: Pipeline) -> Any:
    """Return the topic model of a pipeline."""
    return model.steps[-1][1]


def words_of(model: Pipeline) -> np.ndarray:
    """Return the words of the columns."""
    return np.asarray(model[:-1].get_feature_names_out())


def n_words_of(model: Pipeline) -> int:
    """Return how many columns have a word."""
    return sum(not str(word).startswith(FREE) for word in words_of(model))


def rows_of(model: Pipeline, n: int, relevance: float) -> list[TopicRow]:
    """Return the table of topics, without columns that have no word yet."""
    rows = topic_table(topics_of(model), words_of(model), n, relevance=relevance)
    kept = []
    for row in rows:
        known = [i for i, word in enumerate(row.words) if not str(word).startswith(FREE)]
        words = [str(row.words[i]) for i in known]
        kept.append(row._replace(words=words, probabilities=[row.probabilities[i] for i in known]))
    return kept


def labels_of(model: Pipeline, n: int, relevance: float) -> list[str]:
    """Return the leading words of each topic."""
    rows = sorted(rows_of(model, n, relevance), key=lambda row: row.topic)
    return [f"{name_before(model, row.topic)}{' '.join(row.words)}" for row in rows]


def name_before(model: Pipeline, topic: int) -> str:
    """Return the name of a topic that has one, to stand before its words."""
    names = getattr(topics_of(model), "topic_names_", ())
    return f"{names[topic]}: " if topic < len(names) else ""


# Models to make


def pipeline(kind: type[Pipeline], words: BaseEstimator, topics: BaseEstimator) -> Any:
    """Return a pipeline of a vectorizer and a topic model."""
    return kind([("words", words), ("topics", topics)])


def estimator(options: Namespace) -> Any:
    """Return an estimator as the options say."""
    n_topics = options.topics[0] if options.topics else 0
    name = options.estimator or ("GuidedTopics" if options.seeds else "StreamingLDA")
    if (name == "GuidedTopics") != bool(options.seeds):
        raise ValueError(
            "GuidedTopics goes with --seeds FILE, and other estimators without; leave out one of "
            "--estimator and --seeds"
        )
    if options.seeds:
        named = read_seeds(options.seeds)
        made: Any = streamtopics.GuidedTopics(named, n_unseeded=max(0, n_topics - len(named)))
    else:
        made = by_name(name, n_topics or N_TOPICS)
    made.set_params(random_state=options.seed, n_jobs=options.jobs)
    passes = getattr(options, "max_iter", None)
    before = [] if passes is None else [("max_iter", passes)]
    for parameter, value in before + sorted(options.settings, key=lambda one: one[0].count("__")):
        made.set_params(**{parameter: value})
    return made


def by_name(name: str, n_components: int) -> Any:
    """Return the estimator of a class, or else of a preset of `StreamingLDA`."""
    if name in NAMES:
        return getattr(streamtopics, name)(n_components=n_components)
    if name in PRESETS:
        return streamtopics.StreamingLDA.preset(name, n_components)
    lower = {known.lower(): known for known in (*NAMES, *PRESETS)}
    near = [lower[found] for found in get_close_matches(name.lower(), lower, n=3)]
    meant = f"did you mean {' or '.join(near)}? There are" if near else "use one of"
    raise ValueError(
        f"there is no estimator {name!r} of topics; {meant} {', '.join(sorted(lower.values()))}"
    )


def read_seeds(path: Path) -> dict[str, list[str]]:
    """Return the seed words by topic that a file has."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8-sig")))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f'{path} must have an object of names, each with a list of words: {{"sea": ["ship"]}} '
            f"({error})"
        ) from error


def letters(shortest: int) -> str:
    """Return the pattern of words, which are runs of so many letters or more."""
    return rf"(?u)\b[^\W\d_]{{{shortest},}}\b"


def vectorizer_for(options: Namespace, n_documents: int | None) -> StreamingCountVectorizer:
    """Return what counts words; of a corpus of so many documents, or None of a stream."""
    least = options.min_documents
    return StreamingCountVectorizer(
        stop_words=None if options.keep_stop_words else "english",
        token_pattern=letters(options.shortest),
        min_df=least if n_documents is None else min(least, max(1, n_documents // 2)),
        max_df=options.max_share,
        max_features=options.max_words,
        dtype=np.float32,
        n_jobs=options.jobs,
    )


def fit_words(words: StreamingCountVectorizer | NamedVectorizer, texts: list[str]) -> None:
    """Make the vocabulary of texts."""
    try:
        words.fit(texts)
    except ValueError as error:
        remedy = "there is no letter in them; name the field of the texts by --text-key"
        if any(re.search(letters(1), text) for text in texts):
            remedy = "try --min-documents 1, --max-share 1, --keep-stop-words or --shortest 1"
        raise ValueError(
            f"no vocabulary could be made from the first {len(texts)} documents ({error}); {remedy}"
        ) from error


def choose(options: Namespace, made: BaseEstimator, texts: list[str]) -> None:
    """Print figures of each number of topics, and set the one that is best."""
    if len(options.topics) < 2:
        return
    texts = texts[:N_COMPARED]
    words = vectorizer_for(options, len(texts))
    fit_words(words, texts)
    found = compare_n_components(
        made, words.transform(texts), options.topics, random_state=options.seed, n_jobs=options.jobs
    )
    made.set_params(n_components=found.chosen)
    with readers_may_go():
        print(re.sub(r"\bnan\b", "  -", str(found)))
        if found.chosen == options.topics[-1]:
            print("The largest number was chosen: more might be better still; try some.")
        print()
