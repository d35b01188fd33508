# SPDX-License-Identifier: BSD-3-Clause
"""Protocol of local steps: inference in the documents of a minibatch, given the topics."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.parallel import Workers

NOTHING: frozenset[str] = frozenset()
# Tokens that a count is cut into, at most. Counts this little above a whole number, as a part of
# it, are that number.
MOST_TOKENS, ROUNDING = 1024, 1e-6


class Source(Protocol):
    """Topics to see: a posterior, a proposal, an average, or a start."""

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions."""

    @property
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam, of shape (len(words), n_components)."""


@runtime_checkable
class LocalStep(Protocol):
    """A local step. It sees no posterior, no prior of the topics and no step size.

    What is random in it comes from `seeds` alone, one for each document, so that
    the result for a document does not depend on the others or on the workers. It derives from
    this class and defines `step` and `doc_topic`.

    Attributes
    ----------
    reports : frozenset of str
        What its statistics can have beside counts: "log_theta", "shares", "local_bound".
    mixes : bool
        Whether documents are mixtures of topics in proportions of which nothing is known but a
        Dirichlet prior, as in latent Dirichlet allocation.
    """

    reports: ClassVar[frozenset[str]] = NOTHING
    mixes: ClassVar[bool] = True

    @property
    def n_background(self) -> int:
        """Number of first topics that all documents have in the same shares."""
        return 0

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: Any = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, Any]:
        """The expected statistics with what is in `report`, and the state of the documents.

        That state may be passed again as `documents`, with other topics, to go on
        from there. `seeds` has shape (n_documents,), uint64.
        """

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Posterior mean of the topic proportions, of shape (n_documents, K)."""

    def thorough(self) -> LocalStep:
        """The step that infers documents when nothing is learnt; by default this one."""
        return self


def cut(minibatch: Minibatch) -> tuple[np.ndarray, np.ndarray]:
    """Cut each entry of the minibatch into the whole tokens that samplers move.

    A count c, which may be a fraction, is ceil(c) tokens of equal weight, but at most 1024.

    Returns
    -------
    n_tokens : ndarray of shape (nnz,), int32
    token_weight : ndarray of shape (nnz,), float64
    """
    whole = np.ceil(minibatch.counts * (1 - ROUNDING))
    n_tokens = np.minimum(whole, MOST_TOKENS).astype(np.int32)
    return n_tokens, minibatch.counts / np.maximum(n_tokens, 1.0)
