# SPDX-License-Identifier: BSD-3-Clause
"""Times of documents, and periods that they fall into.

Periods are of the calendar for dates, and of equal length for numbers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timezone, tzinfo
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

# Periods that a picture has at most.
MOST_PERIODS = 80
DAYS_OF_WEEK, DAY, HOUR = 7, 86_400, 3_600
# Years in a period, from the finest.
YEARS = (1, 5, 10, 50, 100, *(10**i for i in range(3, 11)))
# From 1970 to a date, so that the periods at both ends can be counted in 64 bits.
MOST_SECONDS = 2**62
# Whole numbers from the first to before the last are taken for years.
LIKE_YEARS = (1000, 3000)
# Whole numbers are written out up to here.
MOST_WRITTEN_OUT = 1e19
# The finest periods of dates that are of a unit of NumPy; of others they are hours.
FINEST = {"Y": "year", "M": "month", "W": "week", "D": "day"}
# Characters of a date without a time of day.
LONGEST_DAY = 10
WEEK = re.compile(r"\d{4}-?W\d\d")


class Times(NamedTuple):
    """Times of documents as numbers.

    Attributes
    ----------
    values : ndarray of float64
        Seconds since 1970 for dates, by the clock of `zone`; NaN where a time is not known.
    are_dates : bool
    unit : str
        The coarsest that any date is written in, as NumPy names it: Y, M, W, D, or a finer one.
    zone : tzinfo or None
        Whose clock dates go by; None where they have no zone.
    are_moved : bool
        Whether dates were of several zones, and are in universal time for that.
    """

    values: np.ndarray
    are_dates: bool
    unit: str = ""
    zone: tzinfo | None = None
    are_moved: bool = False


@dataclass(frozen=True)
class Periods:
    """Periods in order, and which one each document is from.

    Attributes
    ----------
    unit : str
        How long they are, in words.
    labels : tuple of str
        Of each period.
    starts : ndarray of shape (n_periods,)
        Where each begins; seconds since 1970 for dates.
    end : float
        Where the last one ends.
    of : ndarray of shape (n_documents,), intp
        The period of each document; -1 where its time is not known.
    times : Times
        Of the documents.
    """

    unit: str
    labels: tuple[str, ...]
    starts: np.ndarray
    end: float
    of: np.ndarray
    times: Times

    def when(self, row: int) -> str:
        """The time of a document, as text; empty where it is not known."""
        time = self.times.values[row]
        if np.isnan(time):
            return ""
        if not self.times.are_dates:
            return _number(time, 10)
        found = np.datetime64(int(time), "s")
        if self.times.unit in FINEST and (whole := found.astype(f"M8[{self.times.unit}]")) == found:
            return str(whole)
        text = str(found).replace("T", " ")
        return f"{text} UTC" if self.times.are_moved else text.removesuffix(" 00:00:00")

    def place(self, time: Any) -> int | None:
        """The period that a time falls into; None where it is outside all or no such time.

        A date without a zone is taken to be of that of the documents, and where these have none,
        one with a zone goes by its own clock.
        """
        try:
            found = numbers_of([time], self.times.zone)
        except (TypeError, ValueError):
            return None
        value = found.values[0]
        if found.are_dates != self.times.are_dates or not self.starts[0] <= value < self.end:
            return None
        return int(np.searchsorted(self.starts, value, side="right")) - 1


def periods_of(times: Any) -> Periods:
    """At most `MOST_PERIODS` periods that hold all of the times.

    Parameters
    ----------
    times : sequence of numbers, dates, datetime64 or str
        One for each document; text as ISO 8601, such as "2003-05-17", "2003-05" or "2003". None,
        NaN and NaT stand for times that are not known. Dates of one time zone, or of one offset,
        go by its clock; of several, by universal time, which `unit` says then.

    Returns
    -------
    periods : Periods
        Hours, days, weeks, months, quarters or years, whichever are the finest that are few
        enough and no finer than the coarsest date; numbers that are whole or few stand for
        themselves. Whole numbers from 1000 to 2999 are called years.

    Raises
    ------
    TypeError, ValueError
        If they are something else, or none is known.
    """
    found = numbers_of(times)
    known = ~np.isnan(found.values)
    if not known.any():
        raise ValueError("times must hold at least one that is known; all of them are missing")
    values = found.values[known]
    unit, edges, labels = _calendar(values, found.unit) if found.are_dates else _equal(values)
    of = np.full(len(known), -1, dtype=np.intp)
    of[known] = np.searchsorted(edges[:-1], values, side="right") - 1
    unit = f"{unit} (UTC)" if found.are_moved else unit
    return Periods(unit, tuple(labels), edges[:-1], float(edges[-1]), of, found)


def array_of(times: Any) -> np.ndarray:
    """Times as an array, of objects for a list and for text.

    Of a list with text and others NumPy makes text, and a missing text it cannot compare.
    """
    if isinstance(times, Sequence) and not isinstance(times, str | bytes):
        return np.fromiter(times, dtype=object, count=len(times))
    found = np.asarray(times)
    return found.astype(object) if found.dtype.kind == "T" else found


def ordered_categories(times: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Places of times in an order of their own, such as that of months, and what has this order.

    Ordered categories of pandas and the Enum of polars have one; None for others. A time that is
    missing has the place -1.
    """
    kind: Any = getattr(times, "dtype", None)
    if getattr(kind, "ordered", False):
        found = getattr(times, "cat", times)
        return np.asarray(found.codes), np.asarray(found.categories)
    if type(kind).__name__ == "Enum" and hasattr(times, "to_physical"):
        codes = [-1 if code is None else code for code in times.to_physical().to_list()]
        return np.array(codes, dtype=np.intp), np.asarray(kind.categories)
    return None


def numbers_of(times: Any, zone: tzinfo | None = None) -> Times:
    """Times as numbers; `zone` is the clock that dates with a zone go by, if not their own."""
    array = np.asarray(times)
    if array.ndim != 1:
        raise ValueError(f"times must be a sequence, one for each document; got {times!r:.60}")
    if isinstance(times, np.ma.MaskedArray):
        # What is masked becomes None.
        times = times.tolist()
        array = np.array(times, dtype=object)
    if array.dtype.kind in "OUT" or _has_zone(times):
        # An array of Arrow gives texts one by one that are no str.
        each = times.to_pylist() if hasattr(times, "to_pylist") else list(times)
        return _from_objects(each, zone)
    if array.dtype.kind == "M":
        return _from_dates(array, np.datetime_data(array.dtype)[0])
    if array.dtype.kind not in "iuf" or np.isinf(array.astype(np.float64)).any():
        raise TypeError(f"times must be numbers or dates; got {array[:1].tolist()[0]!r:.60}")
    return Times(array.astype(np.float64), False)


def _has_zone(times: Any) -> bool:
    """Whether this is a column of dates with a zone, which NumPy drops of polars and of Arrow."""
    kind = getattr(times, "dtype", getattr(times, "type", None))
    return any(getattr(kind, name, None) is not None for name in ("time_zone", "tz"))


def _from_dates(
    array: np.ndarray, unit: str, zone: tzinfo | None = None, are_moved: bool = False
) -> Times:
    """Times from datetime64."""
    seconds = array.astype("datetime64[s]")
    since = seconds.astype(np.int64)
    if (abs(since[~np.isnat(seconds)]) > MOST_SECONDS).any():
        raise ValueError(
            f"times must be dates within {MOST_SECONDS:.1e} seconds of 1970; check their unit"
        )
    return Times(np.where(np.isnat(seconds), np.nan, since), True, unit, zone, are_moved)


def _from_objects(times: list[Any], zone: tzinfo | None) -> Times:
    """Times from objects of one kind."""
    times = [time if _is_known(time) else None for time in times]
    kinds = [_kind(time) for time in times]
    first = next(filter(None, kinds), "numbers")
    for time, kind in zip(times, kinds, strict=True):
        if kind not in ("", first):
            raise TypeError(
                f"times must be all numbers or all dates; got {time!r:.60} beside {first}. Write "
                "all in one way"
            )
    if first == "dates":
        return _from_texts(times, zone)
    try:
        values = np.array([np.nan if time is None else time for time in times], np.float64)
    except OverflowError as error:
        raise ValueError("times must be numbers that floating point can hold") from error
    return Times(values, False)


def _is_known(time: Any) -> bool:
    """Whether a time is neither None nor NaN, nor the missing value of pandas, which is neither."""
    is_itself = time == time
    return time is not None and isinstance(is_itself, bool | np.bool_) and bool(is_itself)


def _kind(time: Any) -> str:
    """Return "numbers" or "dates", whichever a time is one of; "" where it is not known."""
    if time is None:
        return ""
    if isinstance(time, Real) and not isinstance(time, bool):
        return "numbers"
    if isinstance(time, str | date | np.datetime64):
        return "dates"
    raise TypeError(f"times must be numbers or dates; got {time!r:.60}")


def _from_texts(times: list[Any], zone: tzinfo | None) -> Times:
    """Times from dates, and texts of dates, by the clock of their zone or of another one."""
    try:
        read = [_read(time) for time in times]
    except ValueError as error:
        raise ValueError(
            f"times holds text that is no date ({error}); write dates as 2003-05-17 or "
            "2003-05-17T12:30, or pass numbers"
        ) from error
    known = [date for date in read if _is_known(date)]
    own, are_moved = _clock_of(known)
    zone = own if zone is None else zone
    units = {_unit(time, date) for time, date in zip(times, read, strict=True)}
    unit = next((unit for unit in FINEST if unit in units), "s")
    by_clock = [_by_clock(date, zone) if _is_known(date) else "NaT" for date in read]
    return _from_dates(np.array(by_clock, dtype="datetime64[s]"), unit, zone, are_moved)


def _read(time: Any) -> Any:
    """A date of Python where there is one, else of NumPy, which has months, years and all ages."""
    if not isinstance(time, str):
        return time
    with suppress(ValueError):
        return (date if len(time) <= LONGEST_DAY else datetime).fromisoformat(time)
    if time.lower() in ("now", "today"):
        raise ValueError(f"{time!r} is another one each time")
    return np.datetime64(time)


def _unit(time: Any, read: Any) -> str:
    """How coarse a date is, as NumPy names it; `read` is what it was read as."""
    if isinstance(read, np.datetime64):
        return np.datetime_data(read.dtype)[0]
    if isinstance(time, str) and WEEK.fullmatch(time):
        return "W"
    return "D" if isinstance(read, date) and not isinstance(read, datetime) else "s"


def _clock_of(dates: list[Any]) -> tuple[tzinfo | None, bool]:
    """The clock that dates go by, and whether this is universal time for want of a common one."""
    offsets = [_offset(date) for date in dates]
    if all(offset is None for offset in offsets):
        return None, False
    if None in offsets:
        without = dates[offsets.index(None)]
        zoned = next(d for d, offset in zip(dates, offsets, strict=True) if offset is not None)
        raise ValueError(
            f"times must all have a time zone, or none of them; got {zoned} and {without}. Write "
            "all as 2003-05-17T12:30, or all as 2003-05-17T12:30+02:00"
        )
    zones = [_zone(date) for date in dates]
    if all(zone == zones[0] for zone in zones):
        return dates[0].tzinfo, False
    if all(offset == offsets[0] for offset in offsets):
        return timezone(offsets[0]), False
    return UTC, True


def _offset(date: Any) -> Any:
    """Return the offset of a date from universal time; None where it has no zone."""
    return date.utcoffset() if isinstance(date, datetime) else None


def _zone(date: datetime) -> Any:
    """The zone of a date, or its name where each offset of it is an object, as of pytz."""
    return getattr(date.tzinfo, "zone", None) or date.tzinfo


def _by_clock(date: Any, zone: tzinfo | None) -> Any:
    """A date as it is by the clock of a zone, without saying so."""
    offset = _offset(date)
    if offset is None:
        return date
    if zone is None or date.tzinfo is zone:
        return date.replace(tzinfo=None)
    try:
        return date.astimezone(zone).replace(tzinfo=None)
    except OverflowError:  # before the year 1 or after 9999, which NumPy has
        there = zone.utcoffset(None)
        ahead = offset if there is None else there
        return np.datetime64(date.replace(tzinfo=None)) + np.timedelta64(ahead - offset)


def _equal(values: np.ndarray) -> tuple[str, np.ndarray, list[str]]:
    """Periods of numbers: each whole number, each value, or spans of a round length.

    They come as their unit, where each begins and the last one ends, and their labels.
    """
    distinct = np.unique(values)
    low, high = distinct[0], distinct[-1]
    whole = bool((distinct == np.rint(distinct)).all())
    years = whole and LIKE_YEARS[0] <= low and high < LIKE_YEARS[1]
    # Beyond 2^53 one more is the same number.
    with np.errstate(over="ignore"):
        spread = min(high - low, sys.float_info.max)
        end = np.nextafter(high, np.inf)
    if whole and spread < MOST_PERIODS and max(-low, high) < 2**53:
        distinct, end = np.arange(low, high + 1), high + 1
    if len(distinct) <= MOST_PERIODS:
        return "year" if years else "value", np.append(distinct, end), _texts(distinct)
    step = _round_step(spread / (MOST_PERIODS - 1))
    with np.errstate(over="ignore"):
        edges = np.arange(np.floor(low / step), np.floor(high / step) + 2) * step
    last = edges[1:] - 1 if whole and step >= 1 else edges[1:]
    pairs = zip(_texts(edges[:-1]), _texts(last), strict=True)
    labels = [f"{start} to {end}" for start, end in pairs]
    return f"{step:.0f} years" if years else "span", edges, labels


def _texts(numbers: np.ndarray) -> list[str]:
    """Numbers as text, with as many digits as tell them apart."""
    for digits in (10, 15, 17):
        texts = [_number(number, digits) for number in numbers]
        if len(set(texts)) == len(texts):
            break
    return texts


def _number(number: float, digits: int) -> str:
    """A number as text, written out where it is whole."""
    if number == np.rint(number) and abs(number) < MOST_WRITTEN_OUT:
        return f"{number + 0.0:.0f}"
    return f"{number:.{digits}g}"


def _round_step(least: float) -> float:
    """The first of 1, 2, 5, 10, 20, 50, ... and of their tenths that is not less."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least))


def _calendar(seconds: np.ndarray, unit: str) -> tuple[str, np.ndarray, list[str]]:
    """Periods of the calendar, the finest of which there are few enough, as `_equal` has them.

    None is finer than the unit of the dates; those that are all midnights are days.
    """
    if unit not in FINEST and not (seconds % DAY).any():
        unit = "D"
    first, last = int(seconds.min()), int(seconds.max())
    steps: list[tuple[str, Callable[[int], int], Callable[[int], Any], Callable[[int], str]]] = [
        ("hour", lambda s: s // HOUR, lambda i: i * HOUR, _hour),
        ("day", lambda s: s // DAY, lambda i: i * DAY, _day),
        ("week", _week, _start_of_week, lambda i: f"week of {_day(_start_of_week(i) // DAY)}"),
        ("month", _month, _start_of_month, lambda i: str(np.datetime64(i, "M"))),
        (
            "quarter", lambda s: _month(s) // 3, lambda i: _start_of_month(3 * i),
            lambda i: f"{np.datetime64(3 * i, 'M').astype('datetime64[Y]')} Q{i % 4 + 1}",
        ),
    ]  # fmt: skip
    steps += [_years(n) for n in YEARS]
    names = [step[0] for step in steps]
    steps = steps[names.index(FINEST.get(unit, "hour")) :]
    few = (step for step in steps if step[1](last) - step[1](first) < MOST_PERIODS)
    name, index, start, label = next(few, steps[-1])
    numbers = range(index(first), index(last) + 1)
    edges = np.array([*map(start, numbers), start(numbers.stop)], float)
    return name, edges, [label(i) for i in numbers]


def _week(seconds: int) -> int:
    # 1970 began on a Thursday, weeks do on Mondays.
    return (seconds // DAY + 3) // DAYS_OF_WEEK


def _start_of_week(week: int) -> int:
    return (week * DAYS_OF_WEEK - 3) * DAY


def _month(seconds: int) -> int:
    return int(np.datetime64(seconds, "s").astype("datetime64[M]").astype(int))


def _start_of_month(month: int) -> int:
    return int(np.datetime64(month, "M").astype("datetime64[s]").astype(int))


def _hour(hour: int) -> str:
    return str(np.datetime64(hour, "h")).replace("T", " ") + "h"


def _day(day: int) -> str:
    return str(np.datetime64(day, "D"))


def _years(n: int) -> tuple[str, Callable[[int], int], Callable[[int], Any], Callable[[int], str]]:
    """Periods of n years; of the calendar, so that decades begin with those ending in 0."""

    def index(seconds: int) -> int:
        return (_month(seconds) // 12 + 1970) // n

    def label(i: int) -> str:
        return str(i * n) if n == 1 else f"{i * n} to {i * n + n - 1}"

    unit = "year" if n == 1 else f"{n} years"
    return unit, index, lambda i: _start_of_month((i * n - 1970) * 12), label
