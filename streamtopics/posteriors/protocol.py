# SPDX-License-Identifier: BSD-3-Clause
"""Protocol of the kinds of posterior, and the update that is carried out in one.

An update of a posterior is affine in its natural parameter,

    lam <- retain * lam + gain * s + prior * eta + boost * xi,

where `eta` is the prior that a stream starts from and forgets to, `xi` the knowledge that
is boosted and `s` the statistics of a minibatch.
"""

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
# Where noise would reflect lam to less, it stays here.
LEAST_NOISY = 1e-100

# An attribute to set together with the posterior: a namespace, a name and the value.
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
    """The coefficients of one update, each a number or one for each node."""

    retain: Coefficient  #: Weights of lam, of the statistics and of eta
    gain: Coefficient
    prior: Coefficient
    statistics: Any  #: What the minibatch says
    #: (n_components,): new Dirichlet parameter of the documents' proportions; None leaves it
    alpha: np.ndarray | None = None
    noise: Noise | None = None  #: Added afterwards, to all of lam
    boost: Coefficient = 0.0  #: Weight of xi
    #: Share of lam that the rule itself keeps, to be reported; None is `retain`
    retention: Coefficient | None = None

    @property
    def reported_retention(self) -> Coefficient:
        return self.retain if self.retention is None else self.retention


class Counters(NamedTuple):
    """Numbers of minibatches, documents and tokens learnt from."""

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

    @property
    def n_learnt(self) -> tuple[int, int, float]:
        return self[:3]


class View(Protocol):
    """A posterior, or what an update would make of one, as a local step's model sees it."""

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions; empty if there are none."""

    @property
    def mass(self) -> np.ndarray:
        """Pseudo-counts of each node, its prior's included, of shape (n_nodes,)."""


class Posterior(View, Protocol):
    """The state of a stream, as update rules see it."""

    #: What a rule may need beyond masses and counters: "divergences", "slopes", "dense",
    #: "smoothing", "alpha" and "noise"
    offers: ClassVar[frozenset[str]]

    @property
    def n_nodes(self) -> int:
        """Number of distributions that make up the posterior."""

    @property
    def n_batches(self) -> int:
        """Minibatches blended in so far."""

    @property
    def n_documents(self) -> int:
        """Documents, or samples, blended in so far."""

    @property
    def n_tokens(self) -> float:
        """Tokens, or mass, blended in so far."""

    @property
    def seed(self) -> int:
        """Seed of what a rule draws at random."""

    @property
    def prior_mass(self) -> np.ndarray:
        """Pseudo-counts of eta, for each node."""

    @property
    def boosted_mass(self) -> np.ndarray:
        """Pseudo-counts of xi, for each node."""

    def pooled(self, mass: np.ndarray) -> Coefficient:
        """Sum of the masses of nodes that are boosted together, for each node or for all."""

    def after(self, blend: Blend) -> View:
        """The view after `blend`, which is not carried out."""

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """KL(q || lam) and KL(q || eta) of each node, in nats, for the q that `blend` would make.

        With a boost, from lam + boost xi and eta + boost xi. Both of shape (n_nodes,).
        """

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        """Slope of E_q[log p(beta | rho lam + (1 - rho) eta + boost xi)] as a function of rho.

        In nats, for the q that `blend` would make; rho and slopes have shape (n_nodes,).
        """

    def blend(self, blend: Blend, swaps: Sequence[Swap] = ()) -> None:
        """Carry out an update, and set the attributes in `swaps` in the same atomic step.

        The statistics are checked first: nothing has changed when it raises.
        """


class Learn(Protocol):
    """The local step on the current minibatch, as a function of what it sees of the topics."""

    def __call__(self, view: Any, /, *, warm: bool = False) -> Any:
        """Statistics under a view; if `warm`, documents go on from where the last call ended."""


def check_not_extreme(valid: bool | np.bool_) -> None:
    """Refuse an update that does not lead to finite masses and parameters."""
    if not valid:
        raise ValueError(TOO_EXTREME)


def within_reach(mass: np.ndarray) -> np.ndarray:
    """The masses that an update leads to, which must have divergences."""
    check_not_extreme((mass < MOST_MASS).all())
    return mass


def check_finite(counts: np.ndarray) -> None:
    """Refuse statistics with NaN or infinity."""
    if not np.isfinite(counts).all():
        worst = counts[~np.isfinite(counts)].flat[0]
        raise ValueError(
            f"the statistics of the minibatch hold {worst}; its counts are too large or too small, "
            "or the local step is wrong"
        )


EMPTY = np.empty(0)
# Of the strides that it has when loaded, so that joblib.hash has one value for both.
NO_DIRECTIONS = EMPTY.reshape(0, 1)


class State(NamedTuple):
    """All that an update changes; it is replaced as a whole."""

    # What was learnt: counts of words by topic, or natural parameters by block
    S: Any
    c: np.ndarray  # (n_nodes,): weights of eta, of S and of xi; blocks have S itself, and no a
    a: np.ndarray
    learnt_mass: np.ndarray  # (n_components,): sum of S over the words; blocks have none
    b: np.ndarray
    # Dirichlet parameter of the documents' topic proportions; empty where there are none
    alpha: np.ndarray = EMPTY
    n_batches: int = 0
    n_documents: int = 0
    n_tokens: float = 0.0  # Minibatches, documents and tokens blended in so far
    # (n_components, n_dimensions + 1): sums of the vectors of documents learnt, and how many had
    # one; empty without vectors
    directions: np.ndarray = NO_DIRECTIONS

    def counted(self, statistics: AnyStatistics) -> dict[str, Any]:
        return {
            "n_batches": self.n_batches + statistics.n_batches,
            "n_documents": self.n_documents + statistics.n_documents,
            "n_tokens": self.n_tokens + statistics.n_tokens,
        }


class StatePosterior(ABC):
    """Base of posteriors that read their weights and counters off one state."""

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
        """Weight of xi in each node; 0 in topics where it is not another prior than eta."""
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

    @property
    def prior_part(self) -> np.ndarray:
        """Mass of each node that is owed to the prior and to its boosts."""
        return self.c * self.prior_mass + self.b * self.boosted_mass

    def mass_after(self, blend: Blend) -> np.ndarray:
        """The mass that there would be after `blend`, but for noise."""
        return (
            blend.retain * self.mass
            + blend.gain * blend.statistics.mass
            + blend.prior * self.prior_mass
            + blend.boost * self.boosted_mass
        )


P = TypeVar("P", bound=StatePosterior)


class StateProposal(Generic[P]):
    """A posterior as it would stand after a blend that was not carried out."""

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
