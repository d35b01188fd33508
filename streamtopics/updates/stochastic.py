# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic variational inference: lam_t = (1 - r_t) lam_{t-1} + r_t (eta + D/B s_t).

Hoffman, Bach and Blei (2010); Hoffman, Blei, Wang and Paisley (2013). A step of
natural gradient towards the posterior of D documents that are all like the
minibatch.
"""

from dataclasses import dataclass

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.rule import Rule, Traits
from streamtopics.updates.schedules import DECAY, StepSize, retained_by
from streamtopics.utils.checks import MOST_DOCUMENTS, check_able, check_whole


@dataclass(frozen=True)
class StochasticVI(Rule):
    """Natural gradient steps.

    Parameters
    ----------
    step_size : StepSize
        r_t.
    n_documents : int or None
        The D that the posterior is for; None is the number seen so far, with the
        minibatch.
    boost : Boost
        Of the prior, beside the statistics.
    """

    step_size: StepSize = DECAY
    n_documents: int | None = None
    boost: Boost = NO_BOOST

    traits = Traits(merges="in order")

    def __post_init__(self) -> None:
        check_able(self, "__call__", "Decay(0.7)", step_size=self.step_size)
        check_able(self, "weight", "Boost(0.1)", boost=self.boost)
        if self.n_documents is not None:
            check_whole(self, most=MOST_DOCUMENTS, n_documents=self.n_documents)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """Product of 1 - r, and the rest of it times the documents that the posterior is for."""
        kept = retained_by(self.step_size, before.n_batches, after.n_batches)
        return kept, (self.n_documents or after.n_documents) * (1.0 - kept)

    def for_part(self, share: float, first: bool = True) -> Rule:
        """This rule."""
        return self

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """Return the blend to (1 - r) lam + r (eta + D / B (s + boost xi))."""
        rate = self.step_size(posterior.n_batches)
        statistics = learn(posterior)
        n_documents = self.n_documents or posterior.n_documents + statistics.n_documents
        gain = rate * n_documents / statistics.n_documents
        boost = gain * self.boost.weight(posterior, statistics)
        return Blend(1 - rate, gain, rate, statistics, boost=boost), None
