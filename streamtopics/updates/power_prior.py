# SPDX-License-Identifier: BSD-3-Clause
"""Power priors: lam_t = rho lam_{t-1} + (1 - rho) eta + s_t.

What was learnt loses the share 1 - rho with each minibatch and the prior gets it
back, so that the posterior stands for the last 1 / (1 - rho) minibatches; equation 23
of Masegosa et al. (2020), "Variational inference over nonstationary data streams for
exponential family models". With a boost, both ends of the mixture are shifted by it.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.checks import check_able, check_range, check_whole
from streamtopics.messages import Statistics
from streamtopics.posterior import Blend, LazyPosterior
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.rule import Learn, ascend


@dataclass(frozen=True)
class PowerPrior:
    """Exponential forgetting towards the prior, at a fixed rate.

    Parameters
    ----------
    rho : float
        Share of the posterior that is kept with each minibatch, in [0, 1]; 1 is SVB,
        0 starts anew with every minibatch.
    boost : Boost
        Of the prior, on top.
    n_passes : int
        Rounds of coordinate ascent inside a minibatch.
    """

    rho: float
    boost: Boost = NO_BOOST
    n_passes: int = 1

    def __post_init__(self) -> None:
        check_range(self, 0, 1, rho=self.rho)
        check_able(self, "weight", "Boost(0.1)", boost=self.boost)
        check_whole(self, n_passes=self.n_passes)

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """rho lam + (1 - rho) eta + s + r xi."""

        def blend(statistics: Statistics, alpha: np.ndarray) -> Blend:
            boost = self.boost.weight(posterior, statistics)
            return Blend(self.rho, 1.0, 1.0 - self.rho, statistics, boost=boost)

        return ascend(posterior, learn, blend, self.n_passes)
