# SPDX-License-Identifier: BSD-3-Clause
"""Documents by point estimates of their topic proportions: EM, in NumPy."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.parallel import Workers


@dataclass(frozen=True)
class PointEstimates:
    """EM for the proportions of each document; its state is theta, (n_documents, K).

    Parameters
    ----------
    n_iter : int
        Rounds of EM.
    """

    n_iter: int = 20

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: np.ndarray | None = None,
    ) -> tuple[Statistics, np.ndarray]:
        """Tokens of each word in each topic, and theta."""
        alpha = topics.alpha
        theta = documents
        if theta is None:
            theta = np.tile(alpha / alpha.sum(), (minibatch.n_documents, 1))
        shape = len(minibatch.counts), minibatch.n_documents
        places = np.repeat(np.arange(shape[1]), np.diff(minibatch.indptr))
        ones, entries = np.ones(shape[0]), np.arange(shape[0])
        of_document = sparse.csr_matrix((ones, (places, entries)), shape=shape[::-1])
        for _ in range(self.n_iter):
            tokens = self._shares(minibatch, topics, theta[places])
            theta = of_document @ tokens + alpha
            theta /= theta.sum(axis=1, keepdims=True)
        tokens = self._shares(minibatch, topics, theta[places])
        of_word = sparse.csr_matrix(
            (ones, (minibatch.indices, entries)), shape=(len(minibatch.words), shape[0])
        )
        return Statistics(minibatch.words, of_word @ tokens, minibatch.lengths), theta

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """theta."""
        return self.step(minibatch, topics, seeds, workers)[1]

    def _shares(self, minibatch: Minibatch, topics: Topics, theta: np.ndarray) -> np.ndarray:
        """Tokens of each entry in each topic; weights have columns of zeros beyond the topics."""
        shares = theta * topics.weights[minibatch.indices, : len(topics.alpha)]
        return shares * (minibatch.counts / shares.sum(axis=1))[:, None]
