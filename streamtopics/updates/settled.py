# SPDX-License-Identifier: BSD-3-Clause
"""A rate of forgetting that was settled over a whole minibatch, for the parts of it.

Before the first part lam <- kept lam + lost eta; after that the statistics of the parts are
added, each seen from the topics that the part before it left.
"""

from dataclasses import dataclass, replace

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.posteriors.protocol import Coefficient
from streamtopics.updates.bps import Boost
from streamtopics.updates.rule import Rule


@dataclass(frozen=True)
class Settled(Rule):
    """Forgetting of a known share of each topic before the first part of a minibatch.

    Parameters
    ----------
    kept, lost : float or ndarray of shape (n_nodes,)
        Share of the posterior that is kept, and its complement.
    boost : Boost
        Of the prior, on top.
    """

    kept: Coefficient
    lost: Coefficient
    boost: Boost

    forgets = True
    adds = True

    def divided(self, share: float, first: bool = True) -> Rule:
        """This rule for the first part, and one that keeps all for the others."""
        return self if first else replace(self, kept=1.0, lost=0.0)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """Return the blend to kept lam + lost eta + s + r xi."""
        statistics = learn(posterior)
        boost = self.boost.weight(posterior, statistics)
        return Blend(self.kept, 1.0, self.lost, statistics, boost=boost), None


class SettlesRate(Rule):
    """Base of rules that learn a rate of forgetting from a whole minibatch, and boost the prior.

    Attributes
    ----------
    boost : Boost
        Of the prior, on top.
    """

    boost: Boost

    forgets = True
    adds = True
    settles = True

    def settled(self, posterior: Posterior, learn: Learn) -> Settled:
        """Return the rule of the rate that a minibatch asks for; the first one finds nothing."""
        if posterior.n_batches == 0:
            return Settled(1.0, 0.0, self.boost)
        blend, _ = self.step(posterior, learn, None)
        return Settled(blend.retain, blend.prior, self.boost)
