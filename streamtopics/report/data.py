# SPDX-License-Identifier: BSD-3-Clause
"""All that a report says, as one record, apart from how it looks."""

from __future__ import annotations

import platform
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import version
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from streamtopics.inspection.periods import LEAST, Periods, periods_of, time_texts
from streamtopics.metrics.similarity import affinities, nearest, places
from streamtopics.report.documents import (
    LONGEST_WORD,
    Document,
    ShareSums,
    Source,
    Statistics,
    Whole,
    WordTable,
    shortened,
    show,
)
from streamtopics.utils.steps import steps_before
from streamtopics.utils.structure import is_sparse, total
from streamtopics.utils.times import read_times

if TYPE_CHECKING:
    from streamtopics.streams import DriftMonitor, TopicTracker

# Rows, columns and characters of a cell that a table shows at most, and entries of a list in one.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL, MOST_ENTRIES = 200, 12, 300, 10
MOST_SCORES, MOST_POINTS, LONGEST_VALUE = 20, 200, 200
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
NEWS = "What is new in the second half"
COUNTERS = {
    "n_documents_seen_": "Documents learnt from, in all passes",
    "n_tokens_seen_": "Tokens learnt from, in all passes",
    "n_batch_iter_": "Minibatches",
}


@dataclass(frozen=True)
class Table:
    """Rows as people read them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    periods: tuple[int | None, ...]  #: That the time of each row falls into
    n_left_out: int
    newest_first: bool


@dataclass(frozen=True)
class Score:
    """A figure, or one after each of several minibatches."""

    name: str
    values: list[float | None]  #: None if there was nothing to score


@dataclass(frozen=True)
class Topic:
    """A topic of a report."""

    id: int  #: Its row in the model
    name: str  #: Empty if the model has none
    weight: float  #: Share of the tokens that the model has learnt from
    prior: float  #: Share of the topic that is still its prior
    words: list[int]  #: Places in `Report.words` of words that it may lead with
    p: list[float]  #: Their probabilities
    x: float  #: Its place on the map
    y: float
    near: list[int]  #: Places in `Report.topics` of the most similar topics
    n_documents: int  #: Documents of which it is the main topic
    shares: list[float | None]  #: Mean share in the documents of each period, if there are any
    low: list[float | None]  #: The 95 % interval of the mean
    high: list[float | None]
    documents: list[Document] = field(repr=False)


@dataclass(frozen=True)
class Report:
    """Contents of a report, as `report` returns it; `page` makes the HTML of it."""

    title: str
    n_topics: int  #: Of the model
    n_documents: int
    sampled_from: int | None  #: Documents of which these are a sample, if they are
    over_all: bool  #: Whether the shares over time are of all documents
    n_words: int  #: Words of a topic that are shown at once
    relevance: float  #: Where the slider stands at first
    words: list[str]  #: That some topic may lead with
    overall: list[float]  #: Their probabilities in all topics together
    holders: list[int]  #: Documents that have each word; empty if not known
    topics: list[Topic]  #: The heaviest first
    unit: str  #: Length of a period
    periods: list[str]  #: Labels; empty without times
    sizes: list[int]  #: Documents of each period
    least: int  #: Documents of a period below which it is not compared with others
    tables: list[tuple[str, str, Table]]  #: Heading, kind ("changes" or "alarms") and rows
    scores: list[Score]
    card: list[tuple[str, list[tuple[str, str]]]]  #: Sections of names and values
    has_documents: bool
    has_texts: bool


class _Curves(NamedTuple):
    """Shares of all topics over time, of shape (n_periods, n_topics); NaN where nothing was."""

    unit: str
    labels: list[str]
    sizes: list[int]
    shares: np.ndarray
    low: np.ndarray
    high: np.ndarray


def topics_of(
    source: Source,
    shown: np.ndarray,
    found: Statistics,
    times: list[str],
    curves: _Curves,
    table: WordTable,
) -> list[Topic]:
    """The topics that are shown."""
    place = np.full(len(source.weights), -1)
    place[shown] = np.arange(len(shown))
    affinity, retention = affinities(source.topic_word[shown]), source.model.prior_retention_
    map_of, near = places(affinity), nearest(affinity)
    names = source.labels
    best = [row for k in shown for row in found.best[k]]
    documents = iter(show(source, best, place, times))
    topics = []
    for i, k in enumerate(shown):
        name = shortened(names[k], LONGEST_WORD) if k < len(names) else ""
        shares, low, high = (
            [None if np.isnan(share) else digits(share) for share in values[:, k]]
            for values in (curves.shares, curves.low, curves.high)
        )
        topics.append(Topic(
            int(k), name, digits(source.weights[k]), digits(retention[k]),
            table.own[i].tolist(), [digits(p) for p in table.probabilities[i]],
            round(float(map_of[i, 0]), 4), round(float(map_of[i, 1]), 4), near[i],
            int(found.n_documents[k]), shares, low, high, [next(documents) for _ in found.best[k]],
        ))  # fmt: skip
    return topics


def all_documents(source: Source, sampled_from: int | Whole | None) -> Whole:
    """What is known of all documents, of which those of the report may be a sample."""
    n_given = source.counts.shape[0]
    whole = sampled_from if isinstance(sampled_from, Whole) else Whole(int(sampled_from or n_given))
    if whole.n_documents > n_given or source.documents is None:
        return whole
    holders = np.bincount(source.counts.indices, minlength=len(source.names))
    return whole._replace(n_documents=n_given, holders=holders)


def periods_and_texts(source: Source, known: Periods | None) -> tuple[Periods | None, list[str]]:
    """The periods of the report, those of all documents if known, and its times as text."""
    if source.times is None:
        return known, []
    times = read_times(source.times)
    return known or periods_of(times, LEAST), time_texts(times)


def curves_of(
    sums: ShareSums,
    periods: Periods | None,
    tracker: TopicTracker | Iterable[object] | None,
    n_topics: int,
) -> _Curves:
    """Shares over time: of the documents, or else of what a tracker has seen of the stream."""
    if periods is not None:
        means, sizes = sums.means(), sums.n.astype(int).tolist()
        return _Curves(periods.unit, list(periods.labels), sizes, means, *sums.interval())
    nothing = np.empty((0, n_topics))
    if tracker is None or isinstance(tracker, Iterable):
        return _Curves("", [], [], nothing, nothing, nothing)
    times, ids, shares = tracker.shares()
    found = np.zeros((len(times), n_topics))
    place = {int(one): column for column, one in enumerate(ids)}
    for row, one in enumerate(tracker.ids_[:n_topics]):
        if int(one) in place:
            found[:, row] = shares[:, place[int(one)]]
    return _Curves("snapshot", [cell(time) for time in times], [], found, nothing, nothing)


def tables_of(
    source: Source,
    tracker: TopicTracker | Iterable[object] | None,
    alarms: DriftMonitor | Iterable[object] | None,
    periods: Periods | None,
) -> list[tuple[str, str, Table]]:
    """Births that the model has on record, rows of a tracker, and alarms, each with a heading."""
    found: list[tuple[str, str, Table]] = []
    births = None
    # Models whose topics come and go have a record of it.
    with suppress(AttributeError):
        births = source.model.births_report(source.names)
    if births is not None:
        found.append(("Births and deaths", "changes", table_of(births, periods)))
    for heading, rows in _tracked(tracker):
        table = table_of(rows, periods, newest_first=heading != NEWS)
        found.append((heading, "changes", table))
    if alarms is not None:
        rows = alarms if isinstance(alarms, Iterable) else alarms.alarms
        found.append(("Alarms", "alarms", table_of(rows, periods)))
    return found


def _tracked(
    tracker: TopicTracker | Iterable[object] | None,
) -> Iterator[tuple[str, Iterable[object]]]:
    """Rows of a tracker: as given, or its news of the second half of a stream and its topics."""
    if isinstance(tracker, Iterable):
        yield "Births and changes", tracker
    elif tracker is not None:
        half = bisect(tracker.batches_, tracker.n_batches_ // 2)
        if half > 0:
            yield NEWS, tracker._news(half - 1)
        yield "Topics of the stream", tracker.topics()


def digits(value: float) -> float:
    """A number as it is written into the page."""
    return float(f"{value:.6g}")


def table_of(
    records: Iterable[object], periods: Periods | None = None, *, newest_first: bool = True
) -> Table:
    """A table of records, named tuples, dataclasses or mappings, by time or as to be shown."""
    all_rows = [_fields_of(record) or dict(record) for record in records]  # type: ignore[call-overload]
    rows = (all_rows[::-1] if newest_first else all_rows)[:MOST_ROWS]
    seen = dict.fromkeys(key for row in rows for key in row)
    columns = [column for column in seen if any(cell(row.get(column)) for row in rows)]
    columns = columns[:MOST_COLUMNS]
    times = [None if periods is None else periods.place(row.get("time")) for row in rows]
    return Table(
        tuple(shortened(column.replace("_", " "), LONGEST_CELL) for column in columns),
        tuple(tuple(cell(row.get(column)) for column in columns) for row in rows),
        tuple(times),
        len(all_rows) - len(rows),
        newest_first,
    )


def _fields_of(record: object) -> dict[str, Any] | None:
    """Names and values of a record; None of something else."""
    if isinstance(record, Mapping):
        return {str(key): value for key, value in record.items()}
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: record.__dict__[field.name] for field in fields(record)}
    return record._asdict() if hasattr(record, "_asdict") else None


def cell(value: object) -> str:
    """A value as the text of a cell."""
    return shortened(_text(value), LONGEST_CELL)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return "" if np.isnan(float(value)) else f"{float(value):.4g}"
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ")
    if isinstance(value, np.ndarray):
        return _text(value.tolist())
    if (inside := _fields_of(value)) is not None:
        return _text_of_record(inside)
    if isinstance(value, list | tuple):
        between = "; " if any(_fields_of(entry) for entry in value) else ", "
        more = ["…"] if len(value) > MOST_ENTRIES else []
        return between.join([*map(_text, value[:MOST_ENTRIES]), *more])
    return str(value)


def _text_of_record(inside: dict[str, Any]) -> str:
    """A record within a cell: its first value, which says what it is, and then the others."""
    texts = {name.replace("_", " "): _text(value) for name, value in inside.items()}
    first, *others = [(name, text) for name, text in texts.items() if text] or [("", "")]
    more = ", ".join(f"{name} {text}" for name, text in others)
    return f"{first[1]} ({more})" if more else first[1]


def scores_of(scores: Mapping[str, Any] | None) -> list[Score]:
    """Named figures, or sequences of figures along a stream."""
    found = []
    for name, value in list((scores or {}).items())[:MOST_SCORES]:
        values = np.atleast_1d(np.asarray(value, np.float64))
        last = [float(f"{v:.6g}") if np.isfinite(v) else None for v in values[-MOST_POINTS:]]
        found.append(Score(shortened(str(name), LONGEST_VALUE), last))
    return found


def card(
    source: Source, periods: Periods | None, date: str | None, intake: Mapping[str, str] | None
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Sections of names and values, without what differs between runs."""
    model = source.model
    counters = {label: getattr(model, name, None) for name, label in COUNTERS.items()}
    counters |= {"Topics": len(source.weights), "Columns (words)": len(source.names)}
    seen = [(label, _number(value)) for label, value in counters.items() if value is not None]
    parameters = [(name, _value(value)) for name, value in sorted(model.get_params(False).items())]
    steps = [] if source.pipeline is None else steps_before(source.pipeline)
    documents = []
    if source.documents is not None:
        documents = [
            ("Documents", _number(source.counts.shape[0])),
            ("Tokens", _number(total(source.counts))),
        ]
        if periods is not None:
            documents += [("First period", periods.labels[0]), ("Last period", periods.labels[-1])]
    versions = [("Python", platform.python_version())]
    packages = ("streamtopics", "numpy", "scipy", "scikit-learn")
    versions = [*((name, version(name)) for name in packages), *versions]
    sections = [
        ("Model", [("Class", type(model).__name__), *parameters]),
        ("Steps before it", [(name, _value(step)) for name, step in steps]),
        ("What it has learnt from", seen),
        ("Read and left out", list((intake or {}).items())),
        ("Documents of this report", documents),
        ("Versions", versions),
        ("Report", [] if date is None else [("Date", date)]),
    ]
    return [(name, rows) for name, rows in sections if rows]


def _value(value: Any) -> str:
    """A parameter, in one line, without addresses of memory."""
    if isinstance(value, np.ndarray) or is_sparse(value):
        return f"{type(value).__name__} of shape {value.shape}"
    return shortened(ADDRESS.sub("", " ".join(repr(value).split())), LONGEST_VALUE)


def _number(value: float) -> str:
    return f"{value:,.0f}"
