# SPDX-License-Identifier: BSD-3-Clause
"""Step sizes of stochastic approximation."""


def step_size(n_batches: int, kappa: float, tau: float) -> float:
    """(t + tau)**-kappa for the minibatch after `n_batches` others, at most 1."""
    return min(1.0, (n_batches + 1 + tau) ** -kappa)


def step_size_of_means(n_batches: int, kappa: float, tau: float) -> float:
    """`step_size`, but never less than 1/t, the step of a running mean.

    A smaller one would give what was there before the first minibatch, which is
    nothing, a part in the mean.
    """
    return max(step_size(n_batches, kappa, tau), 1.0 / (n_batches + 1))
