# SPDX-License-Identifier: BSD-3-Clause
"""Forked processes that do some work and tell of it; one that dies or hangs is known too."""

import ctypes
import faulthandler
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any

# Seconds until a process that says nothing is ended, and that one may take to end by itself.
SILENCE, PATIENCE = 600, 60
TICK = 1.0
# Of what is in <sys/prctl.h>.
PR_SET_PDEATHSIG = 1


@dataclass
class Child:
    """A forked process.

    Attributes
    ----------
    number : int
        By which the system knows it.
    reader : int
        Where lines of JSON come from it.
    errors : file
        What it wrote to its standard error.
    status : int or None
        How it ended, as `os.waitpid` has it.
    """

    number: int
    reader: int
    errors: IO[bytes]
    status: int | None = None

    def has_ended(self) -> bool:
        """Whether it is no more."""
        if self.status is None:
            ended, status = os.waitpid(self.number, os.WNOHANG)
            self.status = status if ended else None
        return self.status is not None

    def wait(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        end = time.monotonic() + seconds
        while not self.has_ended() and (left := end - time.monotonic()) > 0:
            time.sleep(min(0.0005, left))
        return self.has_ended()

    def kill(self) -> None:
        """End it, unless it has ended."""
        if not self.has_ended():
            os.kill(self.number, signal.SIGKILL)
            self.status = os.waitpid(self.number, 0)[1]

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it tells until it ends, or is silent for long."""
        rest, heard = b"", time.monotonic()
        while True:
            if select.select([self.reader], [], [], TICK)[0]:
                more = os.read(self.reader, 2**16)
                if not more:
                    return
                heard = time.monotonic()
                *whole, rest = (rest + more).split(b"\n")
                yield from map(json.loads, whole)
            elif self.has_ended() or time.monotonic() - heard > SILENCE:
                # A process that it started may hold the other end of the pipe.
                return

    def how_it_ended(self) -> str:
        """How it ended, in a word; nothing if it ended well. One that goes on is killed."""
        if not self.wait(PATIENCE):
            self.kill()
            return "silence"
        code = os.waitstatus_to_exitcode(self.status or 0)
        return signal.Signals(-code).name if code < 0 else f"exit code {code}" if code else ""

    def last_words(self, most: int = 600) -> str:
        """The end of what it wrote to its standard error, in characters."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()[-most:]


@contextmanager
def child_of(work: Callable[[int], None]) -> Iterator[Child]:
    """A process that does some work, which is passed where to tell of it; at the end it is none."""
    reader, writer = os.pipe()
    parent = os.getpid()
    with TemporaryFile() as errors:
        with warnings.catch_warnings():
            # Of threads, which libraries that were imported may have.
            warnings.simplefilter("ignore", DeprecationWarning)
            number = os.fork()
        if number == 0:
            _work(work, writer, errors.fileno(), parent)
        os.close(writer)
        child = Child(number, reader, errors)
        try:
            yield child
        finally:
            child.kill()
            os.close(reader)


def _work(work: Callable[[int], None], writer: int, errors: int, parent: int) -> None:
    """Do the work of a child, and end."""
    code = 1
    try:
        _end_with(parent)
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(errors, 2)
        sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        work(writer)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _end_with(parent: int) -> None:
    """Have this process killed when its parent ends, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != parent:
            os._exit(1)


def tell(writer: int, told: dict[str, Any]) -> None:
    """Write a line, all of it."""
    line = json.dumps(told).encode() + b"\n"
    while line:
        line = line[os.write(writer, line) :]
