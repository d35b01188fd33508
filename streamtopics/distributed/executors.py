# SPDX-License-Identifier: BSD-3-Clause
"""Executors of `concurrent.futures`, partitions and tasks."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from streamtopics.utils.structure import shape_of

Value = TypeVar("Value")


class PartitionError(RuntimeError):
    """Raised if a partition cannot be read, learnt, transformed or scored.

    If `fit_partitions` fails, the model has learnt all earlier partitions. Repair the partition,
    and continue with ``skip=error.n_batches``.

    Attributes
    ----------
    number : int
        Number, from 0, of the first failed partition, or of the first failed minibatch of
        `fit_stream`.
    n_batches : int
        Number of learnt minibatches, skipped minibatches included.
    """

    def __init__(self, message: str, number: int = -1, n_batches: int = 0) -> None:
        super().__init__(message)
        self.number, self.n_batches = number, n_batches


def executor_of(client: Any) -> Executor:
    if isinstance(client, Executor):
        return client
    if not hasattr(client, "get_executor") or client.asynchronous:
        raise TypeError(
            "client must be an executor of concurrent.futures, or a synchronous "
            f"dask.distributed.Client; got {client!r}"
        )
    executor: Executor = client.get_executor(pure=False)
    return executor


def start_task(
    executor: Executor, function: Callable[..., Value], *arguments: object
) -> Future[Value]:
    """Begin a task; an error at the start is the result of the task."""
    try:
        with warnings.catch_warnings():
            # Messages are as large as the words of a task require.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return executor.submit(function, *arguments)
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


def send_once(client: Any, value: object) -> Any:
    """Return a stand-in for a value, sent once to each Dask worker."""
    if value is None or isinstance(client, Executor):
        return value
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        # Unlike scattered data, the value is made again after the loss of its worker.
        return client.submit(same, value, pure=False)


def same(value: Value) -> Value:
    return value


def ahead(
    executor: Executor,
    items: Iterable[object],
    function: Callable[..., Value],
    arguments: Iterable[object],
    n: int,
) -> Generator[Future[Value]]:
    """Begin tasks for items, `n` ahead; an error of `items` is the last task."""
    waiting: deque[Future[Value]] = deque()
    left, is_open = iter(items), True
    try:
        while is_open or waiting:
            if is_open and len(waiting) <= n:
                try:
                    waiting.append(start_task(executor, function, next(left), *arguments))
                except StopIteration:
                    is_open = False
                except Exception as error:
                    is_open = False
                    waiting.append(_failed(error))
            else:
                yield waiting.popleft()
    finally:
        for future in waiting:
            future.cancel()


def partitions_of(collection: Any, client: Any) -> Iterator[Any]:
    if hasattr(collection, "to_delayed"):
        if any(n > 1 for n in getattr(collection, "numblocks", ())[1:]):
            raise ValueError(
                "partitions is an array cut by columns too; pass partitions.rechunk({1: -1}), "
                "with all columns in each block"
            )
        delayed = collection.to_delayed()
        collection = delayed.ravel().tolist() if hasattr(delayed, "ravel") else delayed
    elif (
        isinstance(collection, str | bytes | os.PathLike)
        or shape_of(collection)
        or not isinstance(collection, Iterable)
    ):
        raise TypeError(
            "partitions must be a dask collection or an iterable of partitions, such as a list "
            f"of paths; got a {type(collection).__name__}; pass [partition] for a single one"
        )
    # An executor of Dask has a client, and no `compute`.
    own = getattr(client, "_client", client)
    return (own.compute(one) if hasattr(one, "__dask_graph__") else one for one in iter(collection))
