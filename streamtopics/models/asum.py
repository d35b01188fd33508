# SPDX-License-Identifier: BSD-3-Clause
"""The aspect and sentiment unification model of Jo and Oh (2011).

Document d has proportions of sentiments pi_d and, for each sentiment e, of aspects theta_de. A
sentence draws e and t, and then all of its words from beta_et, whose prior depends on e.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.local.asum import EM, SentenceInference, SentenceTopics, statistics
from streamtopics.local.step import standard_noise
from streamtopics.messages import SentenceBatch, Statistics
from streamtopics.posteriors import Learn, Proposal, TopicPosterior
from streamtopics.utils.parallel import Workers, spans

WORDS_PER_JOB = 1024


@dataclass(frozen=True)
class AspectStart:
    """Topics whose aspects differ at random, for the first minibatch.

    A word's factor in an aspect is the same for all sentiments: only the prior tells those apart.
    The topics are not normalised, which would favour the sentiment with fewer known words.
    """

    prior: TopicPosterior
    n_sentiments: int
    seed: int

    @property
    def mass(self) -> np.ndarray:
        return np.ones(self.prior.shape[1])

    def rows(self, words: np.ndarray) -> np.ndarray:
        z = standard_noise(self.seed, words, self.prior.shape[1] // self.n_sentiments)
        found: np.ndarray = self.prior.prior_rows(words) * np.exp(np.tile(z, self.n_sentiments))
        return found


@dataclass(frozen=True)
class ASUM:
    """Sentences with one sentiment and one aspect each.

    The local step sees the posterior mean: exp(E[log beta]) would exclude unseen words.
    """

    local: EM  # The local step
    n_sentiments: int  # The topics of a sentiment are next to each other
    # Dirichlet parameters, at least 1, of the sentiments of a document and of the aspects of each
    # sentiment in it
    gamma: float
    alpha: float
    seed: int  # Of the start

    def learner(self, posterior: TopicPosterior, batch: SentenceBatch, workers: Workers) -> Learn:

        def learn(
            source: TopicPosterior | Proposal | AspectStart, *, warm: bool = False
        ) -> Statistics:
            if source is posterior and posterior.knows_nothing:
                source = AspectStart(posterior, self.n_sentiments, self.seed)
            return statistics(batch, self.infer(source, batch, workers), workers)

        return learn

    def infer(
        self,
        source: TopicPosterior | Proposal | AspectStart,
        batch: SentenceBatch,
        workers: Workers,
    ) -> SentenceInference:
        """Sentiments and aspects of documents and sentences."""
        words, mass = batch.sentences.words, source.mass
        log_beta = np.empty((len(words), len(mass)))

        def fill(start: int, stop: int) -> None:
            log_beta[start:stop] = np.log(source.rows(words[start:stop]) / mass)

        workers.share(fill, spans(len(words), WORDS_PER_JOB))
        topics = SentenceTopics(log_beta, self.n_sentiments, self.gamma, self.alpha)
        return self.local.infer(batch, topics, workers)
