# SPDX-License-Identifier: BSD-3-Clause
"""Similarities of topics, and a map of them in a plane."""

import numpy as np


def affinities(topic_word: np.ndarray) -> np.ndarray:
    """Bhattacharyya coefficients of topics, of shape (n_topics, n_topics), in [0, 1]."""
    roots = np.sqrt(topic_word)
    found: np.ndarray = np.clip(roots @ roots.T, 0.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


def places(affinity: np.ndarray) -> np.ndarray:
    """Places of topics in a plane by their Hellinger distances, of shape (n_topics, 2).

    Principal coordinates (classical scaling): of the squared distances ``1 - affinity``, double
    centred, the two leading eigenvectors; each points to where its largest entry is positive.
    """
    squared = 1.0 - affinity
    centred = squared - squared.mean(axis=0)
    centred = -0.5 * (centred - centred.mean(axis=1, keepdims=True))
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    found = np.zeros((len(affinity), 2))
    for axis in range(min(2, len(values))):
        value, vector = values[-1 - axis], vectors[:, -1 - axis]
        if value > 1e-12:
            sign = np.sign(vector[np.argmax(np.abs(vector).round(9))])
            found[:, axis] = sign * np.sqrt(value) * vector
    return found


def neighbours(affinity: np.ndarray, n: int = 3) -> list[list[int]]:
    """The n most similar topics of each, the most similar first."""
    others = affinity - 2.0 * np.eye(len(affinity))
    order = np.argsort(-others, axis=1, kind="stable")
    found: list[list[int]] = order[:, : min(n, len(affinity) - 1)].tolist()
    return found
