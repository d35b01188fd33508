# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files, by pyarrow, some rows of the columns that are read at a time."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from streamtopics.streams.reading.opening import STANDARD_INPUT, compression_suffix
from streamtopics.streams.reading.problems import How, Origin, ReadingError, likely, shown, twice
from streamtopics.streams.reading.records import Found

ROWS = 1000


def parquet_rows(path: Path, how: How, origin: Origin) -> Iterator[Found]:
    """Read the rows of a file, as objects of the columns that are read."""
    parquet, arrow = _module("pyarrow.parquet"), _module("pyarrow")
    if str(path) == STANDARD_INPUT or compression_suffix(path.name):
        raise ReadingError(
            "not Parquet", origin.name,
            "Parquet is read here and there, so it must be a file, and not be compressed as a "
            "whole (what is in it may be); write or decompress it first",
        )  # fmt: skip
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            _check_columns(file.schema_arrow.names, how, origin)
            for batch in file.iter_batches(ROWS, columns=how.names):
                for row in _objects(batch, arrow):
                    number += 1
                    yield origin, number, row
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # the disk, not what is on it
            raise
        problem = f"cannot be read as Parquet ({shown(str(error))}); fetch or write it again"
        how.bad(ReadingError("broken file", origin.name, problem))


def _objects(batch: Any, arrow: Any) -> list[dict[str, Any]]:
    """Return rows, whose times Python can hold: it has no nanoseconds."""
    schema = batch.schema
    for i, kind in enumerate(schema.types):
        if arrow.types.is_timestamp(kind) and kind.unit == "ns":
            schema = schema.set(i, schema.field(i).with_type(arrow.timestamp("us", kind.tz)))
    columns = [
        column.cast(kind, safe=False) for column, kind in zip(batch, schema.types, strict=True)
    ]
    rows: list[dict[str, Any]] = arrow.RecordBatch.from_arrays(columns, schema=schema).to_pylist()
    return rows


def _check_columns(names: list[str], how: How, origin: Origin) -> None:
    for name in how.names:
        if names.count(name) > 1:
            raise twice(name, origin)
        if name not in names:
            listed = ", ".join(shown(other) for other in names[:10])
            asked = {how.time_key: "time_key", how.text_key: "text_key"}.get(name, "")
            problem = f"no column {name!r}; the columns are: {listed}"
            raise ReadingError("no column", origin.name, problem, *likely(name, names, asked))


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            "files that end in .parquet need pyarrow; run `pip install pyarrow`, or convert them "
            "to JSON lines or .csv"
        ) from error
