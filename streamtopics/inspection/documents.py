# SPDX-License-Identifier: BSD-3-Clause
"""Documents of a topic, similar documents, and shares over time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from streamtopics.metrics.relevance import largest
from streamtopics.utils.checks import check_integer, plain
from streamtopics.utils.structure import from_arrow
from streamtopics.utils.times import read_times


class TopicDocument(NamedTuple):
    """A document, by row, with its share of a topic."""

    topic: int
    document: int
    share: float


class SimilarDocument(NamedTuple):
    """A document with topics similar to a query document."""

    query: int  #: Row of the query document
    document: int  #: Row of the similar document
    #: Sum over topics of the roots of the products of shares: from 0, no common topic, to 1, equal
    similarity: float


def documents_of(
    estimator: Any, X: object, topic: int | None = None, *, n_documents: int = 5
) -> list[TopicDocument]:
    """List the documents with the largest shares of a topic, the largest first.

    Parameters
    ----------
    estimator : object
        A fitted estimator or pipeline with a `transform` that returns shares of topics.
    X : object
        Input of `estimator.transform`: counts, or texts for a pipeline.
    topic : int or None, default=None
        Number of the topic. None lists documents of all topics, one topic after another.
    n_documents : int, default=5
        Maximal number of documents per topic.

    Returns
    -------
    documents : list of TopicDocument
        ``pandas.DataFrame(documents)`` makes a data frame. Because of the prior, shares in short
        documents are well below 1.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.inspection import documents_of
    >>> X = make_lda_corpus(n_documents=300, random_state=0).X
    >>> model = GibbsOnlineEM(5, random_state=0).fit(X)
    >>> [first, *_] = documents_of(model, X, topic=2, n_documents=3)
    >>> bool(first.share == model.transform(X)[:, 2].max())
    True
    """
    shares = topic_shares(estimator, X)
    check_integer(n_documents=n_documents)
    if topic is not None:
        check_integer(least=0, most=shares.shape[1] - 1, topic=topic)
    topics = range(shares.shape[1]) if topic is None else [topic]
    return [
        TopicDocument(k, int(d), float(shares[d, k]))
        for k in topics
        for d in largest(shares[:, k], n_documents)
    ]


def similar_documents(
    estimator: Any, X: object, to: object, *, n_documents: int = 5
) -> list[SimilarDocument]:
    """For each query document, list the documents with the most similar topic shares.

    For short texts, the cosine of tf-idf finds more similar documents (see the user guide).

    Parameters
    ----------
    estimator : object
        As in `documents_of`.
    X : object
        Documents to search.
    to : object
        Query documents, in the form of `X`. A query that is also in `X` finds itself.
    n_documents : int, default=5
        Maximal number of documents per query.

    Returns
    -------
    documents : list of SimilarDocument
        Sorted by query, then by similarity from 1 (equal shares) to 0 (no common topic).

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.inspection import similar_documents
    >>> X = make_lda_corpus(n_documents=300, random_state=0).X
    >>> model = GibbsOnlineEM(5, random_state=0).fit(X)
    >>> [same, other] = similar_documents(model, X, X[7], n_documents=2)
    >>> same.document, round(same.similarity, 3)
    (7, 1.0)
    """
    # In single precision sums differ from 1, and a longer row would be more similar.
    each = (topic_shares(estimator, documents) for documents in (X, to))
    roots, wanted = (np.sqrt(shares / shares.sum(axis=1, keepdims=True)) for shares in each)
    found = []
    for query, root in enumerate(wanted):
        similarity = roots @ root
        found += [
            SimilarDocument(query, int(d), min(1.0, float(similarity[d])))
            for d in largest(similarity, n_documents)
        ]
    return found


class SharesOverTime(NamedTuple):
    """Result of `shares_over_time`: the mean share of each topic at each time."""

    times: list[Any]  #: Distinct, in order
    shares: np.ndarray  #: (n_times, n_components): means over the documents of each time
    n_documents: np.ndarray  #: (n_times,)


def shares_over_time(estimator: Any, X: object, times: Any) -> SharesOverTime:
    """Return the mean share of each topic in the documents of each time.

    Parameters
    ----------
    estimator, X
        As in `documents_of`.
    times : array-like of shape (n_documents,)
        Year, date, or text such as "2026-11" of each document; text stays a label. Documents of
        equal times are averaged. A date without a zone is UTC. None, NaN and NaT are left out.

    Returns
    -------
    shares : SharesOverTime
        Times, shares and numbers of documents, for `plot_shares`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.inspection import shares_over_time
    >>> X = [[4, 0, 1], [0, 2, 2], [1, 0, 0]]
    >>> found = shares_over_time(SVBLDA(1).fit(X), X, [2025, 2024, 2025])
    >>> found.times, found.n_documents.tolist(), found.shares.tolist()
    ([2024, 2025], [1, 2], [[1.0], [1.0]])
    """
    shares = topic_shares(estimator, X)
    values = read_times(times)
    known = values == values
    if values.shape != (len(shares),):
        raise ValueError(
            f"times must have one entry for each of the {len(shares)} documents; got shape "
            f"{values.shape}"
        )
    unique, first, place, counts = np.unique(
        values[known], return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.zeros((len(counts), shares.shape[1]))
    np.add.at(sums, place, shares[known])
    each = list(from_arrow(times))
    given = [plain(each[row]) for row in np.flatnonzero(known)[first]]
    dates = unique.astype("M8[us]").tolist() if unique.dtype.kind == "M" else given
    found = [one if isinstance(one, str) else time for one, time in zip(given, dates, strict=True)]
    return SharesOverTime(found, sums / counts[:, None], counts)


def topic_shares(estimator: Any, X: object) -> np.ndarray:
    """Shares of topics in documents as float64; refused unless rows sum to 1."""
    found = estimator.transform(X)
    shares = np.empty(0) if issparse(found) else np.asarray(found, dtype=np.float64)
    if shares.ndim != 2 or (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1, atol=1e-3):
        raise ValueError(
            "estimator must give shares of topics that sum to 1; "
            f"{type(estimator).__name__}.transform does not"
        )
    return shares
