# SPDX-License-Identifier: BSD-3-Clause
"""Sentiments and aspects of documents whose sentences have one of each.

The log likelihood of a document is concave in psi_et = pi_e theta_et, which EM climbs in one
simplex; Frank-Wolfe, as in Nguyen et al. (2020), climbs in pi and theta in turn.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamtopics.kernels import asum as kernel
from streamtopics.messages import SentenceBatch, Statistics
from streamtopics.utils.parallel import Workers, spans

DOCUMENTS_PER_JOB = 64
WORDS_PER_JOB = 1024


@dataclass(frozen=True)
class SentenceTopics:
    """Weights and priors of the topics of sentences, as a local step sees them."""

    # (n_words, n_components): log probabilities of the minibatch's words; the topics of a sentiment
    # are next to each other
    log_beta: np.ndarray
    n_sentiments: int
    # Dirichlet parameters, at least 1, of the sentiments of a document and of the aspects of each
    # sentiment in it
    gamma: float = 1.0
    alpha: float = 1.0


@dataclass(frozen=True)
class SentenceInference:
    """Result of a local step in documents."""

    proportions: np.ndarray  # (n_documents, n_components): psi; rows sum to 1
    # (n_sentences, n_components): posterior probability of each topic in each sentence; for a
    # sentence without words the proportions of its document
    responsibility: np.ndarray
    # (n_documents,): log likelihood of the words given psi, in nats, and the log prior of psi but
    # for a constant
    objective: np.ndarray
    n_iter: np.ndarray  # (n_documents,): iterations


@dataclass(frozen=True)
class EM:
    """Expectation maximisation over the joint proportions; never goes down.

    Parameters
    ----------
    tol : float
        A document is done when an iteration moves less than this share of its proportions.
    max_iter : int
        Iterations, at most.
    """

    tol: float
    max_iter: int

    frank_wolfe: ClassVar[bool] = False

    def infer(
        self, batch: SentenceBatch, topics: SentenceTopics, workers: Workers
    ) -> SentenceInference:
        words, starts, log_beta = batch.sentences, batch.starts, topics.log_beta
        n, K = batch.n_documents, log_beta.shape[1]
        found = SentenceInference(
            np.empty((n, K)), np.empty((starts[-1], K)), np.empty(n), np.empty(n, np.int32)
        )

        def infer(start: int, stop: int) -> None:
            first, last = starts[start], starts[stop]
            kernel.infer_documents(
                words.indptr[first : last + 1], words.indices, words.counts, log_beta,
                (starts[start : stop + 1] - first).astype(np.intp), topics.n_sentiments,
                topics.gamma, topics.alpha, self.frank_wolfe, self.tol, self.max_iter,
                found.proportions[start:stop], found.responsibility[first:last],
                found.objective[start:stop], found.n_iter[start:stop],
            )  # fmt: skip

        workers.share(infer, spans(n, DOCUMENTS_PER_JOB))
        return found


@dataclass(frozen=True)
class FrankWolfe(EM):
    """Steps of Frank and Wolfe (1956), of size 2 / (n + 3), with theta and with pi in turn.

    As in `EM`, but it mostly takes all of `max_iter`.
    """

    frank_wolfe: ClassVar[bool] = True


def statistics(batch: SentenceBatch, found: SentenceInference, workers: Workers) -> Statistics:
    """Expected counts of words in topics, by the responsibilities of the sentences.

    The source multiplies the marginal ones of sentiment and aspect, which is not the E-step.
    """
    words = batch.sentences
    n_words, K = len(words.words), found.responsibility.shape[1]
    by_word = words.matrix(words.counts.astype(np.float64)).T.tocsr()
    counts = np.empty((n_words, K))

    def fill(start: int, stop: int) -> None:
        counts[start:stop] = by_word[start:stop] @ found.responsibility

    workers.share(fill, spans(n_words, WORDS_PER_JOB))
    bound = float(found.objective.sum())
    return Statistics(words.words, counts, batch.lengths, local_bound=bound)
