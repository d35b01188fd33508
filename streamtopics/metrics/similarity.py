# SPDX-License-Identifier: BSD-3-Clause
"""Diversity, exclusivity and similarity of topics."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from streamtopics.metrics.predictive import check_components, check_weights
from streamtopics.metrics.relevance import relevant_words
from streamtopics.utils.structure import is_sparse


def topic_diversity(topics: Sequence[Sequence[Any]] | np.ndarray) -> float:
    """Return the share of distinct words among the top words of all topics.

    Look at coherence too, because random words are diverse.

    Parameters
    ----------
    topics : sequence of n_topics sequences of words
        Top words of each topic, as words or column numbers, without words of probability 0. The
        paper takes 25. Fewer words give a higher value: compare results for equally many words.

    Returns
    -------
    diversity : float
        In (0, 1]: 1 if all words are distinct, 1 / n_topics if all topics have the same words.

    References
    ----------
    A. B. Dieng, F. J. R. Ruiz, D. M. Blei (2020). Topic modeling in embedding
    spaces. TACL 8, 439-453.

    Examples
    --------
    >>> from streamtopics.metrics import topic_diversity
    >>> topic_diversity([["ship", "sea", "wind"], ["tax", "law", "sea"]])
    0.8333333333333334
    """
    words = list(chain.from_iterable(topics))
    if not words or is_sparse(topics) or any(isinstance(topic, str) for topic in topics):
        raise TypeError("topics must be a sequence of topics, each a sequence of words")
    return len(set(words)) / len(words)


def topic_exclusivity(topics: object, n_words: int = 10) -> np.ndarray:
    """Return the exclusivity of each topic: how far other topics lack the top words.

    The exclusivity of a word is its probability in the topic, divided by the sum of its
    probabilities in all topics. The exclusivity of a topic is the mean over its top words. Words
    drawn at random for each topic are exclusive too, so also look at coherence. Do not choose the
    number of topics by exclusivity, because more topics share more words.

    Parameters
    ----------
    topics : fitted topic model, or array-like of shape (n_topics, n_features)
        A model with `components_`, or weights of words, which are scaled to sum to 1.
    n_words : int, default=10
        Top words per topic. Fewer words give a higher value: compare results for equal `n_words`.

    Returns
    -------
    exclusivity : ndarray of shape (n_topics,)
        In (0, 1]: 1 if no other topic has the words, 1 / n_topics if all topics are equal.

    References
    ----------
    J. M. Bischof, E. M. Airoldi (2012). Summarizing topical content with word frequency and
    exclusivity. ICML, 201-208.

    Examples
    --------
    >>> from streamtopics.metrics import topic_exclusivity
    >>> topic_exclusivity([[3, 1, 0, 0], [1, 0, 1, 2]], n_words=2)
    array([0.875, 0.625])
    """
    is_model = isinstance(topics, BaseEstimator)
    weights = check_components(topics) if is_model else check_weights(topics, "topics")
    distributions = weights / weights.sum(axis=1, keepdims=True)
    columns = relevant_words(distributions, n_words=n_words)
    total = distributions.sum(axis=0)
    own = np.take_along_axis(distributions, columns, axis=1)
    shares = np.divide(own, total[columns], out=np.zeros_like(own), where=own > 0)
    return np.asarray(shares.sum(axis=1) / np.count_nonzero(own, axis=1))


def affinities(topic_word: np.ndarray) -> np.ndarray:
    """Bhattacharyya coefficients of all pairs of topics, (n_topics, n_topics), in [0, 1]."""
    roots = np.sqrt(topic_word)
    found: np.ndarray = np.clip(roots @ roots.T, 0.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


def places(affinity: np.ndarray) -> np.ndarray:
    """Coordinates of topics in a plane, (n_topics, 2), by classical scaling.

    ``1 - affinity`` holds squared Hellinger distances.
    """
    squared = 1.0 - affinity
    centered = squared - squared.mean(axis=0)
    centered = -0.5 * (centered - centered.mean(axis=1, keepdims=True))
    values, vectors = np.linalg.eigh((centered + centered.T) / 2)
    found = np.zeros((len(affinity), 2))
    for axis in range(min(2, len(values))):
        value, vector = values[-1 - axis], vectors[:, -1 - axis]
        if value > 1e-12:
            sign = np.sign(vector[np.argmax(np.abs(vector).round(9))])
            found[:, axis] = sign * np.sqrt(value) * vector
    return found


def nearest(affinity: np.ndarray, n: int = 3) -> list[list[int]]:
    others = affinity - 2.0 * np.eye(len(affinity))
    order = np.argsort(-others, axis=1, kind="stable")
    found: list[list[int]] = order[:, : min(n, len(affinity) - 1)].tolist()
    return found
