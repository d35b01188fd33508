# SPDX-License-Identifier: BSD-3-Clause
"""Online EM with steps by documents, on a posterior that is one of pseudo-counts.

The mean statistics of a document go the part r = (B / (N + B))^kappa of the way to those
of a minibatch of B documents, after N others. lam - eta is that mean times the number n of
documents that it stands for, 1 / n_t = (1 - r)^2 / n_{t-1} + r^2 / B, so that with kappa = 1
lam is the posterior of all documents.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior


@dataclass(frozen=True)
class Step:
    """A step of online EM.

    Attributes
    ----------
    rate : float
        r.
    retain, gain : float
        Weights of what was learnt before, and of the minibatch.
    remembered : float
        n_t.
    """

    rate: float
    retain: float
    gain: float
    remembered: float

    def blend(self, statistics: Statistics, alpha: np.ndarray) -> Blend:
        """The step as an update of a posterior."""
        return Blend(self.retain, self.gain, 1 - self.retain, statistics, alpha)


def first_step(
    eta: np.ndarray, shape: tuple[int, int], statistics: Statistics, alpha: np.ndarray
) -> TopicPosterior:
    """The posterior of a corpus that was learnt as a whole; without documents it is no step."""
    posterior = TopicPosterior(eta, shape, alpha)
    if statistics.n_documents:
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics, alpha))
    return posterior


def step_by_documents(n_before: int, remembered: float, n_documents: int, kappa: float) -> Step:
    """The step after `n_before` documents, of which the mean stands for `remembered`."""
    rate = (n_documents / (n_before + n_documents)) ** kappa
    if remembered == 0:
        return Step(1.0, 0.0, 1.0, float(n_documents))
    stands_for = 1 / ((1 - rate) ** 2 / remembered + rate**2 / n_documents)
    retain = (1 - rate) * stands_for / remembered
    return Step(rate, retain, rate * stands_for / n_documents, stands_for)


def moved(memory: np.ndarray, observed: np.ndarray | None, rate: float) -> np.ndarray:
    """A running mean a step on; the first observation replaces zeros, and None is none."""
    if observed is None:
        return memory
    return memory + rate * (observed - memory) if memory.any() else observed
