# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of a file: a description in JSON, arrays, and a checksum over everything.

    first line          b"streamtopics file, format 00001\\n"
    two numbers         length of the whole file, and of the description; uint64, little-endian
    description         JSON in ASCII; "arrays" lists dtype, shape and order ("C" or "F") of each
    arrays              their bytes, one after the other
    checksum            SHA-256 of all that comes before it, 32 bytes

The first line and the checksum are the same in all formats. Nothing is compressed, so that the
length of the file bounds what there is to allocate.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import struct
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from streamtopics.saving.errors import LoadError
from streamtopics.saving.upgrades import FORMAT

FIRST_LINE = "streamtopics file, format {:05d}\n"
FIRST_BYTES = FIRST_LINE.format(0)[:-6].encode()
LENGTHS = struct.Struct("<QQ")
N_HEAD = len(FIRST_BYTES) + 6 + LENGTHS.size
N_CHECKSUM = hashlib.sha256().digest_size
BLOCK = 2**20
# Booleans, numbers, fixed texts and times; never objects.
DTYPES = re.compile(r"[<>|][biufcSUmM]\d{1,9}(\[\d{0,9}[A-Za-z]{1,2}\])?")
AGAIN = "save it again, or load an older copy"


def write(send: Callable[[Any], None], description: dict[str, Any], arrays: Sequence[Any]) -> bytes:
    """Write a description and arrays, and return the checksum.

    Parameters
    ----------
    send : callable
        Takes bytes in turn.
    description : dict
        What JSON can hold.
    arrays : sequence of ndarray
        Of plain types; copied one at a time if their memory is not in one piece.
    """
    known = [[a.dtype.str, list(a.shape), order_of(a)] for a in arrays]
    text = json.dumps(description | {"arrays": known}, separators=(",", ":")).encode("ascii")
    n_bytes = N_HEAD + len(text) + sum(a.nbytes for a in arrays) + N_CHECKSUM
    checksum = hashlib.sha256()
    for part in (FIRST_LINE.format(FORMAT).encode(), LENGTHS.pack(n_bytes, len(text)), text):
        checksum.update(part)
        send(part)
    for array in arrays:
        piece = in_one_piece(array)
        for start in range(0, len(piece), BLOCK):
            checksum.update(piece[start : start + BLOCK].data)
            send(piece[start : start + BLOCK].data)
    send(checksum.digest())
    return checksum.digest()


def order_of(array: np.ndarray) -> str:
    """The order in which an array's memory is written: "F" for columns first, or "C"."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def in_one_piece(array: np.ndarray) -> np.ndarray:
    """The numbers of an array in the order that it is written in, as bytes."""
    array = array.T if order_of(array) == "F" else np.ascontiguousarray(array)
    return array.reshape(-1).view(np.uint8)


def read(file: BufferedReader, name: str) -> tuple[int, dict[str, Any], list[np.ndarray]]:
    """Read the format, the description and the arrays of a whole file.

    Parameters
    ----------
    file : binary file
        At its beginning.
    name : str
        Of the file, for messages.

    Raises
    ------
    LoadError
        If anything is missing, altered, or of a later format. Nothing was allocated then that is
        larger than the file.
    """
    n_bytes, n_text = _checked_head(file, name)
    format_number = _checked_sum(file, n_bytes, name)
    file.seek(N_HEAD)
    try:
        description = json.loads(file.read(n_text).decode("ascii"))
        kinds = description["arrays"]
        arrays = list(_empty_arrays(kinds, n_bytes - N_HEAD - n_text - N_CHECKSUM))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise LoadError(f"{name} has no valid description ({error}); {AGAIN}") from error
    for array in arrays:
        file.readinto(in_one_piece(array).data)
    # Where another byte order is native.
    native = [a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("=")) for a in arrays]
    return format_number, description, native


def checksum_of(path: Path) -> bytes:
    """The checksum at the end of a file, which is not compared with what comes before it."""
    with path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - N_CHECKSUM))
        return file.read(N_CHECKSUM)


def _checked_head(file: BufferedReader, name: str) -> tuple[int, int]:
    """Lengths of the file and of its description, which fit what there is."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise LoadError(f"{name} is no ordinary file; load reads files that save has written")
    head = file.read(N_HEAD)
    if head[: len(FIRST_BYTES)] != FIRST_BYTES[: len(head)] or not head:
        raise LoadError(
            f"{name} was not written by streamtopics.save: it begins with {head[:20]!r}; load "
            "pickles and joblib's files with what wrote them, and only if you trust them"
        )
    if len(head) < N_HEAD:
        raise LoadError(f"{name} is cut in its first line; {AGAIN}")
    n_bytes, n_text = LENGTHS.unpack(head[-LENGTHS.size :])
    if status.st_size < n_bytes:
        raise LoadError(f"{name} is cut: {status.st_size} of {n_bytes} bytes are there; {AGAIN}")
    if status.st_size > n_bytes or N_HEAD + n_text + N_CHECKSUM > n_bytes:
        raise LoadError(f"{name} is damaged: its lengths contradict each other; {AGAIN}")
    return n_bytes, n_text


def _checked_sum(file: BufferedReader, n_bytes: int, name: str) -> int:
    """The format of a file whose checksum is right, if it is not a later one."""
    file.seek(0)
    checksum, block, left = hashlib.sha256(), memoryview(bytearray(BLOCK)), n_bytes - N_CHECKSUM
    first = b""
    while left:
        n_read = file.readinto(block[: min(left, BLOCK)])
        if not n_read:
            raise LoadError(f"{name} became shorter while it was read; {AGAIN}")
        first = first or bytes(block[: len(FIRST_BYTES) + 6])
        checksum.update(block[:n_read])
        left -= n_read
    if file.read(N_CHECKSUM) != checksum.digest():
        raise LoadError(f"{name} is damaged: its checksum is wrong; {AGAIN}")
    number = first[len(FIRST_BYTES) : -1]
    if not number.isdigit() or int(number) < 1:
        raise LoadError(f"{name} is of a format {number!r} that does not exist; {AGAIN}")
    if int(number) > FORMAT:
        raise LoadError(
            f"{name} is of format {int(number)}, and this version of streamtopics reads formats "
            f"up to {FORMAT}; update streamtopics to load it"
        )
    return int(number)


def _empty_arrays(kinds: Any, n_bytes: int) -> Iterator[np.ndarray]:
    """Arrays of these kinds, which have room for so many bytes together."""
    for dtype, shape, order in kinds:
        if not DTYPES.fullmatch(dtype) or order not in ("C", "F"):
            raise ValueError(f"there is no array of type {dtype!r} and order {order!r}")
        if not all(type(n) is int and 0 <= n < 2**62 for n in shape) or len(shape) > 32:
            raise ValueError(f"there is no array of shape {shape!r}")
        n_bytes -= np.dtype(dtype).itemsize * math.prod(shape)
        if n_bytes < 0:
            raise ValueError("the arrays are larger than the file")
        yield np.empty(tuple(shape), dtype, order)
    if n_bytes:
        raise ValueError(f"{n_bytes} bytes belong to no array")
