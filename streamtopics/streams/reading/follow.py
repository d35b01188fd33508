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
from pathlib import Path
from typing import Any, BinaryIO

from streamtopics.streams.reading.records import (
    OPENERS,
    STANDARD_INPUT,
    OnBad,
    Reading,
    ReadingError,
    Record,
    Skipped,
    existing,
    record_of_line,
)
from streamtopics.utils.checks import check_one_of

CHUNK, HEAD = 2**17, 1024


class Follower(Iterator[Record | None]):
    """An iterator of records that knows how far it has come; made by `follow`.

    Attributes
    ----------
    position : (int, int, int)
        The bytes and the lines that were read, and the CRC-32 of the first 1,024 of these bytes.
    """

    def __init__(
        self,
        path: Path,
        reading: Reading,
        position: tuple[int, int, int],
        poll: float,
        idle: float | None,
        tell_waits: bool,
    ) -> None:
        self.position, self.path, self.reading = position, path, reading
        self.poll, self.idle, self.tell_waits = poll, idle, tell_waits
        self._lines = self._of_input() if str(path) == STANDARD_INPUT else self._of_file()

    def __next__(self) -> Record | None:
        """Return the next record, or None after a time without any."""
        for line in self._lines:
            if line is None and self.tell_waits:
                return None
            if line is not None:
                offset, number, head = self.position
                head = zlib.crc32(line[: max(0, HEAD - offset)], head)
                self.position = offset + len(line), number + 1, head
                text = line.decode(self.reading.encoding, "surrogateescape")
                text = text if number else text.removeprefix("\ufeff")
                record = record_of_line(text, self.reading, number + 1)
                if record is not None:
                    return record
        raise StopIteration

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
                problem = "was cut, or is another file than before; of a file that is replaced "
                problem += "read standard input: `tail -F FILE | streamtopics watch -`"
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

    Parameters
    ----------
    path : str or path
        A file of lines, or "-", standard input, which is read until it is closed.
    text_key, time_key, keys, time_format, encoding, on_bad, skipped
        As in `read_records`.
    format : {"lines", "jsonl"} or None, default=None
        None goes by the suffix; a file without one is plain text.
    position : (int, int, int) or None, default=None
        The `position` of an earlier follower, to go on from there. None is the beginning.
    poll : float, default=1.0
        Seconds between two looks at the file.
    idle : float or None, default=None
        Seconds without anything new after which the iterator ends. None never ends. Not for
        standard input.
    tell_waits : bool, default=False
        Whether to yield None after each `poll` seconds without anything new.

    Returns
    -------
    records : Follower
        An iterator of `Record` with `position` and ``close()``.

    Raises
    ------
    ReadingError
        As in `read_records`, and if the file was cut or is another one than before.

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
    return Follower(path, reading, position or (0, 0, 0), poll, idle, tell_waits)
