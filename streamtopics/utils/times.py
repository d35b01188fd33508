# SPDX-License-Identifier: BSD-3-Clause
"""Reads times of documents: numbers, dates, and texts of dates. No other module does."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import UTC, date, datetime, time
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from streamtopics.utils.checks import plain

# Numbers from the first to before the second are seconds since 1970, from 1973 to 2286, and those
# that are a thousand, a million or a billion times as large are thousandths and so on.
SECONDS, SCALES = (1e8, 1e10), (1, 10**3, 10**6, 10**9)
# Whole numbers like 20031231 are dates of these years.
YEARS_OF_DAYS = (1500, 2200)
YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)(.*)")
YEAR_FIRST = re.compile(r"(\d{4})([./-])(\d{1,2})(?:\2(\d{1,2}))?(?!\d)(.*)")
REMEDY = "write dates as 2003-05-17 or 2003-05-17T12:30, or pass numbers"


class Times(NamedTuple):
    """Times of documents.

    `values` are datetime64, in universal time if dates have a zone, or float64; NaT or NaN where a
    time is not known. `order` is what comes first in dates such as 17.05.2003, "day" or "month".
    """

    values: np.ndarray
    are_universal: bool = False
    order: str = ""

    @property
    def are_dates(self) -> bool:
        """Whether these are dates, not numbers."""
        return bool(self.values.dtype.kind == "M")

    def texts(self) -> list[str]:
        """Each as text, empty where it is not known; dates as years, months or days if all are."""
        if not self.are_dates:
            return ["" if one != one else number_text(one, 10) for one in self.values]
        unit = next((unit for unit in "YMD" if are_whole(self.values, unit)), "s")
        end, told = " UTC" if self.are_universal else "", self.values.astype(f"M8[{unit}]")
        texts = ["" if one != one else f"{one}".replace("T", " ") + end for one in told]
        return [text.removesuffix(" 00:00:00") for text in texts]


def are_whole(dates: np.ndarray, unit: str) -> bool:
    """Whether all dates that are known are where years, months or days begin."""
    known = dates[~np.isnat(dates)]
    return bool((known.astype(f"M8[{unit}]") == known).all())


def number_text(number: float, digits: int) -> str:
    """A number as text, written out where it is whole."""
    is_written_out = number == np.rint(number) and abs(number) < 1e19
    return f"{number + 0.0:.0f}" if is_written_out else f"{number:.{digits}g}"


def read_times(times: Any, order: str = "") -> Times:
    """Read times, all of one kind; `order` is that of earlier ones of the same source.

    None, NaN, NaT and what is masked are not known. A text of a number is that number. What cannot
    be read, or can be read in two ways, is a TypeError or a ValueError.
    """
    times = times.tolist() if isinstance(times, np.ma.MaskedArray) else times
    if isinstance(getattr(times, "dtype", None), np.dtype):
        times = np.asarray(times)
        if times.dtype.kind == "M" and times.ndim == 1:
            return Times(times)
    if not hasattr(times, "__iter__") or isinstance(times, str | bytes):
        raise TypeError(f"times must be a sequence, one for each document; got {times!r:.60}")
    items = times.to_pylist() if hasattr(times, "to_pylist") else list(times)
    order = _order_of(items) or order
    return _of_one_kind([_read(item, order) for item in items])._replace(order=order)


def read_time(value: Any) -> datetime | float | str:
    """Read the time of one document; a text if others have to tell the order of day and month."""
    if isinstance(value, str):
        if YEAR_LAST.fullmatch(text := value.strip()):
            return text
        value = _of_text(text, "")
    found = _read(value, "")
    if found is None or found in (math.inf, -math.inf):
        raise ValueError(f"a time must be known and finite; got {value!r:.60}")
    if isinstance(found, datetime):
        return found
    # An array has no larger whole numbers.
    return _day(found) or _instant(found) or (found if abs(found) >= 2**63 else plain(value))


def in_order(times: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what sorts in order of time, and which times are known.

    Ordered categories of pandas and the Enum of polars have an order of their own.
    """
    kind: Any = getattr(times, "dtype", None)
    if getattr(kind, "ordered", False):
        codes = np.asarray(getattr(times, "cat", times).codes)
        return codes, codes >= 0
    if type(kind).__name__ == "Enum" and hasattr(times, "to_physical"):
        times = times.to_physical()
    values = read_times(times).values
    return values, values == values


def _order_of(items: list[Any]) -> str:
    """Return "day" or "month", whichever comes first in all texts such as 17.05.2003."""
    texts = [item.strip() for item in items if isinstance(item, str)]
    found = [match for text in texts if (match := YEAR_LAST.fullmatch(text))]
    # A text in which both are above 12 is no date, and tells nothing.
    known = [match for match in found if min(int(match[1]), int(match[3])) <= 12]
    first = {name: m[0] for m in known for name, i in (("day", 1), ("month", 3)) if int(m[i]) > 12}
    if len(first) > 1:
        raise ValueError(
            f"times has the day first in {first['day']!r}, and the month in {first['month']!r}; "
            f"{REMEDY}"
        )
    return next(iter(first), "")


def _read(item: Any, order: str) -> datetime | float | None:
    """A date, or a number; None of what is not known."""
    if item is None or type(item).__name__ == "NAType":
        return None
    if isinstance(item, str):
        item = _of_text(item.strip(), order)
    if hasattr(item, "to_timestamp"):  # a Period of pandas
        item = item.to_timestamp()
    if isinstance(item, bool) or not isinstance(item, Real | date | np.datetime64):
        raise TypeError(f"times must be numbers or dates; got {item!r:.60}. W{REMEDY[1:]}")
    if item != item:
        return None
    if isinstance(item, Real):
        try:
            return float(item)
        except OverflowError as error:
            raise ValueError("times must be numbers that floating point can hold") from error
    found = item.astype("datetime64[us]").item() if isinstance(item, np.datetime64) else item
    if not isinstance(found, date):
        raise ValueError(f"times must be dates of the years 1 to 9999; got {item!r:.60}")
    return found if isinstance(found, datetime) else datetime.combine(found, time())


def _of_text(text: str, order: str) -> datetime | float:
    """The number that a text is, or else the date that it stands for."""
    for read in (int, float) if "_" not in text else ():  # which Python reads over
        with suppress(ValueError):
            return read(text)
    iso = text
    if match := YEAR_FIRST.fullmatch(text):
        iso = f"{match[1]}-{match[3]:0>2}-{match[4] or '01':0>2}{match[5]}"
    elif match := YEAR_LAST.fullmatch(text):
        if not order:
            raise ValueError(
                f"times has {text!r}, which may begin with the day or with the month; {REMEDY}"
            )
        month, day = (match[3], match[1]) if order == "day" else (match[1], match[3])
        iso = f"{match[4]}-{month:0>2}-{day:0>2}{re.sub('^ (?=[0-9]:)', ' 0', match[5])}"
    try:
        return datetime.fromisoformat(iso)
    except ValueError as error:
        raise ValueError(f"times has {text!r:.60}, which is no date; {REMEDY}") from error


def _of_one_kind(found: list[Any]) -> Times:
    """Dates, or numbers, or the dates that all of the numbers stand for."""
    numbers = [item for item in found if isinstance(item, float)]
    dates = [item for item in found if isinstance(item, datetime)]
    if numbers and dates:
        raise TypeError(
            f"times must be all numbers or all dates; got {numbers[0]:.10g} beside {dates[0]}. "
            "Write all in one way"
        )
    if dates:
        return _universal(found, dates)
    values = np.array([np.nan if item is None else item for item in found], np.float64)
    if np.isinf(values).any():
        raise ValueError("times must be finite numbers or dates; got infinity")
    for read in (_day, _instant):
        if numbers and all(read(number) for number in numbers):
            return _of_one_kind([None if item is None else read(item) for item in found])
    if late := [number for number in numbers if _instant(number)]:
        raise ValueError(
            f"times has {late[0]:.15g}, which stands for seconds since 1970 or parts of them, "
            f"beside {min(numbers):.10g}, which does not; {REMEDY}"
        )
    return Times(values)


def _universal(found: list[Any], dates: list[datetime]) -> Times:
    """Dates as they are, or in universal time if all have a zone."""
    ahead = [date.utcoffset() for date in dates]
    values = np.array([item and item.replace(tzinfo=None) for item in found], "datetime64[us]")
    if ahead.count(None) == len(dates):
        return Times(values)
    if None in ahead:
        raise ValueError(
            "times must all have a time zone, or none of them; got "
            f"{next(date for date in dates if date.tzinfo)} and {dates[ahead.index(None)]}. Write "
            "all as 2003-05-17T12:30, or all as 2003-05-17T12:30+02:00"
        )
    values[~np.isnat(values)] -= np.array(ahead, "timedelta64[us]")
    return Times(values, True)


def _day(number: float) -> datetime | None:
    """The day that a number such as 20031231 stands for, if it is one."""
    is_one = number == number // 1 and YEARS_OF_DAYS[0] <= number // 10_000 < YEARS_OF_DAYS[1]
    with suppress(ValueError):
        return datetime.strptime(f"{number:.0f}", "%Y%m%d") if is_one else None
    return None


def _instant(number: float) -> datetime | None:
    """The time so many seconds, or thousandths, millionths or billionths, after 1970 began."""
    for scale in SCALES:
        if SECONDS[0] * scale <= number < SECONDS[1] * scale:
            return datetime.fromtimestamp(number / scale, UTC)
    return None
