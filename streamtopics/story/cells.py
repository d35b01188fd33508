# SPDX-License-Identifier: BSD-3-Clause
"""Sums over documents by time and group, for shares, intervals and findings.

Times are numbered spans: hours, days, months, years, ... of dates, or powers of ten of numbers. The
spans become longer with the stream, so the sums stay small. Each longer span consists of whole
shorter spans, so documents stay in the right span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from streamtopics.inspection.periods import MOST_PERIODS, STEPS, Step
from streamtopics.utils.structure import from_arrow, is_missing, shape_of
from streamtopics.utils.times import read_times

# Spans of dates, from the shortest, and most sums and spans.
SPANS = [step for step in STEPS if step.name not in ("week", "quarter", "5 years", "50 years")]
MOST_SUMS, MOST_SPANS, FEWEST_SPANS = 2_000_000, 400, 24
# Least mean number of documents of a period.
LEAST_OF_PERIOD = 10
# Most groups, and the name of all later groups.
MOST_GROUPS, OTHERS = 100, "(other groups)"
# The number of the span of documents without a time.
UNKNOWN = np.iinfo(np.int64).min
# Largest number as time: adding 1 still gives another number.
LARGEST = 2.0**53
# Quotients of decimal times by powers of ten, below this number, are rounded to the right one.
EXACT = 1e13
# Half the width of a 95 % interval of a normal distribution, in standard deviations.
WIDE = 1.959964


class Labels(NamedTuple):
    """Times of documents, and their groups."""

    kind: str  # "date", "number", or "order" without times; empty if all times are unknown
    times: np.ndarray  # datetime64 or float64, NaT or NaN if unknown
    groups: list[str]


class Period(NamedTuple):
    """A period: `label` (name), `start` (datetime64 or number), `unit` (such as "month")."""

    label: str
    start: Any  # datetime64 or float
    unit: str


def positions(times: np.ndarray) -> np.ndarray:
    """Times as numbers, dates in seconds; NaN if unknown."""
    if times.dtype.kind != "M":
        return times.astype(np.float64)
    return np.where(np.isnat(times), np.nan, times.astype("M8[us]").astype(np.int64) / 1e6)


def places_in(periods: Sequence[Period], times: np.ndarray) -> np.ndarray:
    """The period of each time, -1 if unknown or before the first."""
    starts, times = positions(np.array([period.start for period in periods])), positions(times)
    return np.where(np.isnan(times), -1, np.searchsorted(starts, times, side="right") - 1)


@dataclass(frozen=True)
class Totals:
    """Sums over documents by period and group, from `TopicStream.totals`, for `report`.

    Attributes
    ----------
    periods : tuple of Period
        In order, without gaps; empty if all times are unknown.
    groups : tuple of str
    n : ndarray of shape (n_periods, n_groups)
        Numbers of documents.
    sums, squares, main : ndarray of shape (n_periods, n_groups, n_topics)
        Sums of the shares of topics and of the squared shares, and numbers of documents by most
        probable topic.
    holders : ndarray of shape (n_periods, n_words)
        Number of documents of each period with each word.
    of_groups : ndarray of shape (n_groups, n_words)
        Number of documents of each group with each word, with or without a time.
    undated : tuple of ndarray
        Arrays like `n`, `sums`, `squares`, `main` and `holders`, but of the documents without a
        time; n_periods is 1, or 0 if all documents have a time.
    """

    periods: tuple[Period, ...]
    groups: tuple[str, ...]
    n: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    main: np.ndarray
    holders: np.ndarray
    of_groups: np.ndarray
    undated: tuple[np.ndarray, ...] = ()

    def of_all(self) -> Totals:
        """Return totals with one more last row, of the documents without a time."""
        if not self.undated:
            return self
        own = self.n, self.sums, self.squares, self.main, self.holders
        pairs = zip(own, self.undated, strict=True)
        n, sums, squares, main, holders = map(np.concatenate, pairs)
        return replace(self, n=n, sums=sums, squares=squares, main=main, holders=holders)


@dataclass(frozen=True)
class Cells:
    """Sums by span of time and group; `add` returns the sums with more documents."""

    kind: str  # "date", "number" or "order"; empty before the first document
    level: int  # place of the span in SPANS, or the power of ten
    spans: np.ndarray  # int64, ascending
    groups: tuple[str, ...]
    n: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    main: np.ndarray
    holders: sparse.csr_matrix  # by span
    of_groups: np.ndarray  # holders by group

    _holds = (
        "spans: i8 B; n: B G >=0; sums: B G K >=0; squares: B G K >=0; main: B G K >=0; "
        "holders: B V; of_groups: G V >=0"
    )

    def check_held(self) -> None:
        """Refuse sums impossible for a stream."""
        valid = isinstance(self.level, int) and self.kind in ("", "date", "number", "order")
        valid &= self.kind != "date" or 0 <= self.level < len(SPANS)
        valid &= len({*self.groups}) == len(self.groups) == self.n.shape[1]
        if not valid or (self.spans[1:] <= self.spans[:-1]).any() or (self.holders.data < 0).any():
            raise ValueError("sums by time and group have a kind, spans or groups that cannot be")

    @classmethod
    def empty(cls, n_topics: int, n_words: int) -> Cells:
        cube, none = np.zeros((0, 0, n_topics)), np.zeros(0, np.int64)
        holders = sparse.csr_matrix((0, n_words))
        return cls("", 0, none, (), cube[..., 0], cube, cube, cube, holders, holders.toarray())

    def add(self, labels: Labels, shares: np.ndarray, counts: sparse.csr_matrix) -> Cells:
        """The sums with more documents; a document without a known word has no topics."""
        if not len(shares):
            return self
        own = self if self.kind else self._begun(labels)
        own = own._reaching(labels.times)
        groups = own._with_groups(labels.groups)
        own, numbers = own._with_spans(own._numbers(labels.times), len(groups))
        spans = np.union1d(own.spans, numbers)
        own = own._moved(spans, groups, np.searchsorted(spans, own.spans))
        known = {name: place for place, name in enumerate(groups)}
        columns = np.array([known.get(name, len(groups) - 1) for name in labels.groups], np.intp)
        rows = np.searchsorted(own.spans, numbers)
        of_cells = indicators(rows * len(groups) + columns, own.n.size)
        has_words = np.asarray(counts.sum(axis=1)).reshape(-1, 1) > 0
        shares, main = shares * has_words, np.eye(shares.shape[1])[shares.argmax(axis=1)]
        main *= has_words
        cubes = [
            sums + (of_cells @ values).reshape(sums.shape)
            for sums, values in (
                (own.n, np.ones(len(shares))), (own.sums, shares), (own.squares, shares**2),
                (own.main, main),
            )
        ]  # fmt: skip
        has = (counts > 0).astype(np.float64)
        holders = own.holders + indicators(rows, len(own.spans)) @ has
        of_groups = own.of_groups + (indicators(columns, len(groups)) @ has).toarray()
        return replace(own, n=cubes[0], sums=cubes[1], squares=cubes[2], main=cubes[3],
                       holders=sparse.csr_matrix(holders), of_groups=of_groups)  # fmt: skip

    def without_words(self, columns: np.ndarray, earlier: np.ndarray) -> Cells:
        """The sums after columns have changed hands, with the known numbers of the new words.

        The times of earlier documents of a word are unknown: these are spaced evenly among all
        documents, so a new column alone makes no change. Groups are in the proportions of a span.
        """
        n, kept = self.n.sum(axis=1), np.ones(self.holders.shape[1])
        kept[columns] = 0.0
        # Decayed numbers are fractions.
        earlier = np.minimum(earlier, n.sum())
        whole = np.ceil(earlier)
        places = np.outer(np.cumsum(n) / max(n.sum(), 1.0), whole)
        put = np.diff(np.floor(places + 0.5), axis=0, prepend=0.0)
        put *= earlier / np.maximum(whole, 1.0)
        rows, own = np.nonzero(put)
        before = sparse.csr_matrix((put[rows, own], (rows, columns[own])), self.holders.shape)
        holders = sparse.csr_matrix(self.holders @ sparse.diags(kept) + before)
        holders.eliminate_zeros()
        of_groups = self.of_groups.copy()
        of_groups[:, columns] = (self.n / np.maximum(n, 1.0)[:, None]).T @ put
        return replace(self, holders=holders, of_groups=of_groups)

    def with_topics(self, parts: np.ndarray) -> Cells:
        """The sums for other topics: `parts`, (n_topics, n_new), are parts of topics in new topics.

        How often two topics occur together is not kept. So the sum of the squares of a merged share
        is the largest possible (Minkowski), and intervals are not too narrow.
        """
        sums = self.sums @ parts
        squares = np.minimum((np.sqrt(self.squares) @ np.sqrt(parts)) ** 2, sums)
        return replace(self, sums=sums, squares=squares, main=self.main @ parts)

    # Spans

    def _begun(self, labels: Labels) -> Cells:
        """The sums with short spans for the first times: numbers of at most twelve digits."""
        level = 0
        if labels.kind == "number":
            reach = max(float(np.nanmax(np.abs(labels.times), initial=0.0)), 1e-290)
            level = min(0, int(np.ceil(np.log10(reach))) - 12)
        return replace(self, kind=labels.kind, level=level)

    def _reaching(self, times: np.ndarray) -> Cells:
        """The sums over spans long enough for exact numbers of some times."""
        own = self
        reach = np.nanmax(np.abs(times), initial=0.0) if self.kind == "number" else 0.0
        while reach >= 10.0**own.level * (EXACT if own.level < 0 else LARGEST):
            own = replace(own, level=own.level + 1, spans=own._longer(own.spans))
        return own._summed()

    def _numbers(self, times: np.ndarray) -> np.ndarray:
        known = times == times
        found = np.full(len(times), UNKNOWN)
        if self.kind == "date":
            found[known] = SPANS[self.level].of(times[known])
        else:
            # For example .29, as a double 28.999... hundredths.
            places = times[known] / 10.0**self.level
            nearest = np.rint(places)
            is_whole = np.abs(places - nearest) <= 1e-9 * np.maximum(np.abs(places), 1.0)
            found[known] = np.where(is_whole, nearest, np.floor(places)).astype(np.int64)
        return found

    def _with_groups(self, names: Sequence[str]) -> tuple[str, ...]:
        """The present groups and new groups; groups after the hundredth are joined."""
        groups = dict.fromkeys((*self.groups, *names))
        if len(groups) <= MOST_GROUPS:
            return tuple(groups)
        return (*[name for name in groups if name != OTHERS][: MOST_GROUPS - 1], OTHERS)

    def _with_spans(self, numbers: np.ndarray, n_groups: int) -> tuple[Cells, np.ndarray]:
        """The sums over longer spans if there are too many, and new numbers of documents."""
        own, size = self, max(1, n_groups * self.sums.shape[2])
        most = int(np.clip(MOST_SUMS // size, FEWEST_SPANS, MOST_SPANS))
        while len(np.union1d(own.spans, numbers)) > most:
            if own.kind == "date" and own.level + 1 == len(SPANS):
                break
            spans, numbers = own._longer(own.spans), own._longer(numbers)
            own = replace(own, level=own.level + 1, spans=spans)
        return own._summed(), numbers

    def _longer(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers of the spans of the next length."""
        known, found = numbers != UNKNOWN, numbers.copy()
        if self.kind == "date":
            starts = SPANS[self.level].starts(numbers[known])
            found[known] = SPANS[self.level + 1].of(starts)
        else:
            found[known] //= 10
        return found

    def _summed(self) -> Cells:
        spans, rows = np.unique(self.spans, return_inverse=True)
        if len(spans) == len(self.spans):
            return self
        return self._moved(spans, self.groups, rows)

    def _moved(self, spans: np.ndarray, groups: tuple[str, ...], rows: np.ndarray) -> Cells:
        """Sums over spans and groups, with a row for each span."""
        to, n_groups = indicators(rows, len(spans)), len(groups)

        def moved(sums: np.ndarray) -> np.ndarray:
            found = np.zeros((len(spans), n_groups, *sums.shape[2:]))
            if sums.size:
                flat = to @ sums.reshape(len(sums), -1)
                found[:, : sums.shape[1]] = flat.reshape(len(spans), *sums.shape[1:])
            return found

        cubes = [moved(sums) for sums in (self.n, self.sums, self.squares, self.main)]
        new_groups = (0, n_groups - len(self.groups)), (0, 0)
        return replace(self, spans=spans, groups=groups, n=cubes[0], sums=cubes[1],
                       squares=cubes[2], main=cubes[3],
                       holders=sparse.csr_matrix(to @ self.holders),
                       of_groups=np.pad(self.of_groups, new_groups))  # fmt: skip

    # Periods

    def totals(self, least: float = LEAST_OF_PERIOD) -> Totals:
        """Sums over the shortest periods with a mean of `least` documents; 80 at most."""
        own, rest = (self._chosen(one) for one in (self.spans != UNKNOWN, self.spans == UNKNOWN))
        numbers, period = own._periods(own.spans, float(own.n.sum()), least)
        first = int(numbers[0]) if len(numbers) else 0
        each = np.arange(first, int(numbers[-1]) + 1 if len(numbers) else 0)
        own = own._moved(each, own.groups, numbers - first)
        periods = tuple(period(number) for number in each.tolist())
        if own.kind == "order" and periods:
            # A corpus without times has the place of its last document.
            whole = f"documents 1 to {periods[0].label.split(' to ')[1]}"
            periods = (periods[0]._replace(label=whole), *periods[1:])
        undated = (rest.n, rest.sums, rest.squares, rest.main, rest.holders.toarray())
        return Totals(
            periods, own.groups, own.n, own.sums, own.squares, own.main, own.holders.toarray(),
            own.of_groups, undated,
        )  # fmt: skip

    def _chosen(self, kept: np.ndarray) -> Cells:
        return replace(
            self, spans=self.spans[kept], n=self.n[kept], sums=self.sums[kept],
            squares=self.squares[kept], main=self.main[kept], holders=self.holders[kept],
        )  # fmt: skip

    def _periods(self, spans: np.ndarray, n: float, least: float) -> tuple[np.ndarray, Any]:
        """The number of the period of each span, and a function from numbers to periods."""
        if self.kind == "date":
            dates = SPANS[self.level].starts(spans)
            # Periods are at least as long as the spans of the dates.
            whole = [unit for unit in "YMD" if (dates.astype(f"M8[{unit}]") == dates).all()]
            first = [step.unit for step in STEPS].index(whole[0] if whole else "h")
            first = max(first, STEPS.index(SPANS[self.level]))
            each = [(step.of(dates), partial(_date_period, step)) for step in STEPS[first:]]
        else:
            level, one = self.level, 10 ** min(max(0, -self.level), 18)
            if not (spans % one).any():
                spans, level = spans // one, max(level, 0)
            times = [part * 10**j for j in range(18) for part in (1, 2, 5)]
            each = [(spans // n, partial(_number_period, n, level, self.kind)) for n in times]
        few = [one for one in each if not len(spans) or np.ptp(one[0]) < MOST_PERIODS] or each[-1:]
        full = [one for one in few if len(spans) and n >= least * (np.ptp(one[0]) + 1)]
        return full[0] if full and np.ptp(full[0][0]) else few[0]


def _date_period(step: Step, number: int) -> Period:
    start = step.starts(np.array([number]))[0]
    return Period(step.label(start), start, step.name)


def _number_period(n: int, level: int, kind: str, number: int) -> Period:
    """The period of numbers, or of documents in order."""
    up, down, are_whole = 10.0 ** max(level, 0), 10.0 ** max(-level, 0), level >= 0
    start, end = (one * n * up / down for one in (number, number + 1))
    if kind == "order":
        return Period(f"documents {start + 1:,.0f} to {end:,.0f}", start, kind)
    names = [f"{start:.0f}", f"{end - 1:.0f}"] if are_whole else [f"{start:.15g}", f"{end:.15g}"]
    return Period(" to ".join(dict.fromkeys(names)), start, kind)


def indicators(rows: np.ndarray, n: int) -> sparse.csr_matrix:
    """A matrix for sums: column i has a one in row `rows[i]`, of n."""
    return sparse.csr_matrix((np.ones(len(rows)), (rows, np.arange(len(rows)))), (n, len(rows)))


# Labels of documents


def labels_of(n: int, times: Any, groups: Any, kind: str, n_seen: int) -> Labels:
    """Times and groups of n documents, checked; `kind` is the kind of earlier documents."""
    for name, values in (("times", times), ("groups", groups)):
        if isinstance(values, str) or len(shape_of(values) or (n,)) > 1:
            raise TypeError(f"{name} must have an entry for each document; got {values!r:.60}")
        if values is not None and len(values) != n:
            raise ValueError(
                f"{name} must have an entry for each of the {n} documents; got {len(values)}"
            )
    names = [""] * n if groups is None else [_name(one) for one in from_arrow(groups)]
    no_times = np.full(n, "NaT", "M8[us]") if kind == "date" else np.full(n, np.nan)
    if times is None:
        if kind in ("", "order"):
            return Labels("order", np.arange(n_seen, n_seen + n, dtype=np.float64), names)
        return Labels(kind, no_times, names)
    found = read_times(times, kind)
    known = found == found
    if not known.any():
        return Labels(kind, no_times, names)
    own = "date" if found.dtype.kind == "M" else "number"
    if own == "number" and not (np.abs(found[known]) < LARGEST).all():
        raise ValueError(f"times must be less than {LARGEST:g}; got {found[known].max():g}")
    if kind and own != kind:
        before = "without times" if kind == "order" else f"with {kind}s as times"
        raise ValueError(f"times are {own}s, but the documents before came {before}")
    return Labels(own, found, names)


def _name(group: Any) -> str:
    """A group as text; 1.0 is 1, as in a column of numbers with missing numbers."""
    if isinstance(group, float | np.floating) and group.is_integer():
        return str(int(group))
    return "" if is_missing(group) else str(group)


# Intervals


def spread_of(n: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Spread of shares between the documents of cells: 1 for one topic each, else less.

    The variance of a mean share is this factor times the variance of a proportion. The factor is a
    ratio of two unbiased sums over cells (the first axis): of (n - 1) times the variance of a
    share, and of (n - 1) m (1 - m), m the mean share. So cells may be small.
    """
    n = n[..., None]
    means = sums / np.maximum(n, 1.0)
    within = np.maximum(squares - n * means**2, 0.0)
    most = np.maximum(n - 1.0, 0.0) * means * (1.0 - means) + within / np.maximum(n, 1.0)
    within, most = within.sum(axis=0), most.sum(axis=0)
    # Without a cell of two documents the spread is the largest possible.
    found = np.divide(within, most, out=np.ones_like(most), where=most > 0)
    return np.asarray(np.clip(found, 1e-3, 1.0))


def spread_each(
    n: np.ndarray, sums: np.ndarray, squares: np.ndarray, spread: Any = None
) -> np.ndarray:
    """The spread of each cell if larger than `spread` of all cells.

    Two more documents of all or nothing stand for unseen documents of a burst.
    """
    all_cells = spread_of(n, sums, squares) if spread is None else spread
    own, n = spread_of(n[None], sums[None], squares[None]), n[..., None]
    return np.maximum(((n - 1.0) * own + 2.0) / (n + 1.0), all_cells)


def interval_of(
    n: np.ndarray, means: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of 95 % intervals of mean shares of n documents: Wilson's, with the spread."""
    part = WIDE**2 * spread / np.maximum(n, 1.0)
    half = np.sqrt(part * means * (1.0 - means) + part**2 / 4)
    return (means + part / 2 - half) / (1.0 + part), (means + part / 2 + half) / (1.0 + part)
