# SPDX-License-Identifier: BSD-3-Clause
"""The input of a report: a model, words, and typical documents of the topics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.editing import EditError
from streamtopics.editing.records import Weighted
from streamtopics.editing.topics import editable, leading_words
from streamtopics.inspection.periods import time_texts
from streamtopics.inspection.tables import model_and_names
from streamtopics.metrics import relevant_words
from streamtopics.metrics.predictive import check_same_names
from streamtopics.story.cells import Cells, Labels, labels_of
from streamtopics.text import NamedCounts
from streamtopics.text.languages import UNSPACED
from streamtopics.text.vocabulary import is_free
from streamtopics.utils.steps import counted, names_of, steps_before
from streamtopics.utils.structure import (
    check_structure,
    column_names,
    from_arrow,
    is_sparse,
    take_rows,
    to_csr,
)

# Documents in one inference.
AT_ONCE = 8192
# Least lift of a word, in the order of documents with equal shares.
LEAST_LIFT = 1e-3
LONGEST_TITLE, LONGEST_TEXT, LONGEST_TERM, LONGEST_WORD = 120, 900, 60, 40
# Distinct words of a document shown without text.
MOST_WORDS = 40
# Most topics shown of a document, and least share of one.
MOST_PARTS, LEAST_PART = 6, 0.05
# Random documents for quotations with findings.
N_SAMPLE = 5000
# Edits of topics on a page, and edits impossible with births.
KINDS = ("merge", "rename", "hide", "lock", "exclude", "pull")
OF_ROWS = {"merge", "lock"}
WORD = re.compile(r"(\w+)")
# Places of the slider: `relevance` of `relevant_words`.
RELEVANCE_GRID = tuple(i / 10 for i in range(11))


@dataclass(frozen=True)
class Source:
    model: Any
    pipeline: Any  # The steps that count words; None for counts as input
    names: np.ndarray
    topic_word: np.ndarray
    weights: np.ndarray
    documents: Any  # Input of `transform` of the model; None without documents
    counts: sparse.csr_matrix
    texts: list[str] | None
    titles: list[str] | None
    labels: Labels  # Times and groups; without a known time in order
    dates: list[str]  # Times as text; empty if unknown
    topic_names: list[str]
    edits: EditMode


@dataclass(frozen=True)
class EditMode:
    """Data with which a page edits the topics of a model."""

    kinds: tuple[str, ...] = ()  # Edits possible with the model
    leading: tuple[Weighted, ...] = ()  # Words to find each topic in edits
    locked: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Statistics:
    best: list[list[int]]  # Rows of typical documents of each topic
    cells: Cells  # Sums by time and group
    rows: np.ndarray  # A random sample of the documents
    shares: np.ndarray  # Their topics


@dataclass(frozen=True)
class WordTable:
    """Words that lead a topic at any position of the slider of `relevance`."""

    columns: np.ndarray
    words: tuple[str, ...]
    overall: np.ndarray  # Probability in all topics together
    own: tuple[np.ndarray, ...]  # For each topic places in `columns` of its words
    probabilities: tuple[np.ndarray, ...]  # In the topic


@dataclass(frozen=True)
class Document:
    row: int
    title: str
    time: str
    group: str
    mix: list[tuple[int, float]]  #: Topics and their shares
    #: Beginning of the text: in turn text between words, and a word
    parts: list[str] = field(repr=False)
    topics: list[int] = field(repr=False)  #: Of the words; -1 for words without a topic
    n_more: int = 0  #: Number of omitted characters, or words of a document without text


# The model and its documents


def read_source(
    estimator: object,
    feature_names: ArrayLike | None,
    X: object,
    texts: Iterable[str] | None,
    titles: Iterable[str] | None,
    times: Any,
    groups: Sequence[Any] | None,
) -> Source:
    """The checked input of a report; a pipeline counts the words of texts."""
    topics, _ = model_and_names(estimator, ())
    pipeline = estimator if steps_before(estimator) else None
    texts, titles = (None if one is None else list(from_arrow(one)) for one in (texts, titles))
    if X is None and texts:
        if pipeline is None:
            raise ValueError(
                f"{type(topics).__name__} cannot count words: pass X=, the counts of these texts, "
                "or a pipeline with a vectorizer as first step"
            )
        X = counted(estimator, texts)
    names = topics._column_names(names_of(estimator) if feature_names is None else feature_names)
    check_same_names(topics, X)
    counts, documents = counts_of(X, len(names))
    n = counts.shape[0]
    for name, values in (("texts", texts), ("titles", titles)):
        if values is not None and len(values) != n:
            raise ValueError(
                f"{name} must have an entry for each of the {n} documents; got {len(values)}"
            )
    labels = labels_of(n, times, groups, "", 0)
    if labels.kind in ("", "order"):
        # The order of documents is no time, so the groups of all documents are compared.
        labels = labels._replace(kind="order", times=np.full(n, n - 1.0))
    dates = [] if labels.kind == "order" else time_texts(labels.times)
    topic_names = [str(name) for name in getattr(topics, "topic_names_", ())]
    topic_word = topics.topic_word_
    topic_word[:, [is_free(name) for name in names]] = 0
    return Source(
        topics, pipeline, np.asarray(names), topic_word, topics.topic_weights_,
        documents, counts, texts, titles, labels, dates, topic_names, edit_mode(estimator, names),
    )  # fmt: skip


def edit_mode(estimator: Any, names: np.ndarray) -> EditMode:
    """The edits that a model allows; none if the columns have other names."""
    try:
        topics = editable(estimator)
    except (EditError, TypeError):
        return EditMode()
    if not np.array_equal(topics._column_names(names_of(estimator)), names):
        return EditMode()
    come_and_go = topics._commit.lifetimes is not None
    kinds = tuple(kind for kind in KINDS if not (come_and_go and kind in OF_ROWS))
    leading, locked = leading_words(topics, names), frozenset(topics.locked_topics_.tolist())
    return EditMode(kinds, tuple(leading), locked)


def counts_of(X: object, n_features: int) -> tuple[sparse.csr_matrix, Any]:
    """Counts of documents, and the input of `transform`."""
    if X is None:
        return sparse.csr_matrix((0, n_features)), None
    if isinstance(X, list | tuple | np.ndarray) and len(X) and np.ndim(X[0]) == 2:
        # A matrix of sentences for each document.
        X = list(X)
        each = [sparse.csr_matrix(sparse.csr_matrix(one).sum(axis=0)) for one in X]
        return sparse.vstack(each, format="csr"), X
    check_structure(X, "report")
    if not isinstance(X, sparse.csr_matrix):  # for example NamedCounts, which stay
        names, X = column_names(X), to_csr(X, "report", default=None)
        if names is not None and isinstance(names[0], str):
            X = NamedCounts.of(X, names)
    return (X.astype(np.float64) if X.dtype == bool else X), X


def statistics_of(source: Source, n_best: int, adds: bool) -> Statistics:
    """Infer the topics of documents in batches; return sums and typical documents."""
    n_topics, n, labels = len(source.weights), source.counts.shape[0], source.labels
    overall = np.maximum(source.weights @ source.topic_word, np.finfo(np.float64).tiny)
    lift = np.log(np.maximum(source.topic_word / overall, LEAST_LIFT))
    main, share, telling = np.zeros(n, np.intp), np.zeros(n), np.zeros(n)
    cells = Cells.empty(n_topics, len(source.names))
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:N_SAMPLE])
    sample = [np.zeros((0, n_topics))]
    lengths = np.asarray(source.counts.sum(axis=1)).ravel()
    for start in range(0, n, AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, n))
        shares = doc_topic(source, rows)
        main[rows], share[rows] = shares.argmax(axis=1), shares.max(axis=1)
        sample.append(shares[chosen[(chosen >= start) & (chosen < start + AT_ONCE)] - start])
        of_topics = (source.counts[rows] @ lift.T)[np.arange(len(rows)), main[rows]]
        telling[rows] = of_topics / np.where(lengths[rows] > 0, lengths[rows], 1)
        if adds:
            groups = [labels.groups[row] for row in rows]
            own = labels._replace(times=labels.times[rows], groups=groups)
            cells = cells.add(own, shares, source.counts[rows])
    # In mixtures almost all shares are 1: then the words decide.
    order = np.lexsort((-telling, -share.round(2)))
    order = order[_candidates(source, lengths)[order]]
    best = [order[main[order] == k][:n_best].tolist() for k in range(n_topics)]
    return Statistics(best, cells, chosen, np.concatenate(sample))


def doc_topic(source: Source, rows: np.ndarray) -> np.ndarray:
    chosen = take_rows(source.documents, rows)
    return np.asarray(source.model.transform(chosen), dtype=np.float64)


def _candidates(source: Source, lengths: np.ndarray) -> np.ndarray:
    """Whether documents can be typical: of at least median length, and no repeats."""
    found: np.ndarray = (lengths > 0) & (lengths >= (np.median(lengths) if len(lengths) else 0))
    counts, seen = source.counts, set[int]()
    if source.texts is None:
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    for row in np.flatnonzero(found).tolist():
        if source.texts is None:
            own = slice(*counts.indptr[row : row + 2])
            key = hash((counts.indices[own].tobytes(), counts.data[own].tobytes()))
        else:
            key = hash(" ".join(source.texts[row][:LONGEST_TEXT].lower().split()))
        found[row] = key not in seen
        seen.add(key)
    return found


def show(source: Source, rows: list[int], place: np.ndarray) -> list[Document]:
    """Documents with a topic for each word; `place` is a topic's index on the page, or -1.

    A word gets the topic k with the largest ``p(k | document) p(w | k)``, if the word is more
    frequent in topic k than in all topics together.
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
        above = own[best, np.arange(len(known))] > overall[columns[known]]
        topics = np.full(len(columns), -1)
        topics[known] = np.where(above, place[best], -1)
        title = "" if source.titles is None else shortened(source.titles[row], LONGEST_TITLE)
        time = source.dates[row] if source.dates else ""
        group = shortened(source.labels.groups[row], LONGEST_TERM)
        order = np.argsort(-mine, kind="stable")[:MOST_PARTS]
        mix = [
            (int(place[k]), round(float(mine[k]), 4))
            for k in order
            if place[k] >= 0 and (mine[k] >= LEAST_PART or k == order[0])
        ]
        found.append(Document(int(row), title, time, group, mix, parts, topics.tolist(), n_more))
    return found


def _of_texts(source: Source, texts: list[str]) -> list[tuple[list[str], np.ndarray, int]]:
    """Beginnings of texts, split into words, and the column of each word."""
    steps = [] if source.pipeline is None else steps_before(source.pipeline)
    tokenizer = getattr(steps[0][1], "tokenizer", None) if steps else None

    def marked(found: re.Match[str]) -> str:
        """Letters without spaces, with marks between the words if there are several."""
        rest, parts = found[0], list[str]()
        cut = tokenizer if UNSPACED.search(rest) else None
        tokens = [] if cut is None else list(filter(None, cut(rest)))
        for token in tokens if len(tokens) > 1 else ():
            if token in rest:
                before, _, rest = rest.partition(token)
                parts += [before, token]
        return "\0".join(filter(None, [*parts, rest]))

    # The odd places are words, the even places the text between words.
    begun = [WORD.sub(marked, shortened(text, LONGEST_TEXT)) for text in texts]
    split = [[part.strip("\0") for part in WORD.split(text)] for text in begun]
    words = sorted({word for parts in split for word in parts[1::2]})
    columns = dict(zip(words, _columns_of(source, words), strict=True))
    each = [np.array([columns[word] for word in parts[1::2]], np.intp) for parts in split]
    n_more = [max(0, len(text) - LONGEST_TEXT) for text in texts]
    return list(zip(split, each, n_more, strict=True))


def _columns_of(source: Source, words: list[str]) -> list[int]:
    if source.pipeline is not None:
        counts = counted(source.pipeline, words)
        if is_sparse(counts):
            rows = sparse.csr_matrix(counts)
            return [int(row.indices[0]) if row.nnz == 1 else -1 for row in rows]
    names = {str(name): column for column, name in enumerate(source.names)}
    return [names.get(word, names.get(word.lower(), -1)) for word in words]


def _of_counts(source: Source, row: int) -> tuple[list[str], np.ndarray, int]:
    """The words of a document without text, the most frequent first."""
    own = source.counts[row].toarray().ravel()
    order = np.argsort(-own, kind="stable")[: np.count_nonzero(own)]
    columns, parts = order[:MOST_WORDS], [""]
    for column, count in zip(columns, own[columns], strict=True):
        times = "  " if count == 1 else f" \u00d7 {count:.4g}  "
        parts += [shortened(str(source.names[column]), LONGEST_TERM), times]
    return parts, columns, len(order) - len(columns)


# Words


def word_table(source: Source, shown: np.ndarray, n_words: int) -> WordTable:
    topic_word, weights = source.topic_word, source.weights
    ranked = [
        relevant_words(topic_word, weights, n_words, relevance=r)[shown] for r in RELEVANCE_GRID
    ]
    each = [np.unique(np.concatenate([by_one[i] for by_one in ranked])) for i in range(len(shown))]
    each = [own[topic_word[k, own] > 0] for k, own in zip(shown, each, strict=True)]
    columns = np.unique(np.concatenate([np.empty(0, np.intp), *each]))
    return WordTable(
        columns,
        tuple(shortened(str(source.names[column]), LONGEST_WORD) for column in columns),
        weights @ topic_word[:, columns],
        tuple(np.searchsorted(columns, own) for own in each),
        tuple(topic_word[k, own] for k, own in zip(shown, each, strict=True)),
    )


def shortened(text: str, n: int) -> str:
    return text if len(text) <= n else text[: n - 1].rstrip() + "…"
