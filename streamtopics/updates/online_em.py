# SPDX-License-Identifier: BSD-3-Clause
"""Online EM: lam_t = (1 - r_t) lam_{t-1} + (r_t / B) s_t + smoothing.

Cappé and Moulines (2009); algorithm 1 of chapter 3 of Dupuy (2017), "Inference
and applications for topic models". lam is a running mean of the expected
statistics of a document, and its M-step lam / |lam| the topics. With r_t = 1/t
(kappa = 1) it is incremental EM.

The smoothing keeps words unseen so far possible: it is the maximum a posteriori
under Dirichlet(1 + eta), whose pseudo-counts eta weigh against the n documents
that the running mean stands for, 1/n_t = (1 - r_t)^2 / n_{t-1} + r_t^2 / B. With
r_t = 1/t and minibatches of equal size that is the number of documents seen.
"""

from dataclasses import dataclass, replace

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posterior import Blend, LazyPosterior, Proportions
from streamtopics.updates.doc_topic import FIXED, DocTopicUpdate
from streamtopics.updates.rule import Learn, ascend
from streamtopics.updates.schedules import step_size_of_means

# Minibatches at the start of a stream, while the topics are still taking shape.
STARTING = 3


@dataclass(frozen=True)
class OnlineEM:
    """A running mean of expected statistics that forgets as (t + tau)^-kappa.

    Parameters
    ----------
    kappa : float
        Decay of the step size, in (0, 1]; 1 forgets nothing.
    tau : float
        Minibatches by which the step size is ahead.
    n_passes : int
        Rounds between local step and parameters inside a minibatch, each from the
        same lam_{t-1}; more than one is the boosted variant ("++").
    doc_topic : DocTopicUpdate
        How the documents' prior is re-estimated.
    n_start_passes : int
        Rounds in each of the first three minibatches.
    """

    kappa: float
    tau: float = 0.0
    n_passes: int = 1
    doc_topic: DocTopicUpdate = FIXED
    n_start_passes: int = 1

    def rounds(self, n_batches: int) -> int:
        """Rounds in the minibatch after `n_batches` others."""
        return max(self.n_passes, self.n_start_passes) if n_batches < STARTING else self.n_passes

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """(1 - r) lam + r / B s, with the smoothing for the documents remembered."""
        rate = step_size_of_means(posterior.n_batches, self.kappa, self.tau)

        def blend(statistics: Statistics, alpha: np.ndarray) -> Blend:
            before = Proportions(alpha, posterior.proportions.memory)
            proportions = self.doc_topic.step(before, statistics, rate, posterior.n_batches)
            return replace(running_mean(posterior, statistics, rate), proportions=proportions)

        return ascend(posterior, learn, blend, self.rounds(posterior.n_batches))


def running_mean(posterior: LazyPosterior, statistics: Statistics, rate: float) -> Blend:
    """(1 - r) lam + r / B s, with the smoothing for the documents remembered."""
    gain = rate / statistics.n_documents
    remembered = (1 - rate) ** 2 * posterior.c + rate * gain
    smoothing = remembered - (1 - rate) * posterior.c
    return Blend(1 - rate, gain, smoothing, statistics)
