# SPDX-License-Identifier: BSD-3-Clause
"""Reads any source: a file, a folder, standard input, or an iterable of texts and paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import Any

from streamtopics.streams.reading.folders import files_of
from streamtopics.streams.reading.formats import SUFFIXES, found_in_file
from streamtopics.streams.reading.opening import STANDARD_INPUT, kind_of
from streamtopics.streams.reading.problems import How, Origin, shown
from streamtopics.streams.reading.records import Found
from streamtopics.utils.structure import from_arrow, has_entries

ITEMS = Origin("", "item")


def found_in(source: Any, how: How) -> Iterator[Found]:
    """Check a source, and read it when that is asked for."""
    if isinstance(source, str | os.PathLike):
        return _found_at(existing(source), how)
    if isinstance(source, bytes | Mapping) or is_matrix(source) or not has_entries(source):
        raise TypeError(
            "source must be an iterable of texts, such as a list, or a path or an iterable of "
            f"paths; got {type(source).__name__}"
        )
    if isinstance(source, list | tuple):
        for item in source:
            if type(item) is not str and isinstance(item, os.PathLike):
                existing(item)
    return _found_in_items(source, how)


def is_matrix(source: Any) -> bool:
    """Tell whether a source has rows and columns."""
    shape = getattr(source, "shape", None)
    return isinstance(shape, Sized) and len(shape) == 2


def _found_in_items(source: Iterable[Any], how: How) -> Iterator[Found]:
    for number, item in enumerate(from_arrow(source), start=1):
        if type(item) is not str and isinstance(item, os.PathLike):
            yield from _found_at(existing(item), how)
            continue
        if number == 1 and isinstance(item, str) and kind_of(item) in SUFFIXES and _exists(item):
            raise ValueError(
                f"the first text of source is the name of a file, {item!r}; in an iterable a str "
                "is a text: pass pathlib.Path objects to read files"
            )
        yield ITEMS, number, item


def _found_at(path: Path, how: How) -> Iterator[Found]:
    if str(path) == STANDARD_INPUT or not path.is_dir():
        yield from found_in_file(path, how)
        return
    for file in files_of(path, how):
        yield from found_in_file(file, how, in_folder=True)


def existing(path: str | os.PathLike[str]) -> Path:
    """Return a path of which there is a file, a folder or standard input."""
    name = os.fspath(path)
    if name == STANDARD_INPUT or _exists(name):
        return Path(name)
    if isinstance(path, str):
        raise FileNotFoundError(
            f"source is a str, so it must be the path of a file or directory, but there is none "
            f"with this name: {shown(path)}. Pass texts as a list: [text, ...]"
        )
    raise FileNotFoundError(f"there is no file or directory {name!r}")


def _exists(name: str) -> bool:
    try:
        return name != "" and Path(name).exists()
    except (OSError, ValueError):  # for example a text that is too long to be a path
        return False
