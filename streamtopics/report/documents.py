# SPDX-License-Identifier: BSD-3-Clause
"""Which documents stand for a topic, and which topic each of their words is from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.report.settings import Whole
from streamtopics.report.source import Source, counts_of
from streamtopics.report.words import shortened
from streamtopics.utils.steps import counted, last_step
from streamtopics.utils.structure import is_sparse
from streamtopics.utils.times import Periods, ShareSums

# Documents whose topics are inferred at once.
AT_ONCE = 8192
# Least lift that a word counts with, where documents of equal shares are ordered.
LEAST_LIFT = 1e-3
LONGEST_TITLE, LONGEST_TEXT, LONGEST_PIECE = 120, 900, 60
# Distinct words of a document that is shown without its text.
MOST_WORDS = 40
# Topics that a document is said to be made of, and the least share of one.
MOST_PARTS, LEAST_PART = 6, 0.05
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Survey:
    """Statistics of the topics over all documents.

    Attributes
    ----------
    best : list of list of int
        For each topic, documents that stand for it, the first the most.
    n_documents : ndarray of shape (n_topics,)
        Documents of which each topic is the main one.
    shares : ShareSums
        Of the documents that have a known word, by period.
    """

    best: list[list[int]]
    n_documents: np.ndarray
    shares: ShareSums


@dataclass(frozen=True)
class Document:
    """A document as a report shows it.

    Attributes
    ----------
    row : int
        Its place among the documents, from 0.
    title : str
        Empty where there are no titles.
    time : str
        When it is from; empty where that is not known.
    mix : list of [int, float]
        Its topics with their shares, the largest first.
    parts : list of str
        Its text, or the beginning of it: plain text, a word, plain text, a word, ...
    topics : list of int
        The topic of each word; -1 of words that tell nothing of their topic.
    n_more : int
        Characters, or words of a document without text, that are left out.
    """

    row: int
    title: str
    time: str
    mix: list[tuple[int, float]]
    parts: list[str] = field(repr=False)
    topics: list[int] = field(repr=False)
    n_more: int = 0


def survey(source: Source, n_best: int, periods: Periods | None) -> Survey:
    """Infer the topics of all documents, some at a time, and keep what a report needs."""
    n_topics = len(source.weights)
    lift = _log_lift(source)
    eligible = _eligible(source)
    found = _Best(n_topics, n_best)
    n_main = np.zeros(n_topics, dtype=np.int64)
    sums = ShareSums.zeros(0 if periods is None else len(periods.labels), n_topics)
    lengths = np.asarray(source.counts.sum(axis=1)).ravel()
    for start in range(0, source.counts.shape[0], AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, source.counts.shape[0]))
        shares = doc_topic(source, rows)
        main = shares.argmax(axis=1)
        n_main += np.bincount(main[lengths[rows] > 0], minlength=n_topics)
        if periods is not None:
            sums.add(np.where(lengths[rows] > 0, periods.of[rows], -1), shares)
        for k in np.unique(main):
            own = np.flatnonzero((main == k) & eligible[rows])
            telling = source.counts[rows[own]] @ lift[k] / lengths[rows[own]]
            found.offer(int(k), rows[own], shares[own, k], telling)
    return Survey(found.rows(), n_main, sums)


def whole_of(estimator: Any, batches: Iterable[Any], periods: Periods | None = None) -> Whole:
    """Read all documents, a batch at a time; `periods` are those of all of them, in their order."""
    topics, n = last_step(estimator), 0
    n_topics, n_features = topics.topic_word_.shape
    holders = np.zeros(n_features, np.int64)
    shares = None if periods is None else ShareSums.zeros(len(periods.labels), n_topics)
    for batch in batches:
        counts, documents = counts_of(counted(estimator, batch), n_features)
        holders += np.bincount(counts.indices[counts.data > 0], minlength=n_features)
        if periods is not None and shares is not None:
            known = periods.of[n : n + counts.shape[0]]
            # A file may have grown since its times were read.
            of = np.append(known, np.full(counts.shape[0] - len(known), -1))
            of[np.asarray(counts.sum(axis=1)).ravel() == 0] = -1
            shares.add(of, np.asarray(topics.transform(documents), np.float64))
        n += counts.shape[0]
    return Whole(n, holders, periods, shares)


def doc_topic(source: Source, rows: np.ndarray) -> np.ndarray:
    """Topic proportions of some documents, of shape (n_rows, n_topics)."""
    some: Any = source.documents
    chosen = some[rows] if is_sparse(some) else [some[row] for row in rows]
    shares = np.asarray(source.model.transform(chosen), dtype=np.float64)
    if shares.shape != (len(rows), len(source.weights)):
        raise ValueError(
            f"{type(source.model).__name__}.transform gives {shares.shape[1:]} shares of a "
            f"document, but the model has {len(source.weights)} topics; leave out documents"
        )
    return shares


def _log_lift(source: Source) -> np.ndarray:
    """log p(w | k) / p(w), not below that of `LEAST_LIFT`."""
    overall = np.maximum(source.weights @ source.topic_word, np.finfo(np.float64).tiny)
    lift: np.ndarray = np.log(np.maximum(source.topic_word / overall, LEAST_LIFT))
    return lift


def _eligible(source: Source) -> np.ndarray:
    """Documents that may stand for a topic: not short ones, and none that looks like another."""
    lengths = np.asarray(source.counts.sum(axis=1)).ravel()
    found: np.ndarray = (lengths > 0) & (lengths >= np.median(lengths)) if len(lengths) else lengths
    if source.texts is not None:
        seen: set[str] = set()
        for row in np.flatnonzero(found):
            key = " ".join(source.texts[row][:LONGEST_TEXT].lower().split())
            found[row] = key not in seen
            seen.add(key)
    return found


class _Best:
    """The documents with the largest shares of each topic, of those offered so far."""

    def __init__(self, n_topics: int, n: int) -> None:
        self.n = n
        self.kept: list[list[tuple[float, float, int]]] = [[] for _ in range(n_topics)]

    def offer(self, topic: int, rows: np.ndarray, shares: np.ndarray, telling: np.ndarray) -> None:
        # Of mixtures almost all shares are 1: then the words decide.
        order = np.lexsort((rows, -telling, -shares.round(2)))[: self.n]
        new = [(-round(float(shares[i]), 2), -float(telling[i]), int(rows[i])) for i in order]
        self.kept[topic] = sorted(self.kept[topic] + new)[: self.n]

    def rows(self) -> list[list[int]]:
        return [[row for _, _, row in kept] for kept in self.kept]


def show(source: Source, rows: list[int], place: np.ndarray, times: list[str]) -> list[Document]:
    """Documents with a topic for each of their words; `place` is where topics are shown, or -1.

    A word is from the topic k with the largest ``p(k | document) p(w | k)``; where it is no more
    frequent in this topic than in all of them together, it is left plain.
    """
    if not len(rows):
        return []
    shares = doc_topic(source, np.asarray(rows))
    if source.texts is None:
        cut = [_of_counts(source, row) for row in rows]
    else:
        cut = _of_texts(source, [source.texts[row] for row in rows])
    overall = source.weights @ source.topic_word
    found = []
    for row, mine, (parts, columns, n_more) in zip(rows, shares, cut, strict=True):
        known = np.flatnonzero(columns >= 0)
        own = source.topic_word[:, columns[known]]
        best = (mine[:, None] * own).argmax(axis=0)
        tells = own[best, np.arange(len(known))] > overall[columns[known]]
        topics = np.full(len(columns), -1)
        topics[known] = np.where(tells, place[best], -1)
        title = "" if source.titles is None else shortened(source.titles[row], LONGEST_TITLE)
        time = times[row] if times else ""
        mix = _mix(mine, place)
        found.append(Document(int(row), title, time, mix, parts, topics.tolist(), n_more))
    return found


def _mix(shares: np.ndarray, place: np.ndarray) -> list[tuple[int, float]]:
    order = np.argsort(-shares, kind="stable")[:MOST_PARTS]
    return [
        (int(place[k]), round(float(shares[k]), 4))
        for k in order
        if place[k] >= 0 and (shares[k] >= LEAST_PART or k == order[0])
    ]


def _of_texts(source: Source, texts: list[str]) -> list[tuple[list[str], np.ndarray, int]]:
    """The beginnings of texts in parts, and the column of each word."""
    pieces = [_in_parts(shortened(text, LONGEST_TEXT)) for text in texts]
    words = sorted({word for parts in pieces for word in parts[1::2]})
    columns = dict(zip(words, _columns_of(source, words), strict=True))
    return [
        (
            [*parts],
            np.array([columns[word] for word in parts[1::2]], dtype=np.intp),
            max(0, len(text) - LONGEST_TEXT),
        )
        for parts, text in zip(pieces, texts, strict=True)
    ]


def _in_parts(text: str) -> list[str]:
    """Split a text at its words: the odd places are words, the even ones all between them."""
    parts, end = [], 0
    for match in WORD.finditer(text):
        parts += [text[end : match.start()], match.group()]
        end = match.end()
    return [*parts, text[end:]]


def _columns_of(source: Source, words: list[str]) -> list[int]:
    """The column of each word: that which the vectorizer counts it in, or -1."""
    if source.pipeline is not None:
        counts = counted(source.pipeline, words)
        if is_sparse(counts):
            rows = sparse.csr_matrix(counts)
            return [int(row.indices[0]) if row.nnz else -1 for row in rows]
    names = {str(name): column for column, name in enumerate(source.names)}
    return [names.get(word, names.get(word.lower(), -1)) for word in words]


def _of_counts(source: Source, row: int) -> tuple[list[str], np.ndarray, int]:
    """The words of a document without text, those that occur most before the others."""
    own = source.counts[row]
    order = np.lexsort((own.indices, -own.data))
    columns = own.indices[order][:MOST_WORDS]
    parts = [""]
    for column, count in zip(columns, own.data[order], strict=False):
        times = "  " if count == 1 else f" \u00d7 {count:.4g}  "
        parts += [shortened(str(source.names[column]), LONGEST_PIECE), times]
    return parts, columns.astype(np.intp), max(0, own.nnz - MOST_WORDS)
