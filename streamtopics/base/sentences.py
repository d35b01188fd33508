# SPDX-License-Identifier: BSD-3-Clause
"""Documents made of sentences: the two forms in which users have them, and one record.

Either one count matrix whose rows are sentences, with a label of its document for
each row, or one matrix for each document. `read_sentences` reads both, so that
models of sentences need to know neither.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.base.validation import (
    MOST_COUNT,
    from_arrow,
    holds_text,
    in_order,
)
from streamtopics.utils.structure import check_reach, is_missing, to_csr


@dataclass(frozen=True)
class Sentences:
    """Counts of the words in sentences, those of a document next to each other.

    Attributes
    ----------
    counts : csr_matrix of shape (n_sentences, n_words), float32 or float64
        Rows are sentences; indices are sorted, without duplicates.
    starts : ndarray of shape (n_documents + 1,), int64
        Document d has the rows ``starts[d]`` to ``starts[d + 1] - 1``.
    rows : ndarray of shape (n_sentences,), int64, or None
        The place that each sentence had in the matrix that was passed; None if they
        are in the same order.
    """

    counts: sparse.csr_matrix
    starts: np.ndarray
    rows: np.ndarray | None = None

    @property
    def n_documents(self) -> int:
        return len(self.starts) - 1

    @property
    def n_sentences(self) -> int:
        return self.counts.shape[0]

    @property
    def n_words(self) -> int:
        return self.counts.shape[1]

    @property
    def documents(self) -> np.ndarray:
        """The document of each sentence, of shape (n_sentences,), int64."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.starts))

    @property
    def lengths(self) -> np.ndarray:
        """The words of each sentence, of shape (n_sentences,), float64."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.float64)).ravel()

    def as_passed(self, values: np.ndarray) -> np.ndarray:
        """Values of the sentences, one for each row, in the order in which these were passed."""
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
    """Read documents made of sentences, in either form.

    Parameters
    ----------
    X : matrix of shape (n_sentences, n_words), or sequence of matrices
        Non-negative word counts: one matrix for all documents, together with `groups`, or a
        sequence with one matrix of shape (n_sentences, n_words) for each document. Matrices may
        be dense, sparse, nested lists or data frames. Documents without sentences and sentences
        without words are legal.
    groups : array-like of shape (n_sentences,) or None, default=None
        The document of each row of X, anything hashable. Documents are ordered by their first
        row, and keep the order of their rows, which need not be adjacent.
    n_words : int or None, default=None
        The number of columns that X must have; None takes what comes.
    whole : bool, default=False
        Whether counts must be whole numbers.
    signed : bool, default=False
        Whether they are vectors, rather than counts of words: they may be negative, and lists
        and integers become float64.
    caller : str, default="read_sentences"
        Who got X, for messages.

    Returns
    -------
    sentences : Sentences
        Its counts are float64 if there was float64 among the matrices, else float32, in
        which whole numbers are exact up to 16,777,216. What was passed is not changed.

    Examples
    --------
    >>> from streamtopics.base.sentences import read_sentences
    >>> X = [[1, 0, 2], [0, 1, 0], [1, 1, 0]]
    >>> read_sentences(X, groups=["a", "b", "a"]).counts.toarray()
    array([[1., 0., 2.],
           [1., 1., 0.],
           [0., 1., 0.]], dtype=float32)
    >>> read_sentences([X[:2], [], X[2:]]).starts
    array([0, 2, 2, 3])
    """
    if isinstance(X, Iterator):
        X = list(X)
    if holds_text(X) or (_is_list(X) and any(map(holds_text, X))):
        raise TypeError(
            f"X must be counts of words in sentences, but {caller} got text; turn the documents "
            "into counts first, for example by "
            "streamtopics.text.SentenceVectorizer().fit_transform(documents)"
        )
    read = partial(to_csr, otherwise=np.float64 if signed else np.float32)
    if groups is not None or not _is_sequence(X):
        sentences = _grouped(read(X, caller, "X"), groups, caller)
    else:
        sentences = _stacked(list(X), n_words, caller, read)
    sentences = replace(sentences, counts=_canonical(sentences.counts))
    _check_width(sentences.counts.shape, n_words, caller)
    _check_values(sentences.counts, whole, signed, caller)
    return sentences


def _is_sequence(X: Any) -> bool:
    """Whether X is a sequence with a matrix for each document, not one matrix for all."""
    if _is_list(X) and all(_is_list(item) and not len(item) for item in X):
        return True
    return _n_axes(X) == 3 and not sparse.issparse(X)


def _is_list(X: Any) -> bool:
    """Whether X is a sequence of whatever: a list, a tuple, a 1-D array of objects."""
    if hasattr(X, "shape"):
        return len(X.shape) == 1 and X.dtype == object
    return isinstance(X, Collection) and not isinstance(X, str | bytes | Mapping | Set)


def _n_axes(X: Any) -> int:
    """The number of axes; those of a list are one more than those of the deepest item."""
    if _is_list(X):
        return 1 + max(map(_n_axes, X), default=0)
    return len(getattr(X, "shape", ()))


def _grouped(counts: sparse.csr_matrix, groups: object, caller: str) -> Sentences:
    """One matrix, with the rows of documents brought together."""
    codes: dict[Hashable, int] = {}
    labels = _labels(groups, counts.shape[0], caller)
    document = np.array([codes.setdefault(label, len(codes)) for label in labels], np.int64)
    starts = _starts(np.bincount(document, minlength=len(codes)))
    if (np.diff(document) >= 0).all():
        return Sentences(counts, starts)
    rows = np.argsort(document, kind="stable")
    return Sentences(counts[rows], starts, rows)


def _labels(groups: object, n_rows: int, caller: str) -> list[Hashable]:
    if groups is None:
        raise ValueError(
            f"X, passed to {caller}, is one matrix whose rows are sentences; pass groups, with the "
            "document of each row, or a list with one matrix for each document"
        )
    # As Python's own objects, if the library can make them.
    labels = groups.tolist() if hasattr(groups, "tolist") else list(from_arrow(groups))
    if len(labels) != n_rows:
        raise ValueError(
            f"groups, passed to {caller}, has {len(labels)} labels, but X has {n_rows} rows; give "
            "the document of each row. If they are numbers of sentences, pass "
            "np.repeat(np.arange(len(groups)), groups)"
        )
    for row, label in enumerate(labels):
        if not isinstance(label, Hashable) or is_missing(label):
            raise ValueError(
                f"groups, passed to {caller}, has {label!r} for row {row} of X, which names no "
                "document; use a number or a string"
            )
    return labels


def _stacked(
    documents: list[Any], n_words: int | None, caller: str, read: Callable[..., sparse.csr_matrix]
) -> Sentences:
    matrices = [
        None if _is_list(X) and not len(X) else read(X, caller, f"X[{d}]")
        for d, X in enumerate(documents)
    ]
    known = [X for X in matrices if X is not None]
    if not known and n_words is None:
        raise ValueError(
            f"X, passed to {caller}, has no sentences, and nothing tells the number of words; "
            "pass documents without sentences as matrices of shape (0, n_words)"
        )
    _check_same_names(documents, caller)
    starts = _starts([0 if X is None else X.shape[0] for X in matrices])
    if not known:
        shape: Any = (0, n_words)
        return Sentences(sparse.csr_matrix(shape, dtype=np.float32), starts)
    only, *others = known
    if not others and only.indices.dtype == np.int32:
        return Sentences(only, starts)
    return Sentences(sparse.csr_matrix(sparse.vstack(known, "csr")), starts)


def _check_same_names(documents: list[Any], caller: str) -> None:
    """Data frames and counts with names must have the same columns in the same order."""
    expected, checked = None, None
    for d, X in enumerate(documents):
        names = _column_names(X)
        # The counts of one vectorizer share their names, which are compared once.
        if names is None or names is checked:
            continue
        checked, names = names, list(names)
        expected = expected or names
        if names != expected:
            raise ValueError(
                f"X[{d}], passed to {caller}, has columns of other names, or in another order, "
                f"than those before: {names[:5]} and {expected[:5]}; bring them in the same order, "
                "or count all documents with one fitted vectorizer"
            )


def _column_names(X: object) -> Any:
    """Names of the columns of a data frame or of counts that know them; else None."""
    if sparse.issparse(X):
        return getattr(X, "feature_names", None)
    # The columns of a table of pyarrow are data. A frame may call a column so, not its class.
    return getattr(X, "column_names" if hasattr(type(X), "column_names") else "columns", None)


def _starts(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _canonical(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """X with sorted indices and without duplicates, without a change of what was passed."""
    return in_order(sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape))


def _check_width(shape: tuple[int, int], expected: int | None, caller: str) -> None:
    n_sentences, found = shape
    if expected is not None and found != expected:
        raise ValueError(
            f"X has {found} features, but {caller.partition('.')[0]} is expecting {expected} "
            "features as input; use the vectorizer that was fitted first"
        )
    if found == 0:
        raise ValueError(
            f"X, passed to {caller}, has 0 feature(s) (shape=({n_sentences}, 0)) while a minimum "
            "of 1 is required: the vocabulary is empty"
        )


def _check_values(counts: sparse.csr_matrix, whole: bool, signed: bool, caller: str) -> None:
    if not signed:
        check_reach(counts, caller)
    elif not (np.abs(counts.data) <= MOST_COUNT).all():
        raise ValueError(f"X, passed to {caller}, has NaN, infinity or more than {MOST_COUNT:g}")
    if whole and (counts.data % 1).any():
        raise ValueError(
            f"X, passed to {caller}, has fractions, not whole numbers as CountVectorizer makes them"
        )
