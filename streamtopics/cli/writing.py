# SPDX-License-Identifier: BSD-3-Clause
"""Files that the command writes: each is there as a whole, or the one before is."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from streamtopics.saving.files import replacing


def check_target(
    path: Path | None, kinds: Iterable[str] = (), kept: Iterable[str | Path | None] = ()
) -> None:
    """Refuse what could not be written at the end, or would take the place of a file to keep."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"nothing can be written to the folder {path.parent}; name another")
    for other in kept:
        if other is not None and os.path.realpath(other) == os.path.realpath(path):
            raise ValueError(f"{path} is read or written already; name another file to write to")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file to write to")
    if kinds and path.suffix[1:].lower() not in set(kinds):
        raise ValueError(f"{path} is no kind of file to write; use one of {', '.join(kinds)}")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file."""
    with replacing(path) as send:
        send(content)


def as_line(row: Mapping[str, Any], kind: str) -> str:
    """Return a row as a line of JSON or of a table."""
    if kind == "jsonl":
        return json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n"
    line = io.StringIO()
    values = (" ".join(map(str, v)) if isinstance(v, list) else v for v in row.values())
    csv.writer(line, lineterminator="\n").writerow(map(_no_formula, values))
    return line.getvalue()


def _no_formula(value: Any) -> Any:
    """Return a value for a cell, quoted where a spreadsheet would take it for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def write_rows(path: Path | None, rows: Iterable[Mapping[str, Any]], kind: str) -> int:
    """Write rows as they come, to a file or standard output; return how many."""
    n = 0
    with nullcontext(_print) if path is None else replacing(path) as send:
        for n, row in enumerate(rows, start=1):
            if n == 1 and kind == "csv":
                send(as_line(dict.fromkeys(row) | {name: name for name in row}, kind).encode())
            send(as_line(row, kind).encode("utf-8", "replace"))
    return n


def _print(data: bytes) -> None:
    sys.stdout.write(data.decode())
