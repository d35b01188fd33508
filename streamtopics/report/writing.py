# SPDX-License-Identifier: BSD-3-Clause
"""The page of a report: a template, its style and script, and the data, in one file."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.inspection.periods import time_texts
from streamtopics.metrics.similarity import affinities
from streamtopics.report.curves import (
    MOST_FINDINGS,
    alarms_in,
    branches_of,
    curves_of,
    digits,
    find_in,
    statements_of,
)
from streamtopics.report.data import (
    Report,
    card,
    scores_of,
    tables_of,
    topics_of,
)
from streamtopics.report.documents import (
    LONGEST_TITLE,
    LONGEST_WORD,
    Source,
    WordTable,
    labels_of_source,
    read_source,
    shortened,
    statistics_of,
    word_table,
)
from streamtopics.saving.files import replace_file
from streamtopics.story import Finding, Totals
from streamtopics.story.cells import LEAST_OF_PERIOD

if TYPE_CHECKING:
    from streamtopics.streams import DriftMonitor, TopicTracker

# Bytes of a page, whatever the corpus.
MOST_BYTES = 2_000_000
# Words that the search knows besides those that topics lead with.
MORE_WORDS = 5000
SLOT = re.compile(r"\{\{(\w+)\}\}")


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
    labels: Sequence[str] | None = None,
    title: str | None = None,
    date: str | None = None,
    sampled_from: int | None = None,
    intake: Mapping[str, str] | None = None,
    n_words: int = 15,
    n_documents: int = 5,
    n_topics: int = 200,
    relevance: float = 0.6,
) -> Report:
    """Collect what a model found, and write it as one HTML file that needs no network.

    What stands out comes first, in sentences with their documents. A timeline, cards of the
    topics, a map and a tree of them, shares by group, a search, alarms and the model's card
    follow. The file is written as a whole or not at all.

    Parameters
    ----------
    estimator : object
        A fitted topic model of streamtopics, or a pipeline that ends with one.
    path : str or path, default=None
        Of the file, such as "topics.html", which is replaced; None writes none.
    feature_names : array-like of shape (n_features,), default=None
        Words of the columns; None for those of the pipeline, or that `fit` has seen.
    X : {array-like, sparse matrix} of shape (n_documents, n_features), default=None
        Counts of the documents to show, or a sequence of matrices for models of sentences. None
        for what a pipeline counts in `texts`; without either there are no documents.
    texts, titles : iterable of str, default=None
        Of each document. Without text the words of a document are shown.
    times : array-like of shape (n_documents,), default=None
        When each document is from: numbers, dates, or text such as "2003-05-17" or "2003-05"; None
        and NaN if not known. Dates without a zone are in UTC.
    groups : array-like of shape (n_documents,), default=None
        Which product, country, author, ... each document is of.
    totals : Totals, default=None
        Sums over all documents, of which `texts` may be a sample, such as those of a
        `TopicStream`. None adds up the documents that are given.
    findings : sequence of Finding, default=None
        Of these `totals`; their `documents` are places among `texts`. None looks for them, at a
        rate of false findings of .05. The page shows the first ten.
    tracker, alarms : iterable of records, default=None
        What happened along the stream, in order of time: named tuples, dataclasses or mappings,
        or a `TopicTracker` and a `DriftMonitor`. A field ``time`` places an alarm in the pictures.
    scores : mapping of str to float or sequence of float, default=None
        Figures to show; a sequence, such as the score of each minibatch, is drawn.
    labels : sequence of str, default=None
        Names of the topics, in the order of the model; None for the model's own, if any.
    title, date : str, default=None
        Of the report. Without a date the same input makes the same bytes.
    sampled_from : int, default=None
        Of how many documents these are a sample; None if these are all.
    intake : mapping of str to str, default=None
        What was read and left out, by name, for the model's card.
    n_words, n_documents : int, default=15 and 5
        Words and documents of a topic.
    n_topics : int, default=200
        The heaviest topics, at most.
    relevance : float in [0, 1], default=0.6
        Where the slider between frequent and telling words stands at first: the best for readers;
        see `streamtopics.metrics.relevant_words`.

    Returns
    -------
    report : Report
        What the page says, as plain values, the same for the same input. A page that would have
        more than 2,000,000 bytes shows fewer documents, and then fewer topics.

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
    source = read_source(estimator, feature_names, X, texts, titles, times, groups, labels)
    of_documents = labels_of_source(source)
    found = statistics_of(source, n_documents, None if totals else of_documents)
    sums = totals or found.cells.totals()
    if totals is not None:
        found = replace(found, n_documents=np.rint(totals.main.sum(axis=(0, 1))).astype(int))
    if findings is None:
        findings = find_in(source, found, sums, of_documents)
    curves = curves_of(sums, findings)
    rung = alarms if alarms is None or isinstance(alarms, Iterable) else alarms.alarms
    rung = None if rung is None else list(rung)
    told = alarms_in(rung or (), source, found, curves, of_documents)
    order = np.argsort(-source.weights, kind="stable")
    shown = order[~np.isin(order, source.model.hidden_topics_)][:n_topics]
    table = word_table(source, shown, int(n_words))
    affinity, place = affinities(source.topic_word[shown]), np.full(len(source.weights), -1)
    place[shown] = np.arange(len(shown))
    dates = [] if of_documents.kind == "order" else time_texts(of_documents.times)
    n_given = source.counts.shape[0]
    whole = max(n_given, int(sampled_from or 0))
    is_known = totals is not None or (source.documents is not None and whole == n_given)
    holders = (found.cells if totals is None else totals).holders.sum(axis=0)
    holders = np.rint(np.asarray(holders)).astype(int).ravel()[: None if is_known else 0]
    names = [period.label for period in curves.periods]
    data = Report(
        title=shortened(title or f"Topics of {type(source.model).__name__}", LONGEST_TITLE),
        n_topics=len(source.weights),
        n_documents=n_given,
        sampled_from=whole if whole > n_given else None,
        over_all=totals is not None or whole == n_given,
        n_words=int(n_words),
        relevance=round(float(relevance), 1),
        words=list(table.words),
        overall=[digits(p) for p in table.overall],
        holders=holders[table.columns].tolist() if len(holders) else [],
        more_words=more_words(source, table, holders),
        findings=statements_of(findings[:MOST_FINDINGS], source, sums, place, dates),
        n_findings=len(findings),
        alarms=statements_of(told, source, sums, place, dates),
        topics=topics_of(source, shown, place, affinity, found, dates, curves, table, findings),
        branches=branches_of(affinity, source.topic_word[shown], source.weights[shown], table),
        unit=curves.periods[0].unit if names else "",
        periods=names,
        sizes=curves.sizes,
        groups=curves.groups,
        group_sizes=curves.group_sizes,
        least=LEAST_OF_PERIOD,
        tables=tables_of(source, tracker, rung),
        scores=scores_of(scores),
        card=card(source, names, date, intake),
        has_documents=source.documents is not None,
        has_texts=source.texts is not None,
    )
    if path is not None:
        content = page(data)
        with replace_file(Path(path)) as write:
            write(content)
    return data


def more_words(source: Source, table: WordTable, holders: np.ndarray) -> list[tuple[str, int]]:
    """The words of most documents among those that no topic leads with."""
    left = holders.copy()
    left[table.columns[: len(left)]] = 0
    order = np.argsort(-left, kind="stable")[:MORE_WORDS]
    names = (shortened(str(source.names[column]), LONGEST_WORD) for column in order)
    return [(name, n) for name, n in zip(names, left[order].tolist(), strict=True) if n > 0]


def page(data: Report) -> bytes:
    """Return the page, which shows less if it would have more than `MOST_BYTES` bytes."""
    content = _filled(data)
    while len(content) > MOST_BYTES:
        data, before = _less(data), len(content)
        content = _filled(data)
        if len(content) >= before:
            raise ValueError(f"the title and the model's card alone have {before:,} bytes")
    return content


def _filled(data: Report) -> bytes:
    style, script = _resource("page.css"), _resource("page.js")
    slots = {
        "title": escape(data.title),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": _json(data),
    }
    # One pass, so that what is filled in is not looked at again.
    filled = SLOT.sub(lambda slot: slots[slot.group(1)], _resource("page.html"))
    return filled.encode("utf-8", "replace")


def _resource(name: str) -> str:
    return files("streamtopics.report").joinpath(name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    """Hash of a script or style, as a Content-Security-Policy names it."""
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"


def _json(data: object) -> str:
    """The data for a script element: nothing in them ends it or begins a comment."""
    text = json.dumps(
        data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_fields
    )
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _fields(record: Any) -> dict[str, Any]:
    """The fields of a record, which may have records in them."""
    return {field.name: record.__dict__[field.name] for field in fields(record)}


def _less(data: Report) -> Report:
    """The same without the words that only the search knows, or half of documents or topics."""

    def halves(ones: list[Any]) -> list[Any]:
        return [replace(one, documents=one.documents[: len(one.documents) // 2]) for one in ones]

    if data.more_words:
        return replace(data, more_words=[])
    shown: list[list[Any]] = [data.topics, data.findings, data.alarms]
    if any(one.documents for ones in shown for one in ones):
        topics, findings, alarms = map(halves, shown)
        return replace(data, topics=topics, findings=findings, alarms=alarms)
    return _half_of_topics(data)


def _half_of_topics(data: Report) -> Report:
    """The heavier half of the topics; documents, which may be of the others, are left out."""
    n = len(data.topics) // 2
    kept = [
        replace(topic, near=[i for i in topic.near if i < n], documents=[])
        for topic in data.topics[:n]
    ]
    used = sorted({word for topic in kept for word in topic.words})
    place = {word: i for i, word in enumerate(used)}
    return replace(
        data,
        branches=[],
        findings=[],
        alarms=[],
        topics=[replace(topic, words=[place[word] for word in topic.words]) for topic in kept],
        words=[data.words[word] for word in used],
        overall=[data.overall[word] for word in used],
        holders=[data.holders[word] for word in used] if data.holders else [],
    )
