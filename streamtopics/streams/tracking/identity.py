# SPDX-License-Identifier: BSD-3-Clause
"""Which topic is which: those of one look at a model matched to those known before, by words.

Two topics with probabilities p and q of their kept words, scaled to sum to 1, have the affinity

    sum_w sqrt(p_w q_w)

(Bhattacharyya's coefficient; 1 less the square of Hellinger's distance): 1 for the same words in
the same proportions, 0 for no word in common. They are matched one to one such that the sum of
the affinities above a threshold is the largest. A new topic that completes what is left of an
old one was split from it, an old one that completes what another one has become was merged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

# A part and its whole: their least affinity, what the part must add to that of the other part,
# and in which shares.
PART, GAIN = 0.5, 0.03
SHARES = (0.25, 0.5, 0.75)

Words = tuple[np.ndarray, np.ndarray]


def affinities(one: Sequence[Words], other: Sequence[Words]) -> np.ndarray:
    """Affinity of all pairs of topics, given by the numbers of their words and the weights."""
    if not len(one) or not len(other):
        return np.zeros((len(one), len(other)))
    if len(other) == 1:
        found = _affinities_to(one, other[0])[:, None]
    else:
        roots = _roots([*one, *other])
        found = (roots[: len(one)] @ roots[len(one) :].T).toarray()
    np.minimum(found, 1.0, out=found)
    return found


def matched(affinity: np.ndarray, threshold: float) -> np.ndarray:
    """For each column the row that it is matched to, -1 for none."""
    out = np.full(affinity.shape[1], -1)
    rows, columns = linear_sum_assignment(
        np.where(affinity >= threshold, affinity, 0.0), maximize=True
    )
    close = affinity[rows, columns] >= threshold
    out[columns[close]] = rows[close]
    return out


def completed(wholes: Sequence[Words], parts: Sequence[Words], other: Words) -> int:
    """The place of the whole that its part and another part make up best; -1 for none.

    The other part must be like the whole, and both together, in the best of some shares, must be
    closer to it than its own part is.
    """
    best, least = -1, GAIN
    for i in np.flatnonzero(affinities(wholes, [other]) >= PART).tolist():
        table = _roots([wholes[i], parts[i], other]).toarray()
        first, second = table[1] ** 2, table[2] ** 2
        mixed = max(float(table[0] @ np.sqrt((1 - s) * first + s * second)) for s in SHARES)
        gain = mixed - float(table[0] @ table[1])
        if gain > least:
            best, least = i, gain
    return best


def distance(one: Words | None, other: Words | None) -> float:
    """Hellinger's distance of two topics as their leading words have it; NaN without one.

    The weights are the words' probabilities here. One of probability p that leads one topic alone
    is taken to have min(p, max(0, 2 m - p)) in the other, m being the least that leads there. All
    words that lead in neither are taken to be as alike, for their mass, as those that do: with P
    and Q the masses of the latter, the affinity is

        sum_w sqrt(p_w q_w) (1 + sqrt((1 - P) (1 - Q) / (P Q))).
    """
    if one is None or other is None:
        return float("nan")
    _, place, other_place = np.intersect1d(one[0], other[0], True, return_indices=True)
    own, other_own = np.delete(one[1], place), np.delete(other[1], other_place)
    p = np.concatenate([one[1][place], own, _below(other_own, one[1])])
    q = np.concatenate([other[1][other_place], _below(own, other[1]), other_own])
    P, Q = p.sum(), q.sum()
    within = _squared(p / P, q / Q)
    of_masses = _squared(*(np.array([mass, max(0.0, 1.0 - mass)]) for mass in (P, Q)))
    return float(np.sqrt(within + of_masses - within * of_masses))


def _below(p: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Probabilities of words in a topic that they do not lead, from those in another one."""
    found = np.minimum(p, np.maximum(0.0, 2.0 * there.min() - p))
    left, total = max(0.0, 1.0 - there.sum()), found.sum()
    return np.asarray(found * (left / total) if total > left else found)


def _squared(p: np.ndarray, q: np.ndarray) -> float:
    """Square of Hellinger's distance of two distributions."""
    return float(0.5 * np.square(np.sqrt(p) - np.sqrt(q)).sum())


def _affinities_to(topics: Sequence[Words], other: Words) -> np.ndarray:
    """Affinity of each topic to one."""
    words, weights, starts = _concatenated(topics)
    root = np.zeros(1 + max(words.max(initial=0), other[0].max(initial=0)))
    root[other[0]] = np.sqrt(other[1])
    of = np.repeat(np.arange(len(topics)), np.diff(starts))
    found: np.ndarray = np.bincount(of, np.sqrt(weights) * root[words], len(topics))
    return found


def _roots(topics: Sequence[Words]) -> sparse.csr_array:
    """Square roots of the weights, of shape (n_topics, n_words), of those words that there are."""
    words, weights, starts = _concatenated(topics)
    there, columns = np.unique(words, return_inverse=True)
    return sparse.csr_array((np.sqrt(weights), columns, starts), shape=(len(topics), len(there)))


def _concatenated(topics: Sequence[Words]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words and weights of all topics one after the other, and where each starts and ends."""
    starts = np.cumsum([0, *(len(words) for words, _ in topics)])
    words, weights = (np.concatenate(part) for part in zip(*topics, strict=True))
    return words, weights, starts
