# SPDX-License-Identifier: BSD-3-Clause
"""Priors of the retention rate rho of a hierarchical power prior, rho in [0, 1].

Each turns the evidence for keeping, omega = KL(q || eta) - KL(q || lam_{t-1}), into a
posterior of rho: its mean, the complement of that (which keeps its digits where the
mean is all but 1), and its divergence from the prior.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from streamtopics.families import truncated_exponential, truncated_normal
from streamtopics.utils.checks import MOST_PRIOR, check_pseudo_counts, check_range


class Rate(NamedTuple):
    """Posterior of rho: three arrays of the same shape."""

    kept: np.ndarray
    lost: np.ndarray
    divergence: np.ndarray


class RatePrior(Protocol):
    """A prior of rho that is conjugate to the double bound."""

    def posterior(self, evidence: np.ndarray) -> Rate:
        """E[rho], E[1 - rho] and KL(q(rho) || p(rho)), given the evidence in nats."""


@dataclass(frozen=True)
class Exponential:
    """p(rho) proportional to exp(gamma rho) on [0, 1].

    Equations 26 to 28 of Masegosa et al. (2020). Its 0.1, "close to uniform", is a
    gamma of -0.1 (the signs of the equations differ).
    """

    gamma: float

    def __post_init__(self) -> None:
        check_range(self, -np.inf, np.inf, gamma=self.gamma)

    def posterior(self, evidence: np.ndarray) -> Rate:
        """A truncated exponential distribution again, of parameter gamma + evidence."""
        omega = self.gamma + evidence
        divergence = truncated_exponential.kl(omega, self.gamma)
        return Rate(*truncated_exponential.mean_and_complement(omega), divergence)


NEARLY_UNIFORM = Exponential(-0.1)


@dataclass(frozen=True)
class Normal:
    """p(rho) proportional to exp(-precision (rho - mean)^2 / 2) on [0, 1].

    Equation 29 of the same source. Its empirical Bayes estimate of the variance
    is not offered: it always ends at the uniform prior, which is `Exponential(0.0)`.
    """

    mean: float = 0.5
    precision: float = 1.0

    def __post_init__(self) -> None:
        check_range(self, -MOST_PRIOR, MOST_PRIOR, mean=self.mean)
        check_pseudo_counts(self, precision=self.precision)

    def posterior(self, evidence: np.ndarray) -> Rate:
        """A truncated normal distribution again, of the same precision."""
        prior = np.array([self.mean * self.precision, self.precision])
        natural = np.stack([prior[0] + evidence, np.full_like(evidence, self.precision)], -1)
        divergence = truncated_normal.kl(natural, prior)
        return Rate(*truncated_normal.mean_and_complement(natural), divergence)
