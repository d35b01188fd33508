# SPDX-License-Identifier: BSD-3-Clause
"""The records of a file that grows, for streams that are watched."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

from streamtopics.streams.reading.formats import SUFFIXES, check_fields
from streamtopics.streams.reading.growing import (
    Place,
    Position,
    complete_lines,
    growing_chunks,
    input_chunks,
    place_at,
)
from streamtopics.streams.reading.json_values import not_json, value_of_line
from streamtopics.streams.reading.lines import MARK, undecoded
from streamtopics.streams.reading.opening import (
    STANDARD_INPUT,
    check_is_text,
    compression_suffix,
    kind_of,
    name_of,
)
from streamtopics.streams.reading.plain import refuse_json
from streamtopics.streams.reading.problems import How, Origin, ReadingError, Skipped
from streamtopics.streams.reading.records import Record, record_of
from streamtopics.streams.reading.settings import MAX_LINE, OnBad, how_of
from streamtopics.streams.reading.sources import existing
from streamtopics.streams.reading.times import Times
from streamtopics.utils.checks import is_number, is_whole, path_of, plain

# That the system can wait for, some 30 years.
MOST_SECONDS = 10**9


class Follower(Iterator[Record | None]):
    """An iterator of records that knows how far it has come; made by `follow`."""

    def __init__(self, records: Generator[Record | None, None, None], place: Place) -> None:
        self._records = records
        self._place = place

    def __next__(self) -> Record | None:
        return next(self._records)

    @property
    def position(self) -> Position:
        """The position behind the last record that came; three integers."""
        return self._place.position

    def close(self) -> None:
        """Close the file."""
        self._records.close()


def follow(
    path: str | os.PathLike[str],
    *,
    text_key: str = "text",
    time_key: str | None = None,
    keys: Sequence[str] = (),
    format: str | None = None,
    encoding: str = "utf-8",
    max_line: int = MAX_LINE,
    on_bad: OnBad = "raise",
    skipped: Skipped | None = None,
    position: tuple[int, int, int] | None = None,
    poll: float = 1.0,
    idle: float | None = None,
    tell_waits: bool = False,
) -> Follower:
    """Read the records of a file that grows, as its lines are completed.

    A file that is moved away is read to its end, then the one that takes its name from its
    beginning on; so is one that is written anew. What came and went between two looks at the file
    is not seen, nor what a file had left that was moved away while nobody followed it.

    Parameters
    ----------
    path : str or path
        A file of lines, or "-", standard input, which is read until it is closed, like a pipe.
    text_key, time_key, keys, encoding, max_line, on_bad, skipped
        As in `read_records`.
    format : {"lines", "jsonl"} or None, default=None
        Plain text or JSON on each line. None goes by the suffix; what has none is plain text,
        but if the first line is a JSON object it must be said.
    position : (int, int, int) or None, default=None
        The `position` of a follower before, to go on from there. A file that does not begin with
        the same 1,024 bytes, or is shorter, is read from its beginning. None begins there too.
        Standard input has none.
    poll : float, default=1.0
        Seconds between two looks at the file.
    idle : float or None, default=None
        Seconds without anything new after which the iterator ends. None never does. A last
        line without an end is left for the next time. Not for standard input.
    tell_waits : bool, default=False
        Yield None after each `poll` seconds without anything new, so that who collects records
        can go on with those that are there.

    Returns
    -------
    records : Follower
        An iterator of `Record` with an attribute `position`, three integers to keep, and
        ``close()``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ReadingError
        A ValueError; as `read_records`, for a line.
    ValueError
        If the file is compressed, by its name or as it begins, or has another format, or `poll`,
        `idle` or `position` is none.

    See Also
    --------
    read_records : The records of files that are complete.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamtopics.datasets import follow
    >>> path = Path(tempfile.mkdtemp(), "feed.txt")
    >>> _ = path.write_text("first\\nsecond\\nnot yet comp")
    >>> records = follow(path, idle=0)
    >>> [record.text for record in records]
    ['first', 'second']
    >>> with path.open("a") as file:
    ...     _ = file.write("lete\\n")
    >>> [record.text for record in follow(path, idle=0, position=records.position)]
    ['not yet complete']
    """
    how = how_of(
        text_key=text_key, time_key=time_key, keys=keys, format=format, encoding=encoding,
        max_line=max_line, on_bad=on_bad, skipped=skipped,
    )  # fmt: skip
    poll = _seconds("poll", poll, MOST_SECONDS)
    idle = None if idle is None else _seconds("idle", idle)
    path = existing(path_of(path))
    kind = _format_of(path, how)
    is_file = str(path) != STANDARD_INPUT and stat.S_ISREG(path.stat().st_mode)
    start = Position() if position is None else _position(position)
    place = place_at(path, start) if is_file else Place()
    chunks = growing_chunks(path, place, poll, idle) if is_file else input_chunks(path, how, poll)
    origin = Origin(name_of(path))
    lines = complete_lines(chunks, place, how, origin)
    return Follower(_records(lines, place, kind, tell_waits, how, origin), place)


def _seconds(name: str, value: Any, most: float = inf) -> float:
    seconds = plain(value)
    if not (is_number(seconds) and 0 <= seconds <= most):
        limit = f" and at most {most:,}" if most < inf else ""
        raise ValueError(
            f"{name} must be a number of seconds, not below 0{limit}; got {value!r:.60}"
        )
    return float(seconds)


def _position(value: Any) -> Position:
    is_triple = isinstance(value, tuple | list) and len(value) == len(Position._fields)
    if not (is_triple and all(is_whole(part) and part >= 0 for part in value)):
        raise ValueError(
            "position must be three whole numbers of at least 0, the `position` of a follower "
            f"before, or None for the beginning; got {value!r:.60}"
        )
    return Position(*map(int, value))


def _format_of(path: Path, how: How) -> str | None:
    kind = how.format or SUFFIXES.get(kind_of(path.name))
    if path.is_dir() or compression_suffix(path.name) or kind not in {None, "lines", "jsonl"}:
        raise ValueError(
            f"only plain text and JSON lines that are not compressed can be followed while they "
            f"grow; got {path}{f' as {kind}' if kind else ''}. Read it by read_records, or by "
            "`streamtopics fit` and `update`; or write JSON lines, or pipe them in: "
            "`zcat FILE | streamtopics watch - --format jsonl`"
        )
    check_fields(kind == "jsonl", how, str(path))
    return kind


def _records(
    lines: Iterator[bytes | None],
    place: Place,
    kind: str | None,
    tell_waits: bool,
    how: How,
    origin: Origin,
) -> Generator[Record | None, None, None]:
    times = Times()
    for line in lines:
        if line is None:
            if tell_waits:
                yield None
            continue
        if place.line == 1:
            check_is_text(line, origin.name)
        try:
            text = _text(line, place.line, how, origin)
            if not text or text.isspace():
                how.skipped.add("empty lines", origin.place(place.line))
                continue
            value = _value(text, origin.place(place.line), kind, place.line == 1)
            record = record_of(origin, place.line, value, how, times)
        except ReadingError as error:
            how.bad(error)
        else:
            yield record


def _text(line: bytes, number: int, how: How, origin: Origin) -> str:
    try:
        text = line.decode(how.encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise undecoded(error, line, how, origin.place(number)) from error
    return text.removeprefix(MARK) if number == 1 else text


def _value(text: str, place: str, kind: str | None, is_first: bool) -> Any:
    if kind is None and is_first:
        refuse_json(text, place)
    if kind != "jsonl":
        return text
    try:
        return value_of_line(text)
    except (ValueError, RecursionError) as error:
        raise not_json(error, text, place) from error
