# SPDX-License-Identifier: BSD-3-Clause
"""Inference of documents under all classes at once, as far as it takes to tell these.

The model is that of `local.two_blocks`, with a first block of topics for each class and a second
one that all share; `kernels/_classes.pxi` says how classes that have lost are given up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamtopics.kernels import classes as kernel
from streamtopics.local.step import Source
from streamtopics.messages import Minibatch
from streamtopics.utils.parallel import Workers, spans

DOCUMENTS_PER_JOB = 256
WORDS_PER_JOB = 1024


@dataclass(frozen=True)
class ClassWeights:
    """E[beta] of the words of a minibatch in all topics, but for a factor for each word."""

    own: np.ndarray  # (n_words, groups of eight classes, K, 8): in the topics of classes
    shared: np.ndarray  # (n_words, R): in the topics that classes share
    # (n_words,): logarithm of each word's factor, by which its largest weight is 1
    log_factors: np.ndarray


def class_weights(
    own: Sequence[Source], shared: Source, minibatch: Minibatch, workers: Workers
) -> ClassWeights:
    """Weights of a minibatch's words in the topics of each class, and in the shared ones."""
    words, dtype = minibatch.words, minibatch.counts.dtype
    groups = -(-len(own) // kernel.CLASSES_TOGETHER)
    of_classes = np.empty((len(words), groups, len(own[0].alpha), kernel.CLASSES_TOGETHER), dtype)
    of_all = np.empty((len(words), len(shared.alpha)), dtype)
    factors = np.empty(len(words))
    scales, common = [1.0 / source.mass for source in own], shared.mass

    def fill(start: int, stop: int) -> None:
        span = slice(start, stop)
        for place, (source, scale) in enumerate(zip(own, scales, strict=True)):
            kernel.spread(source.rows(words[span]), scale, place, of_classes[span])
        np.divide(shared.rows(words[span]), common, out=of_all[span], casting="same_kind")
        kernel.scale_words(of_classes[span], of_all[span], len(own), factors[span])

    workers.share(fill, spans(len(words), WORDS_PER_JOB))
    return ClassWeights(of_classes, of_all, np.log(factors))


@dataclass(frozen=True)
class AllClasses:
    """Coordinate ascent under all classes at once, with extrapolated steps.

    As in `TwoBlocks`. A bound matters within `margin` nats of the best class: 0 finds that class,
    20 gives probabilities up to 2e-9, infinity all bounds.
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
        """log p(class) and the bound on log p(words | class), of shape (n_documents, n_classes).

        `alpha`, (K + R,), is of the proportions in the topics of a class and the shared ones.
        """
        out = np.empty((minibatch.n_documents, len(log_prior)))
        given = minibatch.indptr, minibatch.indices, minibatch.counts, weights.own, weights.shared
        priors = alpha, np.asarray(self.share_prior, np.float64), log_prior
        jobs = [
            (*given, *priors, *span, self.tol, self.max_iter, self.margin, out[slice(*span)])
            for span in spans(minibatch.n_documents, DOCUMENTS_PER_JOB)
        ]
        workers.share(kernel.classify, jobs)
        out += (minibatch.matrix(minibatch.counts) @ weights.log_factors)[:, None]
        return out
