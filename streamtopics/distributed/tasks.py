# SPDX-License-Identifier: BSD-3-Clause
"""Functions that run on the workers: they read a partition, learn a round, or apply a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from streamtopics.distributed.composites import LocalTask, Reader
from streamtopics.streams.reading.records import read_texts
from streamtopics.updates.composite import Composite
from streamtopics.utils.steps import counted
from streamtopics.utils.structure import check_structure, has_entries, is_sparse, total

Read = Callable[[Any], Any]


class Learnt(NamedTuple):
    """What a round made of the topics, and its first minibatch's score before; NaN if not asked."""

    composite: Composite
    score: float


class Scored(NamedTuple):
    """The score of a partition, NaN if there was nothing to score, and tokens of known words."""

    score: float
    n_tokens: float


class Tally(NamedTuple):
    """Sorted words, the documents that have each and its tokens, and the number of documents."""

    words: np.ndarray
    documents: np.ndarray
    tokens: np.ndarray
    n_documents: int


def documents_of(partition: Any, read: Read | None) -> Any:
    """Return the documents of a partition, in a form that can be gone over more than once.

    Without `read` paths are files of texts, and of a table the column "text" is read.
    """
    if read is not None:
        found = read(partition)
    elif isinstance(partition, str | os.PathLike):
        found = read_texts(Path(partition))
    else:
        found = partition
    if hasattr(found, "columns") and "text" in found.columns:
        found = found["text"]
    if hasattr(found, "shape") or isinstance(found, list):
        return found
    return list(found)


def counts_of(documents: Any, read: Read | None, before: Pipeline | None) -> Any:
    """Return the counts of documents, or say that they are none."""
    found = documents_of(documents, read)
    if before is not None:
        if hasattr(found, "columns"):
            raise TypeError(
                f"a table of the columns {list(found.columns)} has no column 'text'; pass "
                "read=lambda table: table[NAME]"
            )
        return counted(before, found)
    if is_sparse(found) and found.ndim == 2:
        check_structure(found, "the cluster", "a partition")
        return found.tocsr()
    if hasattr(found, "columns") or len(getattr(found, "shape", ())) == 2:
        return found
    kinds = {type(one).__name__ for one in found[:10]} if has_entries(found) else set()
    raise TypeError(
        f"its documents are {', '.join(sorted(kinds)) or 'an empty list'}, not rows of counts; in "
        "the place of the model pass a pipeline that begins with a fitted vectorizer"
    )


def read_partition(
    partition: Any, read: Read | None, before: Pipeline | None, batch_size: int
) -> list[Any]:
    """Return the counts of a partition, in minibatches."""
    X = counts_of(partition, read, before)
    rows = X.iloc if hasattr(X, "iloc") else X
    return [rows[start : start + batch_size] for start in range(0, X.shape[0], batch_size)]


def read_batches(batches: Sequence[Any], before: Pipeline | None) -> list[Any]:
    """Return the counts of minibatches."""
    return [counts_of(one, None, before) for one in batches]


def learn(reader: Reader, task: LocalTask, batches: Sequence[Any], scored: bool) -> Learnt:
    """Return what a round of minibatches makes of the topics that its task came with."""
    score = reader.score(task, batches[0]) if scored else np.nan
    return Learnt(task.run([reader.minibatch(X) for X in batches]), score)


def transform(model: Any, partition: Any, read: Read | None) -> Any:
    """Return what a model makes of the documents of a partition."""
    return model.transform(documents_of(partition, read))


def score(model: Any, partition: Any, read: Read | None) -> Scored:
    """Return the score of the documents of a partition."""
    documents = documents_of(partition, read)
    X = counted(model, documents)
    if not X.shape[0]:
        return Scored(np.nan, 0.0)
    return Scored(float(model.score(documents)), total(X))


def tally_of(counter: Any, partition: Any, read: Read | None) -> Tally:
    """Return the counts of the words of a partition."""
    mine, texts = clone(counter), documents_of(partition, read)
    try:
        counts = mine.fit_transform(texts) if len(texts) else None
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        counts = None
    if counts is None:
        none = np.empty(0, np.int64)
        return Tally(np.empty(0, object), none, none, len(texts))
    words = mine.get_feature_names_out()
    order = np.argsort(words)
    documents = np.bincount(counts.indices, counts.data > 0, len(words)).astype(np.int64)
    tokens = np.asarray(counts.sum(axis=0)).ravel().astype(np.int64)
    return Tally(words[order], documents[order], tokens[order], len(texts))
