# SPDX-License-Identifier: BSD-3-Clause
"""The time of a record: a date, a number or a text, and all of one kind."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeAlias

from streamtopics.streams.reading.problems import ReadingError, shown
from streamtopics.utils.times import read_time

Time: TypeAlias = datetime | float


def kind_of_time(value: Time) -> str:
    """Return what a time can be compared with, in words."""
    if isinstance(value, datetime):
        return "a date"
    return "a number"


class Times:
    """Reads the times of a source, which must be of one kind, since others cannot be compared."""

    def __init__(self) -> None:
        self._kind = ""
        self._first = ""

    def read(self, value: Any, place: str) -> Time:
        """Return the time of a record."""
        try:
            result = read_time(value)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ReadingError(
                "no time", place,
                f"a time must be a number or a date; got {shown(value)} ({type(value).__name__}). "
                "Write it as 2003-05-17 or 2003-05-17T12:30, or leave the record out",
            ) from error  # fmt: skip
        kind = kind_of_time(result)
        if not self._kind:
            self._kind, self._first = kind, f"{shown(value)} in {place}"
        if kind != self._kind:
            raise ReadingError(
                "another kind of time", place,
                f"the time {shown(value)} is {kind}, but the first one, {self._first}, is "
                f"{self._kind}; write all of them in one way",
            )  # fmt: skip
        return result
