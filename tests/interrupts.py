# SPDX-License-Identifier: BSD-3-Clause
"""Interrupts by a timer and at a line, and whether a lock is free after one."""

import dis
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import streamtopics
from streamtopics.utils.parallel import lock_of

A_MOMENT = 2e-5
# Seconds for what should be there at once.
PATIENCE = 100
PACKAGE = str(Path(streamtopics.__file__).parent) + os.sep


@contextmanager
def alarm_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in what is done within, wherever it is after so many seconds.

    In a frame that is not of streamtopics it waits a moment: an interrupt could leave a lock
    of the tracer that measures coverage closed, or the settings of NumPy changed.
    """
    armed = True

    def interrupt(signum: int, frame: FrameType) -> None:
        if not armed:
            return
        if frame.f_globals.get("__name__", "").partition(".")[0] == "streamtopics":
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, A_MOMENT)

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


class Lines:
    """An error at a line of the package that a call runs.

    What comes right after all that is within a `with` or a `try` counts for no line: tracers are
    told of it, but Python hands no signal on between the last call within and the first one after
    it, which frees a lock or closes a file.

    Parameters
    ----------
    error : type, default=KeyboardInterrupt
    watch : function or None, default=None
        Is called at each line.
    within : tuple of str
        How paths of files begin of which lines count; by default all of the package.
    """

    is_exact = True

    def __init__(
        self,
        error: type[BaseException] = KeyboardInterrupt,
        watch: Callable[[], None] | None = None,
        within: tuple[str, ...] = (PACKAGE,),
    ) -> None:
        self.error, self.watch, self.within, self.struck = error, watch, within, False
        self._strikes_at = self._n_lines = 0

    def during(self, call: Callable[[], Any], at: int = 0) -> int:
        """Make a call under the tracer; how many lines it ran."""
        self._strikes_at, self._n_lines, self.struck = at, 0, False
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            call()
        finally:
            sys.settrace(before)
        return self._n_lines

    def _entered(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._traced if frame.f_code.co_filename.startswith(self.within) else None

    def _traced(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line" and frame.f_lasti not in exits_of(frame.f_code):
            self._n_lines += 1
            if self.watch is not None:
                self.watch()
            if self._n_lines == self._strikes_at:
                self.struck = True
                raise self.error
        return self._traced


@cache
def exits_of(code: CodeType) -> frozenset[int]:
    """Places in a function where what a `with` or a `try` covers has just ended well."""
    covered = dis.Bytecode(code).exception_entries
    begun = {(entry.start, entry.target) for entry in covered}
    ended = {entry.end for entry in covered if (entry.end, entry.target) not in begun}
    return frozenset(ended)


def is_free(estimator: Any) -> bool:
    """Whether another thread can have the lock of an estimator."""
    found = []

    def take() -> None:
        lock = lock_of(estimator)
        if lock.acquire(blocking=False):
            lock.release()
            found.append(True)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return bool(found)
