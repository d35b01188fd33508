# SPDX-License-Identifier: BSD-3-Clause
"""State and base of the posteriors that keep lam = c * eta + b * xi + a * S."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from streamtopics.messages import AnyStatistics
from streamtopics.posteriors.protocol import Blend, Counters

EMPTY = np.empty(0)
# Of the strides that it has when it is loaded, so that joblib.hash has one value for both.
NO_DIRECTIONS = EMPTY.reshape(0, 1)


class State(NamedTuple):
    """All that an update changes; it is replaced as a whole.

    Attributes
    ----------
    S : Rows or dict of ndarray
        What was learnt: counts of words by topic, of which updates change rows in place, or
        natural parameters by block.
    c, a, b : ndarray of shape (n_nodes,), float64
        Weights of eta, of S and of xi; blocks have S itself, and no a.
    learnt_mass : ndarray of shape (n_components,), float64
        Sum of S over the words; blocks have none.
    alpha : ndarray, float64
        Dirichlet parameter of the documents' topic proportions; empty where there are none.
    n_batches, n_documents : int
    n_tokens : float
        Minibatches, documents and tokens blended in so far.
    directions : ndarray of shape (n_components, n_dimensions + 1)
        Sums of the vectors of documents learnt, and how many had one; empty without vectors.
    """

    S: Any
    c: np.ndarray
    a: np.ndarray
    learnt_mass: np.ndarray
    b: np.ndarray
    alpha: np.ndarray = EMPTY
    n_batches: int = 0
    n_documents: int = 0
    n_tokens: float = 0.0
    directions: np.ndarray = NO_DIRECTIONS

    def counted(self, statistics: AnyStatistics) -> dict[str, Any]:
        """The counters after these statistics."""
        return {
            "n_batches": self.n_batches + statistics.n_batches,
            "n_documents": self.n_documents + statistics.n_documents,
            "n_tokens": self.n_tokens + statistics.n_tokens,
        }


class StatePosterior(ABC):
    """Weights, counters and the prior's mass of a posterior, as its state has them.

    Attributes
    ----------
    prior_mass, boosted_mass : ndarray of shape (n_nodes,)
        Pseudo-counts of eta and of xi, for each node.
    seed : int
        Of what a rule draws at random.
    """

    _holds = "n_batches: >=0; n_documents: >=0; n_tokens: >=0"
    _state: State
    prior_mass: np.ndarray
    boosted_mass: np.ndarray
    seed: int

    @property
    @abstractmethod
    def mass(self) -> np.ndarray:
        """Pseudo-counts of each node, its prior's included."""

    @property
    def c(self) -> np.ndarray:
        """Weight of eta in each node."""
        return self._state.c

    @property
    def b(self) -> np.ndarray:
        """Weight of xi in each node; 0 in topics where it is not another prior than eta."""
        return self._state.b

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions; empty if there are none."""
        return self._state.alpha

    @property
    def n_batches(self) -> int:
        """Minibatches blended in so far."""
        return self._state.n_batches

    @property
    def n_documents(self) -> int:
        """Documents, or samples, blended in so far."""
        return self._state.n_documents

    @property
    def n_tokens(self) -> float:
        """Tokens, or mass summed over the nodes, blended in so far."""
        return self._state.n_tokens

    @property
    def counters(self) -> Counters:
        """What was blended in so far, and the weight of the prior."""
        return Counters(self.n_batches, self.n_documents, self.n_tokens, self.c)

    @property
    def prior_part(self) -> np.ndarray:
        """Mass of each node that is owed to the prior and to its boosts."""
        prior_part: np.ndarray = self.c * self.prior_mass + self.b * self.boosted_mass
        return prior_part

    def mass_after(self, blend: Blend) -> np.ndarray:
        """The mass that there would be after `blend`, but for noise."""
        found: np.ndarray = (
            blend.retain * self.mass
            + blend.gain * blend.statistics.mass
            + blend.prior * self.prior_mass
            + blend.boost * self.boosted_mass
        )
        return found


P = TypeVar("P", bound=StatePosterior)


class StateProposal(Generic[P]):
    """A posterior as it would stand after a blend that was not carried out."""

    def __init__(self, posterior: P, blend: Blend):
        self._posterior = posterior
        self._blend = blend

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions; empty if there are none."""
        alpha = self._blend.alpha
        return self._posterior.alpha if alpha is None else alpha

    @property
    def mass(self) -> np.ndarray:
        """Pseudo-counts of each node, its prior's included."""
        return self._posterior.mass_after(self._blend)
