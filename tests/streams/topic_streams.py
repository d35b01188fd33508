# SPDX-License-Identifier: BSD-3-Clause
"""Streams whose topics are known to be born, to die, to drift, to split and to merge.

There are four lasting topics and one event at half of the stream. Topics are drawn from a
Dirichlet distribution of parameter 0.03 over 400 words, documents have Poisson(40) words of
proportions from a Dirichlet distribution of parameter 0.5 times the number of topics times their
shares.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from streamtopics.streams import BatchInfo

N_WORDS, N_BATCHES, EVENT = 400, 28, 14
KINDS = ("none", "born", "dies", "drifts", "splits", "merges")
DRAWN = np.random.default_rng(1).dirichlet(np.full(N_WORDS, 0.03), 7)


class Truth(NamedTuple):
    """The topics at one minibatch: their names, probabilities of words and shares."""

    names: tuple[str, ...]
    topic_word: np.ndarray
    shares: np.ndarray


def truth(kind, batch):
    """What is true at a minibatch, counted from 0."""
    late = batch >= EVENT
    topics = {f"lasting {k}": (DRAWN[k], 1.0) for k in range(4)}
    if (kind == "born" and late) or (kind == "dies" and not late):
        topics["other"] = (DRAWN[4], 1.0)
    if kind == "drifts":
        share = batch / N_BATCHES
        topics["other"] = ((1 - share) * DRAWN[4] + share * DRAWN[5], 1.0)
    if kind in ("splits", "merges"):
        if (kind == "merges") == late:
            topics["whole"] = (0.5 * DRAWN[4] + 0.5 * DRAWN[5], 1.5)
        else:
            topics |= {"part": (DRAWN[4], 0.75), "other part": (DRAWN[5], 0.75)}
    shares = np.array([share for _, share in topics.values()])
    table = np.array([words for words, _ in topics.values()])
    return Truth(tuple(topics), table, shares / shares.sum())


@cache
def documents(kind, batch, n=250, seed=0):
    """Counts of a minibatch."""
    _, table, shares = truth(kind, batch)
    rng = np.random.default_rng([seed, batch])
    theta = rng.dirichlet(0.5 * len(shares) * shares, n)
    lengths, p = rng.poisson(40, n), theta @ table
    counts = rng.multinomial(lengths, p / p.sum(axis=1, keepdims=True))
    return sparse.csr_matrix(counts.astype(np.float64))


def info_of(X, batch, time=None):
    """The record of a minibatch, counted from 0."""
    n, tokens = X.shape[0], float(X.sum())
    nan = float("nan")
    return BatchInfo(batch + 1, X, time, n, tokens, n * (batch + 1), tokens * (batch + 1), nan)
