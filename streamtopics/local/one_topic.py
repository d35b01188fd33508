# SPDX-License-Identifier: BSD-3-Clause
"""One topic a document: a mixture of multinomials, by expectation maximisation in closed form.

With m_kw = share beta_kw + (1 - share) b_w, b the background, a document's topic is

    q_dk ~ alpha_k prod_w m_kw^n_dw,

and of its tokens of word w topic k gets the part share beta_kw / m_kw, the background the rest.
Nigam et al. (2000), "Text classification from labeled and unlabeled documents using EM", and,
without a background, the Dirichlet multinomial mixture of Yin and Wang (2014), "A Dirichlet
multinomial mixture model-based approach for short text clustering", which is sampled there.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamtopics.checks import check_range
from streamtopics.local.minibatches import times, transposed_times
from streamtopics.local.step import NOTHING, LocalStep
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.parallel import Workers, spans

DOCUMENTS_PER_JOB = 160
# Of which single precision knows the logarithm.
LEAST_WEIGHT = 1e-30


@dataclass(frozen=True)
class OneTopic(LocalStep):
    """The topic of each document, which explains `share` of its words, the background the rest.

    Nothing in it is random; documents have no state.

    Parameters
    ----------
    share : float
        Share of the tokens that are from a document's own topic. Below 1, the first topic is
        the background, of which all documents have the rest.
    """

    share: float = 0.8

    reports: ClassVar[frozenset[str]] = frozenset({"shares"})

    def __post_init__(self) -> None:
        check_range(self, 0.01, 1, share=self.share)

    @property
    def n_background(self) -> int:
        """Number of topics that are the background: 1, or 0 where there is none."""
        return int(self.share < 1)

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: None = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, None]:
        """Expected counts of words in topics."""
        mixed, own = self._mixed(topics)
        q = self._responsibilities(minibatch, topics, mixed, workers)
        counts = np.empty((len(mixed), len(topics.alpha)), minibatch.counts.dtype)
        total = transposed_times(minibatch, q)
        first = self.n_background
        np.multiply(own, total, out=counts[:, first:])
        if first:
            counts[:, 0] = (total - counts[:, 1:]).sum(axis=1)
        shares = None
        if "shares" in report and np.any(minibatch.lengths > 0):
            shares = self._proportions(q[minibatch.lengths > 0].astype(np.float64)).mean(axis=0)
        return Statistics(minibatch.words, counts, minibatch.lengths, shares=shares), None

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Posterior mean of the topic proportions, of shape (n_documents, K)."""
        q = self._responsibilities(minibatch, topics, self._mixed(topics)[0], workers)
        return self._proportions(q)

    def _mixed(self, topics: Topics) -> tuple[np.ndarray, np.ndarray]:
        """Weights of words in documents of each topic, and the topic's own part of them."""
        first = self.n_background
        weights = topics.weights[:, first : len(topics.alpha)]
        own = self.share * weights
        if not first:
            return own, np.ones_like(own)
        mixed = own + (1 - self.share) * topics.weights[:, :1]
        # Where both are 0 the word is the background's.
        return mixed, own / np.maximum(mixed, np.finfo(mixed.dtype).tiny)

    def _responsibilities(
        self, minibatch: Minibatch, topics: Topics, mixed: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """q, of shape (n_documents, K less the background)."""
        log_mixed = np.log(np.maximum(mixed, LEAST_WEIGHT))
        alpha = topics.alpha[self.n_background :]
        with np.errstate(divide="ignore"):
            # Topics of which alpha is 0 are none yet, unless all are.
            log_alpha = np.log(alpha if alpha.any() else 1.0 + alpha).astype(log_mixed.dtype)
        q = np.empty((minibatch.n_documents, mixed.shape[1]), log_mixed.dtype)
        jobs = (
            (minibatch, log_mixed, log_alpha, *at, q) for at in spans(len(q), DOCUMENTS_PER_JOB)
        )
        workers.share(_explain, jobs)
        return q

    def _proportions(self, q: np.ndarray) -> np.ndarray:
        """q as proportions of the tokens, beside the background's."""
        if not self.n_background:
            return q
        background = np.full((len(q), 1), 1 - self.share, q.dtype)
        found: np.ndarray = np.concatenate([background, self.share * q], axis=1)
        return found


def _explain(
    minibatch: Minibatch,
    log_mixed: np.ndarray,
    log_alpha: np.ndarray,
    start: int,
    stop: int,
    q: np.ndarray,
) -> None:
    """Write the probabilities of the topics of the documents start .. stop into q."""
    part = times(minibatch, log_mixed, start, stop)
    part += log_alpha
    part -= part.max(axis=1, keepdims=True)
    np.exp(part, out=part)
    np.divide(part, part.sum(axis=1, keepdims=True), out=q[start:stop])
