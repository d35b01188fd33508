# SPDX-License-Identifier: BSD-3-Clause
"""Natural gradient steps."""

from dataclasses import dataclass, replace

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.rates import DECAY, StepSize, decay_between
from streamtopics.updates.rule import Rule, Traits
from streamtopics.utils.checks import (
    MOST_DOCUMENTS,
    check_method,
    check_positive,
    check_range,
    check_whole,
)


@dataclass(frozen=True)
class StochasticVI(Rule):
    """Stochastic variational inference: natural gradient steps of size r_t.

    ``lam_t = (1 - r_t) lam_{t-1} + r_t (eta + D / B s_t)``, with posterior parameters lam, the
    prior eta and statistics s_t of the B documents of minibatch t: Hoffman et al. (2010, 2013).

    Parameters
    ----------
    step_size : StepSize
        Step size r_t of minibatch t.
    n_documents : int or None
        Size D of the corpus; None is the number of documents seen so far.
    boost : Boost
        Prior added again with each minibatch; by default nothing.
    """

    step_size: StepSize = DECAY
    n_documents: int | None = None
    boost: Boost = NO_BOOST

    traits = Traits(merges="in order")

    def __post_init__(self) -> None:
        check_method(self, "__call__", "Decay(0.7)", step_size=self.step_size)
        check_method(self, "weight", "Boost(0.1)", boost=self.boost)
        if self.n_documents is not None:
            check_whole(self, most=MOST_DOCUMENTS, n_documents=self.n_documents)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """Product of 1 - r, and the rest, times D."""
        kept = decay_between(self.step_size, before.n_batches, after.n_batches)
        return kept, (self.n_documents or after.n_documents) * (1.0 - kept)

    def for_part(self, share: float, first: bool = True) -> Rule:
        return self

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        rate = self.step_size(posterior.n_batches)
        statistics = learn(posterior)
        n_documents = self.n_documents or posterior.n_documents + statistics.n_documents
        gain = rate * n_documents / statistics.n_documents
        boost = gain * self.boost.weight(posterior, statistics)
        return Blend(1 - rate, gain, rate, statistics, boost=boost), None


@dataclass(frozen=True)
class PopulationVB(Rule):
    """Natural gradient steps of constant size, for a population of constant size.

    ``lam_t = (1 - nu) lam_{t-1} + nu (eta + M / B s_t)``, with posterior parameters lam, the prior
    eta and statistics s_t of a minibatch of B documents: McInerney, Ranganath and Blei (2015).
    Equation 14 of Masegosa et al. (2020) lacks the factor M / B.

    Parameters
    ----------
    population_size : float
        Number M of documents in the population.
    rate : float
        Step size nu, in (0, 1].
    boost : Boost
        Prior added again with each minibatch; by default nothing.
    """

    population_size: float
    rate: float
    boost: Boost = NO_BOOST

    traits = Traits(forgets=True, merges="in order")

    def __post_init__(self) -> None:
        check_positive(self, population_size=self.population_size, rate=self.rate)
        check_range(self, 0, MOST_DOCUMENTS, population_size=self.population_size)
        check_range(self, 0, 1, rate=self.rate)
        check_method(self, "weight", "Boost(0.1)", boost=self.boost)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        return (1.0 - self.rate) ** (after.n_batches - before.n_batches), 1.0

    def for_part(self, share: float, first: bool = True) -> Rule:
        return replace(self, rate=1.0 - (1.0 - self.rate) ** share)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        statistics = learn(posterior)
        gain = self.rate * self.population_size / statistics.n_documents
        boost = gain * self.boost.weight(posterior, statistics)
        return Blend(1.0 - self.rate, gain, self.rate, statistics, boost=boost), None
