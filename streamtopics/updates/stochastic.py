# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic variational inference: lam_t = (1 - r_t) lam_{t-1} + r_t (eta + D/B s_t).

Hoffman, Bach and Blei (2010); Hoffman, Blei, Wang and Paisley (2013). A step of
natural gradient towards the posterior of D documents that are all like the
minibatch.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.checks import check_able, check_range, check_whole
from streamtopics.posterior import Blend, LazyPosterior
from streamtopics.updates.bps import NO_BOOST, Boost
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
    boost : Boost
        Of the prior, beside the statistics.
    """

    kappa: float
    tau: float
    n_documents: int | None = None
    doc_topic: DocTopicUpdate = FIXED
    boost: Boost = NO_BOOST

    def __post_init__(self) -> None:
        check_range(self, 0, 1, kappa=self.kappa)
        check_range(self, 0, np.inf, tau=self.tau)
        check_able(self, "weight", "Boost(0.1)", boost=self.boost)
        if self.n_documents is not None:
            check_whole(self, n_documents=self.n_documents)

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """(1 - r) lam + r (eta + D / B (s + boost xi))."""
        rate = step_size(posterior.n_batches, self.kappa, self.tau)
        statistics = learn(posterior)
        n_documents = self.n_documents or posterior.n_documents + statistics.n_documents
        gain = rate * n_documents / statistics.n_documents
        proportions = self.doc_topic.step(
            posterior.proportions, statistics, rate, posterior.n_batches
        )
        boost = gain * self.boost.weight(posterior, statistics)
        return Blend(1 - rate, gain, rate, statistics, proportions, boost=boost)
