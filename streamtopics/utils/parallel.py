# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over threads of the standard library, and locks.

joblib waits in steps of ten milliseconds, as long as a whole minibatch takes.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import starmap
from typing import Any, Self

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController, threadpool_limits

MOST_PARTS = 32
Function = Callable[..., Any]
Jobs = Iterable[tuple[Any, ...]]


@dataclass(frozen=True)
class Workers:
    """Runs `n` jobs at a time: `share` takes a function and tuples of its arguments."""

    share: Callable[[Function, Jobs], list[Any]]
    n: int = 1


def spans(n: int, least: int) -> list[tuple[int, int]]:
    """Cut range(n) into at most 32 equal parts of about `least`, for any number of workers.

    A part should take some tenths of a millisecond, to be worth a thread.
    """
    n_parts = max(1, min(MOST_PARTS, round(n / least)))
    return [(n * i // n_parts, n * (i + 1) // n_parts) for i in range(n_parts)]


SERIAL = Workers(lambda function, jobs: list(starmap(function, jobs)))


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Workers]:
    """Workers for the length of a `with` block; `n_jobs` as in scikit-learn."""
    if n_jobs is None:
        _, n_jobs = get_active_backend(prefer="threads")
    n = 1 if n_jobs == 1 else joblib.effective_n_jobs(n_jobs)
    if n == 1:
        yield SERIAL
    else:
        with ThreadPoolExecutor(n - 1) as threads:
            yield Workers(partial(_share, threads, n), n)


def _share(threads: ThreadPoolExecutor, n: int, function: Function, jobs: Jobs) -> list[Any]:
    """Let this thread and at most n - 1 others take jobs from one queue.

    This thread waits only for begun jobs, so a job may share out further jobs.
    """
    jobs = list(jobs)
    results: list[Any] = [None] * len(jobs)
    queue = deque(range(len(jobs)))

    def work() -> None:
        try:
            while True:
                try:
                    place = queue.popleft()
                except IndexError:
                    return
                results[place] = function(*jobs[place])
        finally:
            # After a failed job no further job is begun.
            queue.clear()

    tasks = [threads.submit(work) for _ in range(min(n, len(jobs)) - 1)]
    try:
        work()
    finally:
        begun = [task for task in tasks if not task.cancel()]
        wait(begun)
    for task in begun:
        task.result()
    return results


class WithCache:
    """An object with a dict that copies, pickles and files leave out."""

    __slots__ = ("_cache",)
    _cache: dict[Any, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls)
        made._cache = {}
        return made


# Otherwise copy and pickle would include it. In `vars`, it would look like a change by learning.
del WithCache.__slots__


def lock_of(owner: Any) -> threading.RLock:
    """The lock of an object; a thread with the lock may take it again.

    A forked process has its own lock, because nobody would release the parent's.
    """
    # One step of a dict, for all threads: a lock around it could stay held after an interrupt.
    cache = owner._cache if isinstance(owner, WithCache) else {}
    lock: threading.RLock = cache.setdefault(("lock", os.getpid()), threading.RLock())
    return lock


# Held while the limit for linear algebra is set or lifted; the limit, once for each holder.
_ALONE, _LIMITS = WithCache(), list[Any]()
# The search for the libraries takes half of the time of a small minibatch.
_libraries = cache(ThreadpoolController)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Do products of matrices in one thread."""
    # The limit is for the whole process: the first holder sets the limit, the last holder lifts it.
    with lock_of(_ALONE):
        limit: Any = _LIMITS[0] if _LIMITS else _libraries().limit(limits=1, user_api="blas")
        _LIMITS.append(limit)
    try:
        yield
    finally:
        with lock_of(_ALONE):
            _LIMITS.pop()
            if not _LIMITS:
                limit.restore_original_limits()


@contextmanager
def one_thread() -> Iterator[None]:
    """Do linear algebra in one thread, so sums do not depend on the number of threads."""
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        yield


@contextmanager
def held(locks: list[threading.RLock]) -> Iterator[None]:
    """Hold locks. Recursive, because a stack of locks may lack memory for one."""
    if not locks:
        yield
        return
    with locks[0], held(locks[1:]):
        yield
