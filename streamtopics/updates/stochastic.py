# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic variational inference: lam_t = (1 - r_t) lam_{t-1} + r_t (eta + D/B s_t).

Hoffman, Bach and Blei (2010); Hoffman, Blei, Wang and Paisley (2013). A step of
natural gradient towards the posterior of D documents that are all like the
minibatch.
"""

from dataclasses import dataclass

from streamtopics.posterior import Blend, LazyPosterior
from streamtopics.updates.doc_topic import FIXED, DocTopicUpdate
from streamtopics.updates.rule import Learn
from streamtopics.updates.schedules import step_size


@dataclass(frozen=True)
class StochasticVI:
    """Natural gradient steps of size (t + tau)^-kappa.

    Parameters
    ----------
    kappa, tau : float
        Of the step size.
    n_documents : int or None
        The D that the posterior is for; None is the number seen so far, with the
        minibatch.
    doc_topic : DocTopicUpdate
        How the documents' prior is re-estimated.
    """

    kappa: float
    tau: float
    n_documents: int | None = None
    doc_topic: DocTopicUpdate = FIXED

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """(1 - r) lam + r (eta + D / B s)."""
        rate = step_size(posterior.n_batches, self.kappa, self.tau)
        statistics = learn(posterior)
        n_documents = self.n_documents or posterior.n_documents + statistics.n_documents
        gain = rate * n_documents / statistics.n_documents
        proportions = self.doc_topic.step(
            posterior.proportions, statistics, rate, posterior.n_batches
        )
        return Blend(1 - rate, gain, rate, statistics, proportions)
