# SPDX-License-Identifier: BSD-3-Clause
"""All that a report says, as one record, apart from how it looks."""

from __future__ import annotations

import platform
import re
from bisect import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import version
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

import streamtopics
from streamtopics.metrics.similarity import affinities, neighbours, places
from streamtopics.report.documents import (
    LONGEST_WORD,
    Document,
    Source,
    Survey,
    Whole,
    WordTable,
    shortened,
    show,
)
from streamtopics.report.shares import ShareSums
from streamtopics.utils.steps import steps_before
from streamtopics.utils.structure import is_sparse, total
from streamtopics.utils.times import LEAST, Periods, periods_of, read_times, time_texts

# Rows, columns and characters of a cell that a table shows at most, and entries of a list in one.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL, MOST_ENTRIES = 200, 12, 300, 10
MOST_SCORES, MOST_POINTS, LONGEST_VALUE = 20, 200, 200
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
NEWS = "What is new in the second half"


@dataclass(frozen=True)
class Table:
    """Rows as people read them, each with its period, where it has a time that falls into one."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    periods: tuple[int | None, ...]
    n_left_out: int
    newest_first: bool


@dataclass(frozen=True)
class Score:
    """A figure, or one after each of several minibatches; None where there was nothing to score."""

    name: str
    values: list[float | None]


@dataclass(frozen=True)
class Topic:
    """A topic of a report.

    Attributes
    ----------
    id : int
        Its row in the model.
    name : str
        Where the model has names for its topics; else empty.
    weight, prior : float
        Share of the tokens that the model has learnt from; share of it that is still its prior.
    words : list of int
        Places in `Report.words`, of words that it may lead with.
    p : list of float
        Their probabilities in it.
    x, y : float
        Its place on the map.
    near : list of int
        Places in `Report.topics` of the most similar ones.
    n_documents : int
        Documents of which it is the main topic.
    shares, low, high : list of float or None
        Mean share in the documents of each period, and the ends of its 95 % interval; None where
        a period has no documents.
    documents : list of Document
    """

    id: int
    name: str
    weight: float
    prior: float
    words: list[int]
    p: list[float]
    x: float
    y: float
    near: list[int]
    n_documents: int
    shares: list[float | None]
    low: list[float | None]
    high: list[float | None]
    documents: list[Document] = field(repr=False)


@dataclass(frozen=True)
class Report:
    """Contents of a report, as `report` returns it; `page` makes the HTML of it.

    Attributes
    ----------
    title : str
    n_topics, n_documents : int
        Topics of the model, of which those shown are the heaviest, and documents.
    sampled_from : int or None
        Documents of which these are a sample; None if these are all.
    over_all : bool
        Whether the shares over time are of all documents, also where these are a sample.
    n_words, relevance : int, float
        Words of a topic that are shown at once, and where the slider stands at first.
    words, overall, holders : list
        Words that some topic may lead with, their probabilities in all topics together, and how
        many documents have each; empty where that is not known.
    topics : list of Topic
        The heaviest first.
    unit, periods, sizes : str, list of str, list of int
        Length of a period, the labels of the periods, and the documents of each; empty where
        there are no times.
    least : int
        Documents of a period below which it is not compared with others.
    tables : list of (str, str, Table)
        A heading, the kind ("changes" or "alarms") and the rows.
    scores : list of Score
    card : list of (str, list of (str, str))
        Sections of names and values.
    has_documents, has_texts : bool
        Whether documents were given, and their texts.
    """

    title: str
    n_topics: int
    n_documents: int
    sampled_from: int | None
    over_all: bool
    n_words: int
    relevance: float
    words: list[str]
    overall: list[float]
    holders: list[int]
    topics: list[Topic]
    unit: str
    periods: list[str]
    sizes: list[int]
    least: int
    tables: list[tuple[str, str, Table]]
    scores: list[Score]
    card: list[tuple[str, list[tuple[str, str]]]]
    has_documents: bool
    has_texts: bool


class Happened(NamedTuple):
    """Records of one kind, with a heading; `kind` is "changes" or "alarms".

    Those `in_time` come in order of time, others in the order to be shown in.
    """

    heading: str
    kind: str
    records: Any
    in_time: bool = True


class _Course(NamedTuple):
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
    found: Survey,
    times: list[str],
    course: _Course,
    table: WordTable,
) -> list[Topic]:
    """The topics that are shown."""
    place = np.full(len(source.weights), -1)
    place[shown] = np.arange(len(shown))
    affinity, retention = affinities(source.topic_word[shown]), source.model.prior_retention_
    map_of, near = places(affinity), neighbours(affinity)
    names = source.labels
    best = [row for k in shown for row in found.best[k]]
    documents = iter(show(source, best, place, times))
    topics = []
    for i, k in enumerate(shown):
        name = shortened(names[k], LONGEST_WORD) if k < len(names) else ""
        shares, low, high = (
            [None if np.isnan(share) else digits(share) for share in values[:, k]]
            for values in (course.shares, course.low, course.high)
        )
        topics.append(Topic(
            int(k), name, digits(source.weights[k]), digits(retention[k]),
            table.own[i].tolist(), [digits(p) for p in table.probabilities[i]],
            round(float(map_of[i, 0]), 4), round(float(map_of[i, 1]), 4), near[i],
            int(found.n_documents[k]), shares, low, high, [next(documents) for _ in found.best[k]],
        ))  # fmt: skip
    return topics


def periods_and_texts(source: Source, known: Periods | None) -> tuple[Periods | None, list[str]]:
    """The periods of the report, those of all documents if known, and its times as text."""
    if source.times is None:
        return known, []
    times = read_times(source.times)
    return known or periods_of(times, LEAST), time_texts(times)


def holders_of(source: Source, whole: Whole | None, columns: np.ndarray) -> list[int]:
    """How many of all documents have the words of columns; empty where that is not known."""
    found = None if whole is None else whole.holders
    if whole is None and source.documents is not None:
        found = np.bincount(source.counts.indices, minlength=len(source.names))
    return [] if found is None else np.rint(found)[columns].astype(int).tolist()


def course_of(sums: ShareSums, periods: Periods | None, tracker: Any, n_topics: int) -> _Course:
    """Shares over time: of the documents, or else of what a tracker has seen of the stream."""
    if periods is not None:
        means, sizes = sums.means(), sums.n.astype(int).tolist()
        return _Course(periods.unit, list(periods.labels), sizes, means, *sums.intervals())
    nothing = np.empty((0, n_topics))
    times, shares = tracked_shares(tracker, n_topics)
    unit, labels = "snapshot" if times else "", [cell(time) for time in times]
    return _Course(unit, labels, [], shares, nothing, nothing)


def tables_of(
    source: Source, tracker: Any, alarms: Any, periods: Periods | None
) -> list[tuple[str, str, Table]]:
    """Births that the model has on record, rows of a tracker, and alarms, each with a heading."""
    happened = [
        Happened("Births and deaths", "changes", births_of(source)),
        *tracked(tracker),
        Happened("Alarms", "alarms", alarmed(alarms)),
    ]
    return [
        (one.heading, one.kind, table_of(one.records, periods, newest_first=one.in_time))
        for one in happened
        if one.records is not None
    ]


def births_of(source: Source) -> Any:
    """Record of a model whose topics come and go; None of other models."""
    try:
        return source.model.births_report(source.names)
    except AttributeError:
        return None


def digits(value: float) -> float:
    """A number as it is written into the page."""
    return float(f"{value:.6g}")


# What happened along a stream


def tracked(tracker: Any) -> list[Happened]:
    """Rows of a tracker: as given, or its news of the second half of a stream and its topics."""
    if tracker is None or isinstance(tracker, Iterable):
        return [Happened("Births and changes", "changes", tracker)]
    found = [Happened("Topics of the stream", "changes", tracker.topics())]
    half = bisect(tracker.batches_, tracker.n_batches_ // 2)
    if half > 0:
        found.insert(0, Happened(NEWS, "changes", tracker._news(half - 1), False))
    return found


def alarmed(alarms: Any) -> Any:
    """Rows as given, or those that a monitor has in `alarms`."""
    return alarms if alarms is None or isinstance(alarms, Iterable) else alarms.alarms


def tracked_shares(tracker: Any, n_rows: int) -> tuple[list[Any], np.ndarray]:
    """Times, and shares of the rows of a model along the stream, of what a tracker followed."""
    if tracker is None or isinstance(tracker, Iterable):
        return [], np.empty((0, n_rows))
    times, ids, shares = tracker.shares()
    found = np.zeros((len(times), n_rows))
    place = {int(one): column for column, one in enumerate(ids)}
    for row, one in enumerate(tracker.ids_[:n_rows]):
        if int(one) in place:
            found[:, row] = shares[:, place[int(one)]]
    return list(times), found


def table_of(
    records: Iterable[Any], periods: Periods | None = None, *, newest_first: bool = True
) -> Table:
    """A table of records: named tuples, dataclasses or mappings.

    They come in order of time and are turned round, or in the order to be shown in.
    """
    all_rows = [_fields_of(record) or dict(record) for record in records]
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


def _fields_of(record: Any) -> dict[str, Any] | None:
    """Names and values of a record; None of something else."""
    if isinstance(record, Mapping):
        return {str(key): value for key, value in record.items()}
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: record.__dict__[field.name] for field in fields(record)}
    return record._asdict() if hasattr(record, "_asdict") else None


def cell(value: Any) -> str:
    """A value as the text of a cell."""
    return shortened(_text(value), LONGEST_CELL)


def _text(value: Any) -> str:
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


# Scores, and the card of the model


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
    seen = {
        "Documents learnt from, in all passes": _counter(model, "n_documents_seen_"),
        "Tokens learnt from, in all passes": _counter(model, "n_tokens_seen_"),
        "Minibatches": _counter(model, "n_batch_iter_"),
        "Topics": len(source.weights),
        "Columns (words)": len(source.names),
    }
    parameters = [(name, _value(value)) for name, value in sorted(model.get_params(False).items())]
    versions = [("streamtopics", streamtopics.__version__), ("Python", platform.python_version())]
    versions += [(name, version(name)) for name in ("numpy", "scipy", "scikit-learn")]
    sections = [
        ("Model", [("Class", type(model).__name__), *parameters]),
        ("What it has learnt from", [(k, _number(v)) for k, v in seen.items() if v is not None]),
        ("Read and left out", list((intake or {}).items())),
        ("Documents of this report", _documents(source, periods)),
        ("Versions", versions),
    ]
    if source.pipeline is not None:
        steps = [(name, _value(step)) for name, step in steps_before(source.pipeline)]
        sections.insert(1, ("Steps before it", steps))
    if date is not None:
        sections.append(("Report", [("Date", date)]))
    return [(name, rows) for name, rows in sections if rows]


def _counter(model: Any, name: str) -> float | None:
    """A counter of a model; None where it has none."""
    found: float | None = getattr(model, name, None)
    return found


def _value(value: Any) -> str:
    """A parameter, in one line, without addresses of memory."""
    if isinstance(value, np.ndarray) or is_sparse(value):
        return f"{type(value).__name__} of shape {value.shape}"
    return shortened(ADDRESS.sub("", " ".join(repr(value).split())), LONGEST_VALUE)


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _documents(source: Source, periods: Periods | None) -> list[tuple[str, str]]:
    if source.documents is None:
        return []
    rows = [
        ("Documents", _number(source.counts.shape[0])),
        ("Tokens", _number(total(source.counts))),
    ]
    if periods is not None:
        rows += [("First period", periods.labels[0]), ("Last period", periods.labels[-1])]
    return rows
