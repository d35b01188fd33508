# SPDX-License-Identifier: BSD-3-Clause
"""Power priors with an estimated rate."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from streamtopics.posteriors import Blend, Learn, Posterior, View
from streamtopics.updates.bps import NO_BOOST, Boost
from streamtopics.updates.power_prior import LearnsRate

START = 0.5
N_ITERATIONS = 20


@dataclass(frozen=True)
class EmpiricalPowerPrior(LearnsRate):
    """Forgetting at the rate under which the new topics are most probable.

    The earlier posterior lam becomes ``rho lam + (1 - rho) eta``, with the prior eta. rho maximises
    ``E_q[log p(beta | rho lam + (1 - rho) eta)]`` under the new posterior q of the topics beta. If
    the topics change only in part, rho is between 0 (all is forgotten) and 1 (all is kept). With
    little data rho is noisy. The rule is not from a paper.

    Parameters
    ----------
    rate : {"shared", "topic"}
        One rho for all topics, or one for each.
    boost : Boost
        Prior added again with each minibatch; by default nothing.
    max_rounds : int
        Largest number of rounds in a minibatch, at least 2. The first round uses rho = 0.5.
    tol : float
        Rounds end when a round changes each rho by less than `tol`.
    """

    rate: Literal["shared", "topic"] = "shared"
    boost: Boost = NO_BOOST
    max_rounds: int = 10
    tol: float = 1e-3

    needs = frozenset({"slopes"})

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        if posterior.n_batches == 0:
            return self.first(posterior, learn)
        rho = np.full(1 if self.rate == "shared" else posterior.n_nodes, START)
        seen: View = posterior
        boost = None
        for _ in range(self.max_rounds):
            statistics = learn(seen, warm=seen is not posterior)
            if boost is None:
                boost = self.boost.weight(posterior, statistics)
            kept = float(rho[0]) if self.rate == "shared" else rho
            blend = Blend(kept, 1.0, 1.0 - kept, statistics, boost=boost)
            last, rho = rho, self._best(posterior, blend)
            if np.abs(rho - last).max() < self.tol:
                break
            seen = posterior.after(blend)
        return blend, None

    def _best(self, posterior: Posterior, blend: Blend) -> np.ndarray:
        """The maximum of the concave bound, by halving [0, 1]."""
        slopes = posterior.slopes(blend)

        def is_negative(rho: np.ndarray) -> np.ndarray:
            slope = slopes(np.broadcast_to(rho, posterior.n_nodes))
            return (slope.sum(keepdims=True) if self.rate == "shared" else slope) < 0

        low, high = np.zeros(1), np.ones(1)
        at_top = ~is_negative(high)
        for _ in range(N_ITERATIONS):
            middle = 0.5 * (low + high)
            down = is_negative(middle)
            low, high = np.where(down, low, middle), np.where(down, middle, high)
        return np.where(at_top, 1.0, low)
