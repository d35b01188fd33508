# SPDX-License-Identifier: BSD-3-Clause
"""Learning from partitions, and from minibatches of a stream."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from streamtopics.distributed import composites, executors, tasks
from streamtopics.streams.batches import Seen, after, learn, read_batch, score_before, seen_by
from streamtopics.streams.checkpoint import Checkpointer
from streamtopics.streams.stream import BatchInfo, call, check_callbacks, finish_all, has
from streamtopics.streams.tracking.tracker import TopicTracker
from streamtopics.utils.checks import check_integer, check_whole
from streamtopics.utils.steps import last_step

Model = TypeVar("Model")
# Learnt minibatches for each minibatch of delay.
WARMUP = 16
# Least minibatches, or documents, for a round worth its cost.
ENOUGH, ENOUGH_DOCUMENTS = 8, 4000


def fit_partitions(
    model: Model,
    partitions: object,
    client: object,
    *,
    read: tasks.Read | None = None,
    rounds: int = 32,
    staleness: int = 2,
    callbacks: Sequence[object] = (),
    skip: int = 0,
) -> Model:
    """Learn from the partitions of a corpus on the workers of a cluster.

    Workers read partitions and count words. The calling process learns the first minibatches alone.
    Then a worker learns several minibatches (a round) on a copy of the model, and the calling
    process adds the results in order. The model is bit for bit the same for any number of workers,
    but depends on the partitions, `rounds`, `staleness` and `every` of a `Checkpointer` callback.

    Parameters
    ----------
    model : estimator of topics, or pipeline that ends in one
        New or fitted; changed in place. The update rule must allow merging: SVB, BPS, online EM,
        stochastic or population variational Bayes, or a power prior. Earlier steps of a pipeline
        must be fitted or need no fit.
    partitions : dask collection, or iterable
        A dask Bag, Series, DataFrame or Array, or an iterable of partitions, `Delayed` or futures.
        A partition is a file for `streamtopics.datasets.read_texts`, a list of texts or a matrix of
        counts, or any argument of `read`. Partitions are cut into minibatches of `batch_size`.
    client : concurrent.futures.Executor or dask.distributed.Client
        Any executor, of threads, processes, MPI or a cluster.
    read : callable, default=None
        Called on the worker as ``read(partition)``; returns texts or counts.
    rounds : int, default=32
        Largest number of minibatches in a round. Larger rounds send less data. The calling process
        learns the first 16 x `staleness` x n minibatches alone; n is the smallest of 8, `rounds`
        and the number of minibatches that together hold 4,000 documents.
    staleness : int, default=2
        Largest number of earlier rounds that still run when a round starts. The round starts from
        topics without their results. Take at least n_workers - 1.
    callbacks : sequence, default=()
        As in `streamtopics.streams.stream`, called after each minibatch learnt by the calling
        process, and after each round. In the `BatchInfo`, `X` is None, and `score` is the score of
        a round's first minibatch. A `TopicTracker`, or a callback that learns, is refused.
    skip : int, default=0
        Number of minibatches, already learnt, to leave out at the start: ``n_batches`` of the
        result of `streamtopics.streams.resume`.

    Returns
    -------
    model : estimator or pipeline
        The same object.

    Raises
    ------
    PartitionError
        If a partition cannot be read or learnt. The model has then learnt ``error.n_batches``
        minibatches.

    Notes
    -----
    With ``rounds=1, staleness=0`` the result equals repeated `partial_fit`, bit for bit. Otherwise
    counts are sent in single precision. Workers read `staleness` + 2 partitions ahead.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.distributed import fit_partitions
    >>> X = make_lda_corpus(n_documents=1200, n_features=200, random_state=0).X
    >>> model = GibbsOnlineEM(5, batch_size=50, random_state=0)
    >>> with ThreadPoolExecutor(2) as client:
    ...     fit_partitions(model, [X[:400], X[400:800], X[800:]], client).n_documents_seen_
    1200
    """
    learning = _Learning(model, client, rounds, staleness, callbacks)
    check_integer(least=0, skip=skip)
    given = read, learning.before, learning.plan.batch_size
    items = executors.partitions_of(partitions, client)
    learning.run(items, tasks.read_partition, given, 0, int(skip))
    return model


def fit_stream(
    model: Model,
    batches: Iterable[object],
    client: object,
    *,
    rounds: int = 8,
    staleness: int = 2,
    callbacks: Sequence[object] = (),
    skip: int = 0,
) -> Model:
    """Learn from a stream of minibatches; workers count words and learn.

    The calling process sends the documents to the workers. For files `fit_partitions` is faster,
    because the workers read the files.

    Parameters
    ----------
    model, client, staleness, callbacks, skip
        As in `fit_partitions`.
    batches : iterable
        Minibatches: lists of texts for a pipeline, or matrices of counts.
    rounds : int, default=8
        Largest number of minibatches in a round, as in `fit_partitions`.

    Returns
    -------
    model : estimator or pipeline
        The same object.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.distributed import fit_stream
    >>> X = make_lda_corpus(n_documents=900, n_features=200, random_state=0).X
    >>> with ThreadPoolExecutor(2) as client:
    ...     model = fit_stream(SVBLDA(5, random_state=0), iter_minibatches(X, 100), client)
    >>> model.n_batch_iter_, model.n_documents_seen_
    (9, 900)
    """
    learning = _Learning(model, client, rounds, staleness, callbacks, "minibatch")
    groups = _in_groups(after(batches, skip), int(rounds), int(skip))
    learning.run(groups, tasks.read_batches, (learning.before,), int(skip), 0)
    return model


@dataclass(frozen=True)
class Plan:
    """Lengths of rounds, and number of running rounds, by the place in a stream.

    Topics D minibatches old cost about D / n at the n-th minibatch; so D is at most n / 16.
    """

    rounds: int
    staleness: int
    every: int | None = None
    batch_size: int = 100

    def __post_init__(self) -> None:
        check_whole(self, rounds=self.rounds, batch_size=self.batch_size)
        check_whole(self, least=0, staleness=self.staleness)

    def learns_here(self, n_learnt: int) -> bool:
        """Whether the client learns the minibatch after `n_learnt`."""
        least = min(ENOUGH, -(-ENOUGH_DOCUMENTS // self.batch_size), self.rounds)
        return n_learnt < WARMUP * self.staleness * least

    def length(self, n_before: int, n_learnt: int) -> int:
        """Minibatches of a round after `n_before` of the stream."""
        longest = self.rounds
        if self.staleness:
            longest = min(longest, max(1, n_learnt // (WARMUP * self.staleness)))
        return longest if self.every is None else min(longest, self.every - n_before % self.every)

    def under_way(self, n_before: int, n_learnt: int) -> int:
        """Largest number of running rounds at the start of a round."""
        if self.every is not None and n_before % self.every == 0:
            return 0
        return min(self.staleness, n_learnt // WARMUP)


class _Batch(NamedTuple):
    """Counts of a minibatch, with time, and the number of the partition or minibatch."""

    batch: Any
    number: int


class _Round(NamedTuple):
    """Minibatches for a worker, up to minibatch `n_after` of the stream."""

    batches: list[_Batch]
    n_after: int
    future: Future[composites.Learnt]


class _Learning:
    """Learns minibatches here and rounds on workers, and adds the results."""

    def __init__(
        self,
        model: Any,
        client: object,
        rounds: int,
        staleness: int,
        callbacks: Sequence[object],
        what: str = "partition",
    ) -> None:
        size, self.callbacks = composites.batch_size_of(model), tuple(callbacks)
        check_callbacks(self.callbacks)
        for one in self.callbacks:
            if has(one, "learn") or isinstance(one, TopicTracker):
                raise TypeError(
                    f"{type(one).__name__} needs the documents, but workers learn here; "
                    "leave the callback out, or use streamtopics.streams.stream"
                )
        self.model, self.topics, self.what = model, last_step(model), what
        every = math.gcd(*(one.every for one in self.callbacks if isinstance(one, Checkpointer)))
        self.plan = Plan(rounds, staleness, every or None, size)
        self.client, self.executor = client, executors.executor_of(client)
        self.before = executors.send_once(client, composites.counting_steps(model))
        self.scored = any(has(callback, "needs_score") for callback in self.callbacks)
        # Counts keep their precision if the stream could as well be learnt here.
        self.single = rounds > 1 or staleness > 0
        self.under_way: deque[_Round] = deque()
        self.reader: Any = None
        self.is_over = False
        self.failed: Exception | None = None
        # Begun minibatches of the stream, learnt minibatches, and begun documents.
        self.n_begun = self.n_done = 0
        self.n_documents = seen_by(model).n_documents

    def run(
        self,
        items: Iterable[object],
        read: Callable[..., list[Any]],
        given: Iterable[object],
        n_before: int,
        skip: int,
    ) -> None:
        """Learn until the end, or until a callback ends the stream; finish callbacks.

        `n_before` minibatches come before `items`, of which `skip` are learnt already.
        """
        reading = executors.ahead(self.executor, items, read, given, self.plan.staleness + 2)
        with finish_all(self.model, self.callbacks):
            try:
                batches = self._minibatches(reading, n_before)
                n_skipped = sum(1 for _ in islice(batches, skip))
                self.n_begun = self.n_done = n_before + skip
                if n_skipped < skip and self.failed is None:
                    self.failed = ValueError(
                        f"skip is {skip}, but the partitions have {n_skipped} minibatches; pass "
                        "the same partitions again, or skip=0 for later partitions"
                    )
                while not self.is_over and self.failed is None and self._learn_next(batches):
                    pass
                self._take_in_until(0)
                if self.failed is not None and not self.is_over:
                    raise self.failed
            except executors.PartitionError as error:
                error.n_batches = self.n_done
                raise
            finally:
                reading.close()
                for one in self.under_way:
                    one.future.cancel()

    def _minibatches(self, reading: Iterator[Future[list[Any]]], n_before: int) -> Iterator[_Batch]:
        place = n_before
        for number, future in enumerate(reading):
            first, step = (place, 1) if self.what == "minibatch" else (number, 0)
            try:
                found = future.result()
            except Exception as error:
                found = [error]
            for i, one in enumerate(found):
                if isinstance(one, Exception):
                    self._fail([_Batch(None, first + i * step)], "read", one)
                    return
                yield _Batch(read_batch(one), first + i * step)
            place += len(found)

    def _learn_next(self, batches: Iterator[_Batch]) -> bool:
        """Learn a minibatch or begin a round; False at the end."""
        # Documents count as minibatches of the usual size, or of the stream's mean size.
        n_learnt = max(self.n_begun, self.n_documents // self.plan.batch_size)
        begins = not self.topics._begun or self.topics._commit.begun is not None
        here = begins or self.plan.learns_here(n_learnt)
        some = list(islice(batches, 1 if here else self.plan.length(self.n_begun, n_learnt)))
        here = here or not any(one.batch.X.shape[0] for one in some)
        self._take_in_until(0 if here else self.plan.under_way(self.n_begun, n_learnt))
        if some and not self.is_over:
            self._learn_here(some) if here else self._begin(some)
        self.n_begun += len(some)
        self.n_documents += sum(one.batch.X.shape[0] for one in some)
        return bool(some)

    def _learn_here(self, some: list[_Batch]) -> None:
        before, one = seen_by(self.model), some[0]
        try:
            score = score_before(self.topics, one.batch) if self.scored else np.nan
            learn(self.topics, one.batch, None)
        except Exception as error:
            self._fail([one], "learnt", error)
            return
        if self.topics.__sklearn_is_fitted__():
            composites.check_composed(self.topics)
            self._tell(self.n_begun + len(some), before, score, one.batch.time)

    def _begin(self, some: list[_Batch]) -> None:
        if self.reader is None:
            self.reader = executors.send_once(self.client, composites.reader_of(self.topics))
        n_ahead = sum(one.batch.X.shape[0] for begun in self.under_way for one in begun.batches)
        batches = [one.batch.X for one in some if one.batch.X.shape[0]]
        words = composites.words_of(batches)
        try:
            local = composites.local_task(self.topics, words, n_ahead, single=self.single)
        except IndexError as error:
            self._fail(some, "learnt", error)
            return
        given = self.reader, local, batches, self.scored
        future = executors.start_task(self.executor, composites.learn, *given)
        self.under_way.append(_Round(some, self.n_begun + len(some), future))

    def _take_in_until(self, n: int) -> None:
        while len(self.under_way) > n and not self.is_over:
            one = self.under_way.popleft()
            try:
                learnt = one.future.result()
            except Exception as error:
                raise self._fail(one.batches, "learnt", error) from error
            before, time = seen_by(self.model), one.batches[-1].batch.time
            composites.apply_update(self.topics, learnt.composite, time=time)
            self._tell(one.n_after, before, learnt.score, time)

    def _fail(self, some: list[_Batch], done: str, error: Exception) -> Exception:
        units = "minibatches" if self.what == "minibatch" else "partitions"
        first, last = some[0].number, some[-1].number
        name = f"{self.what} {first}" if first == last else f"{units} {first} to {last}"
        said = f"{name} could not be {done}: {type(error).__name__}: {error}"
        self.failed = found = executors.PartitionError(said, first)
        found.__cause__ = error
        return found

    def _tell(self, n_batches: int, before: Seen, score: float, time: object) -> None:
        seen, self.n_done = seen_by(self.model), n_batches
        learnt = seen.n_documents - before.n_documents, seen.n_tokens - before.n_tokens
        info = BatchInfo(n_batches, None, time, *learnt, *seen, score)
        for callback in self.callbacks:
            self.is_over |= call(callback, self.model, info)


def _in_groups(batches: Iterator[object], n: int, skip: int) -> Iterator[list[Any]]:
    """Minibatches up to a multiple of `n`, or up to an error or the end."""
    group = list[Any]()
    try:
        for number, one in enumerate(map(read_batch, batches), start=skip + 1):
            if one.data:
                raise TypeError(
                    "a minibatch has data, such as labels, but workers get none; learn by "
                    "streamtopics.streams.stream"
                )
            group.append(one)
            if number % n == 0:
                yield group
                group = []
    except Exception:
        yield group
        raise
    yield group
