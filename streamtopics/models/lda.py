# SPDX-License-Identifier: BSD-3-Clause
"""Latent Dirichlet allocation: a view of the topics, and a local step."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.special import digamma

from streamtopics.kernels import variational
from streamtopics.local.step import NOTHING, LocalStep
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.models.views import TopicView
from streamtopics.parallel import Workers, spans
from streamtopics.posteriors import Learn, TopicPosterior
from streamtopics.seeds import content_seeds, document_seeds, mix, standard_noise

WORDS_PER_JOB = 1024


class Source(Protocol):
    """Topics to see: a posterior, a proposal, an average, or a random start."""

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions."""

    @property
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam, of shape (len(words), n_components)."""


@dataclass(frozen=True)
class RandomStart:
    """Topics that differ from each other at random, for the first minibatch.

    The first local step sees these rows instead of the prior's; they leave no trace in the
    posterior, which starts from the prior exactly. The entry of a word in a topic is a hash of
    (seed, word, topic): two streams with one seed start from the same topics.
    """

    prior: TopicPosterior
    seed: int

    @property
    def alpha(self) -> np.ndarray:
        """The prior's."""
        return self.prior.alpha

    @property
    def mass(self) -> np.ndarray:
        """Ones: the same mass for all topics."""
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
        found: np.ndarray = 100.0 * (1.0 + self.prior.prior_rows(words)) * (1.0 + spread * z)
        return found


@dataclass(frozen=True)
class LDA:
    """Documents are mixtures of topics, topics are distributions over words.

    Parameters
    ----------
    view : TopicView
        What the local step sees of the topics.
    local : LocalStep
        The local step that learns.
    inference : LocalStep
        The local step that finds the topics of given documents.
    seed : int
        Of the random start, and of what the local step draws.
    report : frozenset of str
        What the local step reports beside counts.
    """

    view: TopicView
    local: LocalStep
    inference: LocalStep
    seed: int
    report: frozenset[str] = NOTHING

    def topics(self, source: Source, minibatch: Minibatch, workers: Workers) -> Topics:
        """Weights of the minibatch's words."""
        return visible_topics(self.view, source, minibatch, workers)

    def learner(self, posterior: TopicPosterior, minibatch: Minibatch, workers: Workers) -> Learn:
        """The function `learn` that an update rule calls."""
        documents: Any = None
        seeds = document_seeds(self.seed, posterior.n_documents, minibatch.n_documents)

        def learn(source: Source, *, warm: bool = False) -> Statistics:
            nonlocal documents, seeds
            if source is posterior and posterior.knows_nothing:
                source = RandomStart(posterior, self.seed)
            topics = self.topics(source, minibatch, workers)
            statistics, documents = self.local.step(
                minibatch, topics, seeds, workers, documents if warm else None, self.report
            )
            seeds = mix(seeds)
            bound = statistics.local_bound
            if bound is not None:
                lacking = log_factors(source, minibatch.words, topics.weights)
                bound += float(lacking @ minibatch.word_counts)
            return replace(statistics, local_bound=bound, alpha=topics.alpha)

        return learn

    def infer(self, posterior: Source, minibatch: Minibatch, workers: Workers) -> np.ndarray:
        """Posterior mean of the topic proportions, of shape (n_documents, K)."""
        topics = self.topics(posterior, minibatch, workers)
        return self.inference.doc_topic(minibatch, topics, content_seeds(minibatch), workers)


def visible_topics(
    view: TopicView, source: Source, minibatch: Minibatch, workers: Workers
) -> Topics:
    """Weights of a minibatch's words under a view."""
    words, mass, alpha = minibatch.words, source.mass, source.alpha
    width = variational.padded_width(len(alpha))
    weights = np.empty((len(words), width), minibatch.counts.dtype)

    def fill(start: int, stop: int) -> None:
        view(source.rows(words[start:stop]), mass, weights[start:stop])

    workers.share(fill, spans(len(words), WORDS_PER_JOB))
    return Topics(weights, alpha)


def log_factors(source: Source, words: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Log of the factor from each word's weights to exp(E[log beta]), of shape (n_words,)."""
    best = np.arange(len(words)), weights.argmax(axis=1)
    expected = digamma(source.rows(words)[best]) - digamma(source.mass)[best[1]]
    found: np.ndarray = expected - np.log(weights[best].astype(np.float64))
    return found
