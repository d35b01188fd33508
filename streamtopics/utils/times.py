# SPDX-License-Identifier: BSD-3-Clause
"""Times of documents: dates in one zone, UTC, or numbers."""

import math
import re
from contextlib import suppress
from datetime import UTC, date, datetime, time
from numbers import Integral, Real
from typing import Any

import numpy as np

from streamtopics.utils.structure import from_arrow, is_missing, kinds_of

# Numbers in this range, or in multiples of it, are seconds since 1970 or parts of seconds.
SECONDS, SCALES = (1e8, 1e10), (1, 10**3, 10**6, 10**9)
# Whole numbers in this range, like 20031231, may be dates.
LIKE_DATES = 15_000_000, 22_000_000
DATE = re.compile(r"(\d{4})[-./](\d{1,2})(?:[-./](\d{1,2}))?(\D.*)?")


def read_times(times: Any, kind: str = "") -> np.ndarray:
    """Times as datetime64, in UTC, or as float64; missing times are NaT or NaN.

    Unless `kind` is "number", numbers like 20031231 or seconds since 1970 are dates if all can be.
    """
    if isinstance(times, np.ma.MaskedArray):
        times = times.tolist()
    if kinds_of(times) == ["M"] and isinstance(times.dtype, np.dtype):
        return np.asarray(times)
    found = [_read(value) for value in from_arrow(times)]
    known = [value for value in found if value is not None]
    are_dates = {isinstance(value, datetime) for value in known}
    if len(are_dates) > 1:
        raise TypeError("times must be all numbers or all dates")
    if True in are_dates:
        return np.array(found, "M8[us]")
    values = np.array(found, np.float64)
    dates = _dates_of(values[values == values]) if known and kind != "number" else None
    if dates is None:
        return values
    all_dates = np.full(len(values), "NaT", "M8[us]")
    all_dates[values == values] = dates
    return all_dates


def read_time(value: Any) -> datetime | float:
    """The time of one document: a date in UTC without a zone, or a number."""
    found = _read(value)
    if found is None or found in (math.inf, -math.inf) or found != found:
        raise ValueError(f"a time must be known and finite; got {value!r:.60}")
    if isinstance(found, datetime):
        return found
    dates = _dates_of(np.array([found], np.float64))
    return found if dates is None else dates.item()


def _read(value: Any) -> datetime | float | None:
    if is_missing(value):
        return None
    if isinstance(value, str):
        value = _of_text(value.strip())
    elif isinstance(value, np.datetime64):
        value = value.astype("M8[us]").item()
    value = without_pandas(value)
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise TypeError(f"times must be numbers or dates; got {value!r:.60}")
    if isinstance(value, Integral):
        return int(value)
    # In double precision .7 stays .7, also from .7 in single precision.
    is_short = isinstance(value, np.float32 | np.float16) and not value.is_integer()
    return float(str(value) if is_short else value)


def without_pandas(time: Any) -> Any:
    """A time of pandas as `datetime`, which files can hold, or None; other times unchanged."""
    if type(time).__name__ in ("NaTType", "NAType"):
        return None
    time = time.to_timestamp() if type(time).__name__ == "Period" else time
    is_of_pandas = isinstance(time, datetime) and hasattr(time, "to_pydatetime")
    return time.to_pydatetime(warn=False) if is_of_pandas else time


def _of_text(text: str) -> datetime | float:
    for read in (int, float) if "_" not in text else ():
        with suppress(ValueError):
            return read(text)
    if match := DATE.fullmatch(text):
        year, month, day, rest = match.groups("")
        text = f"{year}-{month:0>2}-{day or '1':0>2}{rest}"
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{text!r:.60} is neither a number nor a date such as 2024-05-17"
        ) from error


def _dates_of(numbers: np.ndarray) -> np.ndarray | None:
    for scale in SCALES:
        if ((SECONDS[0] * scale <= numbers) & (numbers < SECONDS[1] * scale)).all():
            return np.rint(numbers * (10**6 / scale)).astype("M8[us]")
    if ((LIKE_DATES[0] <= numbers) & (numbers < LIKE_DATES[1])).all():
        with suppress(ValueError):
            dates = [datetime.strptime(f"{number:.15g}", "%Y%m%d") for number in numbers]
            return np.array(dates, "M8[us]")
    return None
