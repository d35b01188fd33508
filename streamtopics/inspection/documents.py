# SPDX-License-Identifier: BSD-3-Clause
"""Questions to a model about documents: which are of a topic, and which are alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from streamtopics.utils.checks import check_integer
from streamtopics.utils.structure import from_arrow
from streamtopics.utils.times import read_time, read_times


class TopicDocument(NamedTuple):
    """A document of a topic: the topic, the document's row, and the topic's share in it."""

    topic: int
    document: int
    share: float


class SimilarDocument(NamedTuple):
    """A document that is like another one, by their topics.

    Attributes
    ----------
    query, document : int
        Rows of the document asked about, and of the one found.
    similarity : float
        Sum over the topics of the square roots of the products of their shares: 1 for equal
        shares, 0 where no topic is in both.
    """

    query: int
    document: int
    similarity: float


def documents_of(
    estimator: Any, X: Any, topic: int | None = None, *, n_documents: int = 5
) -> list[TopicDocument]:
    """The documents in which a topic has the largest shares, the largest first.

    Parameters
    ----------
    estimator : object
        A fitted estimator or pipeline whose `transform` returns shares of topics.
    X : object
        Documents as `estimator.transform` takes them: counts, or texts of a pipeline. Shares are
        posterior means: a document of few words has none near 1.
    topic : int or None, default=None
        Which; None returns documents of each topic, one topic after the other.
    n_documents : int, default=5
        Most documents of a topic.

    Returns
    -------
    documents : list of TopicDocument
        As a frame by `pandas.DataFrame(documents)`.

    Raises
    ------
    ValueError
        If there is no such topic, or what `estimator.transform` returns are no shares.

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
        for d in _largest(shares[:, k], n_documents)
    ]


def similar_documents(
    estimator: Any, X: Any, to: Any, *, n_documents: int = 5
) -> list[SimilarDocument]:
    """The documents that are most like others by their topics, for each of these.

    Parameters
    ----------
    estimator : object
        As in `documents_of`.
    X : object
        Documents to look among.
    to : object
        Documents to find the like of, in the same form. One that is in `X` as well is found too.
    n_documents : int, default=5
        Most documents for each.

    Returns
    -------
    documents : list of SimilarDocument
        Those for the first document of `to`, the most similar first, then the others.

    Notes
    -----
    For documents of the same theme, also without a word in common. Where the nearest of short
    texts is wanted, cosines of tf-idf find better ones; the user guide measures both.

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
    roots, wanted = (np.sqrt(topic_shares(estimator, documents)) for documents in (X, to))
    found = []
    for query, root in enumerate(wanted):
        similarity = roots @ root
        found += [
            SimilarDocument(query, int(d), min(1.0, float(similarity[d])))
            for d in _largest(similarity, n_documents)
        ]
    return found


class SharesOverTime(NamedTuple):
    """Shares of topics by time.

    Attributes
    ----------
    times : list
        The different times, in order.
    shares : ndarray of shape (n_times, n_components)
        Means over the documents of each time.
    n_documents : ndarray of shape (n_times,)
        How many these are.
    """

    times: list[Any]
    shares: np.ndarray
    n_documents: np.ndarray


def shares_over_time(estimator: Any, X: Any, times: Any) -> SharesOverTime:
    """Mean shares of topics in the documents of each time.

    Parameters
    ----------
    estimator, X
        As in `documents_of`.
    times : array-like of shape (n_documents,)
        When each document is from, as coarse as the picture should be: years, months as "2026-11",
        or dates, which are in UTC if they have no zone. Documents of None, NaN or NaT are left out.

    Returns
    -------
    shares : SharesOverTime
        For `plot_shares`.

    Raises
    ------
    ValueError
        If there is not a time for each document, or a text is no date.

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
    _, first, place, counts = np.unique(
        values[known], return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.zeros((len(counts), shares.shape[1]))
    np.add.at(sums, place, shares[known])
    each = list(from_arrow(times))
    found = [each[row] for row in np.flatnonzero(known)[first]]
    found = [time if isinstance(time, str) else read_time(time) for time in found]
    return SharesOverTime(found, sums / counts[:, None], counts)


def topic_shares(estimator: Any, X: Any) -> np.ndarray:
    """Shares of topics in documents, by a topic model or pipeline, as float64."""
    found = estimator.transform(X)
    shares = np.empty(0) if issparse(found) else np.asarray(found, dtype=np.float64)
    if shares.ndim != 2 or (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1, atol=1e-3):
        raise ValueError(
            "estimator must give shares of topics that sum to 1; "
            f"{type(estimator).__name__}.transform does not"
        )
    return shares


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Places of the n largest values, the largest first; of equal ones the first."""
    n = int(n)
    if n < len(values):
        least = np.partition(values, len(values) - n)[len(values) - n]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    chosen: np.ndarray = places[np.argsort(-values[places], kind="stable")][:n]
    return chosen
