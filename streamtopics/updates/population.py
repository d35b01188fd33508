# SPDX-License-Identifier: BSD-3-Clause
"""Population variational Bayes: lam_t = (1 - nu) lam_{t-1} + nu (eta + M / B s_t).

The posterior for M documents drawn from what the stream is like now; McInerney,
Ranganath and Blei (2015), "The population posterior and Bayesian modeling on
streams". Equation 14 of Masegosa et al. (2020) lacks the factor M / B, of which its
experiments have the 1 / B.
"""

from dataclasses import dataclass, replace

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.rule import Rule, Traits
from streamtopics.utils.checks import MOST_DOCUMENTS, check_able, check_positive, check_range


@dataclass(frozen=True)
class PopulationVB(Rule):
    """Natural gradient steps of constant size, for a population of constant size.

    Parameters
    ----------
    population_size : float
        M, documents that the posterior is for.
    rate : float
        nu, the step size, in (0, 1].
    boost : Boost
        Of the prior, beside the statistics.
    """

    population_size: float
    rate: float
    boost: Boost = NO_BOOST

    traits = Traits(forgets=True, merges="in order")

    def __post_init__(self) -> None:
        check_positive(self, population_size=self.population_size, rate=self.rate)
        check_range(self, 0, MOST_DOCUMENTS, population_size=self.population_size)
        check_range(self, 0, 1, rate=self.rate)
        check_able(self, "weight", "Boost(0.1)", boost=self.boost)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """(1 - nu) to the power of the minibatches, and no other weight."""
        return (1.0 - self.rate) ** (after.n_batches - before.n_batches), 1.0

    def for_part(self, share: float, first: bool = True) -> Rule:
        """The rule whose steps over the parts retain together what one does."""
        return replace(self, rate=1.0 - (1.0 - self.rate) ** share)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """Return the blend to (1 - nu) lam + nu (eta + M / B (s + r xi))."""
        statistics = learn(posterior)
        gain = self.rate * self.population_size / statistics.n_documents
        boost = gain * self.boost.weight(posterior, statistics)
        return Blend(1.0 - self.rate, gain, self.rate, statistics, boost=boost), None
