# SPDX-License-Identifier: BSD-3-Clause
"""The files of a folder and of the folders in it, in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from streamtopics.streams.reading.formats import SUFFIXES
from streamtopics.streams.reading.opening import COMPRESSIONS, kind_of
from streamtopics.streams.reading.problems import How, ReadingError


def files_of(folder: Path, how: How) -> Iterator[Path]:
    """Yield the files to read, sorted by name in each folder; count those that are not."""
    left, n_read, others = _reversed_entries(folder), 0, set()
    while left:
        path = left.pop()
        kind = kind_of(path.name)
        if path.name.startswith("."):
            how.skipped.add("hidden files", str(path))
        elif path.is_dir():
            if path.is_symlink():  # which may lead back
                how.skipped.add("links to folders", str(path))
            else:
                left += _reversed_entries(path)
        elif path.is_file() and (how.format is not None or kind in SUFFIXES):
            n_read += 1
            yield path
        elif not path.exists():  # or one that leads to itself
            how.skipped.add("links that lead nowhere", str(path))
        elif not path.is_file():
            how.skipped.add("pipes, sockets or devices", str(path))
        else:
            others.add(kind)
            reason = f"files that end in {kind}" if kind else "files without suffix"
            how.skipped.add(reason, str(path))
    if not n_read:
        raise ReadingError(
            "nothing to read", str(folder),
            f"there are no files to read: none ends in {', '.join(sorted(SUFFIXES))}, with or "
            f"without {', '.join(COMPRESSIONS)}. " + _said(sorted(others)),
            *(("format", "documents") if others else ()),
        )  # fmt: skip


def _reversed_entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir(), reverse=True)


def _said(kinds: list[str]) -> str:
    if not kinds:
        return "Put some there, or name another folder"
    listed = ", ".join(kind or "no suffix" for kind in kinds[:10])
    return f"To read all files, which end in {listed}, say of what format they are"
