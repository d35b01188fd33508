# SPDX-License-Identifier: BSD-3-Clause
"""A local step whose documents have hints of their topics.

A hint is a pseudo-token of a word that only one topic has. So a document with h_dk of them is
inferred under the Dirichlet parameters alpha_k + h_dk, by any local step.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from streamtopics.local.step import NOTHING, LocalStep
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.parallel import Workers


@dataclass(frozen=True)
class Hinted(LocalStep):
    """A local step that takes the hints of a minibatch into account.

    Parameters
    ----------
    step_of : LocalStep
        The local step.
    """

    step_of: LocalStep

    mixes: ClassVar[bool] = False

    @property
    def reports(self) -> frozenset[str]:  # type: ignore[override]
        """Names of what the local step can report."""
        return self.step_of.reports

    @property
    def n_background(self) -> int:
        """Number of topics that are the local step's background."""
        return self.step_of.n_background

    def thorough(self) -> LocalStep:
        """The same of the thorough step."""
        return Hinted(self.step_of.thorough())

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: Any = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, Any]:
        """Statistics of the tokens alone, and the state of the documents."""
        known = _with_hints(minibatch, topics)
        found, documents = self.step_of.step(*known, seeds, workers, documents, report)
        counts = np.ascontiguousarray(found.counts[: len(minibatch.words)])
        own = replace(found, words=minibatch.words, counts=counts, lengths=minibatch.lengths)
        return own, documents

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Posterior mean of the topic proportions, of shape (n_documents, K)."""
        return self.step_of.doc_topic(*_with_hints(minibatch, topics), seeds, workers)


def _with_hints(minibatch: Minibatch, topics: Topics) -> tuple[Minibatch, Topics]:
    """The minibatch with a word more for each topic, and the weights of these words too."""
    if minibatch.hints is None:
        return minibatch, topics
    n_topics, words = len(topics.alpha), minibatch.words
    tokens = minibatch.matrix(minibatch.counts)
    both = sparse.hstack([tokens, minibatch.hints.astype(tokens.dtype)], format="csr")
    first = int(words[-1]) + 1 if len(words) else 0
    names = np.concatenate([words, np.arange(first, first + n_topics, dtype=words.dtype)])
    known = Minibatch(names, both.indptr.astype(np.int32), both.indices.astype(np.int32), both.data)
    own = np.eye(n_topics, topics.weights.shape[1], dtype=topics.weights.dtype)
    return known, Topics(np.vstack([topics.weights, own]), topics.alpha)
