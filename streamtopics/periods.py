# SPDX-License-Identifier: BSD-3-Clause
"""Times of documents, and periods that they fall into.

Periods are of the calendar for dates, and of equal length for numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

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
    of : ndarray of shape (n_documents,), intp
        The period of each document; -1 where its time is not known.
    times : ndarray of shape (n_documents,)
        The time of each document, as `starts`; NaN where it is not known.
    are_dates : bool
        Whether times are dates.
    """

    unit: str
    labels: tuple[str, ...]
    starts: np.ndarray
    of: np.ndarray
    times: np.ndarray
    are_dates: bool

    def when(self, row: int) -> str:
        """The time of a document, as text; empty where it is not known."""
        time = self.times[row]
        if np.isnan(time):
            return ""
        if not self.are_dates:
            return f"{time:.10g}"
        text = str(np.datetime64(int(time), "s")).replace("T", " ")
        return text.removesuffix(" 00:00:00")

    def place(self, time: Any) -> int | None:
        """The period that a time falls into; None where it is before all or no such time."""
        try:
            value, dates = numbers_of([time])
        except (TypeError, ValueError):
            return None
        if dates != self.are_dates or np.isnan(value[0]):
            return None
        found = int(np.searchsorted(self.starts, value[0], side="right")) - 1
        return found if found >= 0 else None


def periods_of(times: Any) -> Periods:
    """At most `MOST_PERIODS` periods that hold all of the times.

    Parameters
    ----------
    times : sequence of numbers, dates, datetime64 or str
        One for each document; text as ISO 8601, such as "2003-05-17". None, NaN and NaT stand for
        times that are not known.

    Returns
    -------
    periods : Periods
        Hours, days, weeks, months, quarters or years, whichever are the finest that are few
        enough; numbers that are whole or few stand for themselves. Whole numbers from 1000 to
        2999 are called years.

    Raises
    ------
    TypeError, ValueError
        If they are something else, or none is known.
    """
    values, dates = numbers_of(times)
    known = ~np.isnan(values)
    if not known.any():
        raise ValueError("times must hold at least one that is known; all of them are missing")
    cut = _calendar if dates else _equal
    unit, starts, labels = cut(values[known])
    of = np.full(len(values), -1, dtype=np.intp)
    of[known] = np.searchsorted(starts, values[known], side="right") - 1
    return Periods(unit, tuple(labels), starts, of, values, dates)


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


def numbers_of(times: Any) -> tuple[np.ndarray, bool]:
    """Times as float64, NaN where they are not known, and whether they are dates."""
    array = np.asarray(times)
    if array.ndim != 1:
        raise ValueError(f"times must be a sequence, one for each document; got {times!r:.60}")
    if isinstance(times, np.ma.MaskedArray):
        # What is masked becomes None.
        times = times.tolist()
        array = np.array(times, dtype=object)
    if array.dtype.kind in "OUT":
        # An array of Arrow gives texts one by one that are no str.
        array = _from_objects(times.to_pylist() if hasattr(times, "to_pylist") else list(times))
    if array.dtype.kind == "M":
        seconds = array.astype("datetime64[s]")
        since = seconds.astype(np.int64)
        if (abs(since[~np.isnat(seconds)]) > MOST_SECONDS).any():
            raise ValueError(
                f"times must be dates within {MOST_SECONDS:.1e} seconds of 1970; check their unit"
            )
        return np.where(np.isnat(seconds), np.nan, since), True
    if array.dtype.kind not in "iuf" or np.isinf(array.astype(np.float64)).any():
        raise TypeError(f"times must be numbers or dates; got {array[:1].tolist()[0]!r:.60}")
    return array.astype(np.float64), False


def _from_objects(times: list[Any]) -> np.ndarray:
    """Numbers or datetime64 from objects of one kind."""
    times = [time if _is_known(time) else None for time in times]
    known = [time for time in times if time is not None]
    if all(isinstance(time, Real) and not isinstance(time, bool) for time in known):
        try:
            return np.array([np.nan if time is None else time for time in times], dtype=np.float64)
        except OverflowError as error:
            raise ValueError("times must be numbers that floating point can hold") from error
    if not all(isinstance(time, str | date | np.datetime64) for time in known):
        wrong = next(time for time in known if not isinstance(time, str | date | np.datetime64))
        raise TypeError(f"times must be numbers or dates; got {wrong!r:.60}")
    try:
        return np.array([_naive(time) for time in times], dtype="datetime64[s]")
    except ValueError as error:
        raise ValueError(
            f"times holds text that is no date ({error}); write dates as 2003-05-17 or "
            "2003-05-17T12:30, or pass numbers"
        ) from error


def _is_known(time: Any) -> bool:
    """Whether a time is neither None nor NaN, nor the missing value of pandas, which is neither."""
    is_itself = time == time
    return time is not None and isinstance(is_itself, bool | np.bool_) and bool(is_itself)


def _naive(time: Any) -> Any:
    """A date as NumPy reads it: in universal time, without saying so."""
    if time is None:
        return "NaT"
    if isinstance(time, str):
        # Months and years alone are left to NumPy.
        with suppress(ValueError):
            time = datetime.fromisoformat(time)
    if isinstance(time, datetime) and time.tzinfo is not None:
        try:
            return time.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:  # before the year 1 or after 9999, which NumPy has
            return np.datetime64(time.replace(tzinfo=None)) - np.timedelta64(time.utcoffset())
    return time


def _equal(values: np.ndarray) -> tuple[str, np.ndarray, list[str]]:
    """Periods of numbers: each whole number, each value, or spans of a round length."""
    distinct = np.unique(values)
    low, high = distinct[0], distinct[-1]
    whole = bool((distinct == np.rint(distinct)).all())
    years = whole and LIKE_YEARS[0] <= low and high < LIKE_YEARS[1]
    # Beyond 2^53 one more is the same number.
    with np.errstate(over="ignore"):
        spread = min(high - low, sys.float_info.max)
    if whole and spread < MOST_PERIODS and max(-low, high) < 2**53:
        distinct = np.arange(low, high + 1)
    if len(distinct) <= MOST_PERIODS:
        return "year" if years else "value", distinct, [f"{value:.10g}" for value in distinct]
    step = _round_step(spread / (MOST_PERIODS - 1))
    numbers = np.arange(np.floor(low / step), np.floor(high / step) + 1)
    width = step - 1 if whole and step >= 1 else step
    labels = [f"{i * step:.6g} to {i * step + width:.6g}" for i in numbers]
    return f"{step:.0f} years" if years else "span", numbers * step, labels


def _round_step(least: float) -> float:
    """The first of 1, 2, 5, 10, 20, 50, ... and of their tenths that is not less."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least))


def _calendar(seconds: np.ndarray) -> tuple[str, np.ndarray, list[str]]:
    """Periods of the calendar, the finest of which there are few enough."""
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
    few = (step for step in steps if step[1](last) - step[1](first) < MOST_PERIODS)
    unit, index, start, label = next(few, steps[-1])
    numbers = range(index(first), index(last) + 1)
    return unit, np.array([start(i) for i in numbers], float), [label(i) for i in numbers]


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
