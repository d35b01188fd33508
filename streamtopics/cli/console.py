# SPDX-License-Identifier: BSD-3-Clause
"""What the command prints and writes, and the signals that end it."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from streamtopics.saving.files import replacing

# Control characters, with which a text could command a terminal; marks that turn the direction
# of writing; halves of surrogates, which cannot be written.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Beside SIGINT, of Ctrl-C: those of `kill` and of a terminal that is closed.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
OF_A_SIGNAL = 128  # what shells add to the number of a signal in exit statuses


# Printing


def safe(text: str) -> str:
    """Return a text that commands no terminal; lines and tabs are kept."""
    return UNSAFE.sub("\ufffd", text)


class Output:
    """A stream of which a terminal shows what is safe; files and pipes get it as it is."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._shown = stream, safe if stream.isatty() else str

    def write(self, text: str) -> Any:
        """Write a text."""
        return self._stream.write(self._shown(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def one_line(text: str, width: int = 96) -> str:
    """Return the beginning of a text on one line."""
    flat = safe(" ".join(text[: 20 * width].split()))
    return flat if len(flat) <= width else flat[: width - 3].rstrip() + "..."


def note(text: str) -> None:
    """Say something on standard error."""
    with suppress(OSError, ValueError):
        print(safe(text), file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """Say what is wrong."""
    note(f"streamtopics: {text}")


def nats(score: float) -> str:
    """Return a score in words."""
    if not math.isfinite(score):
        return "no word was held out"
    return f"{score:.4f} nats per word (perplexity {math.exp(min(-score, 700)):,.0f})"


def counted(n: float, what: str) -> str:
    """Return a number with its noun."""
    return f"{n:,.0f} {what}{'' if n == 1 else 's'}"


def forget_output() -> None:
    """Send what is still to be printed, also at the end of the process, nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def readers_may_go() -> Iterator[None]:
    """Print no more when the reader has gone, as of ``| head``, and go on behind the block."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        forget_output()


# Files: each is there as a whole, or the one before is


def check_target(
    path: Path | None, kinds: Iterable[str] = (), kept: Iterable[str | Path | None] = ()
) -> None:
    """Refuse what could not be written at the end, or would take the place of a file to keep."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir() or path.is_dir():
        raise FileNotFoundError(f"{path} is a folder, or is in none that there is; name a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"nothing can be written to the folder {path.parent}; name another")
    for other in kept:
        if other is not None and os.path.realpath(other) == os.path.realpath(path):
            raise ValueError(f"{path} is read or written already; name another file to write to")
    if kinds and path.suffix[1:].lower() not in kinds:
        raise ValueError(f"{path} is no kind of file to write; use one of {', '.join(kinds)}")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file."""
    with replacing(path) as send:
        send(content)


def as_line(row: Mapping[str, Any], kind: str) -> str:
    """Return a row as a line of JSON or of a table."""
    if kind == "jsonl":
        return json.dumps(row, allow_nan=False, default=str) + "\n"
    line = io.StringIO()
    values = (" ".join(map(str, v)) if isinstance(v, list) else v for v in row.values())
    csv.writer(line, lineterminator="\n").writerow(map(_no_formula, values))
    return line.getvalue()


def _no_formula(value: object) -> Any:
    """Return a value for a cell, quoted where a spreadsheet would take it for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def write_rows(path: Path | None, rows: Iterable[Mapping[str, Any]], kind: str) -> int:
    """Write rows as they come, to a file or standard output; return how many."""
    n = 0
    with nullcontext(_print) if path is None else replacing(path) as send:
        for n, row in enumerate(rows, start=1):
            if n == 1 and kind == "csv":
                send(as_line({name: name for name in row}, kind).encode())
            send(as_line(row, kind).encode("utf-8", "replace"))
    return n


def _print(data: bytes) -> None:
    sys.stdout.write(data.decode())


# Signals


class Stopped(KeyboardInterrupt):
    """An interrupt that knows its signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def status_of(stop: KeyboardInterrupt) -> int:
    """Return the exit status after an interrupt: 130 for Ctrl-C, 143 for SIGTERM."""
    return OF_A_SIGNAL + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


def stop(number: int, frame: object) -> None:
    """Be an interrupt, which cleans up."""
    raise Stopped(number)


@contextmanager
def handled(numbers: list[Any], handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle signals that are not ignored, where that can be done, and as before afterwards."""
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    wanted = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, handler)) for number in wanted]
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, signal.SIG_DFL if old is None else old)
