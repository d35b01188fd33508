# SPDX-License-Identifier: BSD-3-Clause
"""JSON: a value on each line, or an array of values over any lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from streamtopics.streams.reading.lines import MARK, text_chunks, text_lines, too_much
from streamtopics.streams.reading.opening import byte_chunks
from streamtopics.streams.reading.problems import How, Origin, ReadingError, shown
from streamtopics.streams.reading.records import Found

SPACE = re.compile(r"[ \t\r\n]*")
AFTER = frozenset(",] \t\r\n")  # what may follow a value of an array
_DECODER: Any = json.JSONDecoder()
AT_ONCE = _DECODER.scan_once  # reads a value from a place of a text on, and says where it ends


def json_lines(path: Path, how: How, origin: Origin) -> Iterator[Found]:
    """Read a value from each line that is not empty."""
    return _values_of_lines(byte_chunks(path, how), how, origin)


def json_file(path: Path, how: How, origin: Origin) -> Iterator[Found]:
    """Read the values of an array, if the file begins with one, or those on each line."""
    chunks = byte_chunks(path, how)
    start = b""
    try:
        for chunk in chunks:
            start += chunk
            if start.lstrip(MARK.encode() + b" \t\r\n") or len(start) > how.max_line:
                break
    except ReadingError as error:
        how.bad(error)
    chunks = chain([start] if start else [], chunks)
    if start.lstrip(MARK.encode() + b" \t\r\n").startswith(b"["):
        return _values_of_array(Buffer(text_chunks(chunks, how, origin)), how, origin)
    return _values_of_lines(chunks, how, origin)


def _values_of_lines(chunks: Iterator[bytes], how: How, origin: Origin) -> Iterator[Found]:
    for first, lines in text_lines(chunks, how, origin):
        for number, line in enumerate(lines, start=first):
            if not line or line.isspace():
                how.skipped.add("empty lines", origin.place(number))
                continue
            try:
                value = value_of_line(line)
            except (ValueError, RecursionError) as error:
                how.bad(not_json(error, line, origin.place(number)))
            else:
                yield origin, number, value


def value_of_line(line: str) -> Any:
    """Read JSON, where it is alone on a line without what `json.loads` looks for beside it."""
    try:
        value, end = AT_ONCE(line, 0)
    except StopIteration:
        return json.loads(line)
    return value if end == len(line) else json.loads(line)


def not_json(error: Exception, line: str, place: str) -> ReadingError:
    """Return the error for a line."""
    return ReadingError(
        "not JSON", place,
        f"not JSON ({error}): {shown(line)}. Each line must be one JSON object or string, or a "
        "file that ends in .json one array; a file of plain text should end in .txt",
    )  # fmt: skip


class _NoValueError(Exception):
    """Raised for complete text that is no JSON; not a ValueError, which reading may raise too."""


class Buffer:
    """A text that is read as it is needed, and forgotten behind the place where one stands.

    What is wrong with the file is in `error`, once all that comes before it was read.
    """

    def __init__(self, chunks: Iterator[str]) -> None:
        self.error: ReadingError | None = None
        self._chunks = chunks
        self._text = ""
        self._at = 0
        self._line, self._counted = 1, 0

    @property
    def line(self) -> int:
        """The number of the line of this place."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    @property
    def left(self) -> int:
        """Number of characters that were read and are still to come."""
        return len(self._text) - self._at

    def more(self) -> bool:
        """Read at least as much again as is left, so that trying again costs twice in all."""
        self._line = self.line
        parts, added = [self._text[self._at :]], 0
        try:
            for chunk in self._chunks:
                parts.append(chunk)
                added += len(chunk)
                if added and added >= len(parts[0]):
                    break
        except ReadingError as error:
            self.error = error
        self._text, self._at, self._counted = "".join(parts), 0, 0
        return added > 0

    def mark(self) -> str:
        """Go to the next character that is no space, and return it; "" at the end."""
        while True:
            match = SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self.more():
                return ""

    def step(self) -> None:
        """Go over one character."""
        self._at += 1

    def value(self, limit: int) -> Any:
        """Read a value, of which more may have to come; OverflowError beyond the limit."""
        while True:
            value, end, problem = self._try()
            # Of a number more may come, also where its beginning is one, as in "1.5" of "1.5e".
            if problem is None and self._text[end : end + 1] in AFTER:
                break
            if self.left > limit:
                raise OverflowError
            length = end - self._at
            if not self.more():
                if self.error is not None:
                    raise _NoValueError("the file ends in it")
                end = self._at + length
                break
        if problem is not None:
            raise problem
        self._at = end
        return value

    def _try(self) -> tuple[Any, int, _NoValueError | None]:
        try:
            return *AT_ONCE(self._text, self._at), None
        except StopIteration as error:
            problem, place = "Expecting value", error.value
        except json.JSONDecodeError as error:
            problem, place = error.msg, error.pos
        except ValueError as error:  # such as a number of too many digits
            problem, place = str(error), self._at
        rest = self._text[place : place + 100]
        told = f"{problem}: {shown(rest)}" if rest else "the file ends in it"
        return None, 0, _NoValueError(told)


def _values_of_array(text: Buffer, how: How, origin: Origin) -> Iterator[Found]:
    text.mark()
    text.step()
    mark = text.mark()
    while mark != "]":
        line = text.line
        try:
            value = text.value(how.max_line)
        except OverflowError:
            how.bad(too_much(origin.place(line), "a value of a JSON array", how))
            return
        except (_NoValueError, RecursionError) as error:
            how.bad(text.error or _broken(origin.place(line), f"no value ({error})"))
            return
        yield origin, line, value
        mark = text.mark()
        if mark not in {",", "]"}:
            there = repr(mark) if mark else "the end of the file"
            problem = f"{there} where ',' or ']' should be"
            how.bad(text.error or _broken(origin.place(text.line), problem))
            return
        if mark == ",":
            text.step()
            text.mark()
    text.step()
    if (mark := text.mark()) or text.error:
        how.bad(text.error or _broken(origin.place(text.line), f"{mark!r} after its end"))


def _broken(place: str, problem: str) -> ReadingError:
    return ReadingError(
        "broken JSON arrays", place,
        f"not a JSON array: {problem}. What follows cannot be read; repair the file, or write "
        "each value on a line of its own",
    )  # fmt: skip
