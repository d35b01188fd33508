# SPDX-License-Identifier: BSD-3-Clause
"""Locks: one for each estimator, held while it learns, and for what several objects share."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Times that this process was forked: in a child nobody is left to release the locks before.
_forks = 0


def aside(owner: Any) -> dict[Any, Any]:
    """What an object keeps beside its state, in `_aside`: no copy, pickle or file has it."""
    # One step of a dict, for all threads: a lock around it could stay held after an interrupt.
    found: dict[Any, Any] = vars(owner).setdefault("_aside", {})
    return found


def lock_of(owner: Any) -> threading.RLock:
    """The lock of an object; a thread that holds it may take it again."""
    lock: threading.RLock = aside(owner).setdefault(_forks, threading.RLock())
    return lock


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
