# SPDX-License-Identifier: BSD-3-Clause
"""Locks: one for each estimator, held while it learns, and for what objects of a class share."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

_LOCKS: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()


def lock_of(owner: Any) -> threading.RLock:
    """The lock of an estimator, or of a class; a thread that holds it may take it again."""
    # One step of a dict, for all threads: a lock around it could stay held after an interrupt.
    return _LOCKS.setdefault(owner, threading.RLock())


@contextmanager
def held(locks: list[threading.RLock]) -> Iterator[None]:
    """Hold locks. One in another: a stack of them may find no memory to note one that it holds."""
    if not locks:
        yield
        return
    with locks[0], held(locks[1:]):
        yield


def _new_locks() -> None:
    """Forget the locks: in a forked process nobody is left to release them."""
    _LOCKS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_locks)
