# SPDX-License-Identifier: BSD-3-Clause
"""Locks: one for each estimator, held while it learns, and for what several objects share."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from threadpoolctl import threadpool_limits

# Times that this process was forked: in a child nobody is left to release the locks before.
_forks = 0


class KeepsAside:
    """An object with a dict beside its state: no copy, pickle or file has what is in it."""

    __slots__ = ("_aside",)
    _aside: dict[Any, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls)
        made._aside = {}
        return made


# Else copy and pickle would take it along. In `vars`, it would count as a change by learning.
del KeepsAside.__slots__


def lock_of(owner: Any) -> threading.RLock:
    """The lock of an object; a thread that holds it may take it again.

    An object of another package has none that is kept.
    """
    # One step of a dict, for all threads: a lock around it could stay held after an interrupt.
    aside = getattr(owner, "_aside", {})
    lock: threading.RLock = aside.setdefault(f"lock{_forks}", threading.RLock())
    return lock


# Whose lock is held by the one thread that limits those of linear algebra.
_ALONE = KeepsAside()


@contextmanager
def one_thread() -> Iterator[None]:
    """Do linear algebra in one thread, so that sums have the same bits for any number of them.

    The limit is the whole process's: of two that set it at a time, one would leave it behind.
    """
    with lock_of(_ALONE), threadpool_limits(1):
        yield


@contextmanager
def held(locks: list[threading.RLock]) -> Iterator[None]:
    """Hold locks. One in another: a stack of them may find no memory to note one that it holds."""
    if not locks:
        yield
        return
    with locks[0], held(locks[1:]):
        yield


def _new_locks() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_locks)
