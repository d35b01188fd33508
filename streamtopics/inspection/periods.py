# SPDX-License-Identifier: BSD-3-Clause
"""Periods of documents, for pictures and reports, and times as text."""

from typing import Any, NamedTuple

import numpy as np

from streamtopics.utils.times import read_times

# Most periods of a picture.
MOST_PERIODS = 80
# Least documents of a period for comparisons; shares are shown anyway.
LEAST = 30
# Whole numbers in this range may be years.
LIKE_YEARS = 1000, 3000


def time_texts(times: np.ndarray, units: str = "YMD") -> list[str]:
    """Each time as text, empty if unknown; in the longest of `units` that all times allow."""
    if times.dtype.kind == "M":
        unit = next((unit for unit in units if _are_whole(times, unit)), "s")
        texts = ["" if one != one else str(one) for one in times.astype(f"M8[{unit}]")]
        return [text.replace("T", " ").removesuffix(" 00:00:00") for text in texts]
    return ["" if one != one else _number_text(one, 10) for one in times]


def _are_whole(dates: np.ndarray, unit: str) -> bool:
    known = dates[~np.isnat(dates)]
    return bool((known.astype(f"M8[{unit}]") == known).all())


def _number_text(number: float, digits: int) -> str:
    is_written_out = number == np.rint(number) and abs(number) < 1e19
    return f"{number + 0.0:.0f}" if is_written_out else f"{number:.{digits}g}"


class Step(NamedTuple):
    """A length of periods: n units of NumPy, counted from `offset` units before 1970."""

    name: str
    unit: str
    n: int = 1
    offset: int = 0

    def of(self, dates: np.ndarray) -> np.ndarray:
        return (dates.astype(f"M8[{self.unit}]").astype(np.int64) + self.offset) // self.n

    def starts(self, numbers: np.ndarray) -> np.ndarray:
        return (numbers * self.n - self.offset).astype(f"M8[{self.unit}]").astype("M8[s]")

    def label(self, start: np.datetime64) -> str:
        text = str(start.astype(f"M8[{self.unit}]")).replace("T", " ")
        if self.unit == "Y" and self.n > 1:
            return f"{int(text)} to {int(text) + self.n - 1}"
        if self.name == "quarter":
            return f"{text[:-3]} Q{int(text[-2:]) // 3 + 1}"
        return {"hour": f"{text}h", "week": f"week of {text}"}.get(self.name, text)


# From the finest. 1970 began on a Thursday, weeks begin on Mondays.
STEPS = [
    Step("hour", "h"), Step("day", "D"), Step("week", "D", 7, 3), Step("month", "M"),
    Step("quarter", "M", 3), Step("year", "Y", 1, 1970),
    *(Step(f"{n} years", "Y", n, 1970) for n in (5, 10, 50, 100, *(10**i for i in range(3, 11)))),
]  # fmt: skip


class Periods(NamedTuple):
    """Consecutive periods, and the period of each document."""

    unit: str
    labels: tuple[str, ...]
    # Edges of the periods, with the last end.
    edges: np.ndarray
    # The period of each document, or -1 for an unknown time, and the times.
    of: np.ndarray
    times: np.ndarray

    def place(self, time: Any) -> int | None:
        """The period of a time; None if invalid or outside all periods."""
        try:
            value = read_times([time])[0]
        except (TypeError, ValueError):
            return None
        is_alike = value.dtype.kind == self.edges.dtype.kind
        if not is_alike or not self.edges[0] <= value < self.edges[-1]:
            return None
        return int(np.searchsorted(self.edges, value, side="right")) - 1


def periods_of(times: Any, least: float = 0) -> Periods:
    """Divide times into at most `MOST_PERIODS` periods, with a mean of `least` documents.

    Dates make calendar periods. Few numbers, or whole numbers, are periods themselves.
    """
    times = read_times(times)
    known = times == times
    is_date = times.dtype.kind == "M"
    values = times[known].astype("M8[s]") if is_date else times[known]
    if not len(values) or not (is_date or np.isfinite(values).all()):
        raise ValueError("times must be finite numbers or dates, with at least one known")
    unit, edges, labels = (_of_dates if is_date else _equal)(values, least)
    of = np.full(len(known), -1, dtype=np.intp)
    of[known] = np.searchsorted(edges[:-1], values, side="right") - 1
    return Periods(unit, tuple(labels), edges, of, times)


def _of_dates(dates: np.ndarray, least: float) -> tuple[str, np.ndarray, list[str]]:
    first = next((i for unit, i in (("Y", 5), ("M", 3), ("D", 1)) if _are_whole(dates, unit)), 0)
    week = STEPS[2]
    if first == 1 and len(dates) > 1 and (week.starts(week.of(dates)) == dates).all():
        first = 2
    few = [step for step in STEPS[first:] if np.ptp(step.of(dates)) < MOST_PERIODS] or STEPS[-1:]
    full = [step for step in few if len(dates) >= least * (np.ptp(step.of(dates)) + 1)]
    step = full[0] if full and np.ptp(full[0].of(dates)) else few[0]
    edges = step.starts(np.arange(step.of(dates).min(), step.of(dates).max() + 2))
    return step.name, edges, [step.label(start) for start in edges[:-1]]


def _equal(values: np.ndarray, least: float) -> tuple[str, np.ndarray, list[str]]:
    """Unit, edges and labels for numbers: single values, or intervals of round width."""
    distinct = np.unique(values)
    low, high = distinct[0], distinct[-1]
    whole = bool((distinct == np.rint(distinct)).all())
    years = whole and LIKE_YEARS[0] <= low and high < LIKE_YEARS[1]
    most = min(MOST_PERIODS, int(len(values) // least)) if least else MOST_PERIODS
    most = most if most > 1 else MOST_PERIODS
    end = np.nextafter(high, np.inf)
    # Beyond 2^53 adding 1 gives the same number.
    if whole and high - low < MOST_PERIODS and max(-low, high) < 2**53:
        distinct, end = np.arange(low, high + 1), high + 1
    if len(distinct) <= most:
        return "year" if years else "value", np.append(distinct, end), _number_texts(distinct)
    power = 10.0 ** np.floor(np.log10((high - low) / most))
    steps = (power * n for n in (1, 2, 5, 10, 20))
    step = next(n for n in steps if np.floor(high / n) - np.floor(low / n) < most)
    edges = np.arange(np.floor(low / step), np.floor(high / step) + 2) * step
    if len(edges) == 2:
        return _equal(values, 0)
    last = edges[1:] - 1 if whole and step >= 1 else edges[1:]
    pairs = zip(_number_texts(edges[:-1]), _number_texts(last), strict=True)
    return f"{step:.0f} years" if years else "span", edges, [f"{a} to {b}" for a, b in pairs]


def _number_texts(numbers: np.ndarray) -> list[str]:
    each = ([_number_text(number, digits) for number in numbers] for digits in (10, 15, 17))
    return next(texts for texts in each if len(set(texts)) == len(texts))
