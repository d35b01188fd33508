# SPDX-License-Identifier: BSD-3-Clause
"""The lines of each row of a table of text, and the fields of a row that csv does not read."""

from __future__ import annotations

import io
from collections.abc import Iterator

from streamtopics.streams.reading.problems import How, Origin, ReadingError

QUOTE = '"'
# What is counted of a row over several lines that cannot be read, beside the row itself: of a
# quotation mark that is not closed there are many.
FURTHER = "further lines of such rows"
ALWAYS = 2**17  # characters that a row may have over all its lines, however short these must be


class RowLines:
    """Lines for `csv.reader`, of which those of a row are kept until it is complete.

    It raises an error for a field beyond `csv.field_size_limit`, which holds for the whole process,
    and would go on with what is left of that field as if it were rows.

    Attributes
    ----------
    given : iterator of str
        The lines, with their ends.
    begin, end : int
        The numbers of the line on which the row begins, and of the last line that was given.
    """

    def __init__(
        self, lines: Iterator[str], mark: str, how: How, origin: Origin, lost: list[ReadingError]
    ) -> None:
        self.begin, self.end = 1, 0
        self._most = max(how.max_line, ALWAYS)
        self._mark, self._origin, self._lost, self._skipped = mark, origin, lost, how.skipped
        self.given = self._up_to_limit(lines)
        self.next_row()

    def next_row(self) -> None:
        """Forget the lines of the row, which is complete."""
        # Of many short lines a list would take thirty times as much.
        self._row, self._size = io.StringIO(), 0

    @property
    def opened(self) -> int:
        """The line of the quotation mark that is not closed, or else the first of the row."""
        row = self._row.getvalue()
        return self.begin + row.count("\n", 0, ends_quoted(row, 0, self._mark))

    def fields_left(self) -> list[str] | None:
        """Go to the end of a row that csv did not read; return its fields, None if it has none."""
        quoted = ends_quoted(self._row.getvalue(), 0, self._mark)
        while quoted and (line := next(self.given, "")):
            quoted = ends_quoted(line, quoted, self._mark)
        return None if quoted or self._lost else fields_of(self._row.getvalue(), self._mark)

    def _up_to_limit(self, lines: Iterator[str]) -> Iterator[str]:
        """Yield lines; for those of a row that are beyond the limit one that closes it."""
        for line in lines:
            self.end += 1
            if self._size and self._size + len(line) > self._most:
                self._lost.append(self._too_long())
                yield QUOTE + "\n"
                end, quoted = self.end, ends_quoted(line, 1, self._mark)
                while quoted and (more := next(lines, None)) is not None:
                    self.end += 1
                    quoted = ends_quoted(more, 1, self._mark)
                self._skipped.add(FURTHER, self._origin.place(end + 1), self.end - end)
                self._lost.clear()  # the errors of these lines: their row was told of
                continue
            if not self._size:
                self.begin = self.end
            self._size += len(line) + 1
            self._row.write(line + "\n")
            yield line + "\n"

    def _too_long(self) -> ReadingError:
        return ReadingError(
            "too long", self._origin.place(self.opened),
            f"a row of more than {self._most} characters, over all its lines; is each quotation "
            "mark closed? If so",
            "max_line", 4 * self._most,
        )  # fmt: skip


def ends_quoted(text: str, quoted: int, mark: str) -> int:
    """Return the place behind the quotation mark that a text leaves open, 0 if it leaves none.

    It begins within one if `quoted`, which then stands for that place.
    """
    begin = 0
    while True:
        if not quoted:
            if not (begin == 0 and text.startswith(QUOTE)):
                begin = text.find(mark + QUOTE, begin) + 1
                if begin == 0:
                    return 0
            begin = quoted = begin + 1
        begin = _closed(text, begin)
        if begin < 0:
            return quoted
        quoted = 0


def fields_of(row: str, mark: str) -> list[str] | None:
    """Return the fields of a row as csv does, of any length, or None if it is no row."""
    row = row.rstrip("\r\n")
    fields, place = list[str](), 0
    while True:
        if row.startswith(QUOTE, place):
            end = _closed(row, place + 1)
            if end < 0 or row[end : end + 1] not in {mark, ""}:
                return None
            fields.append(row[place + 1 : end - 1].replace(2 * QUOTE, QUOTE))
        else:
            found = row.find(mark, place)
            end = len(row) if found < 0 else found
            fields.append(row[place:end])
            if "\n" in fields[-1] or "\r" in fields[-1]:
                return None
        if end == len(row):
            return fields
        place = end + 1


def _closed(text: str, place: int) -> int:
    """Return the place behind the quotation mark that closes a field, or -1; two are one of it."""
    while (place := text.find(QUOTE, place)) >= 0:
        if not text.startswith(QUOTE, place + 1):
            return place + 1
        place += 2
    return -1
