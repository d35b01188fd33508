# SPDX-License-Identifier: BSD-3-Clause
"""Supervised LDA: a response that is linear in the topics of a document's words.

    theta_d ~ Dirichlet(alpha),  z_dn ~ theta_d,  w_dn ~ beta_{z_dn},
    y_d ~ N(x' zbar_d, variance),   zbar_d = mean of the topics z_dn.

The coefficients x and the variance maximise the bound with a penalty on how far x is from
the mean response m, of which the documents' moments are all that they depend on:

    x = m + (P + penalty I)^-1 (q - m t),   P = sum_d E[zbar zbar'],
    q = sum_d y_d E[zbar],   t = sum_d E[zbar].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma

from streamtopics.families import dirichlet
from streamtopics.kernels import supervised as kernel
from streamtopics.local.step import cut
from streamtopics.messages import Minibatch, Statistics
from streamtopics.models.lda import geometric_mean, log_factors, visible_topics
from streamtopics.models.sources import RandomStart
from streamtopics.posteriors import TopicPosterior
from streamtopics.reviews.inference import mean_log
from streamtopics.utils.parallel import Workers, spans

LEAST_DOCUMENTS, MOST_PARTS = 64, 8
# Share of the variance of the responses, and of the prior's mass: less is rounding.
LEAST_VARIANCE = 1e-6
LEAST_LENGTH = 1e-4


class Moments(NamedTuple):
    """Sums over documents with words: of 1, y, y^2, E[zbar], y E[zbar] and E[zbar zbar']."""

    n: float
    total: float
    squares: float
    topics: np.ndarray
    products: np.ndarray
    second: np.ndarray

    def blended(self, retain: float, gain: float, other: Moments) -> Moments:
        """retain * self + gain * other."""
        pairs: Iterator[Any] = zip(self, other, strict=True)
        return Moments._make(retain * mine + gain * theirs for mine, theirs in pairs)


@dataclass(frozen=True)
class Response:
    """A linear function of the topics, the noise around it, and what coefficients are drawn to."""

    coefficients: np.ndarray
    variance: float
    mean: float

    def penalty(self, weight: float) -> float:
        """The penalty on the distance from the mean, in nats."""
        return weight * float(((self.coefficients - self.mean) ** 2).sum()) / (2 * self.variance)


def no_moments(n_components: int) -> Moments:
    """The moments of no documents."""
    zeros = np.zeros(n_components)
    return Moments(0.0, 0.0, 0.0, zeros, zeros, np.zeros((n_components, n_components)))


def first_response(y: np.ndarray, n_components: int) -> Response:
    """A response that is the same for all topics."""
    mean, variance = (float(y.mean()), float(y.var())) if len(y) else (0.0, 1.0)
    return Response(np.full(n_components, mean), max(variance, np.finfo(float).tiny ** 0.5), mean)


def solve_response(moments: Moments, penalty: float, before: Response) -> Response:
    """The coefficients and the variance of most penalised likelihood."""
    if moments.n == 0:
        return before
    mean = moments.total / moments.n
    system = moments.second + penalty * np.eye(len(moments.topics))
    beyond = np.linalg.solve(system, moments.products - mean * moments.topics)
    x = mean + beyond
    squares = moments.squares - 2 * x @ moments.products + x @ moments.second @ x
    squares += penalty * beyond @ beyond
    spread = moments.squares / moments.n - mean**2
    least = max(LEAST_VARIANCE * spread, np.finfo(float).tiny ** 0.5, 1e-12 * mean**2)
    return Response(x, max(float(squares) / moments.n, least), mean)


@dataclass(frozen=True)
class ResponseLDA:
    """Inference in documents with a response, until a sweep moves less than `tol` of the tokens."""

    tol: float
    max_iter: int

    def step(
        self, source: TopicPosterior | RandomStart, minibatch: Minibatch, y: np.ndarray,
        response: Response, workers: Workers, start: np.ndarray | None = None,
    ) -> tuple[Statistics, Moments, np.ndarray]:  # fmt: skip
        """The expected statistics with the bound, the moments, and gamma."""
        topics = visible_topics(geometric_mean, source, minibatch, workers)
        K, n, lengths = len(topics.alpha), minibatch.n_documents, minibatch.lengths
        weights = np.ascontiguousarray(topics.weights[:, :K], dtype=np.float64)
        gamma = topics.alpha + lengths[:, None] / K if start is None else start.copy()
        topic_counts, bounds = np.zeros((n, K)), np.zeros(n)
        n_tokens, token_weight = cut(minibatch)
        given = (
            minibatch.indptr, minibatch.indices, n_tokens, token_weight.astype(np.float64), weights,
            topics.alpha, response.coefficients, response.variance, y,
        )  # fmt: skip

        def job(first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            counts, within = np.zeros((len(minibatch.words), K)), np.zeros((K, K))
            kernel.infer_supervised(
                *given, first, stop, self.tol, self.max_iter, gamma, topic_counts, bounds, counts,
                within,
            )  # fmt: skip
            return counts, within

        parts = workers.share(job, spans(n, max(LEAST_DOCUMENTS, n // MOST_PARTS)))
        counts, within = (sum(part[i] for part in parts) for i in range(2))
        bound = bounds.sum() - lengths @ digamma(gamma.sum(axis=1))
        bound -= dirichlet.kl(gamma, topics.alpha).sum()
        factors = log_factors(geometric_mean, source, minibatch.words, topics.weights)
        bound += factors @ minibatch.word_counts
        known = lengths > 0
        log_theta = mean_log(gamma[known])
        statistics = Statistics(minibatch.words, counts, lengths, log_theta, float(bound))
        zbar, y = topic_counts[known] / lengths[known, None], y[known]
        moments = Moments(
            float(len(y)), float(y.sum()), float((y**2).sum()), zbar.sum(axis=0), y @ zbar,
            zbar.T @ zbar + within,
        )  # fmt: skip
        return statistics, moments, gamma


def legible(X: sparse.csr_matrix, alpha: np.ndarray) -> sparse.csr_matrix:
    """Counts of which the shortest documents are scaled up until gamma - alpha is no rounding."""
    lengths, least = _lengths(X), LEAST_LENGTH * alpha.sum()
    short = (lengths > 0) & (lengths < least)
    if not short.any():
        return X
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    inside, X = short[row], X.copy()
    shares = X.data[inside].astype(np.float64) / lengths[row[inside]]
    X.data[inside] = shares * least
    return X


def mean_topics(gamma: np.ndarray, alpha: np.ndarray, X: sparse.csr_matrix) -> np.ndarray:
    """E[zbar] of documents, given q(theta); for those without words as expected from alpha."""
    counts = np.where(_lengths(X)[:, None] > 0, np.maximum(gamma - alpha, 0.0), alpha)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _lengths(X: sparse.csr_matrix) -> np.ndarray:
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
