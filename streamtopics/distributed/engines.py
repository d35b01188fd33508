# SPDX-License-Identifier: BSD-3-Clause
"""Engines that run tasks elsewhere, behind four functions.

An engine submits a task, waits for some, fetches a result and drops what is not wanted any more.
What `submit` returns may be an argument of a later task, which then runs where the result is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any, Protocol

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

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Those that have ended, when one has or the seconds are over."""

    def result(self, handle: Handle) -> Any:
        """What a task returned; raises what it raised."""

    def drop(self, handle: Handle) -> None:
        """Let the engine forget a task."""


class DaskEngine:
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

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Those that have ended, when one has or the seconds are over."""
        import distributed

        wait: Any = distributed.wait
        try:
            done = wait(list(handles), seconds, return_when="FIRST_COMPLETED").done
        except (TimeoutError, distributed.TimeoutError):
            return []
        return [handle for handle in handles if handle in done]

    def result(self, handle: Handle) -> Any:
        """What a task returned; raises what it raised."""
        return handle.result()

    def drop(self, handle: Handle) -> None:
        """Let the cluster forget a task; one that is under way ends by itself."""
        handle.cancel(force=True)


class RayEngine:
    """Tasks on Ray.

    Parameters
    ----------
    ray : module
    """

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def submit(
        self, name: str, priority: int, function: Callable[..., Any], *arguments: Any
    ) -> Handle:
        """Start a task."""
        return self.ray.remote(function).options(name=name).remote(*arguments)

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Those that have ended, when one has or the seconds are over."""
        done: list[Handle] = self.ray.wait(list(handles), num_returns=1, timeout=seconds)[0]
        return done

    def result(self, handle: Handle) -> Any:
        """What a task returned; raises what it raised."""
        return self.ray.get(handle)

    def drop(self, handle: Handle) -> None:
        """Let Ray forget a task."""
        self.ray.cancel(handle, force=False)


class ExecutorEngine:
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
        try:
            ready = [one.result() if isinstance(one, futures.Future) else one for one in arguments]
        except Exception as error:
            failed: futures.Future[Any] = futures.Future()
            failed.set_exception(error)
            return failed
        return self.executor.submit(function, *ready)

    def wait(self, handles: Sequence[Handle], seconds: float | None) -> list[Handle]:
        """Those that have ended, when one has or the seconds are over."""
        done = futures.wait(handles, seconds, return_when=futures.FIRST_COMPLETED).done
        return [handle for handle in handles if handle in done]

    def result(self, handle: Handle) -> Any:
        """What a task returned; raises what it raised."""
        return handle.result()

    def drop(self, handle: Handle) -> None:
        """Do not start a task that has not begun."""
        handle.cancel()


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
