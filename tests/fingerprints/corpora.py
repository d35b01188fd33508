# SPDX-License-Identifier: BSD-3-Clause
"""Two corpora made by plain numpy, so that they outlive changes of the package's generators.

`RandomState` draws the same numbers in every version of numpy. Each corpus comes with all
that some estimator asks for beside counts: labels, ratings, sentences, points and text.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

N_DOCUMENTS, N_WORDS, N_TOPICS = 300, 120, 4
N_ITEMS, N_USERS = 12, 25
SENTENCES_OF_A_DOCUMENT = 5
N_SENTENCES = 120


class Corpus(NamedTuple):
    """Counts and what goes with them; all but `sentences` have a row for each document."""

    X: sparse.csr_matrix
    labels: np.ndarray
    ratings: np.ndarray
    items: np.ndarray
    users: np.ndarray
    sentences: sparse.csr_matrix
    groups: np.ndarray
    points: np.ndarray
    gaps: np.ndarray
    response: np.ndarray


def plain(rng):
    """Documents of about equal lengths from topics of a Dirichlet distribution."""
    topics = normalised(rng.gamma(0.1, size=(N_TOPICS, N_WORDS)) + 1e-3)
    theta = normalised(rng.gamma(0.3, size=(N_DOCUMENTS, N_TOPICS)) + 1e-6)
    lengths = rng.poisson(25, size=N_DOCUMENTS)
    return drawn(rng, theta @ topics, lengths), theta


def bursty(rng):
    """Words by Zipf's law, bursts, very different lengths, empty rows, fractions, float32."""
    zipf = (np.arange(N_WORDS) + 1.0) ** -1.07
    topics = normalised(np.stack([zipf[rng.permutation(N_WORDS)] for _ in range(N_TOPICS)]) + zipf)
    theta = normalised(rng.gamma(0.2, size=(N_DOCUMENTS, N_TOPICS)) + 1e-6)
    theta[N_DOCUMENTS // 2 :, 0] = 1e-6
    words = normalised(rng.gamma(20 * normalised(theta) @ topics) + 1e-12)
    lengths = np.minimum(3 * (1 + rng.pareto(0.9, size=N_DOCUMENTS)), 250).astype(int)
    lengths[::23] = 0
    X = drawn(rng, words, lengths)
    X[::7] *= 0.75
    return X.astype(np.float32), normalised(theta)


def normalised(weights):
    return weights / weights.sum(axis=1, keepdims=True)


def drawn(rng, words, lengths):
    rows = [rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, words, strict=True)]
    return np.array(rows, dtype=np.float64)


def with_all(rng, X, theta):
    """A corpus from counts and the topics that they were drawn from."""
    items = rng.randint(N_ITEMS, size=N_DOCUMENTS)
    users = rng.randint(N_USERS, size=N_DOCUMENTS)
    effects = rng.normal(scale=0.5, size=N_ITEMS)[items] + rng.normal(size=N_USERS)[users]
    mood = theta @ np.array([4.0, 1.0, 3.0, 2.0])
    points = mood[:, None] * [1.0, -1.0, 0.5] + rng.normal(size=(N_DOCUMENTS, 3))
    gaps = np.where(rng.uniform(size=points.shape) < 0.1, np.nan, points)
    few = np.minimum(np.ceil(X[:N_SENTENCES]), 2.0) * (X[:N_SENTENCES].cumsum(axis=1) <= 30)
    return Corpus(
        X=sparse.csr_matrix(X),
        labels=np.array(["air", "land", "sea"])[theta.argmax(axis=1) % 3],
        ratings=np.clip(np.round(mood + effects), 1.0, 5.0),
        items=items,
        users=np.array([f"user {u}" for u in users]),
        sentences=sparse.csr_matrix(few),
        groups=np.arange(N_DOCUMENTS) // SENTENCES_OF_A_DOCUMENT,
        points=points,
        gaps=gaps,
        response=points @ [1.0, 2.0, -1.0] + rng.normal(size=N_DOCUMENTS),
    )


@cache
def corpora():
    """All corpora by name."""
    made = {}
    for name, make in [("plain", plain), ("bursty", bursty)]:
        rng = np.random.RandomState(len(name))
        made[name] = with_all(rng, *make(rng))
    return made
