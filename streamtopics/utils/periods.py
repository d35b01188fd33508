# SPDX-License-Identifier: BSD-3-Clause
"""Periods that times fall into, and the shares of topics in the documents of each.

Periods are of the calendar for dates, and of equal length for numbers.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from streamtopics.utils.times import Times, are_whole, number_text, read_times

# Periods that a picture has at most.
MOST_PERIODS = 80
# Documents of a period below which its shares are shown, but not compared.
LEAST = 30
# Half the width of a 95 % interval of a normal distribution, in standard deviations.
WIDE = 1.959964
# From 1970 to a date, so that the periods at both ends can be counted in 64 bits.
MOST_SECONDS = 2**62
# Whole numbers from the first to before the last are taken for years.
LIKE_YEARS = (1000, 3000)


class Step(NamedTuple):
    """A length of periods: n units of NumPy, counted from `offset` of them before 1970."""

    name: str
    unit: str
    n: int = 1
    offset: int = 0

    def of(self, dates: Any) -> Any:
        """The number of the period that each date is in."""
        return (dates.astype(f"M8[{self.unit}]").astype(np.int64) + self.offset) // self.n

    def starts(self, numbers: Any) -> Any:
        """When periods begin."""
        return (numbers * self.n - self.offset).astype(f"M8[{self.unit}]")

    def label(self, number: Any) -> str:
        """What a period is called."""
        start = str(self.starts(number)).replace("T", " ")
        if self.unit == "Y" and self.n > 1:
            return f"{number * self.n} to {number * self.n + self.n - 1}"
        if self.name == "quarter":
            return f"{start[:-3]} Q{number % 4 + 1}"
        return {"hour": f"{start}h", "week": f"week of {start}"}.get(self.name, start)


# From the finest. 1970 began on a Thursday, weeks do on Mondays.
STEPS = [
    Step("hour", "h"), Step("day", "D"), Step("week", "D", 7, 3), Step("month", "M"),
    Step("quarter", "M", 3), Step("year", "Y", 1, 1970),
    *(Step(f"{n} years", "Y", n, 1970) for n in (5, 10, 50, 100, *(10**i for i in range(3, 11)))),
]  # fmt: skip


@dataclass(frozen=True)
class Periods:
    """Periods in order, and which one each document is from.

    `edges` are where each begins and the last one ends, `of` is the period of each document, or -1
    where its time is not known, and `times` are those of the documents.
    """

    unit: str
    labels: tuple[str, ...]
    edges: np.ndarray
    of: np.ndarray
    times: Times

    def place(self, time: Any) -> int | None:
        """The period that a time falls into; None where it is outside all or no such time."""
        try:
            found = read_times([time], self.times.order)
        except (TypeError, ValueError):
            return None
        value: Any = found.values[0]
        if found.are_dates != self.times.are_dates or not self.edges[0] <= value < self.edges[-1]:
            return None
        return int(np.searchsorted(self.edges, value, side="right")) - 1


def periods_of(times: Any, least: float = 0) -> Periods:
    """At most `MOST_PERIODS` periods that hold all of the times.

    They are the finest of the calendar that are few enough and have `least` documents in the mean,
    unless one would hold all; days of dates that are all midnights, and likewise weeks, months and
    years. Numbers that are whole or few stand for themselves; from 1000 to 2999 they are years.
    """
    found = times if isinstance(times, Times) else read_times(times)
    known = found.values == found.values
    values = found.values[known].astype("M8[s]" if found.are_dates else np.float64)
    if not len(values):
        raise ValueError("times must hold at least one that is known; all of them are missing")
    unit, edges, labels = (_calendar if found.are_dates else _equal)(values, least)
    of = np.full(len(known), -1, dtype=np.intp)
    of[known] = np.searchsorted(edges[:-1], values, side="right") - 1
    return Periods(
        f"{unit} (UTC)" if found.are_universal else unit, tuple(labels), edges, of, found
    )


def _calendar(dates: np.ndarray, least: float) -> tuple[str, np.ndarray, list[str]]:
    """Periods of the calendar, the finest of which there are few enough, as `_equal` has them."""
    if (abs(dates.astype(np.int64)) > MOST_SECONDS).any():
        raise ValueError(
            f"times must be dates within {MOST_SECONDS:.1e} seconds of 1970; check their unit"
        )
    first = next((i for unit, i in (("Y", 5), ("M", 3), ("D", 1)) if are_whole(dates, unit)), 0)
    if first == 1 and len(dates) > 1 and (STEPS[2].starts(STEPS[2].of(dates)) == dates).all():
        first = 2
    few = [step for step in STEPS[first:] if np.ptp(step.of(dates)) < MOST_PERIODS] or STEPS[-1:]
    full = [step for step in few if len(dates) >= least * (np.ptp(step.of(dates)) + 1)]
    step = full[0] if full and np.ptp(full[0].of(dates)) else few[0]
    of = step.of(dates)
    numbers = np.arange(of.min(), of.max() + 2)
    labels = [step.label(number) for number in numbers[:-1]]
    return step.name, step.starts(numbers).astype("M8[s]"), labels


def _equal(values: np.ndarray, least: float) -> tuple[str, np.ndarray, list[str]]:
    """Periods of numbers: each whole number, each value, or spans of a round length.

    They come as their unit, where each begins and the last one ends, and their labels.
    """
    distinct = np.unique(values)
    low, high = distinct[0], distinct[-1]
    whole = bool((distinct == np.rint(distinct)).all())
    years = whole and LIKE_YEARS[0] <= low and high < LIKE_YEARS[1]
    most = min(MOST_PERIODS, int(len(values) // least)) if least else MOST_PERIODS
    most = most if most > 1 else MOST_PERIODS
    with np.errstate(over="ignore"):
        spread = min(high - low, sys.float_info.max)
        end = np.nextafter(high, np.inf)
        # Beyond 2^53 one more is the same number.
        if whole and spread < MOST_PERIODS and max(-low, high) < 2**53:
            distinct, end = np.arange(low, high + 1), high + 1
        if len(distinct) <= most:
            return "year" if years else "value", np.append(distinct, end), _texts(distinct)
        power = 10.0 ** np.floor(np.log10(spread / most))
        steps = (power * n for n in (1, 2, 5, 10, 20))
        step = next(n for n in steps if np.floor(high / n) - np.floor(low / n) < most)
        edges = np.arange(np.floor(low / step), np.floor(high / step) + 2) * step
    if len(edges) == 2:
        return _equal(values, 0)
    last = edges[1:] - 1 if whole and step >= 1 else edges[1:]
    pairs = zip(_texts(edges[:-1]), _texts(last), strict=True)
    return f"{step:.0f} years" if years else "span", edges, [f"{a} to {b}" for a, b in pairs]


def _texts(numbers: np.ndarray) -> list[str]:
    """Numbers as text, with as many digits as tell them apart."""
    each = ([number_text(number, digits) for number in numbers] for digits in (10, 15, 17))
    return next(texts for texts in each if len(set(texts)) == len(texts))


class ShareSums(NamedTuple):
    """Documents of each period, and the sums of their shares, and of the squares of these."""

    n: np.ndarray
    sums: np.ndarray
    squares: np.ndarray

    @classmethod
    def zeros(cls, n_periods: int, n_topics: int) -> ShareSums:
        """Sums over no documents."""
        shape = n_periods, n_topics
        return cls(np.zeros(n_periods), np.zeros(shape), np.zeros(shape))

    def add(self, of: np.ndarray, shares: np.ndarray) -> None:
        """Take in documents of the periods `of`; those of -1 are left out."""
        known = of >= 0
        of, shares = of[known], shares[known]
        self._add(of, np.ones(len(of)), shares, shares**2)

    def joined(self, of: np.ndarray, n_periods: int) -> ShareSums:
        """The sums of longer periods; `of` says which one each of these falls into."""
        found = ShareSums.zeros(n_periods, self.sums.shape[1])
        found._add(of, *self)
        return found

    def _add(self, of: np.ndarray, *tables: np.ndarray) -> None:
        for own, table in zip(self, tables, strict=True):
            np.add.at(own, of, table)

    def means(self) -> np.ndarray:
        """Mean shares, of shape (n_periods, n_topics); NaN where there is no document."""
        return self.sums / np.where(self.n > 0, self.n, np.nan)[:, None]

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of 95 % intervals of the means.

        They are Wilson's for a proportion, with so many documents as would have the spread that
        is found between the shares of documents of one period.
        """
        means, n = self.means(), self.n[:, None]
        within = np.nansum(self.squares - n * means**2, axis=0)
        most = np.nansum((n - 1) * means * (1 - means), axis=0)
        # Where no period has two documents, these may differ as much as can be.
        spread = np.clip(np.divide(within, most, np.ones_like(most), where=most > 0), 0, 1)
        part = WIDE**2 * spread / np.maximum(n, 1)
        half = np.sqrt(part * means * (1 - means) + part**2 / 4)
        return (means + part / 2 - half) / (1 + part), (means + part / 2 + half) / (1 + part)
