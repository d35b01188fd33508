# SPDX-License-Identifier: BSD-3-Clause
"""The aspect and sentiment unification model of Jo and Oh (2011).

Document d has proportions of sentiments, pi_d, and of aspects for each sentiment e, theta_de. A
sentence draws e and an aspect t, and then all words from the topic beta_et.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.kernels import asum as kernel
from streamtopics.local.step import standard_noise
from streamtopics.messages import SentenceBatch, Statistics
from streamtopics.posteriors import Learn, Proposal, TopicPosterior
from streamtopics.utils.parallel import Workers, spans

DOCUMENTS_PER_JOB, WORDS_PER_JOB = 64, 1024


@dataclass(frozen=True)
class SentenceInference:
    proportions: np.ndarray  # (n_documents, n_components): psi; rows sum to 1
    # (n_sentences, n_components): posterior of topics; the document's proportions without words
    probabilities: np.ndarray
    # (n_documents,): log likelihood of the words given psi, in nats, and the log prior of psi up to
    # a constant
    objective: np.ndarray
    n_iter: np.ndarray  # (n_documents,): iterations


@dataclass(frozen=True)
class AspectStart:
    """Topics with random differences between aspects, for the first minibatch.

    The differences are the same for all sentiments, so only the prior tells sentiments apart.
    """

    prior: TopicPosterior
    n_sentiments: int
    seed: int

    @property
    def mass(self) -> np.ndarray:
        return np.ones(self.prior.shape[1])

    def rows(self, words: np.ndarray) -> np.ndarray:
        z = standard_noise(self.seed, words, self.prior.shape[1] // self.n_sentiments)
        return self.prior.prior_rows(words) * np.exp(np.tile(z, self.n_sentiments))


@dataclass(frozen=True)
class ASUM:
    """Sentences with one sentiment and one aspect each.

    The local step uses E[beta], because exp(E[log beta]) would exclude unseen words.
    """

    tol: float  # Stop when an iteration moves less than this share
    max_iter: int
    # Instead of expectation maximisation over psi_et = pi_e theta_et, steps of Frank and Wolfe
    # (1956), of size 2 / (n + 3), with theta and with pi in turn, as in Nguyen et al. (2020)
    frank_wolfe: bool
    n_sentiments: int  # The topics of a sentiment are next to each other
    # Dirichlet parameters, at least 1, of a document's sentiments and of the aspects of each
    # sentiment
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
        words, starts, mass = batch.sentences, batch.starts, source.mass
        n, K = batch.n_documents, len(mass)
        log_beta = np.empty((len(words.words), K))
        found = SentenceInference(
            np.empty((n, K)), np.empty((starts[-1], K)), np.empty(n), np.empty(n, np.int32)
        )

        def fill(start: int, stop: int) -> None:
            log_beta[start:stop] = np.log(source.rows(words.words[start:stop]) / mass)

        def infer(start: int, stop: int) -> None:
            first, last = starts[start], starts[stop]
            kernel.infer_documents(
                words.indptr[first : last + 1], words.indices, words.counts, log_beta,
                (starts[start : stop + 1] - first).astype(np.intp), self.n_sentiments,
                self.gamma, self.alpha, self.frank_wolfe, self.tol, self.max_iter,
                found.proportions[start:stop], found.probabilities[first:last],
                found.objective[start:stop], found.n_iter[start:stop],
            )  # fmt: skip

        workers.share(fill, spans(len(log_beta), WORDS_PER_JOB))
        workers.share(infer, spans(n, DOCUMENTS_PER_JOB))
        return found


def statistics(batch: SentenceBatch, found: SentenceInference, workers: Workers) -> Statistics:
    words = batch.sentences
    n_words, K = len(words.words), found.probabilities.shape[1]
    by_word = words.matrix(words.counts.astype(np.float64)).T.tocsr()
    counts = np.empty((n_words, K))

    def fill(start: int, stop: int) -> None:
        counts[start:stop] = by_word[start:stop] @ found.probabilities

    workers.share(fill, spans(n_words, WORDS_PER_JOB))
    bound = float(found.objective.sum())
    return Statistics(words.words, counts, batch.lengths, local_bound=bound)
