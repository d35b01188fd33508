# SPDX-License-Identifier: BSD-3-Clause
"""Signals that ask the command to end: at once, or where it has something whole to keep."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Beside SIGINT, of Ctrl-C: those of `kill` and of a terminal that is closed.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
SOON = b"streamtopics: ending as soon as this minibatch is learnt; once more ends it at once\n"
STANDARD_ERROR = 2
OF_A_SIGNAL = 128  # what shells add to the number of a signal in exit statuses


class Stopped(KeyboardInterrupt):
    """An interrupt that knows its signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def status_of(stop: KeyboardInterrupt) -> int:
    """Return the exit status after an interrupt: 130 for Ctrl-C, 143 for SIGTERM."""
    return OF_A_SIGNAL + int(getattr(stop, "number", signal.SIGINT))


@contextmanager
def signals_raise() -> Iterator[None]:
    """Let the signals that end a process be interrupts, which clean up; not those ignored."""
    numbers = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    with _handled(numbers, _raise):
        yield


class Stopping:
    """Whether the command was asked to end; while it learns, it ends afterwards.

    Attributes
    ----------
    number : int or None
        The signal that came.
    forced : bool
        Whether another one came after it, which is an interrupt at once.
    waiting : bool
        Whether nothing is lost if the first one is, too.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.forced = self.waiting = False

    def _handle(self, number: int, frame: Any) -> None:
        self.forced, self.number = self.number is not None, number
        if self.forced or self.waiting:
            raise Stopped(number)
        with suppress(OSError):  # not by print, which may be what was interrupted
            os.write(STANDARD_ERROR, SOON)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen to signals."""
        wanted = [signal.SIGINT, *ENDING]
        numbers = [one for one in wanted if signal.getsignal(one) is not signal.SIG_IGN]
        with _handled(numbers, self._handle):
            yield

    def check(self) -> None:
        """Raise an interrupt, if a signal came."""
        if self.number is not None:
            raise Stopped(self.number)


def _raise(number: int, frame: Any) -> None:
    raise Stopped(number)


@contextmanager
def _handled(numbers: list[Any], handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle signals, where that can be done, and as before afterwards."""
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = [(number, signal.signal(number, handler)) for number in numbers]
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, signal.SIG_DFL if old is None else old)
