# SPDX-License-Identifier: BSD-3-Clause
"""Functions that run on the workers: they read a partition, and learn rounds of its minibatches."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from streamtopics.base.composites import LocalTask, Reader
from streamtopics.datasets import read_texts
from streamtopics.steps import counted
from streamtopics.structure import is_sparse
from streamtopics.updates.composite import Composite

Read = Callable[[Any], Any]


class Batches(NamedTuple):
    """Minibatches as they came, in order.

    Attributes
    ----------
    minibatches : list
        Documents or counts.
    first : int
        Place of the first of them in the stream, from 0.
    """

    minibatches: list[Any]
    first: int


class Counts(NamedTuple):
    """The counts of a partition.

    Attributes
    ----------
    X : matrix of shape (n_documents, n_features), or list of matrices
        Those of single minibatches.
    ends : ndarray of int64
        Row behind the last one of each minibatch.
    seconds : float
        That it took to read them, of the worker's clock.
    """

    X: Any
    ends: np.ndarray
    seconds: float


class Ends(NamedTuple):
    """Ends of the minibatches of a partition, for the client.

    Attributes
    ----------
    ends, seconds
        As of `Counts`.
    """

    ends: np.ndarray
    seconds: float


class Applied(NamedTuple):
    """Result of a model for a partition.

    Attributes
    ----------
    found : object
    seconds : float
        Of the worker's clock.
    """

    found: Any
    seconds: float


class Learnt(NamedTuple):
    """Result of a round.

    Attributes
    ----------
    composite : Composite
    score : float
        Of its first minibatch before it was learnt, nats per token; NaN if it was not asked for.
    seconds : float
        Of the worker's clock.
    """

    composite: Composite
    score: float
    seconds: float


class Scored(NamedTuple):
    """The score of a partition.

    Attributes
    ----------
    score : float
        Nats per token for most models, NaN where there was nothing to score.
    n_tokens : float
        Tokens in it, of words that the model knows.
    """

    score: float
    n_tokens: float


def documents_of(partition: Any, read: Read | None) -> Any:
    """Return the documents of a partition, in a form that can be gone over more than once.

    Parameters
    ----------
    partition : object
    read : callable or None
        Makes documents or counts of it; None reads paths as files of texts, and of a table the
        column "text".
    """
    if read is not None:
        found = read(partition)
    elif isinstance(partition, str | os.PathLike):
        found = read_texts(Path(partition))
    else:
        found = partition
    if hasattr(found, "columns") and "text" in found.columns:
        found = found["text"]
    return found if hasattr(found, "shape") or isinstance(found, list) else list(found)


def read_partition(partition: Any, read: Read | None, before: Any, batch_size: int) -> Counts:
    """Return the counts of a partition, and where its minibatches end.

    Parameters
    ----------
    partition : object
    read
        As of `documents_of`.
    before : Pipeline or None
        Steps that make counts of documents.
    batch_size : int
        Documents in a minibatch.
    """
    begun = time.monotonic()
    if isinstance(partition, Batches):
        parts = [_counts_of(one, read, before) for one in partition.minibatches]
        ends = np.cumsum([part.shape[0] for part in parts])
        return Counts(parts, ends, time.monotonic() - begun)
    X = _counts_of(partition, read, before)
    n_rows = int(X.shape[0])
    ends = np.minimum(np.arange(batch_size, n_rows + batch_size, batch_size), n_rows)
    return Counts(X, ends, time.monotonic() - begun)


def _counts_of(documents: Any, read: Read | None, before: Any) -> Any:
    """Return the counts of documents, or say that they are none."""
    found = documents_of(documents, read)
    if before is not None:
        if hasattr(found, "columns"):
            raise TypeError(
                f"a table of the columns {list(found.columns)} has no column 'text'; pass "
                "read=lambda table: table[NAME]"
            )
        return counted(before, found)
    if is_sparse(found):
        return found.tocsr()
    if getattr(found, "ndim", 0) == 2 or hasattr(found, "columns"):
        return found
    kinds = {type(one).__name__ for one in found[:10]}
    raise TypeError(
        f"its documents are {', '.join(sorted(kinds)) or 'an empty list'}, not rows of counts; in "
        "the place of the model pass a pipeline that begins with a fitted vectorizer"
    )


def ends_of(counts: Counts) -> Ends:
    """Return the row behind the last one of each minibatch, and how long reading took."""
    return Ends(counts.ends, counts.seconds)


def rows_of(counts: Counts, first: int, stop: int) -> Any:
    """Return the rows of the minibatches `first` to `stop` - 1; of a list of matrices, one's."""
    if isinstance(counts.X, list):
        return counts.X[first]
    start = counts.ends[first - 1] if first else 0
    rows = slice(start, counts.ends[stop - 1])
    return counts.X.iloc[rows] if hasattr(counts.X, "iloc") else counts.X[rows]


def words_of(counts: Counts, first: int, stop: int) -> np.ndarray:
    """Return the columns of the words of some minibatches, sorted, int32."""
    if isinstance(counts.X, list):
        found = [_words_in(X) for X in counts.X[first:stop]]
        return np.unique(np.concatenate(found)).astype(np.int32)
    return _words_in(rows_of(counts, first, stop))


def _words_in(rows: Any) -> np.ndarray:
    if is_sparse(rows):
        return np.unique(rows.tocsr().indices).astype(np.int32)
    return np.flatnonzero(np.asarray(rows).any(axis=0)).astype(np.int32)


def learn(
    counts: Counts, reader: Reader, task: LocalTask, first: int, stop: int, scored: bool
) -> Learnt:
    """Return what a round of minibatches makes of the topics that its task came with."""
    begun, score = time.monotonic(), np.nan
    if scored:
        score = reader.score(task, rows_of(counts, first, first + 1))
    minibatches = [reader.minibatch(rows_of(counts, i, i + 1)) for i in range(first, stop)]
    composite = task.run(minibatches)
    return Learnt(composite, score, time.monotonic() - begun)


def same(value: Any) -> Any:
    """Return what was given, for other tasks to take from there."""
    return value


def transform(model: Any, partition: Any, read: Read | None) -> Applied:
    """Return what a model makes of the documents of a partition."""
    begun = time.monotonic()
    found = model.transform(documents_of(partition, read))
    return Applied(found, time.monotonic() - begun)


def score(model: Any, partition: Any, read: Read | None) -> Applied:
    """Return the score of the documents of a partition."""
    begun = time.monotonic()
    documents = documents_of(partition, read)
    X = counted(model, documents)
    found = Scored(np.nan, 0.0)
    if X.shape[0]:
        found = Scored(float(model.score(documents)), float(X.sum()))
    return Applied(found, time.monotonic() - begun)
