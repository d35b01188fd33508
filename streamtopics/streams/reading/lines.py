# SPDX-License-Identifier: BSD-3-Clause
"""Lines of text, in blocks: one at a time would cost more than all else that is done to them."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from streamtopics.streams.reading.opening import check_is_text
from streamtopics.streams.reading.problems import How, Origin, ReadingError, shown

MARK = "\ufeff"  # the byte order mark


def text_lines(
    chunks: Iterator[bytes],
    how: How,
    origin: Origin,
    lost: list[ReadingError] | None = None,
) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the number of a line with it and lines that follow, without "\n".

    Of a file that is broken, the line in which it ends is left out. Where bad lines are skipped and
    there is a list `lost`, their errors are put there, and what can be read of them comes, too: of
    one that is too long a quotation mark, if an odd number of them is in it.
    """
    try:
        yield from _decoded_lines(chunks, how, origin, lost if how.skip_bad else None)
    except ReadingError as error:
        how.bad(error)


def _decoded_lines(
    chunks: Iterator[bytes], how: How, origin: Origin, lost: list[ReadingError] | None
) -> Iterator[tuple[int, list[str]]]:
    for first, block in _whole_lines(chunks, how, origin, lost):
        try:
            lines = block.decode(how.encoding).split("\n")
        except UnicodeDecodeError:
            yield from _one_by_one(first, block, how, origin, lost)
            continue
        if first == 1:
            lines[0] = lines[0].removeprefix(MARK)
        if not lines[-1]:
            lines.pop()
        yield first, lines


def _whole_lines(
    chunks: Iterator[bytes], how: How, origin: Origin, lost: list[ReadingError] | None
) -> Iterator[tuple[int, bytes]]:
    """Join chunks so that each has whole lines, the first with its number."""
    bad = how.bad if lost is None else lost.append
    number, held, too_long, quotes = 1, [b""], False, 0
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        end_of_first = chunk.find(b"\n") if cut else len(chunk)
        if not too_long and sum(map(len, held)) + end_of_first > how.max_line:
            bad(too_much(origin.place(number), "a line", how))
            too_long = True
        if too_long:
            quotes += chunk.count(b'"', 0, end_of_first) + sum(part.count(b'"') for part in held)
        if not cut:
            held = [b""] if too_long else [*held, chunk]
            continue
        if not too_long:
            block = b"".join(held) + chunk[:cut]
        elif lost is None:  # what is left of the line goes
            number, block = number + 1, chunk[end_of_first + 1 : cut]
        else:  # another one comes for it
            block = b'"' * (quotes % 2) + chunk[end_of_first:cut]
        too_long, quotes = False, 0
        if block:
            yield number, block
            number += block.count(b"\n")
        held = [chunk[cut:]]
    if last := b"".join(held):
        yield number, last


def too_much(place: str, what: str, how: How) -> ReadingError:
    """Return the error for what is longer than the limit."""
    return ReadingError(
        "too long", place,
        f"{what} of more than {how.max_line} bytes; is there one text on each line? If so",
        "max_line", 4 * how.max_line,
    )  # fmt: skip


def _one_by_one(
    first: int, block: bytes, how: How, origin: Origin, lost: list[ReadingError] | None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a block with some that cannot be decoded."""
    bad = how.bad if lost is None else lost.append
    lines = block.removesuffix(b"\n").split(b"\n")
    for number, line in enumerate(lines, start=first):
        try:
            text = line.decode(how.encoding)
        except UnicodeDecodeError as error:
            bad(undecoded(error, line, how, origin.place(number)))
            if lost is None:
                continue
            text = line.decode(how.encoding, "replace")
        yield number, [text.removeprefix(MARK) if number == 1 else text]


def undecoded(error: UnicodeDecodeError, line: bytes, how: How, place: str) -> ReadingError:
    """Return the error for a line; raise that of a file which is no text from here on."""
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        check_is_text(b"\0", place)
    return ReadingError(
        f"not {how.encoding}", place,
        f"byte 0x{line[error.start]:02x} at position {error.start + 1} of {shown(line)} "
        f"is not {how.encoding}; convert the file, or name its encoding",
        "encoding", "latin-1",
    )  # fmt: skip


def text_chunks(chunks: Iterator[bytes], how: How, origin: Origin) -> Iterator[str]:
    """Yield what chunks of bytes say, wherever they are cut, then raise what is bad.

    The last one may be empty.
    """
    decoder = codecs.getincrementaldecoder(how.encoding)()
    line, before, first = 1, b"", True
    for chunk in chunks:
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            yield (
                error.object[: error.start].decode(how.encoding).removeprefix(MARK if first else "")
            )
            raise _undecoded_after(before + chunk, line, error, how, origin) from error
        yield text.removeprefix(MARK) if first else text
        line, before, first = line + before.count(b"\n"), chunk, False
    try:
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _undecoded_after(before, line, error, how, origin) from error


def _undecoded_after(
    block: bytes, line: int, error: UnicodeDecodeError, how: How, origin: Origin
) -> ReadingError:
    """Find the line of bytes that could not be decoded, which end in the last chunk."""
    lost = max(0, len(block) - len(error.object) + error.start)
    start = block.rfind(b"\n", 0, lost) + 1
    text = block[start:].split(b"\n")[0]
    at = UnicodeDecodeError(how.encoding, text, lost - start, lost - start + 1, error.reason)
    return undecoded(at, text, how, origin.place(line + block.count(b"\n", 0, lost)))


def whole_text(chunks: Iterator[bytes], how: How, origin: Origin) -> Iterator[str]:
    """Yield all of a file as one text, or nothing if it is bad."""
    held, size = [], 0
    try:
        for chunk in chunks:
            size += len(chunk)
            if size > how.max_line:
                raise too_much(origin.name, "a document", how)
            held.append(chunk)
        yield _decoded(b"".join(held), how, origin)
    except ReadingError as error:
        how.bad(error)


def _decoded(block: bytes, how: How, origin: Origin) -> str:
    try:
        return block.decode(how.encoding).removeprefix(MARK)
    except UnicodeDecodeError as error:
        number = block.count(b"\n", 0, error.start)
        line = block.split(b"\n")[number]
        start = error.start - (block.rfind(b"\n", 0, error.start) + 1)
        at = UnicodeDecodeError(how.encoding, line, start, start + 1, error.reason)
        raise undecoded(at, line, how, origin.place(number + 1)) from error
