# SPDX-License-Identifier: BSD-3-Clause
"""Updates of alpha, the Dirichlet parameter of the documents' topic proportions.

An update is a frozen dataclass of its settings with two methods,

    memory_size(n_components) -> int
    step(before, statistics, rate, n_batches) -> Proportions

It sees of the documents their lengths and s = E[log theta], the mean over those
that have words. Where nothing but s counts, alpha maximises the concave

    f(alpha) = log Gamma(alpha_0) - sum_k log Gamma(alpha_k) + sum_k alpha_k s_k,

that is psi(alpha_k) - psi(alpha_0) = s_k, with alpha_0 = sum_k alpha_k. A memory
of zeros means that nothing has been learnt yet.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import digamma, gammaln, zeta

from streamtopics.messages import Statistics
from streamtopics.posterior import Proportions

# What an update may make of alpha. An unused topic has E[log theta] = -1 / alpha, so
# that with a smaller one it could hardly come back, and at 1e-3 it already weighs no
# more than a thousandth of a token. Above 1e4 a proportion varies by less than 1 %;
# there is no maximum where proportions do not vary at all.
LEAST_ALPHA, MOST_ALPHA = 1e-3, 1e4
# Below what alpha >= LEAST_ALPHA gives in any document.
LEAST_LOG_THETA = -2.0 / LEAST_ALPHA

MAX_STEPS = 100
SHIFTS = np.arange(8.0)[:, None]


class DocTopicUpdate(Protocol):
    """An update of alpha."""

    def memory_size(self, n_components: int) -> int:
        """How many numbers it remembers."""

    def step(
        self, before: Proportions, statistics: Statistics, rate: float, n_batches: int
    ) -> Proportions:
        """What to make of a minibatch, after `n_batches` others; leaves its arguments alone.

        `statistics` come from a local step that saw `before.alpha`, and `rate`, in
        [0, 1], is the weight of the minibatch against those before.
        """


@dataclass(frozen=True)
class Fixed:
    """Alpha stays what it was."""

    def memory_size(self, n_components: int) -> int:
        """Nothing."""
        return 0

    def step(
        self, before: Proportions, statistics: Statistics, rate: float, n_batches: int
    ) -> Proportions:
        """What was before."""
        return before


@dataclass(frozen=True)
class FixedPoint:
    """Maximum likelihood given the running mean of E[log theta].

    The fixed point of Minka (2000), "Estimating a Dirichlet distribution", as used by
    Dupuy and Bach (2017), "Online but accurate inference for latent variable models
    with local Gibbs sampling"; found by Newton's method.

    Parameters
    ----------
    burn_in : int
        Minibatches at the start that leave alpha alone and are not remembered: as
        long as all topics are alike, proportions do not seem to vary, and alpha
        would grow without end and keep them alike.
    """

    burn_in: int = 10

    def memory_size(self, n_components: int) -> int:
        """The running mean."""
        return n_components

    def step(
        self, before: Proportions, statistics: Statistics, rate: float, n_batches: int
    ) -> Proportions:
        """s <- (1 - rate) s + rate E[log theta]; then the alpha of s."""
        if n_batches < self.burn_in or not informs(statistics):
            return before
        log_theta = np.maximum(statistics.log_theta, LEAST_LOG_THETA)
        memory = running_mean(before.memory, log_theta, rate)
        return Proportions(solve_alpha(memory, before.alpha), memory)


@dataclass(frozen=True)
class GammaPrior:
    """Maximum a posteriori under alpha_k ~ Gamma(shape, inverse scale), in one pass.

    Each document adds, with the alpha of the time,

        x_k = alpha_k (psi(alpha_k + n_dk) - psi(alpha_k))
        y   = psi(alpha_0 + N_d) - psi(alpha_0),

    and alpha_k = (shape - 1 + sum_d x_dk) / (inverse_scale + sum_d y_d), as in Sato et
    al. (2010), "Deterministic single-pass model for LDA"; with all documents under
    the present alpha it is a step that raises the posterior. The memory are running
    means of the sums in a minibatch. A rate is taken to remember 1 / rate minibatches,
    the prior counts once against those, and rate 1 / t is the plain sum.

    Parameters
    ----------
    shape : float
        At least 1. With 1 the prior pulls no topic away from 0.
    inverse_scale : float
        With a shape of 1 the prior mean of alpha is the inverse of this. A document
        adds about log(1 + N_d / alpha_0) to it, so that 1 weighs less than one
        document of usual length.
    burn_in : int
        Minibatches at the start that leave alpha alone and are not remembered. The
        first to be remembered then stands for them too.
    """

    shape: float = 1.0
    inverse_scale: float = 1.0
    burn_in: int = 10

    def memory_size(self, n_components: int) -> int:
        """Running means of sum_d x_d and of sum_d y_d."""
        return n_components + 1

    def step(
        self, before: Proportions, statistics: Statistics, rate: float, n_batches: int
    ) -> Proportions:
        """The running sums and their ratio."""
        if n_batches < self.burn_in or not informs(statistics):
            return before
        memory = running_mean(before.memory, document_sums(before.alpha, statistics), rate)
        x, y = memory[:-1], memory[-1]
        alpha = (rate * (self.shape - 1) + x) / (rate * self.inverse_scale + y)
        return Proportions(np.clip(alpha, LEAST_ALPHA, MOST_ALPHA), memory)


@dataclass(frozen=True)
class DampedNewton:
    """One Newton step towards the maximum of the minibatch, times the rate.

    Section 3.3 of Hoffman et al. (2010), "Online learning for latent Dirichlet
    allocation". A step that would take any alpha to LEAST_ALPHA or below, or beyond
    MOST_ALPHA, is not taken.

    Parameters
    ----------
    burn_in : int
        Minibatches at the start that leave alpha alone.
    """

    burn_in: int = 10

    def memory_size(self, n_components: int) -> int:
        """Nothing."""
        return 0

    def step(
        self, before: Proportions, statistics: Statistics, rate: float, n_batches: int
    ) -> Proportions:
        """alpha - rate H^-1 g, or what was before."""
        if n_batches < self.burn_in or not informs(statistics):
            return before
        alpha = np.clip(before.alpha, LEAST_ALPHA, MOST_ALPHA)
        alpha = alpha + rate * newton_direction(alpha, gradient(alpha, statistics.log_theta))
        inside = (alpha > LEAST_ALPHA) & (alpha <= MOST_ALPHA)
        return Proportions(alpha, before.memory) if inside.all() else before


def informs(statistics: Statistics) -> bool:
    """Whether there is anything on alpha: some words, and more than one topic."""
    return statistics.log_theta is not None and len(statistics.log_theta) > 1


def running_mean(memory: np.ndarray, observed: np.ndarray, rate: float) -> np.ndarray:
    """(1 - rate) memory + rate observed; the first replaces a memory of zeros."""
    return (1 - rate) * memory + rate * observed if memory.any() else observed


def document_sums(alpha: np.ndarray, statistics: Statistics) -> np.ndarray:
    """sum_d x_dk and last sum_d y_d of `GammaPrior`; documents without words add nothing."""
    alpha_0 = alpha.sum()
    lengths = statistics.lengths[statistics.lengths > 0]
    total = digamma(alpha_0 + lengths)
    # The mean over documents of psi(alpha_k + n_dk) - psi(alpha_k).
    growth = statistics.log_theta + total.mean() - digamma(alpha)
    x = len(lengths) * alpha * np.maximum(growth, 0.0)
    return np.append(x, (total - digamma(alpha_0)).sum())


def solve_alpha(mean_log_theta: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The alpha in [LEAST_ALPHA, MOST_ALPHA]^K that maximises f, to 1e-8, relative.

    Where the bounds do not bind, psi(alpha_k) - psi(alpha_0) = mean_log_theta_k.
    Newton's method with backtracking (Minka, 2000), projected to the bounds: a topic
    at a bound that it would cross takes no part in the step.

    Parameters
    ----------
    mean_log_theta : ndarray of shape (n_components,)
        E[log theta], a mean over documents; of two topics at least.
    start : ndarray of shape (n_components,)
        Any positive numbers; near the solution two or three steps are enough.

    Returns
    -------
    alpha : ndarray of shape (n_components,)
    """
    mean = np.clip(mean_log_theta, LEAST_LOG_THETA, 0.0)
    alpha = np.clip(start, LEAST_ALPHA, MOST_ALPHA)
    for _ in range(MAX_STEPS):
        slope = gradient(alpha, mean)
        free = np.where(slope < 0, alpha > LEAST_ALPHA, alpha < MOST_ALPHA)
        change = newton_direction(alpha, slope, free) / alpha
        size = np.abs(change).max()
        alpha = moved(alpha, change) if size < 1e-2 else climbed(alpha, change, mean)
        if size < 1e-6:
            break
    return alpha


def climbed(alpha: np.ndarray, change: np.ndarray, mean_log_theta: np.ndarray) -> np.ndarray:
    """`moved` by the largest of change, change / 2, change / 4, ... that does not lower f."""
    level = objective(alpha, mean_log_theta)
    proposal = moved(alpha, change)
    while objective(proposal, mean_log_theta) < level:
        change = change / 2
        proposal = moved(alpha, change)
    return proposal


def moved(alpha: np.ndarray, change: np.ndarray) -> np.ndarray:
    """alpha after a relative change, within the bounds.

    The change is that of 1 / alpha: psi(x) is nearly -1 / x for small x, so that there
    a Newton step ends where it should, and no step ends below 0. At most fourfold.
    """
    return np.clip(alpha / np.maximum(1 - change, 0.25), LEAST_ALPHA, MOST_ALPHA)


def objective(alpha: np.ndarray, mean_log_theta: np.ndarray) -> float:
    """f(alpha), the mean log density of theta but for what alpha does not change."""
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + alpha @ mean_log_theta


def gradient(alpha: np.ndarray, mean_log_theta: np.ndarray) -> np.ndarray:
    """psi(alpha_0) - psi(alpha_k) + mean_log_theta_k."""
    return digamma(alpha.sum()) - digamma(alpha) + mean_log_theta


def newton_direction(
    alpha: np.ndarray, slope: np.ndarray, free: np.ndarray | bool = True
) -> np.ndarray:
    """-H^-1 slope, with H = psi'(alpha_0) - diag(psi'(alpha)) of the free topics; 0 for others."""
    inverse = free / trigamma(alpha)
    shared = (inverse @ slope) / (inverse.sum() - 1 / zeta(2.0, alpha.sum()))
    return inverse * (slope - shared)


def trigamma(x: np.ndarray) -> np.ndarray:
    """psi'(x) to 1e-10, by the asymptotic series at x + 8; faster than scipy's for arrays."""
    lower = 1 / (x + SHIFTS)
    w = 1 / (x + len(SHIFTS))
    w2 = w * w
    tail = w + w2 * (1 / 2 + w * (1 / 6 - w2 * (1 / 30 - w2 * (1 / 42 - w2 / 30))))
    return (lower * lower).sum(axis=0) + tail
