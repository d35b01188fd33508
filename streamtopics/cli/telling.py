# SPDX-License-Identifier: BSD-3-Clause
"""Prints messages and figures: without terminal escapes, and never NaN."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Control characters, with which a text could command a terminal; marks that turn the direction
# of writing; halves of surrogates, which cannot be written.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
NOTHING_HELD_OUT = "no word was held out"


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


def complain(text: str) -> None:
    """Say what is wrong."""
    note(f"streamtopics: {text}")


def show_warning(message: Any, category: Any, *_: Any) -> None:
    """Say a warning as a line, in the place of `warnings.showwarning`."""
    complain(f"note: {message}")


def nats(score: float) -> str:
    """Return a score in words."""
    if not math.isfinite(score):
        return NOTHING_HELD_OUT
    return f"{score:.4f} nats per word (perplexity {math.exp(min(-score, 700)):,.0f})"


def counted(n: float, what: str) -> str:
    """Return a number with its noun."""
    return f"{n:,.0f} {what}{'' if n == 1 else 's'}"
