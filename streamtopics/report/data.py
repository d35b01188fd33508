# SPDX-License-Identifier: BSD-3-Clause
"""All that a report says, as one record, apart from how it looks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from streamtopics.metrics.similarity import affinities, neighbours, places
from streamtopics.report.card import Score, card, scores_of
from streamtopics.report.documents import Document, Survey, show, survey
from streamtopics.report.rows import Table, cell, table_of
from streamtopics.report.settings import ReportSettings, Whole
from streamtopics.report.source import Source, read_source
from streamtopics.report.tracking import Happened, TrackedShares, alarmed, tracked, tracked_shares
from streamtopics.report.words import LONGEST_WORD, WordTable, shortened, word_table
from streamtopics.utils.times import (
    LEAST,
    Periods,
    ShareSums,
    periods_of,
    read_times,
    time_texts,
)

LONGEST_TITLE = 120


@dataclass(frozen=True)
class Topic:
    """A topic of a report.

    Attributes
    ----------
    id : int
        Its row in the model.
    name : str
        Where the model has names for its topics; else empty.
    weight : float
        Share of the tokens that the model has learnt from.
    prior : float
        Share of it that is still its prior.
    words : list of int
        Places in `ReportData.words`, of words that it may lead with.
    p : list of float
        Their probabilities in it.
    x, y : float
        Its place on the map.
    near : list of int
        Places in `ReportData.topics` of the most similar ones.
    n_documents : int
        Documents of which it is the main topic.
    shares : list of float or None
        Mean share in the documents of each period; None where a period has none.
    low, high : list of float or None
        Ends of the 95 % intervals of these; empty where the shares are those of a tracker.
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
class ReportData:
    """Contents of a report; made by `report_data`, written by `page`.

    Attributes
    ----------
    title : str
    n_topics : int
        Topics of the model; those shown are the heaviest.
    n_documents : int
    sampled_from : int or None
        Documents of which these are a sample; None if these are all.
    over_all : bool
        Whether the shares over time are of all documents, also where these are a sample.
    n_words : int
        Words of a topic that are shown at once.
    relevance : float
        Where the slider stands at first.
    words : list of str
        Words that some topic may lead with.
    overall : list of float
        Their probabilities in all topics together.
    holders : list of int
        Documents of all that have each word; empty where that is not known.
    topics : list of Topic
        The heaviest first.
    unit : str
        Length of a period; empty without times.
    periods : list of str
        Their labels.
    sizes : list of int
        Documents of each; empty where the shares are those of a tracker.
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


class _Course(NamedTuple):
    """Shares of all topics over time, of shape (n_periods, n_topics); NaN where nothing was."""

    unit: str
    labels: list[str]
    sizes: list[int]
    shares: np.ndarray
    low: np.ndarray
    high: np.ndarray


def report_data(estimator: Any, settings: ReportSettings | None = None) -> ReportData:
    """Collect what `report` writes.

    Parameters
    ----------
    estimator : object
        As of `report`.
    settings : ReportSettings, default=None
        The other parameters of `report`; None for its defaults, a report of words alone.

    Returns
    -------
    data : ReportData
        A record of plain values, the same for the same input.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        As `report`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.report import ReportSettings, report_data
    >>> model = SVBLDA(1).fit([[4, 0, 1], [0, 2, 2]])
    >>> report_data(model, ReportSettings(feature_names=["sea", "sky", "sun"])).words
    ['sea', 'sky', 'sun']
    """
    settings = ReportSettings() if settings is None else settings
    if not isinstance(settings, ReportSettings):
        raise TypeError(f"settings must be ReportSettings or None; got {settings!r:.60}")
    source, whole = read_source(estimator, settings), settings.sampled_from
    sums, known = (whole.shares, whole.periods) if isinstance(whole, Whole) else (None, None)
    periods, texts = _periods(source, known)
    found = survey(source, settings.n_documents, periods if sums is None else None)
    course = _course(sums or found.shares, periods, settings.tracker, len(source.weights))
    shown = np.argsort(-source.weights, kind="stable")[: settings.n_topics]
    table = word_table(source.topic_word, source.weights, source.names, shown, settings.n_words)
    return ReportData(
        title=shortened(
            settings.title or f"Topics of {type(source.model).__name__}", LONGEST_TITLE
        ),
        n_topics=len(source.weights),
        n_documents=source.counts.shape[0],
        sampled_from=_sampled_from(source, settings.sampled_from),
        over_all=sums is not None,
        n_words=int(settings.n_words),
        relevance=round(float(settings.relevance), 1),
        words=list(table.words),
        overall=[_digits(p) for p in table.overall],
        holders=_holders(source, settings.sampled_from, table.columns),
        topics=_with_words(_topics(source, shown, found, texts, course), table),
        unit=course.unit,
        periods=course.labels,
        sizes=course.sizes,
        least=LEAST,
        tables=_tables(source, settings, periods),
        scores=scores_of(settings.scores),
        card=card(source, periods, settings.date, settings.intake),
        has_documents=source.documents is not None,
        has_texts=source.texts is not None,
    )


def _sampled_from(source: Source, n: Any) -> int | None:
    """Documents of which those of the source are a sample; None if these are all."""
    if n is None:
        return None
    n = n.n_documents if isinstance(n, Whole) else n
    if source.documents is None:
        raise ValueError("sampled_from came without documents; pass X= or a pipeline and texts=")
    given = source.counts.shape[0]
    if n < given:
        raise ValueError(
            f"sampled_from must be at least the {given} documents that are given; got {n}. It is "
            "the number of those that they were drawn from"
        )
    return int(n) if n > given else None


def _with_words(topics: list[Topic], table: WordTable) -> list[Topic]:
    """The topics, with the words that each may lead with."""
    return [
        replace(topic, words=words.tolist(), p=[_digits(p) for p in probabilities])
        for topic, words, probabilities in zip(topics, table.own, table.probabilities, strict=True)
    ]


def _topics(
    source: Source, shown: np.ndarray, found: Survey, times: list[str], course: _Course
) -> list[Topic]:
    """The topics, without their words."""
    place = np.full(len(source.weights), -1)
    place[shown] = np.arange(len(shown))
    affinity = affinities(source.topic_word[shown])
    map_of, near = places(affinity), neighbours(affinity)
    names = source.labels
    best = [row for k in shown for row in found.best[k]]
    documents = iter(show(source, best, place, times))
    topics = []
    for i, k in enumerate(shown):
        name = shortened(names[k], LONGEST_WORD) if k < len(names) else ""
        shares, low, high = (
            [None if np.isnan(share) else _digits(share) for share in values[:, k]]
            for values in (course.shares, course.low, course.high)
        )
        topics.append(Topic(
            int(k), name, _digits(source.weights[k]), _digits(source.retention[k]), [], [],
            round(float(map_of[i, 0]), 4), round(float(map_of[i, 1]), 4), near[i],
            int(found.n_documents[k]), shares, low, high, [next(documents) for _ in found.best[k]],
        ))  # fmt: skip
    return topics


def _periods(source: Source, known: Periods | None) -> tuple[Periods | None, list[str]]:
    """The periods of the report, those of all documents if known, and its times as text."""
    if source.times is None:
        return known, []
    times = read_times(source.times)
    return known or periods_of(times, LEAST), time_texts(times)


def _holders(source: Source, whole: Any, columns: np.ndarray) -> list[int]:
    """How many of all documents have the words of columns; empty where that is not known."""
    found = whole.holders if isinstance(whole, Whole) else None
    if source.documents is not None and _sampled_from(source, whole) is None:
        found = np.bincount(source.counts.indices, minlength=len(source.names))
    return [] if found is None else np.rint(found)[columns].astype(int).tolist()


def _course(sums: ShareSums, periods: Periods | None, tracker: Any, n_topics: int) -> _Course:
    """Shares over time: of the documents, or else of what a tracker has seen of the stream."""
    if periods is not None:
        means, sizes = sums.means(), sums.n.astype(int).tolist()
        return _Course(periods.unit, list(periods.labels), sizes, means, *sums.intervals())
    nothing = np.empty((0, n_topics))
    known = tracked_shares(tracker, n_topics) or TrackedShares([], nothing)
    unit, labels = "snapshot" if known.times else "", [cell(time) for time in known.times]
    return _Course(unit, labels, [], known.shares, nothing, nothing)


def _tables(
    source: Source, settings: ReportSettings, periods: Periods | None
) -> list[tuple[str, str, Table]]:
    births = Happened("Births and deaths", "changes", "births", _births(source))
    happened = [births, *tracked(settings.tracker), *alarmed(settings.alarms)]
    return [
        (
            one.heading,
            one.kind,
            table_of(one.argument, one.records, periods, newest_first=one.in_time),
        )
        for one in happened
        if one.records is not None
    ]


def _births(source: Source) -> Any:
    """Record of a model whose topics come and go; None of other models."""
    if not hasattr(type(source.model), "births_report"):
        return None
    try:
        return source.model.births_report(source.names)
    except AttributeError:
        return None


def _digits(value: float) -> float:
    """A number as it is written into the page."""
    return float(f"{value:.6g}")
