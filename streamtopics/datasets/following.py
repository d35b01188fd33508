# SPDX-License-Identifier: BSD-3-Clause
"""The records of a growing file."""

from __future__ import annotations

import io
import os
import select
import sys
import time
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamtopics.streams import records
from streamtopics.streams.records import STANDARD_INPUT, Reading, ReadingError, Record
from streamtopics.utils.checks import check_integer, check_one_of

CHUNK, HEAD = 2**17, 1024


@dataclass(eq=False, repr=False)
class Follower(Iterator[Record | None]):
    """An iterator of records, made by `follow`.

    Attributes
    ----------
    position : (int, int, int)
        Bytes and lines read, and the CRC-32 of the first 1,024 bytes.
    """

    path: Path
    reading: Reading
    position: tuple[int, int, int]
    poll: float
    idle: float | None
    tell_waits: bool

    def __post_init__(self) -> None:
        self._lines = self._of_input() if str(self.path) == STANDARD_INPUT else self._of_file()

    def __next__(self) -> Record | None:
        """Return the next record, or None while waiting."""
        record = None
        while record is None:
            line = next(self._lines)
            if line is not None:
                offset, number, head = self.position
                head = zlib.crc32(line[: max(0, HEAD - offset)], head)
                self.position = offset + len(line), number + 1, head
                text = line.decode(self.reading.encoding, "surrogateescape")
                text = text if number else text.removeprefix("\ufeff")
                record = records.record_of_line(text, self.reading, number + 1)
            elif self.tell_waits:
                return None
        return record

    def close(self) -> None:
        """End the iterator."""
        self._lines.close()

    def _of_file(self) -> Generator[bytes | None]:
        size, news = CHUNK, time.monotonic()
        while True:
            offset, _, head = self.position
            with self.path.open("rb") as file:
                file.seek(offset)
                chunk, n_bytes = file.read(size), file.seek(0, os.SEEK_END)
                file.seek(0)
                is_same = zlib.crc32(file.read(min(offset, HEAD))) == head and n_bytes >= offset
            if not is_same:
                problem = f"was cut, or is another file than before (position {self.position}); of "
                problem += "a file that is replaced read `tail -F FILE | streamtopics watch -`"
                raise ReadingError("another file", str(self.path), problem)
            if lines := io.BytesIO(chunk[: chunk.rfind(b"\n") + 1]).readlines():
                yield from lines
                size, news = CHUNK, time.monotonic()
            elif len(chunk) == size:
                size *= 2
            else:
                left = self.poll if self.idle is None else self.idle - time.monotonic() + news
                if left <= 0 and self.idle is not None:
                    return
                time.sleep(min(self.poll, left))
                yield None

    def _of_input(self) -> Generator[bytes | None]:
        file: Any = sys.stdin.buffer
        held, chunk = b"", b"."
        while chunk:
            # Windows does not tell whether reading would wait.
            while sys.platform != "win32" and not select.select([file], [], [], self.poll)[0]:
                yield None
            chunk = file.read1(CHUNK)
            *lines, held = (held + chunk).split(b"\n")
            yield from (line + b"\n" for line in lines)
        if held:
            yield held


def follow(
    path: str | os.PathLike[str],
    *,
    position: tuple[int, int, int] | None = None,
    poll: float = 1.0,
    idle: float | None = None,
    tell_waits: bool = False,
    **options: Any,
) -> Follower:
    """Read the records of a growing file, as lines are completed.

    Parameters
    ----------
    path : str or path
        A file of lines, or "-" for standard input.
    position : (int, int, int) or None, default=None
        The `position` of an earlier `Follower`, to continue there.
    poll : float, default=1.0
        Seconds between two looks at the file.
    idle : float or None, default=None
        Seconds without new data after which the iterator ends, except for standard input. None
        never ends.
    tell_waits : bool, default=False
        Whether to yield None after each `poll` seconds without new data.
    **options : object
        As in `read_records`, but not UTF-16. The format is "lines" (also without a suffix) or
        "jsonl".

    Returns
    -------
    follower : Follower
        An iterator of `Record`; raises `ReadingError` if the file was cut or replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamtopics.datasets import follow
    >>> path = Path(tempfile.mkdtemp(), "feed.txt")
    >>> _ = path.write_text("first\\nsecond\\nnot yet comp")
    >>> [record.text for record in follow(path, idle=0)]
    ['first', 'second']
    """
    for number in position or ():
        check_integer(least=0, position=number)
    path, reading = records.existing(path), Reading(**options)
    check_one_of(("raise", "skip"), on_bad=reading.on_bad)
    reading = reading.of(path)
    unfit = str(path) != STANDARD_INPUT and not path.is_file()
    unfit |= path.suffix.lower() in records.OPEN
    if unfit or reading.format not in (None, "lines", "jsonl"):
        raise ValueError(
            "only regular, uncompressed files of plain text or JSON lines can be followed; got "
            f"{path}. Read a table by `streamtopics update` or read_records; pipe a compressed "
            "file in: `zcat FILE | streamtopics watch - --format jsonl`"
        )
    return Follower(path, reading, position or (0, 0, 0), poll, idle, tell_waits)
