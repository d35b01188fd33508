# SPDX-License-Identifier: BSD-3-Clause
"""Tables of text, .csv and .tsv, with the names of the columns in the first row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from streamtopics.streams.reading.lines import text_lines
from streamtopics.streams.reading.opening import byte_chunks
from streamtopics.streams.reading.problems import How, Origin, ReadingError, likely, shown, twice
from streamtopics.streams.reading.records import Found
from streamtopics.streams.reading.rows import FURTHER, RowLines

# What may be between fields in place of the mark that is looked for, and the format of it.
SEPARATORS = {"\t": ("tabs", "tsv"), ",": ("commas", "csv"), ";": ("semicolons", ""),
              "|": ("bars", "")}  # fmt: skip
# Texts that stand for none, as pandas has them.
MISSING = {
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
}  # fmt: skip


def _table(path: Path, how: How, origin: Origin, mark: str) -> Iterator[Found]:
    """Read a row at a time: the text alone, or an object of the columns that are read."""
    columns: list[int] | None = None
    names, width, between = how.names, 0, SEPARATORS[mark][0]
    text_alone = how.time_key is None and not how.keys
    for number, row in _rows(path, how, origin, mark):
        if columns is None:
            columns = [_place_of(name, row, how, origin, between) for name in names]
            width = len(row)
        elif len(row) != width and (len(row) <= max(columns) or any(row[width:])):
            how.bad(_other_width(row, width, between, origin.place(number)))
        else:
            row[columns[0]] = "" if row[columns[0]].strip() in MISSING else row[columns[0]]
            fields = {n: row[c] for n, c in zip(names, columns, strict=True)}
            yield origin, number, row[columns[0]] if text_alone else fields


commas = partial(_table, mark=",")
tabs = partial(_table, mark="\t")


def _rows(path: Path, how: How, origin: Origin, mark: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with the line on which each begins.

    A row with a bad line in it is bad as a whole; the first one is refused then, always.
    """
    lost: list[ReadingError] = []  # of a row and its lines
    blocks = text_lines(byte_chunks(path, how), how, origin, lost)
    lines = RowLines(chain.from_iterable(block for _, block in blocks), mark, how, origin, lost)
    rows: Any = csv.reader(lines.given, delimiter=mark, strict=True)
    named = ended = False
    while not ended:
        lines.next_row()
        long_row = None
        try:
            for row in rows:
                if lost:
                    break
                if row:
                    named = True
                    yield lines.begin, row
                else:
                    how.skipped.add("empty lines", origin.place(lines.begin))
                lines.next_row()
            else:
                ended = True
        except csv.Error as error:
            long_row = lines.fields_left()
            if long_row is None and not lost:
                lost.append(_no_row(error, SEPARATORS[mark][0], origin.place(lines.opened)))
        if long_row:
            named = True
            yield lines.begin, long_row
        for problem in lost:
            if not named:
                raise _no_names(problem) from problem
            how.bad(problem)
        if lost:
            how.skipped.add(FURTHER, origin.place(lines.begin + 1), lines.end - lines.begin)
        lost.clear()


def _place_of(name: str, names: list[str], how: How, origin: Origin, between: str) -> int:
    if names.count(name) == 1:
        return names.index(name)
    if name in names:
        raise twice(name, origin)
    _check_separator(names, origin, between)
    listed = ", ".join(shown(other) for other in names[:10])
    asked = {how.time_key: "time_key", how.text_key: "text_key"}.get(name, "")
    raise ReadingError(
        "no column", origin.name,
        f"no column {name!r}; the columns of the first row, between {between}, are: {listed}. If "
        "these are no names, write such a row; if each line is a text, the file should end in "
        ".txt; otherwise name one of these columns",
        *likely(name, names, asked),
    )  # fmt: skip


def _check_separator(names: list[str], origin: Origin, between: str) -> None:
    """Raise an error where the first row looks as if something else were between its fields."""
    for mark, (name, form) in SEPARATORS.items():
        if len(names) == 1 and mark in names[0]:
            remedy = "" if form else f". Save it with {between}, or convert it to JSON lines"
            raise ReadingError(
                "no column", origin.name,
                f"the first row, {shown(names[0])}, has no {between}, but {name}, between its "
                f"fields, and is read as one column{remedy}",
                "format" if form else "", form,
            )  # fmt: skip


def _other_width(row: list[str], width: int, between: str, place: str) -> ReadingError:
    return ReadingError(
        "rows of another width", place,
        f"a row of {len(row)} fields, but the first row has {width}: {shown(row)}. Complete it, "
        f"put fields with {between} in them in quotation marks, or leave it out",
    )  # fmt: skip


def _no_names(error: ReadingError) -> ReadingError:
    problem = f"the first row, of the names of the columns, cannot be read: {error.problem}"
    return ReadingError(error.reason, error.place, problem, error.setting, error.value)


def _no_row(error: csv.Error, between: str, place: str) -> ReadingError:
    why = "wrong quotation marks" if "field limit" in str(error) else error
    return ReadingError(
        "no rows of a table", place,
        f"no row of a table ({why}). Fields are separated by {between}, and those with quotation "
        f"marks, {between} or ends of lines in them are in quotation marks, which are doubled "
        "within. If the file has a plain text on each line, it should end in .txt",
    )  # fmt: skip
