# SPDX-License-Identifier: BSD-3-Clause
"""A file that grows, and is perhaps replaced: its complete lines, and where one stands in it."""

from __future__ import annotations

import os
import select
import sys
import time
import zlib
from collections.abc import Generator, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from streamtopics.streams.reading.lines import too_much
from streamtopics.streams.reading.opening import CHUNK, byte_stream
from streamtopics.streams.reading.problems import How, Origin

HEAD = 1024  # so many bytes tell a file from another one
CAN_ASK = sys.platform != "win32"  # whether there is something to read of a pipe


class Position(NamedTuple):
    """A place in a file that grows, for who goes on there another day.

    Parameters
    ----------
    offset : int
        How many bytes are behind.
    line : int
        How many lines are.
    head : int
        The CRC-32 of the first of these bytes, 1,024 at most, by which another file is known.
    """

    offset: int = 0
    line: int = 0
    head: int = 0


class Place:
    """The place in a file up to which a follower has read."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Go to the beginning."""
        self.offset, self.line, self.start = 0, 0, b""

    def move(self, line: bytes, more: int = 0) -> None:
        """Go over a line, of which so many bytes more are not at hand."""
        self.offset += len(line) + more
        self.line += 1
        if len(self.start) < HEAD:
            self.start = (self.start + line)[:HEAD]

    @property
    def position(self) -> Position:
        """The place as numbers."""
        return Position(self.offset, self.line, zlib.crc32(self.start))


class Event(Enum):
    """The events of a file that is followed, beside new bytes."""

    WAITED = "nothing new"
    ENDED = "the file is complete, and another one follows"
    CUT = "the file begins anew"


def place_at(path: Path, position: Position) -> Place:
    """Return the place in a file; its beginning if it is not the one that was read."""
    place = Place()
    with path.open("rb") as file:
        start = file.read(min(position.offset, HEAD))
        size = os.fstat(file.fileno()).st_size
    if size >= position.offset and zlib.crc32(start) == position.head:
        place.offset, place.line, place.start = position.offset, position.line, start
    return place


def growing_chunks(
    path: Path, place: Place, poll: float, idle: float | None
) -> Iterator[bytes | Event]:
    """Yield what is written to a file, and to the one that takes its name, as it comes."""
    event: Event | None = Event.WAITED
    while event is not None:
        with path.open("rb", buffering=0) as file:  # a buffer would hide that it was written anew
            file.seek(place.offset)
            event = yield from _chunks_of_one(path, file, place, poll, idle)
        if event is not None:
            yield event


def _chunks_of_one(
    path: Path, file: BinaryIO, place: Place, poll: float, idle: float | None
) -> Generator[bytes | Event, None, Event | None]:
    """Yield what comes of a file; return why no more will, or None when it was idle for long.

    Whoever takes a chunk may be busy with it for long, so each is looked at before it is given.
    """
    is_moved, start, last_news = False, place.start, time.monotonic()
    while True:
        chunk = file.read(CHUNK)
        start += chunk[: HEAD - len(start)]
        if _is_anew(file, start):
            return Event.CUT
        if chunk:
            yield chunk
            last_news = time.monotonic()
            continue
        if is_moved:
            return Event.ENDED
        if idle is not None and time.monotonic() - last_news >= idle:
            return None
        time.sleep(poll)
        yield Event.WAITED
        is_moved = _is_moved(path, file)


def _is_anew(file: BinaryIO, start: bytes) -> bool:
    """Tell whether a file was written anew since its start, and all up to here, was read."""
    at = file.tell()
    file.seek(0)
    is_same = file.read(len(start)) == start
    file.seek(at)
    return not is_same or os.fstat(file.fileno()).st_size < at


def _is_moved(path: Path, file: BinaryIO) -> bool:
    """Tell whether another file has taken the name; not where it has not come yet."""
    try:
        return not os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def input_chunks(path: Path, how: How, poll: float) -> Iterator[bytes | Event]:
    """Yield what comes over a pipe or from standard input, until it is closed."""
    size = min(CHUNK, how.max_line)
    with byte_stream(path) as stream:
        chunk = None
        while chunk != b"":
            while not _is_there(stream, poll):
                yield Event.WAITED
            if chunk := stream.read1(size):
                yield chunk
    yield Event.ENDED


def _is_there(stream: Any, poll: float) -> bool:
    """Tell whether reading would not wait; yes, where that cannot be asked."""
    try:
        return not CAN_ASK or bool(select.select([stream], [], [], poll)[0])
    except (OSError, ValueError):  # no file of the system, such as io.BytesIO
        return True


def complete_lines(
    chunks: Iterator[bytes | Event], place: Place, how: How, origin: Origin
) -> Iterator[bytes | None]:
    """Yield each line once it is complete, after the place has moved over it; None after waits."""
    held, lost, too_long = b"", 0, False  # of a line that is not complete, or more than the limit
    for chunk in chunks:
        if chunk is Event.WAITED:
            yield None
        elif isinstance(chunk, Event):
            if held and chunk is Event.CUT:
                how.skipped.add("cut lines", origin.place(place.line + 1))
            elif held and not too_long:
                place.move(held)
                yield held
            held, lost, too_long = b"", 0, False
            place.restart()
        else:
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                too_long = _check(too_long, len(held) + len(line), place, how, origin)
                whole = held + line + b"\n"
                place.move(whole, lost)
                if not too_long:
                    yield whole
                held, lost, too_long = b"", 0, False
            held += rest
            too_long = _check(too_long, len(held), place, how, origin)
            if too_long and len(held) > HEAD:
                held, lost = held[:HEAD], lost + len(held) - HEAD


def _check(too_long: bool, size: int, place: Place, how: How, origin: Origin) -> bool:
    """Tell whether a line is too long, and say so once."""
    if not too_long and size > how.max_line:
        how.bad(too_much(origin.place(place.line + 1), "a line", how))
    return too_long or size > how.max_line
