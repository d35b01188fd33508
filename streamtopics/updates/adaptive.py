# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic variational inference whose step size follows the noise of its gradients.

    g_bar <- (1 - 1/tau) g_bar + g / tau,     h_bar <- (1 - 1/tau) h_bar + |g|^2 / tau,
    r = |g_bar|^2 / h_bar,                    tau <- tau (1 - r) + 1,

with g = eta + D/B s - lam the natural gradient; Ranganath, Wang, Blei and Xing (2013), "An
adaptive learning rate for stochastic variational inference", algorithm 1. The means start as
those of the first minibatch alone, which is taken in whole and leaves tau as it was. The mean
gradient is as large as lam, so that a step costs as much as the vocabulary.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from streamtopics.posteriors import Blend, Learn
from streamtopics.updates.rule import Rule, Traits
from streamtopics.utils.checks import MOST_DOCUMENTS, check_range, check_whole


class Gradients(NamedTuple):
    """Running means of the gradient and of its square norm, and the minibatches they span."""

    mean: np.ndarray | None
    square: float
    memory: float


@dataclass(frozen=True)
class AdaptiveRate(Rule):
    """Natural gradient steps of a size that the stream sets.

    Parameters
    ----------
    n_documents : int or None
        The D that the posterior is for; None is the number seen so far, with the minibatch.
    memory : float
        The first tau, at least 2: minibatches that the running means span at first. With 1
        they would be those of the last minibatch for good, and each step a whole one.
    """

    n_documents: int | None = None
    memory: float = 10.0

    traits = Traits(frozenset({"dense"}))

    def __post_init__(self) -> None:
        check_range(self, 2, np.inf, memory=self.memory)
        if self.n_documents is not None:
            check_whole(self, most=MOST_DOCUMENTS, n_documents=self.n_documents)

    def init(self, posterior: Any) -> Gradients:
        """Return what there is before the first minibatch: no gradient."""
        return Gradients(None, 0.0, self.memory)

    def without_words(self, state: Gradients, words: np.ndarray) -> Gradients:
        """The means, with no gradient of these words; of the square norm all is kept."""
        if state.mean is None:
            return state
        mean = state.mean.copy()
        mean[words] = 0.0
        return state._replace(mean=mean)

    def step(self, posterior: Any, learn: Learn, state: Gradients) -> tuple[Blend, Gradients]:
        """Return the blend to (1 - r) lam + r (eta + D/B s)."""
        s = learn(posterior)
        scale = (self.n_documents or posterior.n_documents + s.n_documents) / s.n_documents
        lam = posterior.dense()
        g = np.broadcast_to(posterior.eta, lam.shape) - lam
        g[s.words] += scale * s.counts
        norm = float((g * g).sum())
        if state.mean is None:
            return Blend(0.0, scale, 1.0, s), Gradients(g, norm, state.memory)
        part = 1.0 / state.memory
        mean = (1 - part) * state.mean + part * g
        square = (1 - part) * state.square + part * norm
        rate = min(1.0, float((mean * mean).sum()) / square) if square > 0 else 1.0
        blend = Blend(1 - rate, rate * scale, rate, s)
        return blend, Gradients(mean, square, state.memory * (1 - rate) + 1)
