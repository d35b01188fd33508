# SPDX-License-Identifier: BSD-3-Clause
"""Updates of alpha, the Dirichlet parameter of the documents' topic proportions.

With mean log proportions s, alpha maximises ``f(alpha) = log Gamma(sum_k alpha_k) - sum_k log
Gamma(alpha_k) + sum_k alpha_k s_k``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.special import digamma, gammaln, zeta

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates.rates import MEAN_DECAY, StepSize, decay_between
from streamtopics.updates.rule import Traits, Wrapper
from streamtopics.utils.checks import check_method, check_positive, check_range, check_whole

# Bounds of alpha: below, topics hardly come back; above, proportions vary by less than 1 %.
LEAST_ALPHA, MOST_ALPHA = 1e-3, 1e4
# Below every document, if alpha is at least LEAST_ALPHA.
LEAST_LOG_THETA = -2 / LEAST_ALPHA
# 1 - sum_k exp(E[log theta_k]), about (K - 1) / (2 alpha_0), for two topics of MOST_ALPHA.
MARGIN = 1 / (4 * MOST_ALPHA)
MAX_STEPS = 100
SHIFTS = np.arange(8.0)[:, None]

Memory = np.ndarray | None
LOG_THETA = frozenset({"log_theta"})


class Learnt(NamedTuple):
    # (n_components,): before the first and after the last minibatch
    alphas: tuple[np.ndarray, np.ndarray]
    memory_pair: tuple[Memory, Memory]  # Likewise
    n_before: int  # Minibatches before, and in the update
    n_batches: int


@runtime_checkable
class DocTopicUpdate(Protocol):
    """An update of alpha."""

    #: Report of the local step: "log_theta" or "shares"
    needs: ClassVar[frozenset[str]]

    @property
    def burn_in(self) -> int:
        """First documents without an update."""

    def step(
        self, alpha: np.ndarray, memory: Memory, statistics: Statistics, n_batches: int
    ) -> tuple[np.ndarray, Memory]:
        """Alpha and memory after a minibatch inferred under `alpha`."""

    def delayed(
        self, alpha: np.ndarray, memory: Memory, learnt: "Learnt", n_batches: int
    ) -> tuple[np.ndarray, Memory]:
        """Alpha and memory after minibatches inferred under an older alpha."""


@dataclass(frozen=True)
class Fixed:
    """Keeps alpha, the Dirichlet parameter of topic proportions, unchanged."""

    burn_in: ClassVar[int] = 0
    needs: ClassVar[frozenset[str]] = frozenset()

    def step(
        self, alpha: np.ndarray, memory: Memory, found: object, n_batches: int
    ) -> tuple[np.ndarray, Memory]:
        return alpha, memory

    delayed = step


FIXED = Fixed()


class RunningMean(ABC):
    burn_in: int
    step_size: StepSize

    def __post_init__(self) -> None:
        check_whole(self, least=0, burn_in=self.burn_in)
        check_method(self, "__call__", "MeanDecay(0.7)", step_size=self.step_size)

    @abstractmethod
    def observed(self, alpha: np.ndarray, statistics: Statistics) -> Memory:
        """The part of a minibatch in the mean, or None."""

    @abstractmethod
    def solved(self, memory: np.ndarray, alpha: np.ndarray, n_batches: int) -> np.ndarray:
        """The alpha of a running mean."""

    def step(
        self, alpha: np.ndarray, memory: Memory, statistics: Statistics, n_batches: int
    ) -> tuple[np.ndarray, Memory]:
        observed = self.observed(alpha, statistics)
        if observed is None:
            return alpha, memory
        memory = running_mean(memory, observed, self.step_size(n_batches))
        return self.solved(memory, alpha, n_batches), memory

    def delayed(
        self, alpha: np.ndarray, memory: Memory, learnt: Learnt, n_batches: int
    ) -> tuple[np.ndarray, Memory]:
        before, after = learnt.memory_pair
        if after is None or after is before:
            return alpha, memory
        observed = after
        if before is not None:
            left = decay_between(
                self.step_size, learnt.n_before, learnt.n_before + learnt.n_batches
            )
            if left >= 1.0:
                return alpha, memory
            observed = (after - left * before) / (1.0 - left)
        end = n_batches + learnt.n_batches
        memory = running_mean(memory, observed, 1.0 - decay_between(self.step_size, n_batches, end))
        return self.solved(memory, alpha, end - 1), memory


@dataclass(frozen=True)
class FixedPoint(RunningMean):
    """Learns alpha, the Dirichlet parameter of topic proportions, by maximum likelihood.

    The method is from Minka (2000), "Estimating a Dirichlet distribution". The data are a running
    mean of log topic proportions, as in Dupuy and Bach (2017).

    Parameters
    ----------
    burn_in : int
        Number of documents at the start of a stream that do not change alpha. As long as all topics
        are alike, alpha would grow without end.
    step_size : StepSize
        Weight of a minibatch in the running mean.
    """

    burn_in: int = 1000
    step_size: StepSize = MEAN_DECAY
    needs: ClassVar[frozenset[str]] = LOG_THETA

    def observed(self, alpha: np.ndarray, statistics: Statistics) -> Memory:
        log_theta = statistics.log_theta
        if log_theta is None or not is_informative(statistics):
            return None
        return np.maximum(log_theta, LEAST_LOG_THETA)

    def solved(self, memory: np.ndarray, alpha: np.ndarray, n_batches: int) -> np.ndarray:
        return solve_alpha(memory, alpha)


@dataclass(frozen=True)
class GammaPrior(RunningMean):
    """Learns alpha, the Dirichlet parameter of topic proportions, by the mode under a gamma prior.

    ``alpha_k = (shape - 1 + sum_d x_dk) / (inverse_scale + sum_d y_d)``. Each document, with N_d
    tokens and n_dk of topic k, adds ``x_dk = alpha_k (psi(alpha_k + n_dk) - psi(alpha_k))`` and
    ``y_d = psi(alpha_0 + N_d) - psi(alpha_0)``, with the digamma function psi and the sum alpha_0
    of alpha: Sato et al. (2010). For a step size r, sums cover about the last 1 / r minibatches.

    Parameters
    ----------
    shape : float
        Shape of the prior, at least 1. A shape above 1 keeps alpha_k away from 0.
    inverse_scale : float
        Inverse scale of the prior, whose mean is shape / inverse_scale. With 1 the prior weighs
        less than one usual document.
    burn_in, step_size
        As in `FixedPoint`.
    """

    shape: float = 1.0
    inverse_scale: float = 1.0
    burn_in: int = 1000
    step_size: StepSize = MEAN_DECAY
    needs: ClassVar[frozenset[str]] = LOG_THETA

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, 1, np.inf, shape=self.shape)
        check_positive(self, inverse_scale=self.inverse_scale)

    def observed(self, alpha: np.ndarray, statistics: Statistics) -> Memory:
        return document_sums(alpha, statistics) if is_informative(statistics) else None

    def solved(self, memory: np.ndarray, alpha: np.ndarray, n_batches: int) -> np.ndarray:
        rate, x, y = self.step_size(n_batches), memory[:-1], memory[-1]
        return within_bounds((rate * (self.shape - 1) + x) / (rate * self.inverse_scale + y))


@dataclass(frozen=True)
class DampedNewton:
    """Learns alpha, the Dirichlet parameter of topic proportions, by Newton steps.

    Each minibatch makes one step, as in Hoffman et al. (2010). If the step would move an entry of
    alpha out of (1e-3, 1e4], alpha stays the same.

    Parameters
    ----------
    burn_in, step_size
        As in `FixedPoint`, but the step size is a factor of the Newton step.
    """

    burn_in: int = 1000
    step_size: StepSize = MEAN_DECAY
    needs: ClassVar[frozenset[str]] = LOG_THETA

    def __post_init__(self) -> None:
        check_whole(self, least=0, burn_in=self.burn_in)
        check_method(self, "__call__", "MeanDecay(0.7)", step_size=self.step_size)

    def step(
        self, alpha: np.ndarray, memory: Memory, statistics: Statistics, n_batches: int
    ) -> tuple[np.ndarray, Memory]:
        log_theta = statistics.log_theta
        if log_theta is None or not is_informative(statistics):
            return alpha, memory
        start = within_bounds(alpha)
        new = start + self.step_size(n_batches) * newton_step(start, log_theta)
        return (new if _is_inside(new) else alpha), memory

    def delayed(
        self, alpha: np.ndarray, memory: Memory, learnt: Learnt, n_batches: int
    ) -> tuple[np.ndarray, Memory]:
        before, after = learnt.alphas
        was = self.step_size(learnt.n_before)
        rate = self.step_size(n_batches) / was if was > 0 else 1.0
        new = alpha + rate * (after - before)
        return (new if _is_inside(new) else alpha), memory


@dataclass(frozen=True)
class Shares(RunningMean):
    """Learns alpha, the Dirichlet parameter of topic proportions, if each document has one topic.

    alpha follows the mean topic proportions. The sum of alpha does not change.

    Parameters
    ----------
    floor : float
        Share of alpha's sum divided equally among all topics, so a vanished topic can come back.
    burn_in, step_size
        As in `FixedPoint`.
    """

    floor: float = 0.01
    burn_in: int = 0
    step_size: StepSize = MEAN_DECAY
    needs: ClassVar[frozenset[str]] = frozenset({"shares"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, 0, 1, floor=self.floor)

    def observed(self, alpha: np.ndarray, statistics: Statistics) -> Memory:
        return statistics.shares

    def solved(self, memory: np.ndarray, alpha: np.ndarray, n_batches: int) -> np.ndarray:
        shares = (1.0 - self.floor) * memory + self.floor / len(memory)
        return np.maximum(alpha.sum() * shares, 1e-10)  # A share may be 0 without `floor`.


@dataclass(frozen=True)
class LearnsDocTopicPrior(Wrapper):
    """The rule `update`, which also learns alpha, the Dirichlet parameter of topic proportions.

    Parameters
    ----------
    update : Rule
        Rule of the topics.
    doc_topic : DocTopicUpdate
        How alpha is learnt, for example `FixedPoint`.
    """

    doc_topic: DocTopicUpdate

    @property
    def traits(self) -> Traits:
        inner, mine = self.update.traits, self.doc_topic.needs
        return replace(inner, needs=inner.needs | mine | {"alpha"}) if mine else inner

    def init(self, posterior: Posterior) -> tuple[Any, Memory]:
        return self.update.init(posterior), None

    def without_words(self, state: tuple[Any, Memory], words: np.ndarray) -> tuple[Any, Memory]:
        inner, memory = state
        return self.update.without_words(inner, words), memory

    def step(
        self, posterior: Posterior, learn: Learn, state: tuple[Any, Memory]
    ) -> tuple[Blend, tuple[Any, Memory]]:
        inner, memory = state
        blend, inner = self.update.step(posterior, learn, inner)
        if self.doc_topic == FIXED or posterior.n_documents < self.doc_topic.burn_in:
            return blend, (inner, memory)
        found = blend.statistics
        alpha, memory = self.doc_topic.step(found.alpha, memory, found, posterior.n_batches)
        return replace(blend, alpha=alpha), (inner, memory)


def _is_inside(alpha: np.ndarray) -> bool:
    return bool(((alpha > LEAST_ALPHA) & (alpha <= MOST_ALPHA)).all())


def is_informative(statistics: Statistics) -> bool:
    return statistics.log_theta is not None and len(statistics.log_theta) > 1


def running_mean(memory: Memory, observed: np.ndarray, rate: float) -> np.ndarray:
    return observed if memory is None else (1 - rate) * memory + rate * observed


def document_sums(alpha: np.ndarray, statistics: Statistics) -> np.ndarray:
    """``sum_d x_dk``, then ``sum_d y_d``, of `GammaPrior`."""
    alpha_0 = alpha.sum()
    lengths = statistics.lengths[statistics.lengths > 0]
    total = digamma(alpha_0 + lengths)
    # The mean over documents of psi(alpha_k + n_dk) - psi(alpha_k).
    growth = statistics.log_theta + total.mean() - digamma(alpha)
    y = (total - digamma(alpha_0)).sum()
    return np.append(len(lengths) * alpha * growth, max(y, 1e-100))  # not 0 by rounding


def solve_alpha(mean_log_theta: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The alpha with ``psi(alpha_k) - psi(alpha_0) = mean_log_theta_k``, within bounds.

    Newton's method with backtracking, to 1e-8, relative.
    """
    # alpha is infinite if exp(mean_log_theta) sums to 1: a common shift keeps the sum below.
    mean = np.minimum(np.maximum(mean_log_theta, LEAST_LOG_THETA), 0.0)
    mean = mean - np.log(max(1.0, np.exp(mean).sum() / (1 - MARGIN)))
    alpha = within_bounds(start)
    for _ in range(MAX_STEPS):
        change = newton_step(alpha, mean) / alpha
        size = np.abs(change).max()
        alpha = moved(alpha, change) if size < 0.01 else line_search(alpha, change, mean)
        if size * size * (1 + alpha.sum()) < 1e-8:
            break
    return within_bounds(alpha)


def within_bounds(alpha: np.ndarray) -> np.ndarray:
    top = alpha.max()
    scaled = alpha if top <= MOST_ALPHA else alpha / top * MOST_ALPHA
    return np.maximum(scaled, LEAST_ALPHA)


def line_search(alpha: np.ndarray, change: np.ndarray, mean_log_theta: np.ndarray) -> np.ndarray:
    """`moved` by the first of change, change / 2, ... without a fall of f."""
    level = objective(alpha, mean_log_theta)
    proposal = moved(alpha, change)
    while objective(proposal, mean_log_theta) < level:
        change = change / 2
        proposal = moved(alpha, change)
    return proposal


def moved(alpha: np.ndarray, change: np.ndarray) -> np.ndarray:
    """alpha after a relative change of 1 / alpha, at most fourfold."""
    # For small x, psi(x) is nearly -1 / x: a Newton step ends at the root.
    return alpha / np.maximum(1 - change, 0.25)


def objective(alpha: np.ndarray, mean_log_theta: np.ndarray) -> float:
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + alpha @ mean_log_theta


def newton_step(alpha: np.ndarray, mean_log_theta: np.ndarray) -> np.ndarray:
    """``-H^-1 g`` in O(K), with the gradient g and Hessian H of f."""
    alpha_0 = alpha.sum()
    g = digamma(alpha_0) - digamma(alpha) + mean_log_theta
    inverse = 1 / digamma_derivative(alpha)
    shared = (inverse @ g) / (inverse.sum() - 1 / zeta(2.0, alpha_0))
    return inverse * (g - shared)


def digamma_derivative(x: np.ndarray) -> np.ndarray:
    """psi'(x) to 1e-8, relative."""
    below = 1 / (x + SHIFTS)
    w = 1 / (x + len(SHIFTS))
    w2 = w * w
    tail = w + w2 * (1 / 2 + w * (1 / 6 - w2 * (1 / 30 - w2 / 42)))
    return (below * below).sum(axis=0) + tail
