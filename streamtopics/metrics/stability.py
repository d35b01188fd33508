# SPDX-License-Identifier: BSD-3-Clause
"""Stability of topics, whether models of other seeds or other documents find them again.

Topics of two models are matched one to one such that the sum of their similarities is the
largest (Hungarian algorithm); topics without a match have similarity 0.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from streamtopics.checks import check_one_of
from streamtopics.metrics.coherence import check_no_model
from streamtopics.metrics.predictive import topic_distributions
from streamtopics.metrics.relevance import relevant_words

SIMILARITIES = ("jaccard", "cosine")


class Stability(NamedTuple):
    """Similarity of the topics of several models.

    Attributes
    ----------
    mean : float
        Mean similarity of matched topics over all pairs of models, in [0, 1].
    topics : ndarray of shape (n_topics,)
        Mean similarity of each topic of the first model to its matches in the others.
    matches : ndarray of shape (n_models - 1, n_topics)
        These matches; -1 for none.
    """

    mean: float
    topics: np.ndarray
    matches: np.ndarray


def topic_stability(
    models: Iterable[Any], n_words: int = 10, *, similarity: str = "jaccard"
) -> Stability:
    """Similarity of the topics of several models, matched one to one; higher is better.

    Parameters
    ----------
    models : iterable of fitted topic models, or arrays of shape (n_topics, n_features)
        At least two, over the same words, for example of other seeds or other halves of a
        corpus. Numbers of topics may differ: those left over count as 0.
    n_words : int, default=10
        Top words of each topic, by probability, that "jaccard" compares; those of probability 0
        are none.
    similarity : {"jaccard", "cosine"}, default="jaccard"
        Shared words of two topics' top words over all words of either, which is about what is
        read of topics; or the cosine of their probabilities of words, which the few most
        probable words dominate.

    Returns
    -------
    stability : Stability
        1 for the same topics in whatever order, 0 for topics that share no word.

    Raises
    ------
    TypeError
        If `models` is one model, or holds an estimator that is no topic model, or `n_words` is no
        integer.
    ValueError
        If there are less than two models, they are over different numbers of words, `n_words`
        is less than 1, or `similarity` is unknown.

    Notes
    -----
    Compare at one number of topics, or with care: matched topics of many random ones are more
    alike than those of few, and topics that are found again need not mean anything.

    References
    ----------
    D. Greene, D. O'Callaghan, P. Cunningham (2014). How many topics? Stability analysis for
    topic models. ECML PKDD, 498-513.

    Examples
    --------
    >>> from streamtopics.metrics import topic_stability
    >>> one = [[5, 4, 1, 0], [0, 1, 4, 5]]
    >>> other = [[0, 1, 5, 4], [4, 1, 5, 0]]
    >>> found = topic_stability([one, other], n_words=2)
    >>> round(found.mean, 3), found.topics.round(3).tolist(), found.matches.tolist()
    (0.667, [0.333, 1.0], [[1, 0]])
    """
    check_one_of(SIMILARITIES, similarity=similarity)
    check_no_model(models, "models", "a list of at least two models", "[model, other]")
    tables = [topic_distributions(model) for model in models]
    if len(tables) < 2 or len({table.shape[1] for table in tables}) > 1:
        raise ValueError(
            "models must be at least two, over the same words; got "
            f"{len(tables)} of {sorted({table.shape[1] for table in tables})} words"
        )
    seen = [_normed(table) if similarity == "cosine" else _top(table, n_words) for table in tables]
    means, own, matches = [], [], []
    for i, j in combinations(range(len(seen)), 2):
        found, match = _matched(_alike(seen[i], seen[j], similarity))
        means.append(found.sum() / max(len(tables[i]), len(tables[j])))
        if i == 0:
            own.append(found)
            matches.append(match)
    return Stability(float(np.mean(means)), np.mean(own, axis=0), np.array(matches))


def _top(table: np.ndarray, n_words: int) -> Any:
    """Ones at the top words of each topic that it has, sparse."""
    columns = relevant_words(table, n_words=n_words)
    row, place = np.nonzero(np.take_along_axis(table, columns, axis=1))
    return sparse.csr_array((np.ones(len(row)), (row, columns[row, place])), shape=table.shape)


def _normed(table: np.ndarray) -> np.ndarray:
    return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))


def _alike(one: Any, other: Any, similarity: str) -> np.ndarray:
    """Similarity of all pairs of topics, in [0, 1]."""
    common = one @ other.T
    if similarity == "cosine":
        return np.asarray(np.minimum(common, 1.0))
    shared = common.toarray()
    either = one.sum(axis=1)[:, None] + other.sum(axis=1)[None, :] - shared
    return np.asarray(shared / either)


def _matched(similarity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the similarity to its column, and which that is."""
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    found, match = np.zeros(len(similarity)), np.full(len(similarity), -1)
    found[rows], match[rows] = similarity[rows, columns], columns
    return found, match
