# SPDX-License-Identifier: BSD-3-Clause
"""Top words of topics, in the same order everywhere."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from streamtopics.posteriors.topics import first_of_equals, leading
from streamtopics.utils.checks import check_integer, check_number, floats
from streamtopics.utils.structure import check_structure

# Least probability of a word, as a share of the probability of the n-th most probable word.
FLOOR = 0.7
# Relevances closer than this are equal up to rounding.
TOLERANCE = 1e-12
# Words in the first guess of the leading words, and words read at once.
GUESS_WORDS, WORDS_AT_ONCE = 2000, 512


def relevant_words(
    topic_word: ArrayLike,
    topic_weights: ArrayLike | None = None,
    n_words: int = 10,
    *,
    relevance: float = 1.0,
) -> np.ndarray:
    """Return the columns of each topic's most relevant words, the most relevant first.

    With p(w) = sum_k p(k) p(w | k), the relevance of word w for topic k is

        relevance * log p(w | k) + (1 - relevance) * log (p(w | k) / p(w)).

    Words with less than 0.7 times the probability of the topic's `n_words`-th most probable word
    are left out, because rare words of one topic would come first. Of equally relevant words, the
    first column comes first.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_features)
        Word probabilities of the topics; with `relevance=1`, any weights.
    topic_weights : array-like of shape (n_topics,), default=None
        Share p(k) of each topic in the tokens; sums to 1. None gives equal shares.
    n_words : int, default=10
        Number of words per topic. Columns of probability 0 come last.
    relevance : float in [0, 1], default=1.0
        1 ranks by probability; smaller values prefer words that are rare in other topics. 0.6 was
        best for readers in the paper, but usually lowers the coherence (NPMI).

    Returns
    -------
    columns : ndarray of shape (n_topics, min(n_words, n_features)), intp

    References
    ----------
    C. Sievert, K. Shirley (2014). LDAvis: a method for visualizing and interpreting topics.
    Workshop on Interactive Language Learning, Visualization, and Interfaces, 63-70.

    Examples
    --------
    >>> from streamtopics.metrics import relevant_words
    >>> topic_word = [[0.5, 0.3, 0.2, 0.0], [0.5, 0.0, 0.1, 0.4]]
    >>> relevant_words(topic_word, n_words=2).tolist()
    [[0, 1], [0, 3]]
    >>> relevant_words(topic_word, n_words=2, relevance=0.3).tolist()
    [[1, 0], [3, 0]]
    """
    check_integer(n_words=n_words)
    check_number(least=0, most=1, relevance=relevance)
    check_structure(topic_word, "relevant_words", "topic_word")
    # float32 stays; numbers of few bits would round and wrap around.
    kept = [np.float64, np.float32]
    topics: np.ndarray = check_array(topic_word, dtype=kept, input_name="topic_word")
    if relevance == 1:
        return np.array([largest(row, n_words) for row in topics], dtype=np.intp)
    shares = np.full(len(topics), 1 / len(topics))
    if topic_weights is not None:
        weights = floats(topic_weights, "topic_weights")
        shares = check_array(weights, ensure_2d=False, input_name="topic_weights")
    # log p(w | k) has the weight 1: a part alone and a part in the lift.
    penalty = (relevance - 1) * np.log(_mixture(topics, shares))
    return np.array([_ranked(row, penalty, n_words) for row in topics], dtype=np.intp)


def most_probable(topics: Any, n: int) -> np.ndarray:
    """Columns of the n most probable words of each topic; of equal words the first."""
    n, mass = min(int(n), topics.shape[0]), topics.mass
    candidates = topics.top_candidates(n)
    n_words = len(candidates)
    some = candidates[:: max(1, n_words // max(GUESS_WORDS, n))].copy()
    guess = np.partition(topics.rows(some), len(some) - n, axis=0)[len(some) - n]
    least = guess * (1.0 - 1e-12)
    found = []
    for start in range(0, n_words, WORDS_AT_ONCE):
        own = candidates[start : start + WORDS_AT_ONCE]
        rows = topics.rows(own)
        places, nodes = np.divmod(np.flatnonzero(first_of_equals(rows, least, n)), len(mass))
        found.append((nodes, own[places], rows[places, nodes] / mass[nodes]))
    return leading(n, *map(np.concatenate, zip(*found, strict=True)))


def largest(values: np.ndarray, n: int) -> np.ndarray:
    """Indices of the n largest values, the largest first; of equal values the first."""
    n = min(int(n), len(values))
    least = np.partition(values, len(values) - n)[len(values) - n :][:1]
    above = np.flatnonzero(values > least)
    level = np.flatnonzero(values == least)[: n - len(above)]
    return np.concatenate([above[np.argsort(-values[above], kind="stable")], level])


def _mixture(topics: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """p(w), made positive; summed topic by topic, for reproducible bits."""
    total = np.zeros(topics.shape[1])
    for share, row in zip(shares, topics, strict=True):
        # With NumPy 1 a product with float32 has as few bits.
        total += share * row.astype(np.float64, copy=False)
    return np.maximum(total, np.finfo(np.float64).tiny)


def _ranked(row: np.ndarray, penalty: np.ndarray, n: int) -> np.ndarray:
    words = np.flatnonzero(row >= FLOOR * row[largest(row, n)[-1]])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(row[words], dtype=np.float64) + penalty[words]
        order = np.argsort(value, kind="stable")
        # Words of probability 0 have minus infinity and are equal.
        higher = np.diff(value[order]) > TOLERANCE
    level = np.zeros(len(words), dtype=np.intp)
    level[order[1:]] = np.cumsum(higher)
    return np.asarray(words[largest(level, n)])
