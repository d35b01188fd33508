# SPDX-License-Identifier: BSD-3-Clause
"""Step sizes of stochastic approximation, as functions of the minibatches before."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from streamtopics.utils.checks import check_positive, check_range


class StepSize(Protocol):
    """A step size."""

    def __call__(self, n_batches: float) -> float:
        """The step of the minibatch after `n_batches` others, in [0, 1]."""


@dataclass(frozen=True)
class Decay:
    """(t + tau)^-kappa in the t-th minibatch, at most 1.

    Parameters
    ----------
    kappa : float
        Decay, in [0, 1]; 0 takes each minibatch for all there is.
    tau : float
        Minibatches by which the step size is ahead.
    """

    kappa: float = 0.7
    tau: float = 0.0

    def __post_init__(self) -> None:
        check_range(self, 0, 1, kappa=self.kappa)
        check_range(self, 0, np.inf, tau=self.tau)

    def __call__(self, n_batches: float) -> float:
        """The step of the minibatch after `n_batches` others."""
        found: float = min(1.0, (n_batches + 1 + self.tau) ** -self.kappa)
        return found


@dataclass(frozen=True)
class MeanDecay(Decay):
    """`Decay`, but never less than 1 / t, the step of a running mean.

    A smaller one would give what was there before the first minibatch, which is
    nothing, a part in the mean.
    """

    def __call__(self, n_batches: float) -> float:
        """The step of the minibatch after `n_batches` others."""
        return max(super().__call__(n_batches), 1.0 / (n_batches + 1))


def retained_by(step_size: StepSize, n_before: int, n_after: int) -> float:
    """Product of 1 - r over the minibatches after `n_before` and up to `n_after`."""
    return math.prod(1.0 - step_size(n) for n in range(n_before, n_after))


DECAY, MEAN_DECAY = Decay(), MeanDecay()


@dataclass(frozen=True)
class ScaledDecay:
    """tau / t^kappa in the t-th minibatch, at most 1.

    As in figures 14 and 15 of chapter 3 of Dupuy (2017).

    Parameters
    ----------
    tau : float
        The first step, above 0.
    kappa : float
        Decay, in [0, 1].
    """

    tau: float = 1.0
    kappa: float = 0.7

    def __post_init__(self) -> None:
        check_positive(self, tau=self.tau)
        check_range(self, 0, 1, kappa=self.kappa)

    def __call__(self, n_batches: float) -> float:
        """The step of the minibatch after `n_batches` others."""
        found: float = min(1.0, self.tau * (n_batches + 1) ** -self.kappa)
        return found
