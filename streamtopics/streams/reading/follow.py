# SPDX-License-Identifier: BSD-3-Clause
"""The records of a file that grows, for streams that are watched."""

from __future__ import annotations

import io
import os
import select
import sys
import time
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from streamtopics.streams.reading.records import (
    OPENERS,
    STANDARD_INPUT,
    OnBad,
    Reading,
    Record,
    Skipped,
    existing,
    record_of_line,
)
from streamtopics.utils.checks import check_one_of

CHUNK, HEAD = 2**17, 1024


class Position(NamedTuple):
    """A place in a file that grows, for who goes on there another day.

    Parameters
    ----------
    offset, line : int
        How many bytes, and how many lines, are behind.
    head : int
        The CRC-32 of the first of these bytes, 1,024 at most, by which another file is known.
    """

    offset: int = 0
    line: int = 0
    head: int = 0


class Follower(Iterator[Record | None]):
    """An iterator of records that knows how far it has come; made by `follow`.

    Attributes
    ----------
    position : Position
        Behind the last record that came.
    """

    def __init__(
        self,
        path: Path,
        reading: Reading,
        position: Position,
        poll: float,
        idle: float | None,
        tell_waits: bool,
    ) -> None:
        self.position, self.path, self.reading = position, path, reading
        self.poll, self.idle, self.tell_waits = poll, idle, tell_waits
        self._lines = self._of_file() if path.is_file() else self._of_pipe()

    def __next__(self) -> Record | None:
        """Return the next record, or None after a time without any."""
        for line in self._lines:
            if line is None and self.tell_waits:
                return None
            if line is not None:
                offset, number, head = self.position
                head = zlib.crc32(line[: max(0, HEAD - offset)], head)
                self.position = Position(offset + len(line), number + 1, head)
                text = line.decode(self.reading.encoding, "surrogateescape")
                text = text if number else text.removeprefix("\ufeff")
                record = record_of_line(text, self.reading, number + 1)
                if record is not None:
                    return record
        raise StopIteration

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _of_file(self) -> Generator[bytes | None]:
        """Yield complete lines, also of the file that takes the place of this one."""
        size, news = CHUNK, time.monotonic()
        while True:
            with self.path.open("rb", buffering=0) as file:
                is_moved = False
                while self._is_the_same(file):
                    file.seek(self.position.offset)
                    chunk = file.read(size)
                    if lines := io.BytesIO(chunk[: chunk.rfind(b"\n") + 1]).readlines():
                        yield from lines
                        size, news = CHUNK, time.monotonic()
                    elif len(chunk) == size:
                        size *= 2
                    elif is_moved:
                        yield chunk or None
                        break
                    elif self.idle is not None and time.monotonic() - news >= self.idle:
                        return
                    else:
                        time.sleep(self.poll)
                        yield None
                        is_moved = self._is_moved(file)
            self.position = Position()

    def _is_the_same(self, file: BinaryIO) -> bool:
        """Whether a file begins as what was read, and is as long."""
        offset, _, head = self.position
        file.seek(0)
        start = file.read(min(offset, HEAD))
        return zlib.crc32(start) == head and os.fstat(file.fileno()).st_size >= offset

    def _is_moved(self, file: BinaryIO) -> bool:
        """Whether another file has taken the name; not where it has not come yet."""
        with suppress(FileNotFoundError):
            return not os.path.samestat(os.fstat(file.fileno()), self.path.stat())
        return False

    def _of_pipe(self) -> Generator[bytes | None]:
        """Yield the lines of standard input or a pipe, until it is closed."""
        is_input = str(self.path) == STANDARD_INPUT
        file: Any = sys.stdin.buffer if is_input else self.path.open("rb")
        with file:
            held, chunk = b"", b"."
            while chunk:
                while not _is_there(file, self.poll):
                    yield None
                chunk = file.read1(CHUNK)
                *lines, held = (held + chunk).split(b"\n")
                yield from (line + b"\n" for line in lines)
            if held:
                yield held


def _is_there(file: BinaryIO, poll: float) -> bool:
    """Tell whether reading would not wait; yes, where that cannot be asked."""
    try:
        return sys.platform == "win32" or bool(select.select([file], [], [], poll)[0])
    except (OSError, ValueError):  # no file of the system, such as io.BytesIO
        return True


def follow(
    path: str | os.PathLike[str],
    *,
    text_key: str = "text",
    time_key: str | None = None,
    keys: Sequence[str] = (),
    format: str | None = None,
    time_format: str | None = None,
    encoding: str = "utf-8",
    on_bad: OnBad = "raise",
    skipped: Skipped | None = None,
    position: tuple[int, int, int] | None = None,
    poll: float = 1.0,
    idle: float | None = None,
    tell_waits: bool = False,
) -> Follower:
    """Read the records of a file that grows, as its lines are completed.

    A file that is moved away is read to its end, then the one that takes its name from its
    beginning on; so is one that is written anew.

    Parameters
    ----------
    path : str or path
        A file of lines, or "-", standard input, which is read until it is closed, like a pipe.
    text_key, time_key, keys, time_format, encoding, on_bad, skipped
        As in `read_records`.
    format : {"lines", "jsonl"} or None, default=None
        None goes by the suffix; what has none is plain text.
    position : (int, int, int) or None, default=None
        The `position` of a follower before, to go on from there. A file that does not begin with
        the same 1,024 bytes, or is shorter, is read from its beginning. None begins there too.
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
        An iterator of `Record` with `position`, three integers to keep, and ``close()``.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, it is compressed or has another format.
    ReadingError
        A ValueError; as `read_records`, for a line.

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
    check_one_of(("raise", "skip"), on_bad=on_bad)
    path = existing(path)
    reading = Reading(
        text_key, time_key, keys, format, None, time_format, encoding, on_bad, skipped
    ).of(path)
    packed = path.suffix.lower() in OPENERS
    if path.is_dir() or packed or reading.format not in (None, "lines", "jsonl"):
        raise ValueError(
            f"only plain text and JSON lines that are not compressed can be followed; got {path}. "
            "Read it by read_records, or pipe JSON lines in: `zcat FILE | streamtopics watch - "
            "--format jsonl`"
        )
    start = Position() if position is None else Position(*position)
    return Follower(path, reading, start, poll, idle, tell_waits)
