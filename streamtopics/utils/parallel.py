# SPDX-License-Identifier: BSD-3-Clause
"""Independent jobs, over threads or over whatever joblib was told to use.

Threads come from the standard library: the kernels release the GIL, and
joblib's own loop waits in steps of ten milliseconds, as long as a whole
minibatch takes. Under `joblib.parallel_config(backend=...)` with a backend that
does not share memory (loky, dask or ray) the jobs go there.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import starmap
from numbers import Integral
from threading import Thread
from typing import Any

import joblib
from joblib.parallel import get_active_backend

MOST_PARTS = 32
# Seconds of work that another thread is asked for: to wake it, and to wait for it, takes some
# tenths of a millisecond where its processor was idle.
WORTH_A_THREAD = 1e-3
# In the place of results that are not there.
MISSING = object()
Function = Callable[..., Any]
Jobs = Iterable[tuple[Any, ...]]

# Seconds of the processor that jobs of a function, by its name, took last. They say who does a
# job, not what it does, so that no result depends on them.
_SECONDS: dict[tuple[str | None, str | None], float] = {}


@dataclass(frozen=True)
class Workers:
    """Runs jobs: `share` in this process, `send` perhaps elsewhere.

    Each takes a function and an iterable of argument tuples and returns the
    list of results, in order. `distributed` tells whether jobs that are sent
    leave this process, so that arguments should be small.
    """

    share: Callable[[Function, Jobs], list[Any]]
    send: Callable[[Function, Jobs], list[Any]]
    distributed: bool = False


def spans(n: int, least: int) -> list[tuple[int, int]]:
    """Cut range(n) into at most 32 equal parts, of not much less than `least`.

    Depends on n alone, so that no result can depend on the number of workers.
    """
    n_parts = max(1, min(MOST_PARTS, round(n / least)))
    return [(n * i // n_parts, n * (i + 1) // n_parts) for i in range(n_parts)]


def _one_by_one(function: Function, jobs: Jobs) -> list[Any]:
    return list(starmap(function, jobs))


def _share(n: int, function: Function, jobs: list[tuple[Any, ...]]) -> list[Any]:
    """Let this thread and at most n - 1 others take jobs from one queue.

    Others are started as soon as what is left is worth it, by what the last jobs of the function
    took. When one fails or is interrupted no further ones are started, and those under way are
    waited for.
    """
    results = [MISSING] * len(jobs)
    queue = deque(range(len(jobs)))
    helpers: list[Thread] = []
    failures: list[BaseException] = []
    key = getattr(function, "__module__", None), getattr(function, "__qualname__", None)

    def take() -> bool:
        try:
            place = queue.popleft()
        except IndexError:
            return False
        try:
            results[place] = function(*jobs[place])
        except BaseException:
            queue.clear()
            raise
        return True

    def work() -> None:
        try:
            while take():
                pass
        except BaseException as error:
            failures.append(error)

    try:
        start = time.thread_time()
        for n_done in range(1, len(jobs) + 1):
            left = len(queue) * _SECONDS.get(key, math.inf)
            for n_helpers in range(len(helpers) + 1, min(n, len(queue))):
                if left >= n_helpers * WORTH_A_THREAD:
                    helpers.append(Thread(target=work))
                    helpers[-1].start()
            if not take():
                break
            _SECONDS[key] = (time.thread_time() - start) / n_done
    finally:
        queue.clear()
        _wait_for(helpers)
    if failures:
        raise failures[0]
    if any(result is MISSING for result in results):
        raise MemoryError("a thread ended before its job was done")
    return results


def _wait_for(helpers: list[Thread]) -> None:
    """Wait for threads to end, also where that is interrupted once.

    A thread that is short of memory as it begins ends without a word, which an executor would wait
    for.
    """
    try:
        _join(helpers)
    except BaseException:
        _join(helpers)
        raise


def _join(helpers: list[Thread]) -> None:
    for helper in helpers:
        if helper.is_alive():
            helper.join()


SERIAL = Workers(_one_by_one, _one_by_one)


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Workers]:
    """Workers for the length of a `with` block.

    Parameters
    ----------
    n_jobs : int or None
        As everywhere in scikit-learn: None is 1 unless joblib is configured
        otherwise, -1 is all processors.
    """
    if not (n_jobs is None or isinstance(n_jobs, Integral)) or isinstance(n_jobs, bool):
        raise TypeError(f"n_jobs must be a whole number or None; got {n_jobs!r:.60}")
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number of jobs, -1 for one on each processor; got 0")
    if n_jobs == 1:
        yield SERIAL
        return
    backend, configured = get_active_backend(prefer="threads")
    n = joblib.effective_n_jobs(configured if n_jobs is None else n_jobs)
    if n == 1:
        yield SERIAL
        return

    def share(function: Function, jobs: Jobs) -> list[Any]:
        jobs = list(jobs)
        if len(jobs) == 1:
            return _one_by_one(function, jobs)
        return _share(n, function, jobs)

    if getattr(backend, "supports_sharedmem", False):
        yield Workers(share, share)
        return
    with joblib.Parallel(n_jobs=n) as processes:

        def send(function: Function, jobs: Jobs) -> list[Any]:
            return processes(joblib.delayed(function)(*job) for job in jobs)

        yield Workers(share, send, distributed=True)
