# SPDX-License-Identifier: BSD-3-Clause
"""Reads a model between two minibatches: its topics' leading words, and how much each is used.

The use of topic k in documents is the expected number of their tokens that are of it,

    u_k = sum_d sum_w n_dw theta_dk phi_kw / sum_j theta_dj phi_jw,

theta by `transform`, phi the words' probabilities. A topic that only the prior puts into a
document has few of the words there, and so next to no use.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from streamtopics.base.topics import most_probable
from streamtopics.metrics.relevance import largest
from streamtopics.streams.batches import named
from streamtopics.utils.steps import counted, last_step, names_of
from streamtopics.utils.structure import for_scipy, is_sparse, number_of_rows

# Cells of words in documents times topics that are held at once.
CELLS = 1 << 20


class Look(NamedTuple):
    """Topics of a model at one moment.

    `weights` are the probabilities of the leading words of each row, scaled to sum to 1, and
    `kept` what these sum to before. `use` are the expected tokens of each topic in the documents
    looked at, and `squares` the sums over documents of the squared use.
    """

    words: list[list[Any]]
    weights: np.ndarray
    kept: np.ndarray
    use: np.ndarray
    squares: np.ndarray


def look(model: Any, documents: Any, n_words: int, feature_names: Any = None) -> Look:
    """Read a model's leading words, and the use of its topics in some documents."""
    topics = last_step(model)
    names = topics._column_names(names_of(model) if feature_names is None else feature_names)
    columns, weights = topics._whole(lambda: _leading(topics, n_words))
    kept = weights.sum(axis=1)
    use, squares = _use(topics, sparse.csr_matrix(for_scipy(counted(model, documents))))
    return Look(
        [names[row].tolist() for row in columns], weights / kept[:, None], kept, use, squares
    )


def some_of(X: Any, n: int, place: int) -> Any:
    """Return n documents of a minibatch at random, in order; `place` says which stand in for it."""
    n_documents = number_of_rows(X)
    if n_documents <= n:
        return X
    rows = np.sort(np.random.default_rng(place).choice(n_documents, n, replace=False))
    if isinstance(X, list | tuple):
        return [X[i] for i in rows.tolist()]
    X = X.tocsr() if is_sparse(X) else X
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _leading(topics: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and probabilities of the most probable words."""
    first = topics._n_hidden
    if not hasattr(topics._learnt, "may_lead"):
        table = topics.topic_word_
        columns = np.array([largest(row, n) for row in table], dtype=np.intp)
        return columns, np.take_along_axis(table, columns, axis=1)
    columns = most_probable(topics._learnt, n)[first:]
    words, places = np.unique(columns, return_inverse=True)
    table = topics._topics_of(words)[first:]
    return columns, np.take_along_axis(table, places.reshape(columns.shape), axis=1)


def _use(topics: Any, X: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Tokens of each topic in documents, and the sum of their squares by document."""
    theta = np.asarray(topics.transform(named(topics, X)), np.float64)
    use, squares = np.zeros((2, theta.shape[1]))
    words, places = np.unique(X.indices.astype(np.int32, copy=False), return_inverse=True)
    if not len(words):
        return use, squares
    phi = topics._topics_of(words)[topics._n_hidden :].T
    step = max(1, CELLS // max(1, theta.shape[1] * (1 + len(places) // X.shape[0])))
    for start in range(0, X.shape[0], step):
        part = slice(X.indptr[start], X.indptr[min(start + step, X.shape[0])])
        lengths = np.diff(X.indptr[start : start + step + 1])
        shares = np.repeat(theta[start : start + step], lengths, axis=0) * phi[places[part]]
        total = np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        shares *= X.data[part][:, None] / total
        full = np.flatnonzero(lengths)
        of_documents = np.add.reduceat(shares, (np.cumsum(lengths) - lengths)[full], axis=0)
        use += of_documents.sum(axis=0)
        squares += (of_documents**2).sum(axis=0)
    return use, squares
