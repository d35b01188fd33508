# SPDX-License-Identifier: BSD-3-Clause
"""Models of files: pipelines over raw texts, with an open vocabulary or a closed one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from streamtopics.inspection import TopicRow, topic_table
from streamtopics.saving import load

MOSTLY_PRIOR = 0.5
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


def load_model(path: Path) -> Any:
    """Return a pipeline over raw texts that was saved."""
    model = load(path)
    front = model.steps[0][1] if hasattr(model, "steps") and len(model.steps) > 1 else None
    if not hasattr(getattr(front, "vectorizer_", front), "build_analyzer"):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that does not take raw texts; the command "
            "needs a pipeline of a vectorizer and a topic model, as `streamtopics fit` writes"
        )
    if not hasattr(type(model.steps[-1][1]), "topic_word_"):
        raise ValueError(f"{path} holds a {type(model.steps[-1][1]).__name__}, not a topic model")
    return model


def has_open_vocabulary(model: Any) -> bool:
    """Whether the words of a pipeline follow the stream."""
    return hasattr(model, "partial_fit") and hasattr(model.steps[0][1], "n_documents_seen_")


def learner_of(model: Any) -> Learner:
    """Return what learns of a pipeline."""
    if has_open_vocabulary(model):
        return Learner(model, None)
    return Learner(model.steps[-1][1], model[:-1])


def topics_of(model: Any) -> Any:
    """Return the topic model of a pipeline."""
    return model.steps[-1][1]


def words_of(model: Any) -> np.ndarray:
    """Return the words of the columns."""
    return np.asarray(model[:-1].get_feature_names_out())


def n_words_of(model: Any) -> int:
    """Return how many columns have a word."""
    return sum(not str(word).startswith(FREE) for word in words_of(model))


def rows_of(model: Any, n: int, relevance: float) -> list[TopicRow]:
    """Return the table of topics, without columns that have no word yet."""
    rows = topic_table(topics_of(model), words_of(model), n, relevance=relevance)
    kept = []
    for row in rows:
        known = [i for i, word in enumerate(row.words) if not str(word).startswith(FREE)]
        kept.append(
            row._replace(
                words=[str(row.words[i]) for i in known],
                probabilities=[row.probabilities[i] for i in known],
            )
        )
    return kept


def labels_of(model: Any, n: int, relevance: float) -> list[str]:
    """Return the leading words of each topic."""
    rows = sorted(rows_of(model, n, relevance), key=lambda row: row.topic)
    return [f"{name_before(model, row.topic)}{' '.join(row.words)}" for row in rows]


def name_before(model: Any, topic: int) -> str:
    """Return the name of a topic that has one, to stand before its words."""
    names = getattr(topics_of(model), "topic_names_", ())
    return f"{names[topic]}: " if topic < len(names) else ""


def pipeline(kind: type[Pipeline], words: Any, topics: Any) -> Any:
    """Return a pipeline of a vectorizer and a topic model."""
    return kind([("words", words), ("topics", topics)])
