# SPDX-License-Identifier: BSD-3-Clause
"""All that a report says, as one record, apart from how it looks."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from streamtopics.metrics.similarity import nearest, places
from streamtopics.report.curves import (
    Branch,
    Curves,
    Statement,
    change_of,
    digits,
    fields_of,
    written,
)
from streamtopics.report.documents import (
    LONGEST_WORD,
    Document,
    Source,
    Statistics,
    WordTable,
    shortened,
    show,
)
from streamtopics.story.findings import Finding
from streamtopics.utils.steps import steps_before
from streamtopics.utils.structure import is_sparse, total

if TYPE_CHECKING:
    from streamtopics.streams import TopicTracker

# Rows, columns and characters of a cell that a table shows at most, and entries of a list in one.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL, MOST_ENTRIES = 60, 12, 160, 10
MOST_SCORES, MOST_POINTS, LONGEST_VALUE = 20, 200, 200
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
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
    n_left_out: int


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
    by_group: list[float | None]  #: Mean share in the documents of each of `Report.groups`
    group_low: list[float | None]
    group_high: list[float | None]
    change: str  #: What is found of it along the time; empty if nothing is
    came: list[str]  #: Words that came with it
    documents: list[Document] = field(repr=False)


@dataclass(frozen=True)
class Report:
    """Contents of a report, as `report` returns it; `page` makes the HTML of it."""

    title: str
    n_topics: int  #: Of the model
    n_documents: int
    sampled_from: int | None  #: Documents of which these are a sample, if they are
    over_all: bool  #: Whether shares and `holders` are of all documents
    n_words: int  #: Words of a topic that are shown at once
    relevance: float  #: Where the slider stands at first
    words: list[str]  #: That some topic may lead with
    overall: list[float]  #: Their probabilities in all topics together
    holders: list[int]  #: Documents that have each word; empty if not known
    more_words: list[tuple[str, int]]  #: Other words, and the documents that have each
    findings: list[Statement]
    n_findings: int  #: Of which these are the first
    alarms: list[Statement]  #: That fall into a period
    topics: list[Topic]  #: The heaviest first
    branches: list[Branch]  #: Of the tree of the topics; empty if there is none
    unit: str  #: Length of a period
    periods: list[str]  #: Labels; empty without times
    sizes: list[int]  #: Documents of each period
    groups: list[str]  #: The largest first; empty without groups
    group_sizes: list[int]
    least: int  #: Documents of a period below which it is not compared with others
    tables: list[tuple[str, Table]]  #: Headings and rows
    scores: list[Score]
    card: list[tuple[str, list[tuple[str, str]]]]  #: Sections of names and values
    has_documents: bool
    has_texts: bool


def topics_of(
    source: Source,
    shown: np.ndarray,
    place: np.ndarray,
    affinity: np.ndarray,
    found: Statistics,
    times: list[str],
    curves: Curves,
    table: WordTable,
    findings: Sequence[Finding],
) -> list[Topic]:
    """The topics that are shown."""
    retention, names = source.model.prior_retention_, source.labels
    map_of, near = places(affinity), nearest(affinity)
    best = [row for k in shown for row in found.best[k]]
    documents = iter(show(source, best, place, times))
    topics = []
    for i, k in enumerate(shown):
        name = shortened(names[k], LONGEST_WORD) if k < len(names) else ""
        by_period, by_group = (
            [written(values[:, k]) for values in shares]
            for shares in (curves.shares, curves.by_group)
        )
        change, came = change_of(int(k), findings)
        topics.append(Topic(
            int(k), name, digits(source.weights[k]), digits(retention[k]),
            table.own[i].tolist(), [digits(p) for p in table.probabilities[i]],
            round(float(map_of[i, 0]), 4), round(float(map_of[i, 1]), 4), near[i],
            int(found.n_documents[k]), by_period[0], by_period[1], by_period[2],
            by_group[0], by_group[1], by_group[2], change, came,
            [next(documents) for _ in found.best[k]],
        ))  # fmt: skip
    return topics


def tables_of(
    source: Source,
    tracker: TopicTracker | Iterable[object] | None,
    alarms: Iterable[object] | None,
) -> list[tuple[str, Table]]:
    """Births that the model has on record, rows of a tracker, and alarms, each with a heading."""
    found: list[tuple[str, Iterable[object]]] = []
    # Models whose topics come and go have a record of it.
    with suppress(AttributeError):
        found.append(("Births and deaths", source.model.births_report(source.names)))
    if isinstance(tracker, Iterable):
        found.append(("Births and changes", tracker))
    elif tracker is not None:
        found.append(("Topics of the stream", tracker.topics()))
    if alarms is not None:
        found.append(("Alarms", alarms))
    return [(heading, table_of(rows)) for heading, rows in found]


def table_of(records: Iterable[object]) -> Table:
    """A table of records, named tuples, dataclasses or mappings, the newest first."""
    all_rows = [fields_of(record) or dict(record) for record in records]  # type: ignore[call-overload]
    rows = all_rows[::-1][:MOST_ROWS]
    seen = dict.fromkeys(key for row in rows for key in row)
    columns = [column for column in seen if any(cell(row.get(column)) for row in rows)]
    columns = columns[:MOST_COLUMNS]
    return Table(
        tuple(shortened(column.replace("_", " "), LONGEST_CELL) for column in columns),
        tuple(tuple(cell(row.get(column)) for column in columns) for row in rows),
        len(all_rows) - len(rows),
    )


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
    if (inside := fields_of(value)) is not None:
        return _text_of_record(inside)
    if isinstance(value, list | tuple):
        between = "; " if any(fields_of(entry) for entry in value) else ", "
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
    source: Source, periods: list[str], date: str | None, intake: Mapping[str, str] | None
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
        if periods:
            documents += [("First period", periods[0]), ("Last period", periods[-1])]
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
