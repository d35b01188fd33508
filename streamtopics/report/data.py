# SPDX-License-Identifier: BSD-3-Clause
"""The contents of a report, without layout."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.metrics.similarity import affinities, nearest, places
from streamtopics.report.curves import (
    MOST_FINDINGS,
    Branch,
    Curves,
    Statement,
    alarms_in,
    branches_of,
    change_of,
    curves_of,
    digits,
    fields_of,
    find_in,
    statements_of,
    written,
)
from streamtopics.report.documents import (
    LONGEST_TITLE,
    LONGEST_WORD,
    Document,
    Source,
    Statistics,
    WordTable,
    read_source,
    shortened,
    show,
    statistics_of,
    word_table,
)
from streamtopics.report.writing import page
from streamtopics.saving.files import replace_file
from streamtopics.story import Finding, Totals
from streamtopics.story.cells import LEAST_OF_PERIOD
from streamtopics.streams import DriftMonitor, TopicTracker
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import steps_before

# Most rows, columns and characters of a cell in a table, and most entries of a list in a cell.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL, MOST_ENTRIES = 60, 12, 160, 10
MOST_SCORES, MOST_POINTS, LONGEST_VALUE, TO_THE_MINUTE = 20, 200, 300, 16
# Further words for the search, beside the leading words of topics.
MORE_WORDS = 5000
# Without value in the card of a model: addresses of memory, and long lists.
ADDRESS, LONG_LIST = re.compile(r" at 0x[0-9a-fA-F]+"), re.compile(r"\[[^\[\]]{80,}\]")


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_left_out: int


@dataclass(frozen=True)
class Topic:
    id: int  #: Row in the model
    name: str  #: Empty without a name
    weight: float  #: Share of the learnt tokens
    prior: float  #: Share of the prior in the topic
    words: list[int]  #: Places in `Report.words` of possible leading words
    p: list[float]  #: Their probabilities
    x: float  #: Place on the map
    y: float
    near: list[int]  #: Places in `Report.topics` of the most similar topics
    n_documents: int  #: Documents with this main topic
    shares: list[float | None]  #: Mean share in the documents of each period, if any
    low: list[float | None]  #: The 95 % interval of the mean
    high: list[float | None]
    by_group: list[float | None]  #: Mean share in the documents of each of `Report.groups`
    group_low: list[float | None]
    group_high: list[float | None]
    change: str  #: Change along the time; empty without a finding
    came: list[str]  #: New words of the change
    is_locked: bool
    leading: Sequence[tuple[Any, float]]  #: Words to find the topic in edits; empty if not editable
    documents: list[Document] = field(repr=False)


@dataclass(frozen=True)
class Report:
    """Contents of a report, as `report` returns them; `page` writes the contents as HTML."""

    title: str
    n_topics: int  #: Of the model
    n_documents: int
    sampled_from: int | None  #: Size of the whole, if the documents are a sample
    over_all: bool  #: Whether shares and `holders` are over the whole, not over the sample
    n_words: int  #: Words of a topic shown at once
    relevance: float  #: Initial ranking of words
    words: list[str]  #: Possible leading words of topics
    overall: list[float]  #: Probabilities in all topics together
    holders: list[int]  #: Documents with each word; empty if unknown
    more_words: list[tuple[str, int]]  #: Further words, and documents with each
    findings: list[Statement]
    n_findings: int  #: Number of all findings; these are the first
    alarms: list[Statement]  #: Alarms within a period
    topics: list[Topic]  #: The heaviest first
    branches: list[Branch]  #: Branches of the tree of topics; empty without a tree
    unit: str  #: Length of a period, such as "month"
    periods: list[str]  #: Labels; empty without times
    sizes: list[int]  #: Documents of each period
    groups: list[str]  #: The largest first; empty without groups
    group_sizes: list[int]
    least: int  #: Least documents of a period for comparisons
    tables: list[tuple[str, Table]]  #: Headings and tables
    scores: list[tuple[str, list[float | None]]]  #: Names and values; None if unknown
    card: list[tuple[str, list[tuple[str, str]]]]  #: About the model: sections of names and values
    edits: Sequence[str]  #: Kinds of edits on the page; empty without edits
    has_documents: bool
    has_texts: bool


def report(
    estimator: object,
    path: str | PathLike[str] | None = None,
    *,
    feature_names: ArrayLike | None = None,
    X: object = None,
    texts: Iterable[str] | None = None,
    times: Sequence[Any] | ArrayLike | None = None,
    groups: Sequence[Any] | None = None,
    titles: Iterable[str] | None = None,
    totals: Totals | None = None,
    findings: Sequence[Finding] | None = None,
    tracker: TopicTracker | Iterable[object] | None = None,
    alarms: DriftMonitor | Iterable[object] | None = None,
    scores: Mapping[str, Any] | None = None,
    title: str | None = None,
    date: str | None = None,
    sampled_from: int | None = None,
    intake: Mapping[str, str] | None = None,
    n_words: int = 10,
    n_documents: int = 5,
    n_topics: int = 200,
    relevance: float = 0.6,
) -> Report:
    """Collect the results of a model, and write an HTML file that needs no network.

    The file is written completely or not at all.

    Parameters
    ----------
    estimator : object
        A fitted topic model of streamtopics, or a pipeline with one as last step.
    path : str or path, default=None
        File, for example "topics.html", replaced if present; None writes no file.
    feature_names : array-like of shape (n_features,), default=None
        Words of the columns. None takes the words of a pipeline, or the names seen in `fit`.
    X : {array-like, sparse matrix} of shape (n_documents, n_features), default=None
        Counts of documents, the input of the last step; for models of sentences, a sequence of
        matrices. None counts `texts` by the pipeline. Without X and texts only topics are shown.
    texts, titles : iterable of str, default=None
        Text and title of each document. Without texts, the report shows words of each document.
    times : array-like of shape (n_documents,), default=None
        Number, date, or text such as "2003-05-17" or "2003-05"; None or NaN for unknown times.
    groups : array-like of shape (n_documents,), default=None
        Group of each document, for example a product, country or author.
    totals : Totals, default=None
        Sums over all documents, from `TopicStream.totals`, if `texts` is a sample.
    findings : sequence of Finding, default=None
        Findings to show, at most ten; their `documents` are indices into `texts`. With None the
        report searches for findings, at a false discovery rate of .05.
    tracker, alarms : iterable of records, default=None
        A `TopicTracker` and a `DriftMonitor`. Either may also be a list of records in order of time
        (named tuples, dataclasses or mappings). Pictures show an alarm at its field ``time``.
    scores : mapping of str to float or sequence of float, default=None
        Scores to show, by name: a number, or a sequence to draw as a curve, such as the scores of
        all minibatches; of a sequence the last 200 values are shown.
    title, date : str, default=None
        Shown on the page. None shows the class of the model, and no date.
    sampled_from : int, default=None
        Size of the whole corpus if the documents are a sample.
    intake : mapping of str to str, default=None
        Numbers to show of records read and skipped, by name.
    n_words, n_documents : int, default=10 and 5
        Words and documents per topic.
    n_topics : int, default=200
        Largest number of topics; the heaviest are shown.
    relevance : float in [0, 1], default=0.6
        Initial ranking of words; see `streamtopics.metrics.relevant_words`.

    Returns
    -------
    report : Report
        The contents of the page. A page above 2,000,000 bytes is written with fewer documents.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.report import report
    >>> model = SVBLDA(n_components=2, random_state=0).fit([[4, 0, 1], [0, 2, 2], [3, 0, 0]])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "topics.html")
    ...     found = report(model, path, feature_names=["sea", "sky", "sun"], title="Weather")
    ...     "<title>Weather</title>" in path.read_text(encoding="utf-8")
    True
    """
    check_integer(n_topics=n_topics, n_words=n_words)
    source = read_source(estimator, feature_names, X, texts, titles, times, groups)
    found = statistics_of(source, n_documents, adds=totals is None)
    sums = totals or found.cells.totals()
    every = sums.of_all()
    if findings is None:
        findings = find_in(source, found, sums)
    curves = curves_of(sums, findings)
    rung = alarms if alarms is None or isinstance(alarms, Iterable) else alarms.alarms
    rung = None if rung is None else list(rung)
    told = alarms_in(rung or (), source, found, curves)
    order = np.argsort(-source.weights, kind="stable")
    shown = order[~np.isin(order, source.model.hidden_topics_)][:n_topics]
    table = word_table(source, shown, int(n_words))
    affinity, place = affinities(source.topic_word[shown]), np.full(len(source.weights), -1)
    place[shown] = np.arange(len(shown))
    n_given = source.counts.shape[0]
    whole = max(n_given, int(sampled_from or 0), round(every.n.sum()))
    is_known = totals is not None or (source.documents is not None and whole == n_given)
    holders = np.rint(every.holders.sum(axis=0)).astype(int)[: None if is_known else 0]
    names = [period.label for period in curves.periods]
    data = Report(
        title=shortened(title or f"Topics of {type(source.model).__name__}", LONGEST_TITLE),
        n_topics=len(source.weights) - len(source.model.hidden_topics_),
        n_documents=n_given,
        sampled_from=whole if whole > n_given else None,
        over_all=totals is not None or whole == n_given,
        n_words=int(n_words),
        relevance=round(float(relevance), 1),
        words=list(table.words),
        overall=[digits(p) for p in table.overall],
        holders=holders[table.columns].tolist() if len(holders) else [],
        more_words=more_words(source, table, holders),
        findings=statements_of(findings[:MOST_FINDINGS], source, sums, place, curves.group_rows),
        n_findings=len(findings),
        alarms=statements_of(told, source, sums, place, curves.group_rows),
        topics=topics_of(source, shown, place, affinity, found, curves, table, findings),
        branches=branches_of(affinity, source.topic_word[shown], source.weights[shown], table),
        unit=curves.periods[0].unit if names else "",
        periods=names,
        sizes=curves.sizes,
        groups=curves.groups,
        group_sizes=curves.group_sizes,
        least=LEAST_OF_PERIOD,
        tables=tables_of(source, tracker, rung),
        scores=scores_of(scores),
        card=card(source, date, intake),
        edits=source.edits.kinds,
        has_documents=source.documents is not None,
        has_texts=source.texts is not None,
    )
    if path is not None:
        content = page(data)
        with replace_file(Path(path)) as write:
            write(content)
    return data


def more_words(source: Source, table: WordTable, holders: np.ndarray) -> list[tuple[str, int]]:
    """The most frequent words that lead no topic, with numbers of documents."""
    left = holders.copy()
    left[table.columns[: len(left)]] = 0
    order = np.argsort(-left, kind="stable")[:MORE_WORDS]
    names = (shortened(str(source.names[column]), LONGEST_WORD) for column in order)
    return [(name, n) for name, n in zip(names, left[order].tolist(), strict=True) if n > 0]


def topics_of(
    source: Source,
    shown: np.ndarray,
    place: np.ndarray,
    affinity: np.ndarray,
    found: Statistics,
    curves: Curves,
    table: WordTable,
    findings: Sequence[Finding],
) -> list[Topic]:
    retention, names = source.model.prior_retention_, source.topic_names
    map_of, near = places(affinity), nearest(affinity)
    best = [row for k in shown for row in found.best[k]]
    documents = iter(show(source, best, place))
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
            int(curves.n_main[k]), by_period[0], by_period[1], by_period[2],
            by_group[0], by_group[1], by_group[2], change, came, int(k) in source.edits.locked,
            source.edits.leading[k] if source.edits.leading else (),
            [next(documents) for _ in found.best[k]],
        ))  # fmt: skip
    return topics


def tables_of(
    source: Source, tracker: TopicTracker | Iterable[object] | None, alarms: Iterable[object] | None
) -> list[tuple[str, Table]]:
    """Tables, with headings, of recorded births, tracked topics and alarms."""
    found: list[tuple[str, Iterable[object]]] = []
    # Models with births have a record.
    with suppress(AttributeError):
        each = source.model.births_report(source.names)
        ids = [*getattr(source.model, "topic_ids_", range(len(source.weights)))]
        known = [{**vars(one), "row": -1 if one.died else ids.index(one.topic)} for one in each]
        found.append(("Births and deaths", known))
    if tracker is not None:
        rows = tracker if isinstance(tracker, Iterable) else tracker.topics()
        found.append(("Topics of the stream", rows))
    if alarms is not None:
        found.append(("Alarms", alarms))
    return [(heading, table_of(rows)) for heading, rows in found]


def table_of(records: Iterable[object]) -> Table:
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
    return shortened(_text(value), LONGEST_CELL)


def _text(value: object) -> str:
    """A value as text; of a record only the first field."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if (inside := fields_of(value)) is not None:
        return next(filter(None, map(_text, inside.values())), "")
    if isinstance(value, list | tuple):
        more = ["…"] if len(value) > MOST_ENTRIES else []
        return ", ".join([*map(_text, value[:MOST_ENTRIES]), *more])
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, datetime | np.datetime64):
        return str(value).replace("T", " ")[:TO_THE_MINUTE]
    if isinstance(value, Real) and not isinstance(value, Integral):
        digits = 4 if abs(float(value)) < 1000 else 10
        return "" if np.isnan(float(value)) else f"{float(value):.{digits}g}"
    return "" if value is None else str(value)


def scores_of(scores: Mapping[str, Any] | None) -> list[tuple[str, list[float | None]]]:
    found = []
    for name, value in list((scores or {}).items())[:MOST_SCORES]:
        values = np.atleast_1d(np.asarray(value, np.float64))
        last = [float(f"{v:.6g}") if np.isfinite(v) else None for v in values[-MOST_POINTS:]]
        found.append((shortened(str(name), LONGEST_VALUE), last))
    return found


def card(
    source: Source, date: str | None, intake: Mapping[str, str] | None
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names and values about the model, in sections; equal in equal runs."""
    model = source.model
    counters = {
        "Documents, in all passes": model.n_documents_seen_,
        "Tokens, in all passes": model.n_tokens_seen_,
        "Minibatches": model.n_batch_iter_,
        "Topics": len(source.weights),
        "Columns (words)": len(source.names),
    }
    steps = [] if source.pipeline is None else steps_before(source.pipeline)
    packages = ("streamtopics", "numpy", "scipy", "scikit-learn")
    versions = [(name, version(name)) for name in packages]
    sections = [
        ("Model", [(name, _value(step)) for name, step in [*steps, ("topics", model)]]),
        ("What it has learnt from", [(name, f"{n:,.0f}") for name, n in counters.items()]),
        ("Read and left out", list((intake or {}).items())),
        ("Versions", [*versions, ("Python", platform.python_version())]),
        ("Report", [] if date is None else [("Date", date)]),
    ]
    return [(name, rows) for name, rows in sections if rows]


def _value(step: Any) -> str:
    text = LONG_LIST.sub("[…]", ADDRESS.sub("", " ".join(repr(step).split())))
    return shortened(text, LONGEST_VALUE)
