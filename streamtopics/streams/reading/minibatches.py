# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches from texts, files and matrices, read one at a time when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from streamtopics.streams.reading.records import is_matrix, read_texts
from streamtopics.utils.checks import check_integer
from streamtopics.utils.structure import check_structure, is_sparse, take_rows


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
        Texts or files as in `read_texts`, or the rows of a matrix (dense, sparse or a data frame).
    batch_size : int, default=1000
        Documents in a minibatch; the last one may have fewer.
    vectorizer : object with `transform` or None, default=None
        Turns a list of texts into counts, such as a fitted
        :class:`~sklearn.feature_extraction.text.CountVectorizer`. None leaves texts as they are.
    text_key, encoding : str, default="text" and "utf-8"
        As in `read_texts`.

    Returns
    -------
    minibatches : iterator
        Of counts, of lists of str without a vectorizer, or of slices of the matrix.

    Examples
    --------
    >>> from streamtopics.datasets import iter_minibatches
    >>> list(iter_minibatches(["a stream", "of five", "texts", "in", "batches"], 2))
    [['a stream', 'of five'], ['texts', 'in'], ['batches']]
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
    X = source.tocsr() if is_sparse(source) else source
    starts = range(0, source.shape[0], batch_size)
    return (take_rows(X, slice(start, start + batch_size)) for start in starts)
