# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field variational inference in documents with topics in two blocks.

    v ~ Beta(share_prior),   theta_1 ~ Dirichlet(alpha_1),   theta_2 ~ Dirichlet(alpha_2)

A word is of topic k of the first block with probability v theta_1k, of the second with (1 - v)
theta_2k. With q(theta_b) = Dirichlet(gamma_b) and q(v) = Beta(v_1, v_2), v_b the share_prior plus
the block's tokens,

    E[log theta_k] = psi(v_b) - psi(v_1 + v_2) + psi(gamma_k) - psi(sum of gamma_b).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from streamtopics.kernels import classes, variational
from streamtopics.local.step import Source
from streamtopics.messages import Minibatch, Topics
from streamtopics.utils.parallel import Workers, spans

DOCUMENTS_PER_JOB, DOCUMENTS_OF_CLASSES_PER_JOB = 64, 256
WORDS_PER_JOB = 1024


@dataclass(frozen=True)
class Documents:
    gamma: np.ndarray  # (n_documents, K): Dirichlet parameters of the proportions, of both blocks
    held: np.ndarray  # (n_documents, 2): tokens of each block
    # (n_documents,): sum_u c_u log sum_k b_uk exp(E[log theta_k]), less tokens times psi(v_1 + v_2)
    log_sums: np.ndarray


@dataclass(frozen=True)
class TwoBlocks:
    """Coordinate ascent in q(v) q(theta_1) q(theta_2) q(z) for each document.

    Methods take several minibatches, `parts`, each with its topics.
    """

    n_first: int  # Topics of the first block
    share_prior: tuple[float, float]  # Beta parameter of the share of the first block
    # Stop when a sweep over a document moves less than this share of the tokens between topics
    tol: float
    max_iter: int  # Most sweeps over a document

    def infer(self, parts: list[tuple[Minibatch, Topics]], workers: Workers) -> list[Documents]:
        jobs, results = [], []
        share_prior = np.asarray(self.share_prior, np.float64)
        for minibatch, topics in parts:
            weights, alpha, n = topics.weights, topics.alpha, minibatch.n_documents
            gamma, held = np.empty((n, len(alpha)), weights.dtype), np.empty((n, 2))
            log_sums = np.empty(n)
            for span in spans(n, DOCUMENTS_PER_JOB):
                some = slice(*span)
                jobs.append((
                    minibatch.indptr, minibatch.indices, minibatch.counts, weights, alpha,
                    self.n_first, share_prior, *span, self.tol, self.max_iter, gamma[some],
                    held[some], log_sums[some], np.empty(span[1] - span[0], np.int32),
                ))  # fmt: skip
            results.append(Documents(gamma, held, log_sums))
        workers.share(variational.infer_two_blocks, jobs)
        return results

    def statistics(
        self, parts: list[tuple[Minibatch, Topics]], documents: list[Documents], workers: Workers
    ) -> list[np.ndarray]:
        """Expected counts of words in topics, (n_words, K), for each part."""
        jobs, results = [], []
        for (minibatch, topics), found in zip(parts, documents, strict=True):
            n_words, n_topics = len(minibatch.words), len(topics.alpha)
            counts = np.empty((n_words, n_topics), topics.weights.dtype)
            by_word = minibatch.matrix(minibatch.counts).tocsc()
            given = by_word.indptr, by_word.indices, by_word.data, topics.weights
            expected = self.log_theta(found)
            expected -= expected.max(axis=1, keepdims=True)
            # exp(E[log theta]) up to a factor for each document, padded like the weights. With a
            # floor, as in the kernels; below, a product could be 0 in all topics.
            exp_theta = np.zeros((len(expected), topics.weights.shape[1]), topics.weights.dtype)
            own = exp_theta[:, :n_topics]
            np.exp(np.maximum(expected, -40.0), out=own, casting="same_kind")
            jobs += [(*given, exp_theta, *span, counts) for span in spans(n_words, WORDS_PER_JOB)]
            results.append(counts)
        workers.share(variational.word_statistics, jobs)
        return results

    def log_theta(self, documents: Documents) -> np.ndarray:
        """E[log theta] of each topic, without psi(v_1 + v_2)."""
        out = digamma(documents.gamma.astype(np.float64))
        for place, v, gamma in self._blocks(documents):
            out[:, place] += (digamma(v) - digamma(gamma.sum(axis=1)))[:, None]
        return out

    def doc_topic(self, documents: Documents) -> np.ndarray:
        """E[theta] of each topic, the share of its block included; rows sum to 1."""
        total = sum(self.share_prior) + documents.held.sum(axis=1)
        out = np.empty(documents.gamma.shape)
        for place, v, gamma in self._blocks(documents):
            out[:, place] = gamma * (v / (total * gamma.sum(axis=1)))[:, None]
        return out

    def _blocks(self, documents: Documents) -> list[tuple[slice, np.ndarray, np.ndarray]]:
        gamma = documents.gamma.astype(np.float64)
        places = slice(0, self.n_first), slice(self.n_first, None)
        return [
            (place, share + held, gamma[:, place])
            for place, share, held in zip(places, self.share_prior, documents.held.T, strict=True)
        ]


@dataclass(frozen=True)
class ClassWeights:
    """E[beta] of the words of a minibatch in all topics, up to a factor for each word."""

    own: np.ndarray  # (n_words, groups of eight classes, K, 8): in the topics of classes
    shared: np.ndarray  # (n_words, R): in the shared topics
    # (n_words,): logarithm of each word's factor; the largest weight is 1
    log_factors: np.ndarray


def class_weights(
    own: Sequence[Source], shared: Source, minibatch: Minibatch, workers: Workers
) -> ClassWeights:
    words, dtype = minibatch.words, minibatch.counts.dtype
    groups = -(-len(own) // classes.CLASSES_TOGETHER)
    of_classes = np.empty((len(words), groups, len(own[0].alpha), classes.CLASSES_TOGETHER), dtype)
    of_all = np.empty((len(words), len(shared.alpha)), dtype)
    factors = np.empty(len(words))
    scales, common = [1.0 / source.mass for source in own], shared.mass

    def fill(start: int, stop: int) -> None:
        span = slice(start, stop)
        for place, (source, scale) in enumerate(zip(own, scales, strict=True)):
            classes.spread(source.rows(words[span]), scale, place, of_classes[span])
        np.divide(shared.rows(words[span]), common, out=of_all[span], casting="same_kind")
        classes.scale_words(of_classes[span], of_all[span], len(own), factors[span])

    workers.share(fill, spans(len(words), WORDS_PER_JOB))
    return ClassWeights(of_classes, of_all, np.log(factors))


@dataclass(frozen=True)
class AllClasses:
    """Coordinate ascent with a first block for each class, all classes at once.

    Steps are extrapolated. A bound matters within `margin` nats of the best class: 0 finds only the
    best class, 20 gives probabilities up to 2e-9, infinity all bounds.
    """

    share_prior: tuple[float, float]
    tol: float
    max_iter: int
    margin: float

    def log_joint(
        self,
        minibatch: Minibatch,
        weights: ClassWeights,
        alpha: np.ndarray,
        log_prior: np.ndarray,
        workers: Workers,
    ) -> np.ndarray:
        """log p(class) plus the bound of log p(words | class), (n_documents, n_classes).

        `alpha`, (K + R,), is for K topics of a class and R shared topics.
        """
        out = np.empty((minibatch.n_documents, len(log_prior)))
        given = minibatch.indptr, minibatch.indices, minibatch.counts, weights.own, weights.shared
        priors = alpha, np.asarray(self.share_prior, np.float64), log_prior
        jobs = [
            (*given, *priors, *span, self.tol, self.max_iter, self.margin, out[slice(*span)])
            for span in spans(minibatch.n_documents, DOCUMENTS_OF_CLASSES_PER_JOB)
        ]
        workers.share(classes.classify, jobs)
        out += (minibatch.matrix(minibatch.counts) @ weights.log_factors)[:, None]
        return out
