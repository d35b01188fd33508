# SPDX-License-Identifier: BSD-3-Clause
"""Power priors with a learnt rate."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from streamtopics.posteriors import Blend, Learn, Posterior, View
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.power_prior import LearnsRate
from streamtopics.updates.rates import NEAR_UNIFORM, Rate, RatePrior
from streamtopics.utils.checks import check_method, check_range


class Optimization(NamedTuple):
    """Result of an ascent, and the bound after each round."""

    blend: Blend
    bounds: list[float]


@dataclass(frozen=True)
class HierarchicalPowerPrior(LearnsRate):
    """Forgetting at a rate learnt anew from each minibatch.

    ``lam_t = E[rho_t] lam_{t-1} + (1 - E[rho_t]) eta + s_t``, with posterior parameters lam, the
    retained share rho_t, the prior eta and statistics s_t of minibatch t. Rounds in each minibatch
    maximise a lower bound of the variational bound (a "double lower bound"): algorithm 1 of
    Masegosa et al. (2020).

    Parameters
    ----------
    rate : {"shared", "topic"}
        One rho for all topics (HPP), or one for each (MHPP).
    rate_prior : RatePrior
        Prior of rho: `Exponential` or `Normal`.
    rate_starts : tuple of float
        Values of E[rho] to start from; the result with the greatest evidence bound is taken.
        Several starts need a local step that reports a bound, such as `Variational`.
    boost : Boost
        Prior added again with each minibatch. The first round determines the weight of the boost.
    max_rounds : int
        Largest number of rounds for each start, at least 2. The first round uses the start.
    tol : float
        Rounds end when a round changes each E[rho] by less than `tol`.
    """

    rate: Literal["shared", "topic"] = "shared"
    rate_prior: RatePrior = NEAR_UNIFORM
    rate_starts: tuple[float, ...] = (0.5,)
    boost: Boost = NO_BOOST
    max_rounds: int = 10
    tol: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method(self, "posterior", "Exponential(-0.1)", rate_prior=self.rate_prior)
        if len(self.rate_starts) == 0:
            raise ValueError("rate_starts of HierarchicalPowerPrior must have at least one number")
        for start in self.rate_starts:
            check_range(self, 0, 1, rate_starts=start)
        object.__setattr__(self, "rate_starts", tuple(map(float, self.rate_starts)))

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"divergences", "local_bound"} if self._has_choice else {"divergences"})

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        if posterior.n_batches == 0:
            return self.first(posterior, learn)
        results = [self.optimize(posterior, learn, start) for start in self.rate_starts]
        if not self._has_choice:
            return results[0].blend, None
        if not all(result.bounds for result in results):
            raise ValueError(
                "several rate_starts need a local step that reports local_bound; pass one start"
            )
        return max(results, key=lambda result: result.bounds[-1]).blend, None

    def optimize(self, posterior: Posterior, learn: Learn, start: float) -> Optimization:
        """Coordinate ascent from E[rho] = start."""
        n_rates = 1 if self.rate == "shared" else posterior.n_nodes
        rate = Rate(np.full(n_rates, start), np.full(n_rates, 1.0 - start), np.zeros(n_rates))
        seen: View = posterior
        bounds: list[float] = []
        evidence: np.ndarray | None = None
        from_prior, boost = np.empty(0), None
        for _ in range(self.max_rounds):
            statistics = learn(seen, warm=seen is not posterior)
            if evidence is not None and statistics.local_bound is not None:
                # L - E[rho] KL(q || lam) - E[1 - rho] KL(q || eta) - KL(q(rho) || p(rho)).
                of_topics = rate.kept * evidence - from_prior - rate.divergence
                bounds.append(statistics.local_bound + float(of_topics.sum()))
            if boost is None:
                boost = self.boost.weight(posterior, statistics)
            kept, lost = (float(part[0]) if n_rates == 1 else part for part in rate[:2])
            blend = Blend(kept, 1.0, lost, statistics, boost=boost)
            # KL(q || lam + boost xi) and KL(q || eta + boost xi), for each rho.
            from_posterior, from_prior = posterior.divergences(blend)
            if self.rate == "shared":
                from_posterior, from_prior = from_posterior.sum()[None], from_prior.sum()[None]
            evidence = from_prior - from_posterior
            last, rate = rate, self.rate_prior.posterior(evidence)
            if np.abs(rate.kept - last.kept).max() < self.tol and (bounds or not self._has_choice):
                break
            seen = posterior.after(blend)
        return Optimization(blend, bounds)

    @property
    def _has_choice(self) -> bool:
        return len(self.rate_starts) > 1
