# SPDX-License-Identifier: BSD-3-Clause
"""Functions that run on the workers: they read a partition, and learn rounds of its minibatches."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from streamtopics.datasets import read_texts
from streamtopics.distributed.composites import LocalTask, Reader
from streamtopics.distributed.memory import keep_memory
from streamtopics.distributed.parcels import Parcel, packed
from streamtopics.updates.composite import Composite
from streamtopics.utils.steps import counted
from streamtopics.utils.structure import check_structure, has_entries, is_sparse, total

Read = Callable[[Any], Any]

# Minibatches whose words are told together.
AT_ONCE = 8
# Attribute of an error: which of the partitions that were read together it is of.
PLACE = "place_among_partitions"


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
    """The counts of some partitions.

    Attributes
    ----------
    minibatches : list of matrices
        Of the first partition, then of the next.
    lengths : list of int
        Minibatches of each partition.
    seconds : float
        That it took to read them, of the worker's clock.
    """

    minibatches: list[Any]
    lengths: list[int]
    seconds: float


class Contents(NamedTuple):
    """Numbers of documents and columns of words in partitions that were read, for the client.

    Attributes
    ----------
    n_documents : ndarray of int64
        Of each minibatch.
    words : list of ndarray of int32
        Columns of the words of `AT_ONCE` minibatches each, sorted.
    lengths, seconds
        As of `Counts`.
    """

    n_documents: np.ndarray
    words: list[np.ndarray]
    lengths: list[int]
    seconds: float

    def words_of(self, first: int, stop: int) -> np.ndarray:
        """Words of the minibatches `first` to `stop` - 1, and maybe of some beside, sorted."""
        some = self.words[first // AT_ONCE : (stop - 1) // AT_ONCE + 1]
        seen = np.zeros(max(words.max(initial=0) for words in some) + 1, np.bool_)
        for words in some:
            seen[words] = True
        return np.flatnonzero(seen).astype(np.int32)


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
    if hasattr(found, "shape") or isinstance(found, list):
        return found
    if not has_entries(found):
        raise TypeError(f"partitions must each be documents, or be read as such; got {found!r:.60}")
    return list(found)


def read_partitions(read: Read | None, before: Any, batch_size: int, *partitions: Any) -> Counts:
    """Return the counts of some partitions.

    Parameters
    ----------
    read
        As of `documents_of`.
    before : Pipeline or None
        Steps that make counts of documents.
    batch_size : int
        Documents in a minibatch, which do not reach from one partition to the next.
    *partitions : objects
    """
    keep_memory()
    begun, parts = time.monotonic(), []
    for partition in partitions:
        try:
            if isinstance(partition, Batches):
                parts.append([_counts_of(one, read, before) for one in partition.minibatches])
            else:
                parts.append(_cut(_counts_of(partition, read, before), batch_size))
        except Exception as error:
            vars(error)[PLACE] = len(parts)
            raise
    return Counts(list(chain(*parts)), list(map(len, parts)), time.monotonic() - begun)


def _cut(X: Any, size: int) -> list[Any]:
    """Return `size` rows at a time."""
    rows = X.iloc if hasattr(X, "iloc") else X
    return [rows[start : start + size] for start in range(0, X.shape[0], size)]


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
    if is_sparse(found) and found.ndim == 2:
        check_structure(found, "the cluster", "a partition")
        return found.tocsr()
    if getattr(found, "ndim", 0) == 2 or hasattr(found, "columns"):
        return found
    kinds = {type(one).__name__ for one in found[:10]} if has_entries(found) else set()
    raise TypeError(
        f"its documents are {', '.join(sorted(kinds)) or 'an empty list'}, not rows of counts; in "
        "the place of the model pass a pipeline that begins with a fitted vectorizer"
    )


def contents_of(counts: Counts) -> Contents:
    """Return the documents in each minibatch and the words of some at a time."""
    n_documents = np.array([X.shape[0] for X in counts.minibatches], np.int64)
    starts = range(0, len(counts.minibatches), AT_ONCE)
    words = [_words_of(counts.minibatches[start : start + AT_ONCE]) for start in starts]
    return Contents(n_documents, words, counts.lengths, counts.seconds)


def minibatches_of(counts: Counts, first: int, stop: int) -> list[Any]:
    """Return the minibatches `first` to `stop` - 1."""
    return counts.minibatches[first:stop]


def _words_of(minibatches: list[Any]) -> np.ndarray:
    """Return the columns of the words of some minibatches, sorted, int32."""
    seen = np.zeros(max(X.shape[1] for X in minibatches), np.bool_)
    for X in minibatches:
        if is_sparse(X):
            seen[X.tocsr().indices] = True
        else:
            seen[: X.shape[1]] |= np.asarray(X).any(axis=0)
    return np.flatnonzero(seen).astype(np.int32)


def learn_round(
    counts: Counts, reader: Reader, task: Any, first: int, stop: int, scored: bool
) -> Any:
    """Return the result of `learn`, in a parcel if its task came in one."""
    if not isinstance(task, Parcel):
        return learn(counts, reader, task, first, stop, scored)
    return packed(learn(counts, reader, task.opened(), first, stop, scored))


def learn(
    counts: Counts, reader: Reader, task: LocalTask, first: int, stop: int, scored: bool
) -> Learnt:
    """Return what a round of minibatches makes of the topics that its task came with."""
    keep_memory()
    begun, score = time.monotonic(), np.nan
    if scored:
        score = reader.score(task, counts.minibatches[first])
    minibatches = [reader.minibatch(X) for X in counts.minibatches[first:stop]]
    composite = task.run(minibatches)
    return Learnt(composite, score, time.monotonic() - begun)


def same(value: Any) -> Any:
    """Return what was given, for other tasks to take from there."""
    return value


def transform(model: Any, partition: Any, read: Read | None) -> Applied:
    """Return what a model makes of the documents of a partition."""
    keep_memory()
    begun = time.monotonic()
    found = model.transform(documents_of(partition, read))
    return Applied(found, time.monotonic() - begun)


def score(model: Any, partition: Any, read: Read | None) -> Applied:
    """Return the score of the documents of a partition."""
    keep_memory()
    begun = time.monotonic()
    documents = documents_of(partition, read)
    X = counted(model, documents)
    found = Scored(np.nan, 0.0)
    if X.shape[0]:
        found = Scored(float(model.score(documents)), total(X))
    return Applied(found, time.monotonic() - begun)
