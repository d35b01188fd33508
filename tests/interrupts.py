# SPDX-License-Identifier: BSD-3-Clause
"""Interrupts by a timer."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

A_MOMENT = 2e-5


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
