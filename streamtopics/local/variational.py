# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field variational inference of latent Dirichlet allocation."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import digamma, gammaln

from streamtopics.kernels import dirichlet, variational
from streamtopics.local.step import NOTHING, LocalStep, by_word, equal_parts
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.checks import check_range, check_whole
from streamtopics.utils.parallel import Workers, spans

ENTRIES_PER_JOB, WORDS_PER_JOB = 500, 1024


@dataclass(frozen=True)
class Variational(LocalStep):
    """Mean-field inference of each document, by coordinate ascent in q(theta_d) q(z_d).

    theta_d are topic proportions and z_d the topics of the tokens. The state returned by `step` is
    gamma, the Dirichlet parameters of q(theta_d).

    Parameters
    ----------
    tol : float
        Stop when a sweep over a document moves less than this share of the tokens between topics.
    max_iter : int
        Largest number of sweeps over a document.
    """

    tol: float = 1e-3
    max_iter: int = 100

    reports: ClassVar[frozenset[str]] = frozenset({"log_theta", "local_bound"})

    def __post_init__(self) -> None:
        check_range(self, 0, np.inf, tol=self.tol)
        check_whole(self, max_iter=self.max_iter)

    def thorough(self) -> "Variational":
        """Return the step of at least 100 sweeps."""
        return replace(self, max_iter=max(self.max_iter, 100))

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: np.ndarray | None = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, np.ndarray]:
        # For the comparison of bounds: an extrapolation may lower a bound.
        plain = "local_bound" in report
        gamma = self.infer(minibatch, topics, workers, documents, plain)
        return self.statistics(minibatch, topics, gamma, workers, report), gamma

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        gamma = self.infer(minibatch, topics, workers)
        return gamma / gamma.sum(axis=1, keepdims=True)

    def infer(
        self,
        minibatch: Minibatch,
        topics: Topics,
        workers: Workers,
        start: np.ndarray | None = None,
        plain: bool = False,
    ) -> np.ndarray:
        """gamma of q(theta_d), from `start` or even shares; if `plain`, the bound never falls."""
        weights, alpha = topics.weights, topics.alpha
        shared, log_alpha = np.empty(len(weights)), digamma(alpha)
        if len(alpha) > variational.DENSE_UP_TO:
            variational.prior_weights(weights, log_alpha, shared)
        gamma = np.empty((minibatch.n_documents, len(alpha)), weights.dtype)
        if start is not None:
            gamma[:] = start
        given = minibatch.indptr, minibatch.indices, minibatch.counts, weights, alpha
        jobs = (
            (*given, log_alpha, shared, first, stop, self.tol, self.max_iter, gamma[first:stop],
             np.empty(stop - first, np.int32), start is not None, plain)
            for first, stop in equal_parts(minibatch, ENTRIES_PER_JOB)
        )  # fmt: skip
        workers.share(variational.infer_documents, jobs)
        return gamma

    def statistics(
        self,
        minibatch: Minibatch,
        topics: Topics,
        gamma: np.ndarray,
        workers: Workers,
        report: frozenset[str] = NOTHING,
    ) -> Statistics:
        weights, n_words = topics.weights, len(minibatch.words)
        exp_theta = np.empty((len(gamma), weights.shape[1]), weights.dtype)
        nothing = np.zeros(len(topics.alpha))
        variational.exp_digamma_rows(gamma.astype(np.float64), nothing, exp_theta)
        counts = np.empty((n_words, len(topics.alpha)), weights.dtype)
        log_sums = np.empty(n_words) if "local_bound" in report else None
        given = *by_word(minibatch, minibatch.counts), weights, exp_theta
        jobs = ((*given, *span, counts, log_sums) for span in spans(n_words, WORDS_PER_JOB))
        workers.share(variational.word_statistics, jobs)
        lengths = minibatch.lengths
        log_theta = _mean_log_theta(gamma[lengths > 0]) if "log_theta" in report else None
        bound = None
        if log_sums is not None:
            of_theta = _bound_of_proportions(gamma, topics.alpha, lengths, exp_theta)
            bound = float(log_sums.sum()) + of_theta
        return Statistics(minibatch.words, counts, lengths, log_theta, bound)


def _mean_log_theta(gamma: np.ndarray) -> np.ndarray | None:
    if not len(gamma):
        return None
    gamma = gamma.astype(np.float64)
    return digamma(gamma).mean(axis=0) - digamma(gamma.sum(axis=1)).mean()


def _bound_of_proportions(
    gamma: np.ndarray, alpha: np.ndarray, lengths: np.ndarray, exp_theta: np.ndarray
) -> float:
    """Sum of -KL(q(theta_d) || p(theta_d)), with a correction for factors of `exp_theta`."""
    gamma = gamma.astype(np.float64)
    total = gamma.sum(axis=1)
    best = np.arange(len(gamma)), gamma.argmax(axis=1)
    lacking = digamma(gamma[best]) - np.log(exp_theta[best].astype(np.float64)) - digamma(total)
    unused, terms = np.zeros((2, len(alpha)))
    dirichlet.add_divergences(gamma, gamma, alpha[None, :], unused, terms)
    divergence = terms.sum() + gammaln(total).sum() - (total - alpha.sum()) @ digamma(total)
    divergence += len(gamma) * (gammaln(alpha).sum() - gammaln(alpha.sum()))
    return float(lengths @ lacking - divergence)
