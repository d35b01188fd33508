# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of a file or of standard input, decompressed, some at a time."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from streamtopics.streams.reading.problems import How, ReadingError

STANDARD_INPUT = "-"
CHUNK = 2**17


# How files begin that are no text, what they are, and what helps.
NO_TEXT = [
    (re.compile(start), what, remedy)
    for start, what, remedy in (
        (rb"\x1f\x8b", "compressed (gzip)", "pipe it through zcat, or name it .gz"),
        (rb"BZh[1-9]1AY&SY", "compressed (bzip2)", "pipe it through bzcat, or name it .bz2"),
        (rb"\xfd7zXZ\x00", "compressed (xz)", "pipe it through xzcat, or name it .xz"),
        (rb"\x28\xb5\x2f\xfd", "compressed (zstd)", "pipe it through zstdcat, or name it .zst"),
        (rb"PK\x03\x04", "a zip archive, as .docx and .xlsx are", "unpack it, or save it as text"),
        (rb"%PDF-\d\.\d", "a PDF", "extract its text: call `pdftotext FILE`, for example"),
        (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a", "a picture", "leave it out"),
        (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|(?s:.{257})ustar", "an archive", "unpack it"),
        (
            rb"(?s).{0,1023}\x00",
            "UTF-16 or binary",
            "convert it to UTF-8: save it so, or call `iconv -f UTF-16 -t UTF-8 FILE`",
        ),
    )
]


class Compression(NamedTuple):
    """The function that opens a compressed file, and the errors that a broken one raises."""

    open: Callable[[Path], Any]
    errors: tuple[type[Exception], ...]


def _zstd() -> Compression:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        return Compression(module.open, (EOFError, module.ZstdError))
    raise ImportError(
        "files that end in .zst need Python 3.14 or the package backports.zstd; run `pip install "
        "backports.zstd`, or decompress them"
    )


# Called when a file is opened, since that of .zst may have to be installed.
COMPRESSIONS: dict[str, Callable[[], Compression]] = {
    ".gz": lambda: Compression(gzip.open, (EOFError, OSError, zlib.error)),
    ".bz2": lambda: Compression(bz2.open, (EOFError, OSError)),
    ".xz": lambda: Compression(lzma.open, (EOFError, lzma.LZMAError)),
    ".zst": _zstd,
}


def compression_suffix(name: str) -> str:
    """Return the suffix of compression of a file name, or ""."""
    suffix = PurePath(name.lower()).suffix
    return suffix if suffix in COMPRESSIONS else ""


def kind_of(name: str) -> str:
    """Return the suffix of a file name, without that of compression."""
    return PurePath(name.lower().removesuffix(compression_suffix(name))).suffix


def byte_chunks(path: Path, how: How) -> Iterator[bytes]:
    """Read a file or standard input, as much at a time as there is, but no more than a line.

    ReadingError, whatever is done about bad records: who reads must not take the end for a whole.
    """
    suffix = compression_suffix(path.name)
    compression = COMPRESSIONS[suffix]() if suffix else Compression(byte_stream, ())
    size, is_first = min(CHUNK, how.max_line), True
    try:
        with compression.open(path) as file:
            while chunk := file.read1(size):
                if is_first:
                    check_is_text(chunk, name_of(path))
                    is_first = False
                yield chunk
    except compression.errors as error:
        if getattr(error, "errno", None) is not None:  # the disk, not what is on it
            raise
        raise ReadingError(
            "broken file", str(path),
            f"ends in {suffix} but cannot be decompressed ({error}); it may be incomplete, or "
            "not be compressed that way: fetch it again, or rename it",
        ) from error  # fmt: skip


def check_is_text(start: bytes, name: str) -> None:
    """Raise an error where a file begins as what is compressed, an archive or a PDF."""
    for beginning, what, remedy in NO_TEXT:
        if beginning.match(start):
            raise ReadingError("not text", name, f"is {what}, not text; {remedy}")


def name_of(path: Path) -> str:
    """Return what messages call a file."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def byte_stream(path: Path) -> AbstractContextManager[Any]:
    """Open a file or standard input, which is left open."""
    if str(path) != STANDARD_INPUT:
        return path.open("rb")
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise ValueError("standard input, '-', is closed or has no bytes to read; name a file")
    return nullcontext(stream)
