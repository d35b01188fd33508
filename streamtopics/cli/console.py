# SPDX-License-Identifier: BSD-3-Clause
"""Output, files and signals of the command."""

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from streamtopics.saving.files import replace_file

# What a spreadsheet would compute; a number with a sign is none.
FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d+(e[+-]?\d+)?$)", re.IGNORECASE)

# Control characters of terminals, marks of the direction of writing, and halves of surrogates.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Besides SIGINT of Ctrl-C: signals of `kill` and of a closed terminal.
STOPPING = [signal.SIGTERM] if sys.platform == "win32" else [signal.SIGTERM, signal.SIGHUP]
# Verbs that add words to a model.
MORE_WORDS = "--min-documents 1, --max-share 1, --stop-words none or --shortest 1"


def safe(text: str) -> str:
    """A text without control characters, except ends of lines and tabs."""
    return CONTROL.sub("\ufffd", text)


def one_line(text: str, width: int = 96) -> str:
    flat = safe(" ".join(text[: 20 * width].split()))
    return flat if len(flat) <= width else flat[: width - 3].rstrip() + "..."


def log(text: str) -> None:
    with suppress(OSError, ValueError):
        print(safe(text), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    log(f"streamtopics: {text}")


def per_word(score: float) -> str:
    if not math.isfinite(score):
        return "no word was held out"
    return f"{score:.4f} nats per word (perplexity {math.exp(min(-score, 700)):,.0f})"


def counted(n: float, what: str) -> str:
    return f"{n:,.0f} {what}{'' if n == 1 else 's'}"


def forget_output() -> None:
    """Discard unprinted output, so the process ends without an error."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def check_target(path: Path | None, kinds: Sequence[str] = (), kept: Iterable[Any] = ()) -> None:
    """Refuse a file that cannot be written, or would replace a file in `kept`."""
    if path is None:
        return
    wrong = ""
    if path.is_dir() or not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        wrong = f"nothing can be written to {path}; name a file in a folder of yours"
    elif os.path.realpath(path) in {os.path.realpath(one) for one in kept if one is not None}:
        wrong = f"{path} is read or written already; name another file to write to"
    elif kinds and path.suffix[1:].lower() not in kinds:
        wrong = f"{path} is no kind of file to write; use one of {', '.join(kinds)}"
    if wrong:
        raise ValueError(wrong)


def kind_of(path: Path | None) -> str:
    return "jsonl" if path is None else path.suffix[1:].lower()


def write_rows(path: Path | None, rows: Iterable[Mapping[str, Any]]) -> None:
    # A terminal of another encoding would make escapes that are no JSON.
    is_ascii = path is None and sys.stdout.encoding.lower() != "utf-8"
    with nullcontext() if path is None else replace_file(path) as send:
        for line in _lines(rows, kind_of(path), is_ascii):
            sys.stdout.write(line) if send is None else send(line.encode("utf-8", "replace"))


def _lines(rows: Iterable[Mapping[str, Any]], kind: str, is_ascii: bool) -> Iterator[str]:
    if kind == "json":
        yield json.dumps([*rows], indent=1, ensure_ascii=is_ascii) + "\n"
    elif kind == "jsonl":
        how: dict[str, Any] = {"allow_nan": False, "ensure_ascii": is_ascii, "default": str}
        yield from (json.dumps(row, **how) + "\n" for row in rows)
    else:
        for n, row in enumerate(rows):
            yield _cells(row.values()) if n else _cells(row) + _cells(row.values())


def _cells(values: Iterable[Any]) -> str:
    """A line of a table, without formulas for spreadsheets."""
    line = io.StringIO()
    flat = [" ".join(map(str, v)) if isinstance(v, list) else v for v in values]
    safe = [f"'{v}" if isinstance(v, str) and FORMULA.match(v) else v for v in flat]
    csv.writer(line, lineterminator="\n\r").writerow(safe)  # Both are put in quotation marks.
    return line.getvalue()[:-1]


def stop(number: int, frame: object) -> None:
    """Raise an interrupt, so that cleanup runs."""
    raise KeyboardInterrupt(number)


@contextmanager
def handle(numbers: list[Any], handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle signals that are not ignored; restore the handlers afterwards."""
    can = threading.current_thread() is threading.main_thread()
    wanted = [one for one in numbers if can and signal.getsignal(one) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, handler)) for number in wanted]
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, signal.SIG_DFL if old is None else old)
