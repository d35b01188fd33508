# SPDX-License-Identifier: BSD-3-Clause
"""Latent Dirichlet allocation: a view of the topics, and a local step."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma

from streamtopics.kernels import variational
from streamtopics.local.step import LocalStep
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.parallel import Workers, spans
from streamtopics.posterior import LazyPosterior, Proposal

WORDS_PER_JOB = 1024
SIXTEEN_OF_32 = np.uint64(0x0000FFFF0000FFFF)


@dataclass(frozen=True)
class RandomStart:
    """Topics that differ from each other at random, for the first minibatch.

    Under a prior that is the same for all topics nothing tells them apart. The
    first local step therefore sees these rows instead of the prior's; they leave
    no trace in the posterior, which starts from the prior exactly. The entry of
    a word in a topic is a hash of (seed, word, topic): it does not depend on the
    minibatch, so two streams with one seed start from the same topics.
    """

    prior: LazyPosterior
    seed: int

    @property
    def alpha(self) -> np.ndarray:
        """The prior's."""
        return self.prior.alpha

    @property
    def mass(self) -> np.ndarray:
        """The same for all topics."""
        return np.ones(self.prior.shape[1])

    def rows(self, words: np.ndarray) -> np.ndarray:
        """100 (1 + eta) (1 + spread z), with z a sum of four uniforms, standardised.

        The spread, 0.02 times the root of the number of topics but between 0.1 and
        0.28, is what did well with 2 to 100 topics: less leaves the first statistics
        without shape, more makes them a firm guess that later ones hardly correct.
        """
        n_components = self.prior.shape[1]
        spread = min(max(0.1, 0.02 * n_components**0.5), 0.28)
        z = standard_noise(self.seed, words, n_components)
        return 100.0 * (1.0 + self.prior.prior_rows(words)) * (1.0 + spread * z)


def standard_noise(seed: int, words: np.ndarray, n_components: int) -> np.ndarray:
    """Sums of four uniforms, standardised: hashes of (seed, word, topic)."""
    cells = words.astype(np.uint64)[:, None] * np.uint64(n_components)
    cells = cells + np.arange(n_components, dtype=np.uint64)
    bits = _mix(cells ^ _mix(np.array([seed], dtype=np.uint64)))
    pairs = (bits & SIXTEEN_OF_32) + ((bits >> np.uint64(16)) & SIXTEEN_OF_32)
    uniforms = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
    return (uniforms / 2.0**16 - 2.0) * 3.0**0.5


def _mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), elementwise."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


View = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


@dataclass(frozen=True)
class LDA:
    """Documents are mixtures of topics, topics are distributions over words.

    Parameters
    ----------
    view : callable
        What the local step sees of the topics, a function of `models.views`.
    local : LocalStep
        The local step that learns.
    inference : LocalStep
        The local step that finds the topics of given documents.
    seed : int
        Of the random start, and of what the local step draws.
    keep_documents : bool, default=False
        Whether a further round of a rule on the same minibatch goes on from where the
        last one left the documents; else it starts them again, as it does where a rule
        comes back to the posterior itself.
    """

    view: View
    local: LocalStep
    inference: LocalStep
    seed: int
    keep_documents: bool = False

    def topics(
        self, source: LazyPosterior | Proposal | RandomStart, minibatch: Minibatch, workers: Workers
    ) -> Topics:
        """Weights of the minibatch's words."""
        words, mass, alpha = minibatch.words, source.mass, source.alpha
        width = variational.padded_width(len(alpha))
        weights = np.empty((len(words), width), minibatch.counts.dtype)

        def fill(start: int, stop: int) -> None:
            self.view(source.rows(words[start:stop]), mass, weights[start:stop])

        workers.share(fill, spans(len(words), WORDS_PER_JOB))
        return Topics(weights, alpha)

    def learner(
        self, posterior: LazyPosterior, minibatch: Minibatch, workers: Workers
    ) -> Callable[[LazyPosterior | Proposal], Statistics]:
        """The function `learn` that an update rule calls."""
        documents = None
        seeds = document_seeds(self.seed, posterior.n_documents, minibatch.n_documents)

        def learn(source: LazyPosterior | Proposal) -> Statistics:
            nonlocal documents, seeds
            if source is posterior:
                documents = None
            if source is posterior and posterior.knows_nothing:
                source = RandomStart(posterior, self.seed)
            topics = self.topics(source, minibatch, workers)
            statistics, documents = self.local.step(
                minibatch, topics, seeds, workers, documents if self.keep_documents else None
            )
            seeds = _mix(seeds)
            if statistics.local_bound is None:
                return statistics
            lacking = log_factors(source, minibatch.words, topics.weights) @ minibatch.word_counts
            return replace(statistics, local_bound=statistics.local_bound + float(lacking))

        return learn

    def infer(self, posterior: LazyPosterior, minibatch: Minibatch, workers: Workers) -> np.ndarray:
        """Posterior mean of the topic proportions, of shape (n_documents, K)."""
        topics = self.topics(posterior, minibatch, workers)
        return self.inference.doc_topic(minibatch, topics, content_seeds(minibatch), workers)


def log_factors(
    source: LazyPosterior | Proposal | RandomStart, words: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """What the weights of each word lack to exp(E[log beta]), of shape (n_words,), in nats."""
    best = np.arange(len(words)), weights.argmax(axis=1)
    expected = digamma(source.rows(words)[best]) - digamma(source.mass)[best[1]]
    return expected - np.log(weights[best].astype(np.float64))


def document_seeds(seed: int, n_before: int, n_documents: int) -> np.ndarray:
    """Seeds of the documents that come after `n_before` others of a stream."""
    places = np.arange(n_before, n_before + n_documents, dtype=np.uint64)
    return _mix(places ^ _mix(np.array([seed], dtype=np.uint64)))


def content_seeds(minibatch: Minibatch) -> np.ndarray:
    """Seeds that depend on what is in a document, in single precision, and on nothing else."""
    bits = minibatch.counts.astype(np.float32).astype(np.float64).view(np.uint64)
    entries = _mix(bits ^ _mix(minibatch.words.astype(np.uint64))[minibatch.indices])
    entries[minibatch.counts == 0] = 0
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return _mix(np.diff(running[minibatch.indptr]))
