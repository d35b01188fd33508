# SPDX-License-Identifier: BSD-3-Clause
"""A fitted model on the partitions of a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.distributed import tasks
from streamtopics.distributed.attempts import Kind, Policy, Task
from streamtopics.distributed.engines import Engine, Handle, engine_of
from streamtopics.distributed.reading import FIRST, READ, ahead
from streamtopics.distributed.sources import partitions_of
from streamtopics.utils.checks import check_integer

Read = Callable[[Any], Any]
# What is done to a partition, by the name of the function.
DONE = {"transform": "transformed", "score": "scored"}


def transform_partitions(
    model: Any,
    partitions: Any,
    client: Any,
    *,
    read: Read | None = None,
    n_ahead: int = 8,
    max_attempts: int = 3,
    patience: float = 60.0,
    timeout: float | None = None,
) -> Iterator[Any]:
    """Return what a model's `transform` makes of each partition, in order, one by one.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted. It is sent to each worker once.
    partitions, client, read
        As of `fit_partitions`.
    n_ahead : int, default=8
        Partitions that are begun before they are asked for; at least the number of workers.
    max_attempts : int, default=3
        Times that a partition is begun at most.
    patience : float, default=60.0
        Seconds that it may take before it is begun on another worker too, or three times what
        they mostly take, if that is more.
    timeout : float or None, default=None
        Seconds that one may take in all; None waits for ever.

    Returns
    -------
    found : iterator of ndarray of shape (n_documents, n_components)
        For most models the topic proportions of the documents of a partition.

    Raises
    ------
    NotFittedError
        If the model has not learnt from anything yet.
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
    policy = Policy(max_attempts, patience, timeout)
    return _applied(tasks.transform, model, partitions, client, read, n_ahead, policy)


def score_partitions(
    model: Any,
    partitions: Any,
    client: Any,
    *,
    read: Read | None = None,
    n_ahead: int = 8,
    max_attempts: int = 3,
    patience: float = 60.0,
    timeout: float | None = None,
) -> float:
    """Return a model's score of all partitions, a mean weighted by their tokens.

    Parameters
    ----------
    model, partitions, client, read, n_ahead, max_attempts, patience, timeout
        As of `transform_partitions`; the model has a `score`.

    Returns
    -------
    score : float
        Nats per token for most models; NaN where there is nothing to score.

    Raises
    ------
    NotFittedError, PartitionError
        As of `transform_partitions`.

    Notes
    -----
    Tokens are those that the model knows. A score of all documents at once weighs partitions by
    the tokens that it holds out, about half of them, and so may differ in the third digit.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.distributed import score_partitions
    >>> X = make_lda_corpus(n_documents=300, n_features=50, random_state=0).X
    >>> model = SVBLDA(4, random_state=0).partial_fit(X)
    >>> with ThreadPoolExecutor(2) as client:
    ...     score = score_partitions(model, [X[:150], X[150:]], client)
    >>> abs(score - model.score(X)) < 0.01
    True
    """
    policy = Policy(max_attempts, patience, timeout)
    rows = list(_applied(tasks.score, model, partitions, client, read, n_ahead, policy))
    kept = [row for row in rows if row.n_tokens > 0 and not np.isnan(row.score)]
    if not kept:
        return float("nan")
    return float(np.average([row.score for row in kept], weights=[row.n_tokens for row in kept]))


def _applied(
    function: Callable[..., Any],
    model: Any,
    partitions: Any,
    client: Any,
    read: Read | None,
    n_ahead: int,
    policy: Policy,
) -> Iterator[Any]:
    """Results of a function of a model and each partition, in order."""
    check_is_fitted(model)
    check_integer(least=0, n_ahead=n_ahead)
    engine = engine_of(client)
    kind, run = Kind(DONE[function.__name__]), uuid4().hex[:8]
    sent = Sent(engine, model, run)

    def begun(number: int, partition: Any) -> Task:
        def begin(attempt: int) -> Handle:
            key = f"{function.__name__}-{run}-{number}-{attempt}"
            mine = sent.handle(again=attempt > 0)
            return engine.submit(key, READ, function, mine, partition, read)

        return Task(engine, policy, kind, number, f"partition {number}", begin)

    found = enumerate(partitions_of(partitions, client))
    begun_ahead = ahead((begun(number, one) for number, one in found), int(n_ahead))
    return _results(begun_ahead, kind)


def _results(begun: Iterator[Task], kind: Kind) -> Iterator[Any]:
    """Results of tasks, in order."""
    for task in begun:
        result: tasks.Applied = task.result()
        kind.seconds.append(result.seconds)
        yield result.found


class Sent:
    """A model that is sent to the workers.

    Parameters
    ----------
    engine : Engine
    model : object
    run : str
        Part of the name of the task.
    """

    def __init__(self, engine: Engine, model: Any, run: str) -> None:
        self.engine, self.model, self.run, self._numbers = engine, model, run, count()
        self._handle = self._send()

    def handle(self, *, again: bool) -> Handle:
        """The model, sent again where those who have it may hang."""
        if again:
            self._handle = self._send()
        return self._handle

    def _send(self) -> Handle:
        name = f"model-{self.run}-{next(self._numbers)}"
        return self.engine.submit(name, FIRST, tasks.same, self.model)
