# SPDX-License-Identifier: BSD-3-Clause
"""Power priors: lam_t = rho lam_{t-1} + (1 - rho) eta + s_t.

What was learnt loses the share 1 - rho with each minibatch and the prior gets it
back, so that the posterior stands for the last 1 / (1 - rho) minibatches; equation 23
of Masegosa et al. (2020), "Variational inference over nonstationary data streams for
exponential family models". With a boost, both ends of the mixture are shifted by it.
"""

from dataclasses import dataclass

from streamtopics.checks import check_able, check_range
from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.rule import Rule


@dataclass(frozen=True)
class PowerPrior(Rule):
    """Exponential forgetting towards the prior, at a fixed rate.

    Parameters
    ----------
    rho : float
        Share of the posterior that is kept with each minibatch, in [0, 1]; 1 is SVB,
        0 starts anew with every minibatch.
    boost : Boost
        Of the prior, on top.
    """

    rho: float
    boost: Boost = NO_BOOST

    def __post_init__(self) -> None:
        check_range(self, 0, 1, rho=self.rho)
        check_able(self, "weight", "Boost(0.1)", boost=self.boost)

    @property
    def forgets(self) -> bool:
        """True."""
        return True

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """Return the blend to rho lam + (1 - rho) eta + s + r xi."""
        statistics = learn(posterior)
        boost = self.boost.weight(posterior, statistics)
        return Blend(self.rho, 1.0, 1.0 - self.rho, statistics, boost=boost), None
