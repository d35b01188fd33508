# SPDX-License-Identifier: BSD-3-Clause
"""Latent Dirichlet allocation: a view of the topics, and a local step."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamtopics.kernels import variational
from streamtopics.local.directions import expected
from streamtopics.local.minibatches import content_seeds, document_seeds, mix
from streamtopics.local.step import NOTHING, LocalStep
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.models.sources import NOISE, HasPrior, LimitedPrior, Source, Start, allowed
from streamtopics.models.views import GeometricMean, Mean, TopicView, corrected_mean, geometric_mean
from streamtopics.posteriors import Learn, TopicPosterior
from streamtopics.utils.parallel import Workers, spans

# Weights that are worth a job.
CELLS_PER_JOB = 40_000


@dataclass(frozen=True)
class LDA:
    """Documents are mixtures of topics, topics are distributions over words."""

    view: TopicView  # What the local step sees of the topics
    local: LocalStep  # The local step that learns
    inference: LocalStep  # The local step that finds the topics of given documents
    seed: int  # Of the random start, and of what the local step draws
    report: frozenset[str] = NOTHING  # What the local step reports beside counts
    start: Start = NOISE  # What makes the topics that the first minibatch is seen with
    # Share of what was learnt that the prior weighs at most in learning
    prior_limit: float | None = None
    # Documents of the stream before a minibatch that the posterior has not learnt from yet
    n_ahead: int = 0
    # Whether what was learnt is a mean over 1 / c documents, c the weight of the prior
    per_document: bool = False

    def topics(
        self, source: Source, minibatch: Minibatch, workers: Workers, prior: Any = None
    ) -> Topics:
        """Weights of the minibatch's words.

        If the `prior` excludes some, see `allowed`, these have a factor: half a token counts as
        much as the prior allows. Else expected counts of them would grow from round to round.
        """
        words = minibatch.words
        topics = visible_topics(self.view, source, minibatch, workers, self.per_document)
        factors = None if prior is None else allowed(prior.prior_rows(words))
        # exp(E[log beta]) excludes words by itself.
        if factors is not None and not self.view.keeps_bound and np.any(factors < 1.0):
            rows, half = source.rows(words), 0.5 * prior.c
            topics.weights[:, : len(half)] *= (rows + factors * half) / (rows + half)
        return topics

    def learner(
        self,
        posterior: TopicPosterior,
        minibatch: Minibatch,
        workers: Workers,
        first: Source | None = None,
    ) -> Learn:
        """The function `learn` that an update rule calls.

        `first` is what is seen while the posterior knows nothing; None to start from the
        minibatch.
        """
        documents: Any = None
        seeds: np.ndarray | None = None
        n_before, n = posterior.n_documents + self.n_ahead, minibatch.n_documents

        def learn(given: HasPrior, *, warm: bool = False) -> Statistics:
            nonlocal documents, seeds
            source: Source = given
            if given is posterior and posterior.knows_nothing:
                source = first or self.first_topics(posterior, minibatch)
            elif self.prior_limit is not None:
                source = LimitedPrior(given, self.prior_limit)
            seeds = document_seeds(self.seed, n_before, n) if seeds is None else mix(seeds)
            topics = self.topics(source, minibatch, workers, given)
            statistics, documents = self.local.step(
                minibatch, topics, seeds, workers, documents if warm else None, self.report
            )
            bound = statistics.local_bound
            if bound is not None:
                words, weights = minibatch.words, topics.weights
                lacking = log_factors(geometric_mean, source, words, weights)
                bound += float(lacking @ minibatch.word_counts)
            return replace(statistics, local_bound=bound, alpha=topics.alpha)

        return learn

    def first_topics(self, posterior: TopicPosterior, minibatch: Minibatch) -> Source:
        """Return the topics that are seen while the posterior knows nothing."""
        return self.start(posterior, minibatch, self.seed, self.local.n_background)

    def infer(self, posterior: Source, minibatch: Minibatch, workers: Workers) -> np.ndarray:
        """Posterior mean of the topic proportions, of shape (n_documents, K)."""
        told = self.view == corrected_mean and hasattr(posterior, "prior_rows")
        topics = self.topics(posterior, minibatch, workers, posterior if told else None)
        return self.inference.doc_topic(minibatch, topics, content_seeds(minibatch), workers)


def visible_topics(
    view: TopicView,
    source: Source,
    minibatch: Minibatch,
    workers: Workers,
    per_document: bool = False,
) -> Topics:
    """Weights of a minibatch's words under a view."""
    words, mass, alpha = minibatch.words, source.mass, source.alpha
    width = variational.padded_width(len(alpha))
    weights = np.empty((len(words), width), minibatch.counts.dtype)

    def fill(start: int, stop: int) -> None:
        view(source.rows(words[start:stop]), mass, weights[start:stop])

    workers.share(fill, spans(len(words), max(1, CELLS_PER_JOB // width)))
    directions, c = getattr(source, "directions", None), getattr(source, "c", None)
    if per_document and directions is not None and c is not None:
        directions = directions / c[:, None]
    return Topics(weights, alpha, None if directions is None else expected(directions))


def log_factors(
    view: GeometricMean | Mean, source: Source, words: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Log of the factor from each word's weights to those of the view, of shape (n_words,)."""
    best = np.arange(len(words)), weights.argmax(axis=1)
    lam = np.empty(len(words))
    for start, stop in spans(len(words), max(1, CELLS_PER_JOB // weights.shape[1])):
        some = np.arange(stop - start), best[1][start:stop]
        lam[start:stop] = source.rows(words[start:stop])[some]
    expected = view.log(lam, source.mass[best[1]])
    found: np.ndarray = expected - np.log(weights[best].astype(np.float64))
    return found
