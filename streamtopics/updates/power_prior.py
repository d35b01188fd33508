# SPDX-License-Identifier: BSD-3-Clause
"""Power priors: lam_t = rho lam_{t-1} + (1 - rho) eta + s_t.

What was learnt loses the share 1 - rho with each minibatch and the prior gets it
back, so that the posterior stands for the last 1 / (1 - rho) minibatches; equation 23
of Masegosa et al. (2020), "Variational inference over nonstationary data streams for
exponential family models". With a boost, both ends of the mixture are shifted by it.
"""

from dataclasses import dataclass, replace

import numpy as np

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.rule import Rule
from streamtopics.utils.checks import check_able, check_positive, check_range


@dataclass(frozen=True)
class Memory:
    """Forgetting by the number of documents, whatever the size of minibatches.

    Parameters
    ----------
    n_documents : float
        After as many documents 1 / e of what was learnt before is left.
    """

    n_documents: float

    def __post_init__(self) -> None:
        check_positive(self, n_documents=self.n_documents)

    def kept(self, n_documents: int) -> float:
        """Share of the posterior that so many documents leave."""
        return float(np.exp(-n_documents / self.n_documents))


@dataclass(frozen=True)
class PowerPrior(Rule):
    """Exponential forgetting towards the prior, at a fixed rate.

    Parameters
    ----------
    rho : float or Memory
        Share of the posterior that is kept with each minibatch, in [0, 1]; 1 is SVB,
        0 starts anew with every minibatch. ``Memory(20_000)`` keeps as much of a document
        whatever the size of the minibatches.
        20,000 short documents suit 50 topics; many fewer leave too little of each topic.
    boost : Boost
        Of the prior, on top.
    """

    rho: float | Memory
    boost: Boost = NO_BOOST

    forgets = True
    adds = True
    merges = "in order"

    def __post_init__(self) -> None:
        if not isinstance(self.rho, Memory):
            check_range(self, 0, 1, rho=self.rho)
        check_able(self, "weight", "Boost(0.1)", boost=self.boost)

    def retained(self, before: Counters, after: Counters) -> float:
        """Return rho to the power of the minibatches, or what their documents leave."""
        if isinstance(self.rho, Memory):
            return self.rho.kept(after.n_documents - before.n_documents)
        return float(self.rho ** (after.n_batches - before.n_batches))

    def divided(self, share: float, first: bool = True) -> Rule:
        """This rule; where it forgets by minibatches, one that forgets before the first part."""
        if first or isinstance(self.rho, Memory):
            return self
        return replace(self, rho=1.0)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """Return the blend to rho lam + (1 - rho) eta + s + r xi."""
        statistics, rho = learn(posterior), self.rho
        kept = rho.kept(statistics.n_documents) if isinstance(rho, Memory) else rho
        boost = self.boost.weight(posterior, statistics)
        return Blend(kept, 1.0, 1.0 - kept, statistics, boost=boost), None
