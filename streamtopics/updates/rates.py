# SPDX-License-Identifier: BSD-3-Clause
"""Step sizes, and priors of a rate of forgetting."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from streamtopics.families import truncated_exponential, truncated_normal
from streamtopics.utils.checks import MOST_PRIOR, check_positive, check_pseudo_counts, check_range


class StepSize(Protocol):
    """A step size."""

    def __call__(self, n_batches: float) -> float:
        """The step size after `n_batches` minibatches, in [0, 1]."""


@dataclass(frozen=True)
class Decay:
    """Step size ``(t + tau)^-kappa`` of the t-th minibatch, at most 1.

    Parameters
    ----------
    kappa : float
        Decay, in [0, 1]. With 0 each minibatch replaces everything learnt before.
    tau : float
        Number of minibatches added to t, which makes the first steps smaller.
    """

    kappa: float = 0.7
    tau: float = 0.0

    def __post_init__(self) -> None:
        check_range(self, 0, 1, kappa=self.kappa)
        check_range(self, 0, np.inf, tau=self.tau)

    def __call__(self, n_batches: float) -> float:
        return min(1.0, (n_batches + 1 + self.tau) ** -self.kappa)


@dataclass(frozen=True)
class MeanDecay(Decay):
    """Step size of `Decay`, but at least 1 / t, so the initial value has no weight after step 1."""

    def __call__(self, n_batches: float) -> float:
        return max(super().__call__(n_batches), 1.0 / (n_batches + 1))


@dataclass(frozen=True)
class ScaledDecay:
    """Step size ``tau / t^kappa`` of the t-th minibatch, at most 1.

    As in figures 14 and 15 of chapter 3 of Dupuy (2017).

    Parameters
    ----------
    tau : float
        Factor of the step size, above 0.
    kappa : float
        Decay, in [0, 1].
    """

    tau: float = 1.0
    kappa: float = 0.7

    def __post_init__(self) -> None:
        check_positive(self, tau=self.tau)
        check_range(self, 0, 1, kappa=self.kappa)

    def __call__(self, n_batches: float) -> float:
        return min(1.0, self.tau * (n_batches + 1) ** -self.kappa)


DECAY, MEAN_DECAY = Decay(), MeanDecay()


def decay_between(step_size: StepSize, n_before: int, n_after: int) -> float:
    """Product of 1 - r over the minibatches in between."""
    return math.prod(1.0 - step_size(n) for n in range(n_before, n_after))


class Rate(NamedTuple):
    kept: np.ndarray  # E[rho]
    lost: np.ndarray  # E[1 - rho], exact also for a mean of nearly 1
    divergence: np.ndarray  # From the prior


class RatePrior(Protocol):
    """A prior of the retention rate rho."""

    def posterior(self, evidence: np.ndarray) -> Rate:
        """The posterior, given the evidence KL(q || eta) - KL(q || lam_{t-1}) in nats."""


@dataclass(frozen=True)
class Exponential:
    """Prior of a retention rate rho, with density proportional to ``exp(gamma rho)`` on [0, 1].

    gamma has the opposite sign in equations 26 to 28 of Masegosa et al. (2020): the paper's value
    0.1, "close to uniform", is -0.1 here.
    """

    gamma: float

    def __post_init__(self) -> None:
        check_range(self, -np.inf, np.inf, gamma=self.gamma)

    def posterior(self, evidence: np.ndarray) -> Rate:
        omega = self.gamma + evidence
        divergence = truncated_exponential.kl(omega, self.gamma)
        return Rate(*truncated_exponential.mean_and_complement(omega), divergence)


NEAR_UNIFORM = Exponential(-0.1)


@dataclass(frozen=True)
class Normal:
    """Prior of a retention rate rho: a normal distribution truncated to [0, 1].

    `mean` and `precision` describe the normal distribution before truncation: equation 29 of
    Masegosa et al. (2020).
    """

    mean: float = 0.5
    precision: float = 1.0

    def __post_init__(self) -> None:
        check_range(self, -MOST_PRIOR, MOST_PRIOR, mean=self.mean)
        check_pseudo_counts(self, precision=self.precision)

    def posterior(self, evidence: np.ndarray) -> Rate:
        prior = np.array([self.mean * self.precision, self.precision])
        natural = np.stack([prior[0] + evidence, np.full_like(evidence, self.precision)], -1)
        divergence = truncated_normal.kl(natural, prior)
        return Rate(*truncated_normal.mean_and_complement(natural), divergence)
