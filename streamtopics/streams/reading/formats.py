# SPDX-License-Identifier: BSD-3-Clause
"""Which file has which format: by its name, or as the caller says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from streamtopics.streams.reading.json_values import json_file, json_lines
from streamtopics.streams.reading.opening import STANDARD_INPUT, byte_chunks, kind_of, name_of
from streamtopics.streams.reading.parquet import parquet_rows
from streamtopics.streams.reading.plain import plain_lines, supposed_lines, whole_documents
from streamtopics.streams.reading.problems import How, Origin, ReadingError
from streamtopics.streams.reading.records import Found
from streamtopics.streams.reading.tables import commas, tabs

Reader: TypeAlias = Callable[[Path, How, Origin], Iterator[Found]]


class Format(NamedTuple):
    """A reader, what it counts, and whether there can be more than a text."""

    read: Reader
    unit: str = "line"
    has_fields: bool = True


FORMATS = {
    "lines": Format(plain_lines, has_fields=False),
    "documents": Format(whole_documents, has_fields=False),
    "jsonl": Format(json_lines),
    "json": Format(json_file),
    "csv": Format(commas),
    "tsv": Format(tabs),
    "parquet": Format(parquet_rows, unit="row"),
}
SUPPOSED = Format(supposed_lines, has_fields=False)
SUFFIXES = {
    ".txt": "lines",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}


def format_of(path: Path, how: How, in_folder: bool) -> Format:
    """Return the format that was asked for, or that the name of a file says."""
    name = how.format or SUFFIXES.get(kind_of(path.name))
    if name is None:
        return SUPPOSED
    if name == "lines" and in_folder and how.format is None:
        name = "documents"
    return FORMATS[name]


def found_in_file(path: Path, how: How, in_folder: bool = False) -> Iterator[Found]:
    """Read a file or standard input."""
    form = format_of(path, how, in_folder)
    name = name_of(path)
    if not form.has_fields and len(how.names) > 1 and str(path) != STANDARD_INPUT:
        next(byte_chunks(path, how), None)  # What is no text at all is refused as that.
    check_fields(form.has_fields, how, name)
    return form.read(path, how, Origin(name, form.unit))


def check_fields(has_fields: bool, how: How, name: str) -> None:
    """Raise an error where more than a text is asked of plain text."""
    if not has_fields and len(how.names) > 1:
        raise ReadingError(
            "no fields", name,
            f"plain text has no {how.names[1]!r} beside the text, as JSON lines and tables may",
            "format", "jsonl",
        )  # fmt: skip
