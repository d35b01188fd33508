# SPDX-License-Identifier: BSD-3-Clause
"""The time of a record: a date, a number or a text, and all of one kind."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from typing import Any, TypeAlias

import numpy as np

from streamtopics.checks import plain
from streamtopics.datasets.reading.problems import ReadingError, shown

Time: TypeAlias = datetime | float | str
# Whole numbers from here on are floats, since an array has no larger ones.
LONGEST = 2**63


def time_of(value: Any, place: str) -> Time:
    """Read a time: a number, else a date as of ISO 8601, else a text, which is kept as it is."""
    given, value = value, _of_python(value)
    if isinstance(value, datetime) and value == value:  # that of pandas which is missing is not
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time())
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise ReadingError(
            "no time", place,
            f"a time must be a number, a date or a text; got {shown(given)} "
            f"({type(given).__name__}). Complete it, or leave the record out",
        )  # fmt: skip
    number = _number(value)
    if number is None:
        return _date_or_text(str(value))
    if not math.isfinite(number):
        raise ReadingError(
            "no time", place,
            f"a time must be finite; got {shown(value)}. Correct it, or leave the record out",
        )  # fmt: skip
    return whole if (whole := _whole(value)) is not None else number


def _of_python(value: Any) -> Any:
    """A number or a date of NumPy as one of Python; None where that has no such date."""
    if not isinstance(value, np.datetime64):
        return plain(value)
    if not isinstance(value.astype("datetime64[s]").item(), datetime):
        return None  # microseconds would wrap around
    return value.astype("datetime64[us]").item()


def _number(value: str | float) -> float | None:
    if isinstance(value, str) and "_" in value:  # which Python reads over, as in "2024_01"
        return None
    try:
        return float(value)
    except ValueError:
        return None
    except OverflowError:
        return math.inf


def _whole(value: str | float) -> int | None:
    """A whole number as one, such as a year; None where it is written as a fraction, or long."""
    if isinstance(value, float):
        return None
    try:
        whole = int(value)
    except ValueError:
        return None
    return whole if abs(whole) < LONGEST else None


def _date_or_text(value: str) -> Time:
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        return value


def kind_of_time(value: Time) -> str:
    """Return what a time can be compared with, in words."""
    if isinstance(value, datetime):
        return "a date without a zone" if value.utcoffset() is None else "a date with a zone"
    return "a text" if isinstance(value, str) else "a number"


class Times:
    """Reads the times of a source, which must be of one kind, since others cannot be compared."""

    def __init__(self) -> None:
        self._kind = ""
        self._first = ""

    def read(self, value: Any, place: str) -> Time:
        """Return the time of a record."""
        result = time_of(value, place)
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
