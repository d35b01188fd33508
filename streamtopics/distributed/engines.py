# SPDX-License-Identifier: BSD-3-Clause
"""Engines that run tasks elsewhere, behind four functions.

An engine submits a task, waits for some, fetches a result and drops what is not wanted any more.
What `submit` returns may be an argument of a later task, which then runs where the result is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent import futures
from contextlib import suppress
from threading import Lock
from typing import Any, Protocol

from streamtopics.distributed.parcels import packed

# What a task returned, or will: of the engine's own kind.
Handle = Any


class Engine(Protocol):
    """Runs tasks elsewhere."""

    def submit(
        self, name: str, priority: int, function: Callable[..., Any], *arguments: Any
    ) -> Handle:
        """Start a task under a name of its own; handles among the arguments become results.

        Of those that wait, tasks of higher priority go first, where the engine knows that.
        """

    def packed(self, value: Any) -> Any:
        """Return a large argument as it travels best: itself, or a parcel of it."""
        return value

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Wait for one to end, for so many seconds at most; return those that have ended."""

    def result(self, handle: Handle, seconds: float | None) -> Any:
        """Return the result of a task that has ended, or raise its error.

        TimeoutError if it cannot be fetched in so many seconds, as from a worker that hangs.
        """

    def drop(self, handle: Handle) -> None:
        """Let the engine forget a task."""

    def has_workers(self) -> bool:
        """Whether there is anybody to run tasks, as far as the engine knows."""
        return True


class DaskEngine(Engine):
    """Tasks on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def submit(
        self, name: str, priority: int, function: Callable[..., Any], *arguments: Any
    ) -> Handle:
        """Start a task; its key is the name, so that no other is taken for the same."""
        with warnings.catch_warnings():
            # Messages are as large as the words of a task ask for.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(function, *arguments, key=name, priority=priority, pure=False)

    def packed(self, value: Any) -> Any:
        """Return a parcel, which the scheduler does not take apart."""
        return packed(value)

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Wait for one to end, for so many seconds at most; return those that have ended."""
        import distributed

        wait: Any = distributed.wait
        try:
            wait(list(handles), seconds, return_when="FIRST_COMPLETED")
        except (TimeoutError, distributed.TimeoutError):
            return []
        except distributed.CancelledError:
            pass
        return [handle for handle in handles if handle.done()]

    def result(self, handle: Handle, seconds: float | None) -> Any:
        """Return the result of a task that has ended, or raise its error."""
        return handle.result(timeout=seconds)

    def drop(self, handle: Handle) -> None:
        """Let the cluster forget a task; one that is under way ends by itself."""
        handle.cancel(force=True)

    def has_workers(self) -> bool:
        """Whether the scheduler knows any."""
        return bool(self.client.nthreads())


class RayEngine(Engine):
    """Tasks on Ray.

    Parameters
    ----------
    ray : module
    """

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        # Each is sent to the workers once.
        self._remote: dict[Callable[..., Any], Any] = {}

    def submit(
        self, name: str, priority: int, function: Callable[..., Any], *arguments: Any
    ) -> Handle:
        """Start a task, which Ray does not begin again by itself."""
        if function not in self._remote:
            self._remote[function] = self.ray.remote(function)
        return self._remote[function].options(name=name, max_retries=0).remote(*arguments)

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Wait for one to end, for so many seconds at most; return those that have ended."""
        done = self.ray.wait(list(handles), num_returns=1, timeout=seconds)[0]
        return [handle for handle in handles if handle in done]

    def result(self, handle: Handle, seconds: float | None) -> Any:
        """Return the result of a task, or raise its error without the worker's traceback."""
        try:
            return self.ray.get(handle, timeout=seconds)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None

    def drop(self, handle: Handle) -> None:
        """Do not start a task that has not begun, and interrupt one that has."""
        self.ray.cancel(handle, force=False)


class ExecutorEngine(Engine):
    """Tasks of an executor of `concurrent.futures`, whose results pass through this process.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    """

    def __init__(self, executor: futures.Executor) -> None:
        self.executor = executor

    def submit(
        self, name: str, priority: int, function: Callable[..., Any], *arguments: Any
    ) -> Handle:
        """Start a task, when those that it needs the results of have ended."""
        started: futures.Future[Any] = futures.Future()
        needed = {one for one in arguments if isinstance(one, futures.Future)}
        left, lock = set(needed), Lock()

        def ended(one: futures.Future[Any]) -> None:
            with lock:
                left.discard(one)
                is_last = not left
            if is_last:
                begin()

        def begin() -> None:
            if started.cancelled():
                return
            try:
                values = [
                    one.result() if isinstance(one, futures.Future) else one for one in arguments
                ]
                self.executor.submit(function, *values).add_done_callback(_copied_to(started))
            except Exception as error:
                started.set_exception(error)

        if not needed:
            begin()
        for one in needed:
            one.add_done_callback(ended)
        return started

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Wait for one to end, for so many seconds at most; return those that have ended."""
        done = futures.wait(handles, seconds, return_when=futures.FIRST_COMPLETED).done
        return [handle for handle in handles if handle in done]

    def result(self, handle: Handle, seconds: float | None) -> Any:
        """Return the result of a task that has ended, or raise its error."""
        return handle.result()

    def drop(self, handle: Handle) -> None:
        """Do not start a task that has not begun."""
        handle.cancel()


def _copied_to(future: futures.Future[Any]) -> Callable[[futures.Future[Any]], None]:
    """A callback that sets in a future what became of another, unless nobody waits any more."""

    def copy(done: futures.Future[Any]) -> None:
        with suppress(futures.InvalidStateError):
            try:
                future.set_result(done.result())
            except futures.InvalidStateError:
                raise
            except BaseException as error:
                future.set_exception(error)

    return copy


def engine_of(client: Any) -> Engine:
    """Return the engine of a client.

    Raises
    ------
    TypeError
        If it is of none that is known.
    """
    if isinstance(client, futures.Executor):
        return ExecutorEngine(client)
    if getattr(client, "__name__", None) == "ray":
        return RayEngine(client)
    kinds = {kind.__module__.split(".")[0] for kind in type(client).__mro__}
    if "distributed" in kinds and hasattr(client, "submit") and not isinstance(client, type):
        if getattr(client, "asynchronous", False):
            raise TypeError(
                "client is asynchronous, and its results have to be awaited; make one with "
                "Client(..., asynchronous=False)"
            )
        return DaskEngine(client)
    raise TypeError(
        "client must be a dask.distributed.Client, an executor of concurrent.futures, or the "
        f"module ray after ray.init(); got {client!r}"
    )
