# SPDX-License-Identifier: BSD-3-Clause
"""The words of a corpus whose partitions are counted on workers."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
from sklearn.base import clone

from streamtopics.distributed.attempts import Kind, Policy, Task
from streamtopics.distributed.engines import Engine, Handle, engine_of
from streamtopics.distributed.reading import FIRST, READ
from streamtopics.distributed.sources import partitions_of
from streamtopics.distributed.tasks import documents_of

Vectorizer = TypeVar("Vectorizer")
# Tallies that one task adds up.
TOGETHER = 8
# Seconds: nothing is counted twice because it is late.
WHOLE = 1e9


class Tally(NamedTuple):
    """Counts of words.

    Attributes
    ----------
    words : ndarray of str
        Sorted.
    documents, tokens : ndarray of int64
        Documents that have each word, and its tokens.
    n_documents : int
    """

    words: np.ndarray
    documents: np.ndarray
    tokens: np.ndarray
    n_documents: int


def count_vocabulary(
    vectorizer: Vectorizer,
    partitions: Any,
    client: Any,
    *,
    read: Callable[[Any], Any] | None = None,
    max_attempts: int = 3,
    timeout: float | None = None,
) -> Vectorizer:
    """Return a vectorizer with the words that it would have after `fit` on all partitions.

    Each worker counts the words of a partition; the counts are added up on the workers, some at a
    time, and the rules of the vectorizer (`min_df`, `max_df`, `max_features`) are applied to
    their sum.

    Parameters
    ----------
    vectorizer : CountVectorizer or StreamingCountVectorizer
        It is not changed.
    partitions, client, read
        As of `fit_partitions`, of texts.
    max_attempts : int, default=3
        Times that all is counted at most, where the engine gives up.
    timeout : float or None, default=None
        Seconds that it may take in all; None waits for ever.

    Returns
    -------
    vectorizer : object
        A clone with the words found as its `vocabulary`, ready for `transform`.

    Raises
    ------
    PartitionError
        If a partition cannot be read.
    ValueError
        If no word is left.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics.distributed import count_vocabulary
    >>> from streamtopics.text import StreamingCountVectorizer
    >>> texts = [["red green", "red blue"], ["green red", "pink"]]
    >>> with ThreadPoolExecutor(2) as client:
    ...     words = count_vocabulary(StreamingCountVectorizer(min_df=2), texts, client)
    >>> words.get_feature_names_out()
    array(['green', 'red'], dtype=object)
    """
    if not hasattr(vectorizer, "build_analyzer"):
        raise TypeError(
            "vectorizer must be a StreamingCountVectorizer or a CountVectorizer; got "
            f"{vectorizer!r}"
        )
    engine, policy = engine_of(client), Policy(max_attempts, WHOLE, timeout)
    counter: Any = clone(vectorizer)
    counter.set_params(min_df=1, max_df=1.0, max_features=None)
    found = list(partitions_of(partitions, client))
    if not found:
        raise ValueError("partitions is empty; there are no words to count")

    def begin(attempt: int) -> Handle:
        return _tree(engine, f"{uuid4().hex[:8]}-{attempt}", counter, found, read)

    total = Task(engine, policy, Kind("counted"), -1, "the words of the partitions", begin).result()
    words = kept_words(total, vectorizer)
    if not len(words):
        raise ValueError(
            f"none of {len(total.words)} words in {total.n_documents} documents is left; lower "
            "min_df or raise max_df"
        )
    ready: Any = counter.set_params(vocabulary=words.tolist())
    result: Vectorizer = ready.fit([])
    return result


def _tree(engine: Engine, run: str, counter: Any, partitions: list[Any], read: Any) -> Handle:
    """Begin to count partitions and to add the counts up, some at a time."""
    level = [
        engine.submit(f"count-{run}-{i}", READ, tally_of, i, one, read, counter)
        for i, one in enumerate(partitions)
    ]
    while len(level) > 1:
        groups = [level[i : i + TOGETHER] for i in range(0, len(level), TOGETHER)]
        level = [
            engine.submit(f"add-{run}-{len(level)}-{i}", FIRST, sum_of, *group)
            for i, group in enumerate(groups)
        ]
    return level[0]


def tally_of(number: int, partition: Any, read: Any, counter: Any) -> Tally:
    """Return the counts of the words of a partition; runs on a worker."""
    mine = clone(counter)
    try:
        texts = documents_of(partition, read)
        counts = mine.fit_transform(texts) if len(texts) else None
    except Exception as error:
        if "empty vocabulary" not in str(error):
            error.add_note(f"This was partition {number}.")
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


def sum_of(*tallies: Tally) -> Tally:
    """Return the counts of all; runs on a worker."""
    words, places = np.unique(np.concatenate([one.words for one in tallies]), return_inverse=True)
    documents, tokens = (
        np.bincount(places, np.concatenate([one[column] for one in tallies]), len(words)).astype(
            np.int64
        )
        for column in (1, 2)
    )
    return Tally(words, documents, tokens, sum(one.n_documents for one in tallies))


def kept_words(total: Tally, vectorizer: Any) -> np.ndarray:
    """Return the words that the rules of a vectorizer leave, sorted."""

    def number(limit: float) -> float:
        return limit if isinstance(limit, Integral) else limit * total.n_documents

    least, most = number(vectorizer.min_df), number(vectorizer.max_df)
    if most < least:
        raise ValueError("max_df corresponds to fewer documents than min_df")
    places = np.flatnonzero((total.documents >= least) & (total.documents <= most))
    if vectorizer.max_features is not None:
        leading = np.lexsort((places, -total.tokens[places]))[: vectorizer.max_features]
        places = np.sort(places[leading])
    kept: np.ndarray = total.words[places]
    return kept
