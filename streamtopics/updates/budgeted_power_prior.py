# SPDX-License-Identifier: BSD-3-Clause
"""Power priors with a budget."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from streamtopics.messages import AnyStatistics
from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.power_prior import FixedRate
from streamtopics.updates.rule import Rule, Traits
from streamtopics.utils.checks import check_method, check_range


@dataclass(frozen=True)
class BudgetedPowerPrior(Rule):
    """Forgetting of `budget` nats before each minibatch, whatever the minibatch contains.

    The parameters lam become ``rho lam + (1 - rho) eta``, with the prior eta. rho is the least
    number in [0, 1] for which the Kullback-Leibler divergence of the new posterior from the old is
    at most `budget`: theorem 1 of Masegosa et al. (2020). If the posterior has d free parameters
    and is far from the prior, rho solves ``1 / rho - 1 + log(rho) = 2 budget / d``.

    Parameters
    ----------
    budget : float
        Divergence in nats, over all topics; the paper's kappa. 0 is `SVB`.
    boost : Boost
        Prior added again with each minibatch; by default nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import BetaBinomial
    >>> from streamtopics.updates import BudgetedPowerPrior
    >>> flips = np.random.default_rng(0).random((1000, 1)) < 0.3
    >>> model = StreamingBayes(BetaBinomial(), BudgetedPowerPrior(0.1), batch_size=100)
    >>> model.fit(flips.astype(float)).retention_.round(2)  # rho of the last minibatch
    array([0.56])
    """

    budget: float
    boost: Boost = NO_BOOST

    traits = Traits(frozenset({"divergences"}), forgets=True, adds=True, learns_rate=True)

    def __post_init__(self) -> None:
        check_range(self, 0, np.inf, budget=self.budget)
        check_method(self, "weight", "Boost(0.1)", boost=self.boost)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        statistics = learn(posterior)
        lost = self.lost(posterior, statistics)
        boost = self.boost.weight(posterior, statistics)
        return Blend(1.0 - lost, 1.0, lost, statistics, boost=boost), None

    def for_rate(self, posterior: Posterior, learn: Learn) -> FixedRate:
        lost = self.lost(posterior, learn(posterior))
        return FixedRate(1.0 - lost, lost, self.boost)

    def lost(self, posterior: Posterior, statistics: AnyStatistics) -> float:
        """1 - rho, the root of the divergence."""
        if posterior.n_batches == 0 or self.budget == 0:
            return 0.0

        def excess(lost: float) -> float:
            nats = posterior.divergences(Blend(1.0 - lost, 0.0, lost, statistics))[0].sum()
            return float(np.sqrt(nats) - np.sqrt(self.budget))

        return 1.0 if excess(1.0) <= 0 else float(brentq(excess, 0.0, 1.0, xtol=1e-15))
