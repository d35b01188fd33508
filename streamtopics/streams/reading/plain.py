# SPDX-License-Identifier: BSD-3-Clause
"""Plain text: a document on each line, or a file that is one document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, count, repeat
from pathlib import Path

from streamtopics.streams.reading.lines import text_lines, whole_text
from streamtopics.streams.reading.opening import byte_chunks
from streamtopics.streams.reading.problems import How, Origin, ReadingError, shown
from streamtopics.streams.reading.records import Found


def plain_lines(path: Path, how: How, origin: Origin) -> Iterator[Found]:
    """Read the lines that are not empty; whole blocks of such are put together without a loop."""
    return chain.from_iterable(_blocks(path, how, origin))


def _blocks(path: Path, how: How, origin: Origin) -> Iterator[Iterable[Found]]:
    for first, lines in text_lines(byte_chunks(path, how), how, origin):
        if "\r" in "".join(lines):
            lines = [line.rstrip("\r") for line in lines]
        if "" in lines or any(map(str.isspace, lines)):
            yield _lines_with_text(first, lines, how, origin)
        else:
            yield zip(repeat(origin), count(first), lines, strict=False)


def _lines_with_text(first: int, lines: list[str], how: How, origin: Origin) -> Iterator[Found]:
    for number, line in enumerate(lines, start=first):
        if not line or line.isspace():
            how.skipped.add("empty lines", origin.place(number))
        else:
            yield origin, number, line


def supposed_lines(path: Path, how: How, origin: Origin) -> Iterator[Found]:
    """Read lines of what has no suffix that says so, unless they are JSON."""
    found = plain_lines(path, how, origin)
    first = next(found, None)
    if first is None:
        return
    _, number, line = first
    refuse_json(line, origin.place(number))
    yield from chain([first], found)


def refuse_json(line: str, place: str) -> None:
    """Raise an error for a JSON object in what is only supposed to be plain text."""
    try:
        is_object = line.startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return
    if is_object:
        raise ReadingError(
            "not named JSON", place,
            f"this is a JSON object, but nothing says that these are JSON lines: {shown(line)}; "
            "say it, or that they are plain text ('lines')",
            "format", "jsonl",
        )  # fmt: skip


def whole_documents(path: Path, how: How, origin: Origin) -> Iterator[Found]:
    """Read a file as one document."""
    for text in whole_text(byte_chunks(path, how), how, origin):
        yield origin, 1, text
