# SPDX-License-Identifier: BSD-3-Clause
"""Records of what happened along a stream, such as births, changes and alarms, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from streamtopics.report.words import shortened
from streamtopics.utils.structure import has_entries
from streamtopics.utils.times import Periods

# Rows, columns and characters of a cell that a table shows at most.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 200, 12, 300
# A number of another kind than floating point.
MOST_SHOWN = 1e300
# Entries of a list in a cell.
MOST_ENTRIES = 10


@dataclass(frozen=True)
class Table:
    """Rows as people read them.

    Attributes
    ----------
    columns : tuple of str
        Names of the fields, underscores as spaces.
    rows : tuple of tuples of str
        At most `MOST_ROWS`: the last ones, the newest first, or the first ones.
    periods : tuple of int or None
        The period of each row, where it has a time that falls into one.
    n_left_out : int
        Rows that are not shown.
    newest_first : bool
        Whether rows go back in time.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    periods: tuple[int | None, ...]
    n_left_out: int
    newest_first: bool


def table_of(
    name: str, records: Iterable[Any], periods: Periods | None = None, *, newest_first: bool = True
) -> Table:
    """A table of records: named tuples, dataclasses or mappings.

    They come in order of time and are turned round, or in the order to be shown in.

    Raises
    ------
    TypeError
        If a record is something else.
    """
    if isinstance(records, Mapping) or not has_entries(records):
        raise TypeError(
            f"{name} must be a sequence of records (named tuples, dataclasses or mappings); got "
            f"{records!r:.60}"
        )
    all_rows = [_fields(name, record) for record in records]
    rows = (all_rows[::-1] if newest_first else all_rows)[:MOST_ROWS]
    seen = dict.fromkeys(key for row in rows for key in row)
    columns = [column for column in seen if any(cell(row.get(column)) for row in rows)]
    columns = columns[:MOST_COLUMNS]
    times = [None if periods is None else periods.place(row.get("time")) for row in rows]
    return Table(
        tuple(shortened(column.replace("_", " "), LONGEST_CELL) for column in columns),
        tuple(tuple(cell(row.get(column)) for column in columns) for row in rows),
        tuple(times),
        len(all_rows) - len(rows),
        newest_first,
    )


def _fields(name: str, record: Any) -> dict[str, Any]:
    found = _fields_of(record)
    if found is None:
        raise TypeError(
            f"{name} must hold named tuples, dataclasses or mappings, a record for each row; got "
            f"{record!r:.60}"
        )
    return found


def _fields_of(record: Any) -> dict[str, Any] | None:
    """Names and values of a record; None of something else."""
    if hasattr(record, "_asdict"):
        return dict(record._asdict())
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: getattr(record, field.name) for field in fields(record)}
    if isinstance(record, Mapping):
        return {str(key): value for key, value in record.items()}
    return None


def cell(value: Any) -> str:
    """A value as the text of a cell."""
    return shortened(_text(value), LONGEST_CELL)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    is_exact = isinstance(value, Real) and not isinstance(value, float | np.floating)
    if is_exact and not -MOST_SHOWN <= value <= MOST_SHOWN:
        return "too large to show"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        if np.isnan(float(value)):
            return ""
        return f"{float(value):.4g}"
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ")
    if isinstance(value, np.ndarray):
        return _text(value.tolist())
    if (inside := _fields_of(value)) is not None:
        return _text_of_record(inside)
    if isinstance(value, list | tuple | set | frozenset):
        entries = sorted(map(str, value)) if isinstance(value, set | frozenset) else list(value)
        between = "; " if any(_fields_of(entry) is not None for entry in entries) else ", "
        more = ["…"] if len(entries) > MOST_ENTRIES else []
        return between.join([*map(_text, entries[:MOST_ENTRIES]), *more])
    return str(value)


def _text_of_record(inside: dict[str, Any]) -> str:
    """A record within a cell: its first value, which says what it is, and then the others."""
    texts = {name.replace("_", " "): _text(value) for name, value in inside.items()}
    first, *others = [(name, text) for name, text in texts.items() if text] or [("", "")]
    more = ", ".join(f"{name} {text}" for name, text in others)
    return f"{first[1]} ({more})" if more else first[1]
