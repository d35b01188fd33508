# SPDX-License-Identifier: BSD-3-Clause
"""A fitted model on partitions, and the words of partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from streamtopics.distributed import executors, tasks

Vectorizer = TypeVar("Vectorizer")
Result = TypeVar("Result")
# Largest number of begun, not yet requested partitions.
AHEAD = 32


def transform_partitions(
    model: object, partitions: object, client: object, *, read: tasks.Read | None = None
) -> Iterator[Any]:
    """Yield the result of a model's `transform` for each partition, in order.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted.
    partitions, client, read
        As in `fit_partitions`. At most 32 partitions are transformed ahead of their use.

    Returns
    -------
    found : iterator of ndarray of shape (n_documents, n_components)
        For most models the topic proportions of the documents of a partition.

    Raises
    ------
    PartitionError
        If a partition cannot be read or transformed.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.distributed import transform_partitions
    >>> X = make_lda_corpus(n_documents=300, n_features=50, random_state=0).X
    >>> model = SVBLDA(4, random_state=0).partial_fit(X)
    >>> with ThreadPoolExecutor(2) as client:
    ...     [found.shape for found in transform_partitions(model, [X[:100], X[100:]], client)]
    [(100, 4), (200, 4)]
    """
    check_is_fitted(model)
    return _results(tasks.transform, "transformed", model, partitions, client, read)


def score_partitions(
    model: object, partitions: object, client: object, *, read: tasks.Read | None = None
) -> float:
    """Return the mean of a model's `score` over partitions, weighted by their tokens.

    Tokens of words unknown to the model are not counted.

    Parameters
    ----------
    model, partitions, client, read
        As in `transform_partitions`, for a model with `score`.

    Returns
    -------
    score : float
        Nats per token for most models; NaN if no partition has a score. `model.score` of all
        documents at once may differ in the third digit.
    """
    check_is_fitted(model)
    rows = list(_results(tasks.score, "scored", model, partitions, client, read))
    kept = [row for row in rows if row.n_tokens > 0 and not np.isnan(row.score)]
    if not kept:
        return float("nan")
    return float(np.average([row.score for row in kept], weights=[row.n_tokens for row in kept]))


def count_vocabulary(
    vectorizer: Vectorizer, partitions: object, client: object, *, read: tasks.Read | None = None
) -> Vectorizer:
    """Return a vectorizer with the vocabulary that `fit` would find in all partitions.

    Parameters
    ----------
    vectorizer : CountVectorizer or StreamingCountVectorizer, without `phrases`
        Its settings are used, and it is not changed. `min_df`, `max_df` and `max_features` apply to
        all partitions together.
    partitions, client, read
        As in `fit_partitions`. Partitions hold texts.

    Returns
    -------
    vectorizer : object
        A clone of `vectorizer`, with the words as `vocabulary`, ready for `transform`.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics.distributed import count_vocabulary
    >>> from streamtopics.text import StreamingCountVectorizer
    >>> texts = [["red green", "red blue"], ["green red", "pink"]]
    >>> with ThreadPoolExecutor(2) as client:
    ...     words = count_vocabulary(StreamingCountVectorizer(min_df=2), texts, client)
    >>> words.get_feature_names_out()  # Words of two documents or more.
    array(['green', 'red'], dtype=object)
    """
    given: Any = vectorizer
    counter = clone(given)
    if counter.vocabulary is not None:
        return counter.fit([])
    counter.set_params(min_df=1, max_df=1.0, max_features=None)
    documents, tokens, n_documents = Counter[str](), Counter[str](), 0
    for one in _results(tasks.tally_of, "counted", counter, partitions, client, read):
        documents.update(one.documents)
        tokens.update(one.tokens)
        n_documents += one.n_documents
    least, most = (
        limit * (1 if isinstance(limit, Integral) else n_documents)
        for limit in (given.min_df, given.max_df)
    )
    kept = sorted(word for word, n in documents.items() if least <= n <= most)
    words = sorted(sorted(kept, key=lambda word: -tokens[word])[: given.max_features])
    if not words:
        raise ValueError(
            f"none of {len(documents)} words in {n_documents} documents is left; lower min_df or "
            "raise max_df"
        )
    result: Vectorizer = counter.set_params(vocabulary=words).fit([])
    return result


def _results(
    function: Callable[..., Result],
    done: str,
    shared: object,
    partitions: object,
    client: object,
    read: tasks.Read | None,
) -> Iterator[Result]:
    executor, given = executors.executor_of(client), (read, executors.send_once(client, shared))
    items = executors.partitions_of(partitions, client)
    for number, future in enumerate(executors.ahead(executor, items, function, given, AHEAD)):
        try:
            found = future.result()
        except Exception as error:
            raise executors.PartitionError(
                f"partition {number} could not be {done}: {type(error).__name__}: {error}", number
            ) from error
        yield found
