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

    @property
    def forgets(self) -> bool:
        """True."""
        return True

    @property
    def adds(self) -> bool:
        """True."""
        return True

    def divided(self, share: float, first: bool = True) -> Rule:
        """This rule for the first part, and one that keeps all for the others."""
        return self if first else replace(self, kept=1.0, lost=0.0)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """Return the blend to kept lam + lost eta + s + r xi."""
        statistics = learn(posterior)
        boost = self.boost.weight(posterior, statistics)
        return Blend(self.kept, 1.0, self.lost, statistics, boost=boost), None


def settled(rule: Rule, boost: Boost, posterior: Posterior, learn: Learn) -> Settled:
    """What a rule that learns a rate keeps in a minibatch; all where nothing is known yet."""
    if posterior.n_batches == 0:
        return Settled(1.0, 0.0, boost)
    blend, _ = rule.step(posterior, learn, None)
    return Settled(blend.retain, blend.prior, boost)
