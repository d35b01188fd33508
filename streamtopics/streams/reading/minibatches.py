# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches from texts, files and matrices, read one at a time when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from streamtopics.streams.reading.records import is_matrix, read_texts
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
        Texts or files as in `read_texts`, or what that gives, or a matrix (dense, sparse or a data
        frame) of shape (n_documents, n_features), of which slices of rows are taken.
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
    TypeError, ValueError
        If `batch_size` is not a positive integer, or a matrix comes together with a vectorizer;
        and as `read_texts`.

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
    if not is_matrix(source):
        texts = read_texts(source, text_key=text_key, encoding=encoding)
        batches = iter(lambda: list(islice(texts, batch_size)), [])
        return batches if vectorizer is None else map(vectorizer.transform, batches)
    if vectorizer is not None:
        raise ValueError(
            f"a vectorizer turns texts into counts, but source is a matrix of shape "
            f"{source.shape}; pass vectorizer=None"
        )
    check_structure(source, "iter_minibatches", "source")
    rows = source.tocsr() if is_sparse(source) else getattr(source, "iloc", source)
    return (rows[start : start + batch_size] for start in range(0, source.shape[0], batch_size))
