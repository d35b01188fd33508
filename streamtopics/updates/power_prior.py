# SPDX-License-Identifier: BSD-3-Clause
"""Power priors with a fixed rate."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.posteriors.protocol import Coefficient, Counters
from streamtopics.updates.bps import BPS, NO_BOOST, Boost
from streamtopics.updates.rule import Rounds, Rule, Traits
from streamtopics.utils.checks import (
    check_method,
    check_one_of,
    check_positive,
    check_range,
    check_whole,
)


@dataclass(frozen=True)
class Memory:
    """Forgetting by documents: after B documents exp(-B / n_documents) of the posterior is left.

    Parameters
    ----------
    n_documents : float
        Number of documents after which the share 1 / e of the earlier posterior is left.
    """

    n_documents: float

    def __post_init__(self) -> None:
        check_positive(self, n_documents=self.n_documents)

    def kept(self, n_documents: int) -> float:
        """Return the share of earlier learning left after `n_documents` more documents."""
        return float(np.exp(-n_documents / self.n_documents))


@dataclass(frozen=True)
class PowerPrior(Rule):
    """Exponential forgetting towards the prior, at a fixed rate.

    ``lam_t = rho lam_{t-1} + (1 - rho) eta + s_t``, with posterior parameters lam, the prior eta
    and statistics s_t of minibatch t: equation 23 of Masegosa et al. (2020). On a long stream the
    posterior weighs as much as ``1 / (1 - rho)`` minibatches.

    Parameters
    ----------
    rho : float or Memory
        Share of the posterior kept at each minibatch, in [0, 1]; 1 is `SVB`. With a `Memory` the
        share depends on the number of documents in the minibatch. ``Memory(20_000)`` suits 50
        topics of short documents.
    boost : Boost
        Prior added again with each minibatch; by default nothing.
    """

    rho: float | Memory
    boost: Boost = NO_BOOST

    traits = Traits(forgets=True, merges="in order", adds=True)

    def __post_init__(self) -> None:
        if not isinstance(self.rho, Memory):
            check_range(self, 0, 1, rho=self.rho)
        check_method(self, "weight", "Boost(0.1)", boost=self.boost)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        if isinstance(self.rho, Memory):
            return self.rho.kept(after.n_documents - before.n_documents), 1.0
        return float(self.rho ** (after.n_batches - before.n_batches)), 1.0

    def for_part(self, share: float, first: bool = True) -> Rule:
        if first or isinstance(self.rho, Memory):
            return self
        return replace(self, rho=1.0)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        statistics, rho = learn(posterior), self.rho
        kept = rho.kept(statistics.n_documents) if isinstance(rho, Memory) else rho
        boost = self.boost.weight(posterior, statistics)
        return Blend(kept, 1.0, 1.0 - kept, statistics, boost=boost), None


@dataclass(frozen=True)
class FixedRate(Rule):
    """A rule that first forgets a known share of each topic."""

    kept: Coefficient  # Share of the posterior, and its complement
    lost: Coefficient
    boost: Boost

    traits = Traits(forgets=True, adds=True)

    def for_part(self, share: float, first: bool = True) -> Rule:
        return self if first else replace(self, kept=1.0, lost=0.0)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        statistics = learn(posterior)
        boost = self.boost.weight(posterior, statistics)
        return Blend(self.kept, 1.0, self.lost, statistics, boost=boost), None


class LearnsRate(Rule):
    """Base of rules that learn a rate from a whole minibatch."""

    rate: Literal["shared", "topic"]
    boost: Boost
    max_rounds: int
    tol: float

    def __post_init__(self) -> None:
        check_one_of(("shared", "topic"), rate=self.rate)
        check_method(self, "weight", "Boost(0.1)", boost=self.boost)
        check_whole(self, least=2, max_rounds=self.max_rounds)
        check_range(self, 0, np.inf, tol=self.tol)

    @property
    @abstractmethod
    def needs(self) -> frozenset[str]:
        """Needs of the traits."""

    @property
    def traits(self) -> Traits:
        alike = self.rate == "shared"
        return Traits(self.needs, forgets=True, adds=True, learns_rate=True, retains_alike=alike)

    def first(self, posterior: Posterior, learn: Learn) -> tuple[Blend, None]:
        rule = BPS(self.boost.scale, self.boost.norm)
        return Rounds(rule, self.max_rounds, warm=True).step(posterior, learn, None)

    def for_rate(self, posterior: Posterior, learn: Learn) -> FixedRate:
        if posterior.n_batches == 0:
            return FixedRate(1.0, 0.0, self.boost)
        blend, _ = self.step(posterior, learn, None)
        return FixedRate(blend.retain, blend.prior, self.boost)
