# SPDX-License-Identifier: BSD-3-Clause
"""Population variational Bayes: lam_t = (1 - nu) lam_{t-1} + nu (eta + M / B s_t).

The posterior for M documents drawn from what the stream is like now; McInerney,
Ranganath and Blei (2015), "The population posterior and Bayesian modeling on
streams". Equation 14 of Masegosa et al. (2020) lacks the factor M / B, of which its
experiments have the 1 / B.
"""

from dataclasses import dataclass

from streamtopics.posterior import Blend, LazyPosterior
from streamtopics.updates.rule import Learn


@dataclass(frozen=True)
class PopulationVB:
    """Natural gradient steps of constant size, for a population of constant size.

    Parameters
    ----------
    population_size : float
        M, documents that the posterior is for.
    rate : float
        nu, the step size, in (0, 1].
    """

    population_size: float
    rate: float

    def __post_init__(self) -> None:
        if not self.population_size > 0:
            raise ValueError(
                f"population_size of PopulationVB must be positive; got {self.population_size}"
            )
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate of PopulationVB must be in (0, 1]; got {self.rate}")

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """(1 - nu) lam + nu (eta + M / B s)."""
        statistics = learn(posterior)
        gain = self.rate * self.population_size / statistics.n_documents
        return Blend(1.0 - self.rate, gain, self.rate, statistics)
