# SPDX-License-Identifier: BSD-3-Clause
"""One topic a document: a mixture of multinomials, by expectation maximisation.

With m_kw = share beta_kw + (1 - share) b_w, b the background, a document's topic is

    q_dk ~ alpha_k prod_w m_kw^n_dw.

Of the tokens of word w, topic k gets the part share beta_kw / m_kw, and the background the rest.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamtopics.kernels import rows
from streamtopics.local.directions import explained, summed
from streamtopics.local.step import NOTHING, LocalStep, by_word, times
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.checks import check_range
from streamtopics.utils.parallel import Workers, spans

# Documents, and cells of weights, worth a job.
DOCUMENTS_PER_JOB, CELLS_PER_JOB = 160, 30_000
# Least number with a logarithm in single precision.
LEAST_WEIGHT = 1e-30


@dataclass(frozen=True)
class OneTopic(LocalStep):
    """Inference of one topic for each document, with some of the words from a background.

    With share 1, without a background, the model is the mixture of multinomials of Nigam et al.
    (2000) and Yin and Wang (2014), learnt by EM.

    Parameters
    ----------
    share : float
        Share of a document's tokens from its topic; the rest is from the background, topic 0.
    vector_weight : float
        Power of the probability density of a document's vector; 0 ignores vectors.
    """

    share: float = 0.8
    vector_weight: float = 0.2

    reports: ClassVar[frozenset[str]] = frozenset({"shares"})

    def __post_init__(self) -> None:
        check_range(self, 0.01, 1, share=self.share)
        check_range(self, 0, 1, vector_weight=self.vector_weight)

    @property
    def n_background(self) -> int:
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
        log_mixed, own = self._mixed(topics, workers)
        q = self._probabilities(minibatch, topics, log_mixed, workers)
        counts = np.empty((len(own), len(topics.alpha)), minibatch.counts.dtype)
        starts, members, tokens = by_word(minibatch, minibatch.counts)
        first = self.n_background

        def attribute(start: int, stop: int) -> None:
            total = np.empty((stop - start, q.shape[1]), q.dtype)
            rows.multiply(starts, members, tokens, q, start, stop, total)
            np.multiply(own[start:stop], total, out=counts[start:stop, first:])
            if first:
                np.subtract(total, counts[start:stop, 1:], out=total)
                np.sum(total, axis=1, out=counts[start:stop, 0])

        workers.share(attribute, _word_spans(*own.shape))
        shares, known = None, minibatch.informative
        if "shares" in report and known.any():
            shares = self._proportions(q if known.all() else q[known], np.float64).mean(axis=0)
        directions = None
        if minibatch.vectors is not None:
            directions = np.zeros((len(topics.alpha), minibatch.vectors.shape[1] + 1))
            directions[first:] = summed(minibatch.vectors, q, workers)
        n_empty = int(np.count_nonzero(known & ~(minibatch.lengths > 0)))
        return Statistics(
            minibatch.words, counts, minibatch.lengths, shares=shares, directions=directions,
            n_empty=n_empty,
        ), None  # fmt: skip

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        q = self._probabilities(minibatch, topics, self._mixed(topics, workers)[0], workers)
        return self._proportions(q, q.dtype)

    def _mixed(self, topics: Topics, workers: Workers) -> tuple[np.ndarray, np.ndarray]:
        """log m_kw, and the part of topic k in m_kw, each (n_words, K)."""
        first, last = self.n_background, len(topics.alpha)
        shape = len(topics.weights), last - first
        log_mixed, own = np.empty((2, *shape), topics.weights.dtype)

        def mix(start: int, stop: int) -> None:
            weights, mixed, part = (x[start:stop] for x in (topics.weights, log_mixed, own))
            np.multiply(weights[:, first:last], self.share, out=part)
            if first:
                np.add(part, (1 - self.share) * weights[:, :1], out=mixed)
                # If both are 0 the word belongs to the background.
                np.divide(part, np.maximum(mixed, np.finfo(part.dtype).tiny), out=part)
            else:
                mixed[:], part[:] = part, 1
            np.maximum(mixed, LEAST_WEIGHT, out=mixed)
            np.log(mixed, out=mixed)

        workers.share(mix, _word_spans(*shape))
        return log_mixed, own

    def _probabilities(
        self, minibatch: Minibatch, topics: Topics, log_mixed: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Topic probabilities q, (n_documents, K), without the background."""
        alpha = topics.alpha[self.n_background :]
        with np.errstate(divide="ignore"):
            # Topics with an alpha of 0 do not exist yet, unless all have 0.
            log_alpha = np.log(alpha if alpha.any() else 1.0 + alpha).astype(log_mixed.dtype)
        q = np.empty((minibatch.n_documents, log_mixed.shape[1]), log_mixed.dtype)
        of_vectors = None
        if minibatch.vectors is not None and topics.means is not None:
            means = (self.vector_weight * topics.means[self.n_background :]).astype(q.dtype)
            of_vectors = explained(minibatch.vectors, means, workers)

        def infer(start: int, stop: int) -> None:
            part = times(minibatch, log_mixed, start, stop)
            part += log_alpha
            if of_vectors is not None:
                part += of_vectors[start:stop]
            part -= part.max(axis=1, keepdims=True)
            np.exp(part, out=part)
            np.divide(part, part.sum(axis=1, keepdims=True), out=q[start:stop])

        workers.share(infer, spans(len(q), DOCUMENTS_PER_JOB))
        return q

    def _proportions(self, q: np.ndarray, dtype: Any) -> np.ndarray:
        first = self.n_background
        if not first:
            return q.astype(dtype, copy=False)
        found = np.empty((len(q), first + q.shape[1]), dtype)
        found[:, 0] = 1 - self.share
        np.multiply(q, self.share, out=found[:, 1:], dtype=dtype)
        return found


def _word_spans(n_words: int, n_components: int) -> list[tuple[int, int]]:
    return spans(n_words, max(1, CELLS_PER_JOB // max(n_components, 1)))
