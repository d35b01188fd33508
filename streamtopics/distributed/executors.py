# SPDX-License-Identifier: BSD-3-Clause
"""Executors of `concurrent.futures`, partitions, and a window of tasks under way."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, TypeAlias

from streamtopics.utils.structure import has_entries

# The place of a partition, and the task that was begun for it.
Begun: TypeAlias = tuple[int, "Future[Any]"]


class PartitionError(RuntimeError):
    """A partition that could not be read, learnt, transformed or scored.

    What came before it was learnt: mend the partition, and go on with the model as it is, the same
    partitions and ``skip=error.n_batches``.

    Attributes
    ----------
    number : int
        Its place among the partitions, from 0; the first one's of several that were learnt
        together. Of a stream, the place of a minibatch.
    n_batches : int
        Minibatches of the partitions that have been learnt, those that were skipped included.
    """

    def __init__(self, message: str, number: int = -1, n_batches: int = 0) -> None:
        super().__init__(message)
        self.number, self.n_batches = number, n_batches


def executor_of(client: Any) -> Executor:
    """Return an executor, which a Dask client has one of."""
    if isinstance(client, Executor):
        return client
    if not hasattr(client, "get_executor") or client.asynchronous:
        raise TypeError(
            "client must be an executor of concurrent.futures, or a dask.distributed.Client that "
            f"is not asynchronous; got {client!r}"
        )
    executor: Executor = client.get_executor(pure=False)
    return executor


def submitted(executor: Executor, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Begin a task; if that fails, as where all workers are lost, its result is the error."""
    try:
        with warnings.catch_warnings():
            # Messages are as large as the words of a task ask for.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return executor.submit(function, *arguments)
    except Exception as error:
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


def sent(client: Any, value: Any) -> Any:
    """Return what stands for a value in tasks: with a Dask client each worker gets it once."""
    if value is None or isinstance(client, Executor):
        return value
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        # Other than what is scattered, it is made again where its worker is lost.
        return client.submit(same, value, pure=False)


def same(value: Any) -> Any:
    """Return what was given, for other tasks to take from there."""
    return value


def ahead(begun: Iterable[Begun], n: int) -> Generator[Begun]:
    """Tasks, of which `n` more than were asked for are under way; an error comes in its turn."""
    waiting: deque[Begun] = deque()
    failed: Exception | None = None
    left = iter(begun)
    try:
        while failed is None:
            try:
                waiting.append(next(left))
            except StopIteration:
                break
            except Exception as error:
                failed = error
            if len(waiting) > n:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        for _, future in waiting:
            future.cancel()
    if failed is not None:
        raise failed


def partitions_of(collection: Any, client: Any) -> Iterator[Any]:
    """The partitions of a dask collection or an iterable, one by one."""
    if hasattr(collection, "to_delayed"):
        if any(n > 1 for n in getattr(collection, "numblocks", ())[1:]):
            raise ValueError(
                "partitions is an array that is cut by columns too; pass "
                "partitions.rechunk({1: -1}), whose blocks have all of them"
            )
        delayed = collection.to_delayed()
        collection = delayed.ravel().tolist() if hasattr(delayed, "ravel") else delayed
    elif isinstance(collection, str | bytes | os.PathLike) or hasattr(collection, "shape"):
        raise TypeError(
            "partitions must be a dask collection or an iterable of partitions, such as a list of "
            f"paths; got a {type(collection).__name__}; pass [partition] if it is one"
        )
    if not has_entries(collection):
        raise TypeError(f"partitions must be an iterable of partitions; got {collection!r:.60}")
    return (_begun(one, client) for one in collection)


def _begun(partition: Any, client: Any) -> Any:
    """A partition, of which what is delayed has been begun."""
    return client.compute(partition) if hasattr(partition, "__dask_graph__") else partition
