# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field variational inference of latent Dirichlet allocation, per document.

Documents are independent given the topics, and so are words given the
documents: the proportions are found document by document, the statistics word
by word. Neither needs a reduction, so the bits do not depend on the workers.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from streamtopics.kernels import dirichlet, variational
from streamtopics.local.minibatches import part
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.parallel import Workers, spans

DOCUMENTS_PER_JOB = 64
WORDS_PER_JOB = 1024


@dataclass(frozen=True)
class Variational:
    """Coordinate ascent in q(theta_d) q(z_d) for each document.

    Nothing in it is random; the state of the documents is `gamma`, the Dirichlet
    parameters of q(theta_d), of shape (n_documents, K).

    Parameters
    ----------
    tol : float
        A document is done when a sweep moves less than this share of its tokens
        between topics.
    max_iter : int
        Sweeps over a document, at most.
    log_theta : bool, default=False
        Whether the statistics tell E[log theta].
    bound : bool, default=False
        Whether they tell the documents' part of the evidence lower bound; for weights
        that are exp(E[log beta]) but for a factor, of which the bound does not know.
    """

    tol: float
    max_iter: int
    log_theta: bool = False
    bound: bool = False

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: np.ndarray | None = None,
    ) -> tuple[Statistics, np.ndarray]:
        """The expected statistics, and gamma."""
        gamma = self.infer(minibatch, topics, workers, documents)
        return self.statistics(minibatch, topics, gamma, workers), gamma

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Mean of q(theta_d), of shape (n_documents, K)."""
        gamma = self.infer(minibatch, topics, workers)
        return gamma / gamma.sum(axis=1, keepdims=True)

    def infer(
        self,
        minibatch: Minibatch,
        topics: Topics,
        workers: Workers,
        start: np.ndarray | None = None,
    ) -> np.ndarray:
        """gamma, from `start` or else from alpha and the tokens spread evenly."""
        shared = np.empty(len(topics.weights))
        if len(topics.alpha) > variational.DENSE_UP_TO:
            variational.prior_weights(topics.weights, digamma(topics.alpha), shared)
        jobs = (
            self._job(minibatch, topics, shared, start, *span, workers.distributed)
            for span in spans(minibatch.n_documents, DOCUMENTS_PER_JOB)
        )
        return np.concatenate(workers.send(_infer_documents, jobs))

    def _job(
        self,
        minibatch: Minibatch,
        topics: Topics,
        shared: np.ndarray,
        gamma: np.ndarray | None,
        start: int,
        stop: int,
        distributed: bool,
    ) -> tuple:
        """Arguments of `_infer_documents`; with their own words only, if they are to travel."""
        weights = topics.weights
        if gamma is not None:
            gamma = gamma[start:stop]
        if distributed:
            minibatch, used = part(minibatch, start, stop)
            weights, shared = weights[used], shared[used]
            start, stop = 0, stop - start
        return minibatch, weights, topics.alpha, shared, gamma, start, stop, self.tol, self.max_iter

    def statistics(
        self, minibatch: Minibatch, topics: Topics, gamma: np.ndarray, workers: Workers
    ) -> Statistics:
        """Expected counts of words in topics, given the documents' parameters."""
        weights, n_words = topics.weights, len(minibatch.words)
        exp_theta = np.empty((len(gamma), weights.shape[1]), weights.dtype)
        variational.exp_digamma_rows(
            gamma.astype(np.float64), np.zeros(len(topics.alpha)), exp_theta
        )
        by_word = minibatch.matrix(minibatch.counts).tocsc()
        counts = np.empty((n_words, len(topics.alpha)), weights.dtype)
        log_sums = np.empty(n_words) if self.bound else None
        given = by_word.indptr, by_word.indices, by_word.data, weights, exp_theta
        jobs = ((*given, *span, counts, log_sums) for span in spans(n_words, WORDS_PER_JOB))
        workers.share(variational.word_statistics, jobs)
        lengths = minibatch.lengths
        log_theta = _mean_log_theta(gamma[lengths > 0]) if self.log_theta else None
        bound = None
        if self.bound:
            of_theta = _bound_of_proportions(gamma, topics.alpha, lengths, exp_theta)
            bound = float(log_sums.sum()) + of_theta
        return Statistics(minibatch.words, counts, lengths, log_theta, bound)


def _mean_log_theta(gamma: np.ndarray) -> np.ndarray | None:
    """E[log theta] under q, the mean over the rows; None if there are none."""
    if not len(gamma):
        return None
    gamma = gamma.astype(np.float64)
    return digamma(gamma).mean(axis=0) - digamma(gamma.sum(axis=1)).mean()


def _bound_of_proportions(
    gamma: np.ndarray, alpha: np.ndarray, lengths: np.ndarray, exp_theta: np.ndarray
) -> float:
    """Sum of -KL(q(theta_d) || p(theta_d)), and what `exp_theta` lacks to exp(E[log theta])."""
    gamma = gamma.astype(np.float64)
    total = gamma.sum(axis=1)
    best = np.arange(len(gamma)), gamma.argmax(axis=1)
    lacking = digamma(gamma[best]) - np.log(exp_theta[best].astype(np.float64)) - digamma(total)
    unused, terms = np.zeros((2, len(alpha)))
    dirichlet.add_divergences(gamma, gamma, alpha[None, :], unused, terms)
    divergence = terms.sum() + gammaln(total).sum() - (total - alpha.sum()) @ digamma(total)
    divergence += len(gamma) * (gammaln(alpha).sum() - gammaln(alpha.sum()))
    return float(lengths @ lacking - divergence)


def _infer_documents(
    minibatch: Minibatch,
    weights: np.ndarray,
    alpha: np.ndarray,
    shared: np.ndarray,
    gamma: np.ndarray | None,
    start: int,
    stop: int,
    tol: float,
    max_iter: int,
) -> np.ndarray:
    """gamma of the documents start .. stop."""
    out = np.empty((stop - start, len(alpha)), weights.dtype)
    if gamma is not None:
        out[:] = gamma
    variational.infer_documents(
        minibatch.indptr, minibatch.indices, minibatch.counts, weights, alpha, digamma(alpha),
        shared, start, stop, tol, max_iter, out, np.empty(stop - start, np.int32),
        gamma is not None,
    )  # fmt: skip
    return out
