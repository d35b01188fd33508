# SPDX-License-Identifier: BSD-3-Clause
"""Protocol of the kinds of posterior, and their update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from streamtopics.messages import AnyStatistics

TOO_EXTREME = (
    "the update would make the posterior infinite or undefined; the step size, the boosting scale "
    "or the prior is too extreme"
)
# Greater masses have no divergences in double precision.
MOST_MASS = 1e290
# Least lam after a reflection by noise.
LEAST_NOISY = 1e-100

# An attribute set together with the posterior: a namespace, a name and the value.
Swap = tuple[Mapping[str, Any], str, Any]
Coefficient = float | np.ndarray


def swap(owner: object, name: str, value: Any) -> Swap:
    return vars(owner), name, value


@dataclass(frozen=True)
class Noise:
    """Noise of an update: lam <- |update(lam) + sqrt(variance lam) z|, z ~ N(0, 1) from `seed`."""

    variance: float
    seed: tuple[int, ...]

    def added(self, updated: np.ndarray, lam: np.ndarray) -> np.ndarray:
        z = np.random.default_rng(self.seed).standard_normal(lam.shape)
        return np.maximum(np.abs(updated + np.sqrt(self.variance * lam) * z), LEAST_NOISY)


@dataclass(frozen=True)
class Blend:
    """An update of a posterior: the statistics of a minibatch, and weights.

    A weight is one number, or one for each distribution (node) of the posterior. The natural
    parameter lam of a node, for example a topic's pseudo-counts of words, becomes

        retain * lam + gain * s + prior * eta + boost * xi

    Here s are the statistics of a minibatch. eta is the prior, to which forgetting leads back. xi
    is a prior that a rule may add again with each minibatch (a boost). `noise` is added to lam at
    the end. `alpha`, of shape (n_components,), replaces the Dirichlet parameter of the documents'
    proportions, unless None. `retention` is the reported share of lam kept, by default `retain`.
    """

    retain: Coefficient  #: Weight of lam
    gain: Coefficient  #: Weight of the statistics
    prior: Coefficient  #: Weight of eta
    statistics: Any  #: Statistics of the minibatch
    alpha: np.ndarray | None = None  #: Dirichlet parameter of the documents' proportions
    noise: Noise | None = None  #: Added to lam at the end
    boost: Coefficient = 0.0  #: Weight of xi
    retention: Coefficient | None = None  #: Reported share of lam kept

    @property
    def reported_retention(self) -> Coefficient:
        return self.retain if self.retention is None else self.retention


class Counters(NamedTuple):
    n_batches: int
    n_documents: int
    n_tokens: float  # Minibatches, documents and tokens
    c: np.ndarray  # (n_nodes,): weight of eta

    def plus(self, blend: Blend) -> Counters:
        found, (n_batches, n_documents, n_tokens, c) = blend.statistics, self
        return Counters(
            n_batches + found.n_batches,
            n_documents + found.n_documents,
            n_tokens + found.n_tokens,
            blend.retain * c + blend.prior,
        )


class View(Protocol):
    """A posterior, or a proposed posterior, as seen by a local step."""

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of topic proportions, (n_components,); empty if there are none."""

    @property
    def mass(self) -> np.ndarray:
        """For each node (topic), the sum of the pseudo-counts lam; shape (n_nodes,)."""


class Posterior(View, Protocol):
    """Interface of posteriors, as update rules read and change them.

    A posterior has distributions (nodes) of parameters beta, for example of topics. Each node has a
    natural parameter lam, a prior eta and a boosted prior xi; see `Blend`.
    """

    #: The needs of rules that this posterior meets, out of "divergences", "slopes", "dense",
    #: "smoothing", "alpha" and "noise"
    offers: ClassVar[frozenset[str]]

    @property
    def n_nodes(self) -> int:
        """Number of distributions (nodes), for example topics."""

    @property
    def n_batches(self) -> int:
        """Number of learnt minibatches."""

    @property
    def n_documents(self) -> int:
        """Number of learnt documents, or of samples if the model has no documents."""

    @property
    def n_tokens(self) -> float:
        """Learnt tokens; in models without words, samples expected at each node, summed."""

    @property
    def seed(self) -> int:
        """Seed for the random draws of an update rule."""

    @property
    def prior_mass(self) -> np.ndarray:
        """For each node, the sum of the pseudo-counts of its prior eta; shape (n_nodes,)."""

    @property
    def boosted_mass(self) -> np.ndarray:
        """For each node, the sum of the pseudo-counts of its boosted prior xi; shape (n_nodes,)."""

    def pooled(self, mass: np.ndarray) -> Coefficient:
        """Return, for each node, the sum of `mass` over all nodes boosted together with it.

        With the norm "whole" a `Boost` boosts all topics together (the result is then one number),
        or the nodes of each block whose masses are counts.
        """

    def after(self, blend: Blend) -> View:
        """Return the posterior after the update `blend`; this posterior itself stays the same."""

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """Return how far `blend` moves the posterior: its divergences from two distributions.

        With q the posterior after `blend`, the results are KL(q || p) in nats, first for p with the
        present parameter lam, then for p with the prior eta; shape (n_nodes,) each. If `blend` has
        a boost, the parameters of p are lam + boost * xi and eta + boost * xi.
        """

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function of rho: the derivative of a bound with respect to rho.

        rho is the share of lam to keep. The bound is E_q[log p(beta | rho lam + (1 - rho) eta +
        boost xi)] in nats, where q is the posterior after `blend`. rho and the derivative have
        shape (n_nodes,).
        """

    def blend(self, blend: Blend, swaps: Sequence[Swap] = ()) -> None:
        """Make the update `blend`, and set attributes of other objects in the same atomic step.

        `swaps` has for each attribute the ``__dict__`` of the object, the name and the value. If
        this raises an exception, nothing has changed.
        """


class Learn(Protocol):
    """The local step on the current minibatch, as a function of a view."""

    def __call__(self, view: Any, /, *, warm: bool = False) -> Any:
        """Return statistics; if `warm`, documents start from the last call's result."""


def check_not_extreme(valid: bool | np.bool_) -> None:
    if not valid:
        raise ValueError(TOO_EXTREME)


def within_reach(mass: np.ndarray) -> np.ndarray:
    """Return masses, or refuse masses too large for divergences."""
    check_not_extreme((mass < MOST_MASS).all())
    return mass


def check_finite(counts: np.ndarray) -> None:
    if not np.isfinite(counts).all():
        worst = counts[~np.isfinite(counts)].flat[0]
        raise ValueError(
            f"the statistics of the minibatch hold {worst}; its counts are too large or too small, "
            "or the local step is wrong"
        )


EMPTY = np.empty(0)
# With the strides of a loaded array, so joblib.hash is the same for both.
NO_DIRECTIONS = EMPTY.reshape(0, 1)


class State(NamedTuple):
    """The fields changed by an update."""

    # Learnt part: counts of words by topic, or natural parameters by block
    S: Any
    c: np.ndarray  # (n_nodes,): weights of eta, of S and of xi; blocks have S itself, without a
    a: np.ndarray
    learnt_mass: np.ndarray  # (n_components,): sum of S over the words; not for blocks
    b: np.ndarray
    # Dirichlet parameter of the documents' topic proportions; empty without proportions
    alpha: np.ndarray = EMPTY
    n_batches: int = 0
    n_documents: int = 0
    n_tokens: float = 0.0  # Learnt minibatches, documents and tokens
    # (n_components, n_dimensions + 1): sums of the learnt vectors of documents, and numbers of
    # vectors; empty without vectors
    directions: np.ndarray = NO_DIRECTIONS

    def counted(self, statistics: AnyStatistics) -> dict[str, Any]:
        return {
            "n_batches": self.n_batches + statistics.n_batches,
            "n_documents": self.n_documents + statistics.n_documents,
            "n_tokens": self.n_tokens + statistics.n_tokens,
        }


class StatePosterior(ABC):
    _holds = "n_batches: >=0; n_documents: >=0; n_tokens: >=0"
    _state: State
    prior_mass: np.ndarray
    boosted_mass: np.ndarray
    seed: int

    @property
    @abstractmethod
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""

    @property
    def c(self) -> np.ndarray:
        return self._state.c

    @property
    def b(self) -> np.ndarray:
        return self._state.b

    @property
    def alpha(self) -> np.ndarray:
        return self._state.alpha

    @property
    def n_batches(self) -> int:
        return self._state.n_batches

    @property
    def n_documents(self) -> int:
        return self._state.n_documents

    @property
    def n_tokens(self) -> float:
        return self._state.n_tokens

    @property
    def counters(self) -> Counters:
        return Counters(self.n_batches, self.n_documents, self.n_tokens, self.c)

    def mass_after(self, blend: Blend) -> np.ndarray:
        return (
            blend.retain * self.mass
            + blend.gain * blend.statistics.mass
            + blend.prior * self.prior_mass
            + blend.boost * self.boosted_mass
        )


P = TypeVar("P", bound=StatePosterior)


class StateProposal(Generic[P]):
    def __init__(self, posterior: P, blend: Blend):
        self._posterior = posterior
        self._blend = blend

    @property
    def alpha(self) -> np.ndarray:
        alpha = self._blend.alpha
        return self._posterior.alpha if alpha is None else alpha

    @property
    def mass(self) -> np.ndarray:
        return self._posterior.mass_after(self._blend)
