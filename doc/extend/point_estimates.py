# SPDX-License-Identifier: BSD-3-Clause
"""Documents by point estimates of their topic proportions: EM, in NumPy."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from streamtopics.local import LocalStep
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.parallel import Workers


@dataclass(frozen=True)
class PointEstimates(LocalStep):
    """EM for the proportions theta of each document, of shape (n_documents, K).

    Parameters
    ----------
    n_iter : int
        Rounds of EM.
    """

    reports: ClassVar[frozenset[str]] = frozenset({"log_theta"})
    n_iter: int = 20

    def step(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers,
        documents: np.ndarray | None = None, report: frozenset[str] = frozenset(),
    ) -> tuple[Statistics, np.ndarray]:  # fmt: skip
        """Return tokens of each word in each topic, and theta."""
        n_documents, theta = minibatch.n_documents, documents
        if theta is None:
            theta = np.tile(topics.alpha / topics.alpha.sum(), (n_documents, 1))
        places = np.repeat(np.arange(n_documents), np.diff(minibatch.indptr))
        for _ in range(self.n_iter):
            tokens = self._tokens(minibatch, topics, theta[places])
            theta = _sums(places, n_documents, tokens) + topics.alpha
            theta /= theta.sum(axis=1, keepdims=True)
        tokens = self._tokens(minibatch, topics, theta[places])
        counts = _sums(minibatch.indices, len(minibatch.words), tokens)
        full, log_theta = minibatch.lengths > 0, None
        if "log_theta" in report and full.any():
            log_theta = np.log(theta[full]).mean(axis=0)
        return Statistics(minibatch.words, counts, minibatch.lengths, log_theta), theta

    def doc_topic(self, minibatch, topics, seeds, workers) -> np.ndarray:
        """Return theta."""
        return self.step(minibatch, topics, seeds, workers)[1]

    def _tokens(self, minibatch: Minibatch, topics: Topics, theta: np.ndarray) -> np.ndarray:
        shares = theta * topics.weights[minibatch.indices, : len(topics.alpha)]
        return shares * (minibatch.counts / shares.sum(axis=1))[:, None]


def _sums(rows: np.ndarray, n_rows: int, tokens: np.ndarray) -> np.ndarray:
    entries = np.arange(len(rows))
    return sparse.csr_matrix((np.ones(len(rows)), (rows, entries)), (n_rows, len(rows))) @ tokens
