# SPDX-License-Identifier: BSD-3-Clause
"""Periods of documents, for pictures and reports, and times as text."""

from typing import Any, NamedTuple

import numpy as np

from streamtopics.utils.times import read_times

# Most periods of a picture.
MOST_PERIODS = 80


def time_texts(times: np.ndarray, units: str = "YMD") -> list[str]:
    """Each time as text, empty if unknown; in the longest of `units` that all times allow."""
    if times.dtype.kind == "M":
        unit = next((unit for unit in units if _are_whole(times, unit)), "s")
        texts = ["" if one != one else str(one) for one in times.astype(f"M8[{unit}]")]
        return [text.replace("T", " ").removesuffix(" 00:00:00") for text in texts]
    return ["" if one != one else _number_text(one) for one in times]


def _are_whole(dates: np.ndarray, unit: str) -> bool:
    known = dates[~np.isnat(dates)]
    return bool((known.astype(f"M8[{unit}]") == known).all())


def _number_text(number: float) -> str:
    is_written_out = number == np.rint(number) and abs(number) < 1e19
    return f"{number + 0.0:.0f}" if is_written_out else f"{number:.10g}"


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
    # The period of each document, or -1 for an unknown time.
    of: np.ndarray


def periods_of(times: Any) -> Periods:
    """Divide dates into the shortest calendar periods, at most `MOST_PERIODS`."""
    times = read_times(times)
    known = times == times
    if times.dtype.kind != "M" or not known.any():
        raise ValueError("times must be dates, with at least one known")
    dates = times[known].astype("M8[s]")
    first = next((i for unit, i in (("Y", 5), ("M", 3), ("D", 1)) if _are_whole(dates, unit)), 0)
    week = STEPS[2]
    if first == 1 and len(dates) > 1 and (week.starts(week.of(dates)) == dates).all():
        first = 2
    each = (step for step in STEPS[first:] if np.ptp(step.of(dates)) < MOST_PERIODS)
    step = next(each, STEPS[-1])
    edges = step.starts(np.arange(step.of(dates).min(), step.of(dates).max() + 2))
    of = np.full(len(known), -1, dtype=np.intp)
    of[known] = np.searchsorted(edges[:-1], dates, side="right") - 1
    return Periods(step.name, tuple(map(step.label, edges[:-1])), edges, of)
