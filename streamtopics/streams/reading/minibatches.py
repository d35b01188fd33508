# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches from texts, files and matrices, read one at a time when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from streamtopics.streams.reading import read_texts
from streamtopics.streams.reading.sources import is_matrix
from streamtopics.utils.checks import check_integer
from streamtopics.utils.structure import check_structure, is_sparse


def iter_minibatches(
    source: Any,
    batch_size: int = 1000,
    *,
    vectorizer: Any = None,
    text_key: str = "text",
    encoding: str = "utf-8",
) -> Iterator[Any]:
    """Cut a source of documents into minibatches, lazily.

    Parameters
    ----------
    source : iterable of str, path, iterable of paths or matrix
        Texts or files of texts as in `read_texts`, or what that gives with its other
        parameters, or a matrix (dense, sparse or a
        data frame) of shape (n_documents, n_features), of which slices of rows are
        taken.
    batch_size : int, default=1000
        Number of documents in a minibatch; the last one may have fewer.
    vectorizer : object with `transform` or None, default=None
        Turns a list of texts into counts, for example a fitted
        :class:`~sklearn.feature_extraction.text.CountVectorizer`, or a
        ``HashingVectorizer(alternate_sign=False, norm=None)``. None leaves texts as they are.
    text_key, encoding : str, default="text" and "utf-8"
        As in `read_texts`.

    Returns
    -------
    minibatches : iterator
        Of what `vectorizer.transform` returns; without a vectorizer, of lists of str
        or of slices of the matrix. Nothing comes from a source without documents.

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        If `batch_size` is not a positive integer, a matrix comes together with a vectorizer, or
        the arrays of a sparse one do not fit; and as `read_texts`, also when a document is reached.

    See Also
    --------
    read_texts : The documents one by one.

    Examples
    --------
    >>> from streamtopics.datasets import iter_minibatches
    >>> list(iter_minibatches(["a stream", "of five", "texts", "in", "batches"], 2))
    [['a stream', 'of five'], ['texts', 'in'], ['batches']]

    One pass over a stream of any length, from a list, a generator or files:

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from streamtopics import SVBLDA
    >>> texts = ["red green", "blue red", "green green"]
    >>> vectorizer = CountVectorizer(vocabulary=["blue", "green", "red"])
    >>> model = SVBLDA(n_components=2, random_state=0)
    >>> for X in iter_minibatches(texts, 2, vectorizer=vectorizer):
    ...     model = model.partial_fit(X)
    >>> model.n_documents_seen_
    3
    """
    check_integer(batch_size=batch_size)
    batch_size = int(batch_size)  # One of NumPy with few bits would wrap around.
    # Data frames of pandas have a `transform`, too.
    is_class_or_table = isinstance(vectorizer, type) or hasattr(vectorizer, "shape")
    is_able = callable(getattr(vectorizer, "transform", None)) and not is_class_or_table
    if not (vectorizer is None or is_able):
        raise TypeError(
            "vectorizer must be an object with `transform`, such as a fitted CountVectorizer(), or "
            f"None; got {vectorizer!r:.60}"
        )
    if not is_matrix(source):
        texts = read_texts(source, text_key=text_key, encoding=encoding)
        batches = _batches(texts, batch_size)
        return batches if vectorizer is None else map(vectorizer.transform, batches)
    if vectorizer is not None:
        raise ValueError(
            f"a vectorizer turns texts into counts, but source is a matrix of shape "
            f"{source.shape}; pass vectorizer=None"
        )
    check_structure(source, "iter_minibatches", "source")
    return _row_slices(source, batch_size)


# Batches


def _row_slices(matrix: Any, batch_size: int) -> Iterator[Any]:
    rows = matrix.tocsr() if is_sparse(matrix) else getattr(matrix, "iloc", matrix)
    for start in range(0, matrix.shape[0], batch_size):
        yield rows[start : start + batch_size]


def _batches(texts: Iterator[str], batch_size: int) -> Iterator[list[str]]:
    while batch := list(islice(texts, batch_size)):
        yield batch
