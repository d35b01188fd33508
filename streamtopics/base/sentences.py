# SPDX-License-Identifier: BSD-3-Clause
"""Documents made of sentences, in one record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.local.step import minibatch_of
from streamtopics.messages import SentenceBatch
from streamtopics.utils.structure import (
    MOST_COUNT,
    check_reach,
    column_names,
    from_arrow,
    holds_text,
    in_order,
    is_missing,
    shape_of,
    to_csr,
)


@dataclass(frozen=True)
class Sentences:
    """Counts of words in sentences, with the sentences of a document next to each other."""

    # (n_sentences, n_words), float32 or float64: indices are sorted, without duplicates.
    counts: sparse.csr_matrix
    # (n_documents + 1,): document d has the rows starts[d] to starts[d + 1] - 1.
    starts: np.ndarray
    # Place of each sentence in the input; None for the same order.
    rows: np.ndarray | None = None
    # Whether these are all documents of a `fit`.
    is_corpus: bool = False

    @property
    def n_documents(self) -> int:
        return len(self.starts) - 1

    @property
    def n_words(self) -> int:
        return self.counts.shape[1]

    @property
    def n_tokens(self) -> float:
        return float(self.counts.sum(dtype=np.float64))

    @property
    def documents(self) -> np.ndarray:
        return np.repeat(np.arange(self.n_documents), np.diff(self.starts))

    @property
    def lengths(self) -> np.ndarray:
        return np.asarray(self.counts.sum(axis=1, dtype=np.float64)).ravel()

    @property
    def batch(self) -> SentenceBatch:
        return SentenceBatch(minibatch_of(self.counts), self.starts)

    def cut(self, size: int) -> Iterator[Sentences]:
        for start in range(0, self.n_documents, size):
            starts = self.starts[start : start + size + 1]
            yield Sentences(self.counts[starts[0] : starts[-1]], starts - starts[0])

    def as_passed(self, values: np.ndarray) -> np.ndarray:
        if self.rows is None:
            return values
        out = np.empty_like(values)
        out[self.rows] = values
        return out


def read_sentences(
    X: Any,
    groups: object = None,
    *,
    n_words: int | None = None,
    whole: bool = False,
    signed: bool = False,
    caller: str = "read_sentences",
) -> Sentences:
    """Read documents made of sentences: one matrix with `groups`, or a matrix for each.

    `n_words` is the expected number of columns, `whole` refuses fractions, and `signed` allows
    negative numbers. The result is float64 if any matrix is, else float32.
    """
    if isinstance(X, Iterator):
        X = list(X)
    if holds_text(X) or (_is_list(X) and any(map(holds_text, X))):
        raise TypeError(
            f"X must be counts of words in sentences, but {caller} got text; turn the documents "
            "into counts first, for example by "
            "streamtopics.text.SentenceVectorizer().fit_transform(documents)"
        )
    read = partial(to_csr, default=np.float64 if signed else np.float32)
    # With a matrix for each document
    is_sequence = _is_list(X) and all(_is_list(item) and not len(item) for item in X)
    is_sequence = is_sequence or (_n_axes(X) == 3 and not sparse.issparse(X))
    if groups is not None or not is_sequence:
        sentences = _grouped(read(X, caller, "X"), groups, caller)
    else:
        sentences = _stacked(list(X), n_words or 0, caller, read)
    found = sentences.counts
    # A copy; the input gets no notes.
    found = in_order(sparse.csr_matrix((found.data, found.indices, found.indptr), found.shape))
    if n_words is not None and found.shape[1] != n_words:
        raise ValueError(
            f"X has {found.shape[1]} features, but {caller.partition('.')[0]} is expecting "
            f"{n_words} features as input; use the vectorizer of the fit"
        )
    if found.shape[1] == 0:
        raise ValueError(
            f"X, passed to {caller}, has 0 feature(s) (shape=({found.shape[0]}, 0)) while a "
            "minimum of 1 is required: the vocabulary is empty"
        )
    if not signed:
        check_reach(found, caller)
    elif not (np.abs(found.data) <= MOST_COUNT).all():
        raise ValueError(f"X, passed to {caller}, has NaN, infinity or more than {MOST_COUNT:g}")
    if whole and (found.data % 1).any():
        raise ValueError(
            f"X, passed to {caller}, has fractions; pass whole numbers, for example of "
            "CountVectorizer"
        )
    return replace(sentences, counts=found)


def _is_list(X: Any) -> bool:
    """Whether X is a sequence of objects: a list, a tuple, a 1-D array of objects."""
    shape = shape_of(X)
    if shape is not None:
        return len(shape) == 1 and X.dtype == object
    return isinstance(X, Collection) and not isinstance(X, str | bytes | Mapping | Set)


def _n_axes(X: Any) -> int:
    """Number of axes; for a list one more than of the deepest item."""
    if _is_list(X):
        return 1 + max(map(_n_axes, X), default=0)
    return len(shape_of(X) or ())


def _grouped(counts: sparse.csr_matrix, groups: Any, caller: str) -> Sentences:
    if groups is None:
        raise ValueError(
            f"X, passed to {caller}, is one matrix with sentences as rows; pass groups, with the "
            "document of each row, or a list with one matrix for each document"
        )
    # As Python objects, if the library can convert.
    labels = groups.tolist() if hasattr(groups, "tolist") else list(from_arrow(groups))
    if len(labels) != counts.shape[0] or any(map(is_missing, labels)):
        raise ValueError(
            f"groups, passed to {caller}, must name the document of each of the {counts.shape[0]} "
            f"rows of X; it has {len(labels)} labels, {sum(map(is_missing, labels))} missing. For "
            "numbers of sentences pass np.repeat(np.arange(len(groups)), groups)"
        )
    if not all(isinstance(label, Hashable) for label in labels):
        raise ValueError(f"groups, passed to {caller}, must have one axis; pass one column")
    codes: dict[Hashable, int] = {}
    document = np.array([codes.setdefault(label, len(codes)) for label in labels], np.int64)
    starts = _starts(np.bincount(document, minlength=len(codes)))
    if (np.diff(document) >= 0).all():
        return Sentences(counts, starts)
    rows = np.argsort(document, kind="stable")
    return Sentences(counts[rows], starts, rows)


def _stacked(
    documents: list[Any], n_words: int, caller: str, read: Callable[..., sparse.csr_matrix]
) -> Sentences:
    matrices = [
        None if _is_list(X) and not len(X) else read(X, caller, f"X[{d}]")
        for d, X in enumerate(documents)
    ]
    _check_same_names(documents, caller)
    starts = _starts([0 if X is None else X.shape[0] for X in matrices])
    known = [X for X in matrices if X is not None]
    if not known:
        shape: Any = (0, n_words)
        return Sentences(sparse.csr_matrix(shape, dtype=np.float32), starts)
    return Sentences(sparse.csr_matrix(sparse.vstack(known, "csr")), starts)


def _check_same_names(documents: list[Any], caller: str) -> None:
    expected, checked = None, None
    for d, X in enumerate(documents):
        names = column_names(X)
        # The counts of one vectorizer share their names, compared only once.
        if names is None or names is checked:
            continue
        checked, names = names, list(names)
        expected = expected or names
        if names != expected:
            raise ValueError(
                f"X[{d}], passed to {caller}, has columns with other names, or in another order, "
                f"than earlier documents: {names[:5]} and {expected[:5]}; count all documents "
                "with one fitted vectorizer"
            )


def _starts(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
