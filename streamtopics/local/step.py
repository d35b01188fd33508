# SPDX-License-Identifier: BSD-3-Clause
"""What a local step is: inference in the documents of a minibatch, given the topics."""

from typing import Protocol

import numpy as np

from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.parallel import Workers


class LocalStep(Protocol):
    """A local step. It sees no posterior, no prior of the topics and no step size.

    What is random in it comes from `seeds` alone, one for each document, so that
    the result for a document does not depend on the others or on the workers.
    """

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: np.ndarray | None = None,
    ) -> tuple[Statistics, np.ndarray]:
        """The expected statistics, and the state of the documents afterwards.

        That state may be passed again as `documents`, with other topics, to go on
        from there. `seeds` has shape (n_documents,), uint64.
        """

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Posterior mean of the topic proportions, of shape (n_documents, K)."""
