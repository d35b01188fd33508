# SPDX-License-Identifier: BSD-3-Clause
"""Inference in reviews with K descriptive topics, a positive topic and a negative topic.

A token of review d, of sign s and profile g (an item, user or review), comes from the topic Psi^s
with probability p_d, otherwise from a descriptive topic:

    theta_g ~ Dirichlet(alpha),   1 - p_d, p_d ~ Dirichlet(omega),
    w_dn ~ p_d Psi^s + (1 - p_d) sum_k theta_gk phi_k.

The posterior is ``q(theta) q(p) q(z, m)``, with the topic z of a token and the indicator m of Psi.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import digamma, expit, logit

from streamtopics.families import dirichlet
from streamtopics.kernels import profiles as kernel
from streamtopics.kernels import variational
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.models.lda import geometric_mean, visible_topics
from streamtopics.models.sources import RandomStart
from streamtopics.posteriors import TopicPosterior
from streamtopics.utils.parallel import Workers, spans

PROFILES_PER_JOB = 64
WORDS_PER_JOB = 1024


@dataclass(frozen=True)
class Reviews:
    """Documents sorted by profile: profile g has the documents from first[g] to first[g + 1].

    Signs, int8, are the reduced ratings 1 and -1; 0 is neither.
    """

    minibatch: Minibatch
    first: np.ndarray
    signs: np.ndarray

    @property
    def n_profiles(self) -> int:
        return len(self.first) - 1

    @property
    def profile(self) -> np.ndarray:
        return np.repeat(np.arange(self.n_profiles, dtype=np.int32), np.diff(self.first))

    @property
    def tokens(self) -> np.ndarray:
        found = np.bincount(self.profile, self.minibatch.lengths, self.n_profiles)
        return found.astype(np.float64, copy=False)

    def by_sign(self, counts: np.ndarray) -> list[np.ndarray]:
        """Return counts of words in positive and in negative documents, from counts by entry."""
        indices, n_words = self.minibatch.indices, len(self.minibatch.words)
        sign = np.repeat(self.signs, np.diff(self.minibatch.indptr))
        found = (np.bincount(indices, counts * (sign == s), n_words) for s in (1, -1))
        return [part.astype(np.float64, copy=False) for part in found]


@dataclass(frozen=True)
class Inferred:
    gamma: np.ndarray  # Of q(theta), (n_profiles, K); or theta itself, if given.
    pi: np.ndarray  # Of q(1 - p, p), (n_documents, 2).
    share: np.ndarray  # Qualitative share of each entry, (nnz,).
    log_sums: np.ndarray  # The tokens' part of the bound, (n_profiles,).


def single_reviews(X: sparse.csr_matrix, signs: np.ndarray) -> Reviews:
    return Reviews(minibatch_of(X), np.arange(X.shape[0] + 1, dtype=np.int32), signs)


def reviews_by_profile(X: sparse.csr_matrix, profile: np.ndarray, signs: np.ndarray) -> Reviews:
    """Return documents sorted by profile 0, 1, ..., each with a document."""
    order = np.argsort(profile, kind="stable")
    first = np.searchsorted(profile[order], np.arange(profile.max(initial=-1) + 2))
    return Reviews(minibatch_of(X[order]), first.astype(np.int32), signs[order])


@dataclass(frozen=True)
class RatedLDA:
    """Inference in reviews, given topics, until a sweep moves less than `tol` of the tokens.

    Psi, if present, follows the K descriptive topics; omega follows alpha.
    """

    n_components: int
    tol: float
    max_iter: int

    def step(
        self, source: TopicPosterior | RandomStart, reviews: Reviews, workers: Workers, *,
        prior: np.ndarray | None = None, theta: np.ndarray | None = None,
        start: Inferred | None = None,
    ) -> tuple[Statistics, Inferred]:  # fmt: skip
        """Return expected statistics with the bound, and the latent variables."""
        log = geometric_mean.log
        topics = visible_topics(geometric_mean, source, reviews.minibatch, workers, log=log)
        if prior is None:
            prior = np.tile(topics.alpha[: self.n_components], (reviews.n_profiles, 1))
        found = self.infer(reviews, topics, prior, workers, theta=theta, start=start)
        bound = self.bounds(reviews, found, prior, topics, fixed=theta is not None).sum()
        bound += topics.log_factors @ reviews.minibatch.word_counts
        counts = self._counts(reviews, topics, found, workers, fixed=theta is not None)
        log_theta = None if theta is not None else mean_log(found.gamma[reviews.tokens > 0])
        lengths = reviews.minibatch.lengths
        statistics = Statistics(reviews.minibatch.words, counts, lengths, log_theta, float(bound))
        return statistics, found

    def infer(
        self, reviews: Reviews, topics: Topics, prior: np.ndarray, workers: Workers, *,
        theta: np.ndarray | None = None, start: Inferred | None = None,
    ) -> Inferred:  # fmt: skip
        """Return latent variables by coordinate ascent, from `start` or evenly spread tokens."""
        minibatch, dtype = reviews.minibatch, topics.weights.dtype
        lengths = minibatch.lengths
        K = self.n_components
        omega = topics.alpha[K:] if len(topics.alpha) > K else np.ones(2)
        if start is not None:
            gamma, pi = start.gamma.astype(dtype), start.pi.astype(dtype)
        else:
            gamma = (prior + reviews.tokens[:, None] / K).astype(dtype)
            pi = (omega * (1 + lengths[:, None] / omega.sum())).astype(dtype)
        if theta is not None:
            gamma = theta.astype(dtype)
        share = np.zeros(len(minibatch.counts), dtype)
        log_sums = np.zeros(reviews.n_profiles)
        column = np.choose(reviews.signs + 1, [K + 1, -1, K]).astype(np.int32)
        given = (
            reviews.first, minibatch.indptr, minibatch.indices, minibatch.counts, topics.weights,
            column, prior, np.ascontiguousarray(omega),
        )  # fmt: skip
        settings = self.tol, self.max_iter, theta is None, gamma, pi, share, log_sums
        jobs = ((*given, *span, *settings) for span in spans(reviews.n_profiles, PROFILES_PER_JOB))
        workers.share(kernel.infer_profiles, jobs)
        return Inferred(gamma, pi, share, log_sums)

    def bounds(
        self, reviews: Reviews, found: Inferred, prior: np.ndarray, topics: Topics, *, fixed: bool
    ) -> np.ndarray:
        """Return the bound of each profile, in nats, up to a constant of the words."""
        bound = found.log_sums.copy()
        if not fixed:
            bound -= dirichlet.kl(found.gamma.astype(np.float64), prior)
        if reviews.signs.any():
            omega = topics.alpha[self.n_components :]
            of_p = dirichlet.kl(found.pi.astype(np.float64), omega) * (reviews.signs != 0)
            bound -= np.bincount(reviews.profile, of_p, reviews.n_profiles)
        return bound

    def _counts(
        self, reviews: Reviews, topics: Topics, found: Inferred, workers: Workers, *, fixed: bool
    ) -> np.ndarray:
        weights, minibatch, K = topics.weights, reviews.minibatch, self.n_components
        n_words = len(minibatch.words)
        e = np.zeros((reviews.n_profiles, weights.shape[1]), weights.dtype)
        if fixed:
            e[:, :K] = found.gamma
        else:
            variational.exp_digamma_rows(found.gamma.astype(np.float64), np.zeros(K), e)
        by_word = minibatch.matrix(minibatch.counts * (1 - found.share)).tocsc()
        profile = reviews.profile[by_word.indices]
        counts = np.empty((n_words, K), weights.dtype)
        given = by_word.indptr, profile, by_word.data, weights, e
        jobs = ((*given, *span, counts) for span in spans(n_words, WORDS_PER_JOB))
        workers.share(variational.word_statistics, jobs)
        if len(topics.alpha) == K:
            return counts
        qualitative = reviews.by_sign(minibatch.counts * found.share)
        return np.column_stack([counts, *qualitative]).astype(weights.dtype)

    def shares(
        self, source: TopicPosterior, X: sparse.csr_matrix, theta: np.ndarray | None,
        positive: np.ndarray, workers: Workers,
    ) -> np.ndarray:  # fmt: skip
        """Return the mean share of each topic in documents of unknown rating.

        `theta` are known topic proportions; None infers them.
        """
        n, K = X.shape[0], self.n_components
        reviews = single_reviews(X, np.zeros(n, np.int8))
        topics = visible_topics(geometric_mean, source, reviews.minibatch, workers)
        prior = np.tile(topics.alpha[:K], (n, 1))
        if len(topics.alpha) == K:
            if theta is not None:
                return theta
            return normalised(self.infer(reviews, topics, prior, workers).gamma)
        parts, bounds = [], []
        for sign in (1, -1):
            signed = Reviews(reviews.minibatch, reviews.first, np.full(n, sign, np.int8))
            found = self.infer(signed, topics, prior, workers, theta=theta)
            bounds.append(self.bounds(signed, found, prior, topics, fixed=theta is not None))
            p = normalised(found.pi)
            parts.append((p[:, :1] * normalised(found.gamma), p[:, 1]))
        with np.errstate(divide="ignore"):
            q = expit(bounds[0] - bounds[1] + logit(positive))
        descriptive = q[:, None] * parts[0][0] + (1 - q[:, None]) * parts[1][0]
        return np.column_stack([descriptive, q * parts[0][1], (1 - q) * parts[1][1]])


def mean_log_share(reviews: Reviews, found: Inferred) -> np.ndarray | None:
    """Return mean ``E[log(1 - p)]`` and ``E[log p]`` over documents with words and a sign."""
    return mean_log(found.pi[(reviews.minibatch.lengths > 0) & (reviews.signs != 0)])


def normalised(gamma: np.ndarray) -> np.ndarray:
    gamma = gamma.astype(np.float64)
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


def mean_log(gamma: np.ndarray) -> np.ndarray | None:
    """Return ``E[log theta]`` under Dirichlet(gamma), averaged over the rows."""
    if not len(gamma):
        return None
    gamma = gamma.astype(np.float64)
    return np.asarray(digamma(gamma).mean(axis=0) - digamma(gamma.sum(axis=1)).mean())
