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
from streamtopics.posterior import Blend, LazyPosterior, Proportions


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

    def blend(self, statistics: Statistics, proportions: Proportions) -> Blend:
        """The step as an update of a posterior."""
        return Blend(self.retain, self.gain, 1 - self.retain, statistics, proportions)


def first_step(
    eta: np.ndarray,
    shape: tuple[int, int],
    statistics: Statistics,
    alpha: np.ndarray,
    means: np.ndarray,
) -> LazyPosterior:
    """What a stream goes on from after a corpus that was learnt as a whole.

    `means` are the running means, as of that corpus. Without documents it is no step.
    """
    memory = np.append(means, float(statistics.n_documents))
    posterior = LazyPosterior(eta, shape, alpha, len(memory))
    if statistics.n_documents:
        posterior.blend(Blend(1.0, 1.0, 0.0, statistics, Proportions(alpha, memory)))
    return posterior


def step_by_documents(posterior: LazyPosterior, n_documents: int, kappa: float) -> Step:
    """The step after what the posterior has seen; its last memory is n_{t-1}."""
    before = posterior.proportions.memory[-1]
    rate = (n_documents / (posterior.n_documents + n_documents)) ** kappa
    if before == 0:
        return Step(1.0, 0.0, 1.0, float(n_documents))
    remembered = 1 / ((1 - rate) ** 2 / before + rate**2 / n_documents)
    retain = (1 - rate) * remembered / before
    return Step(rate, retain, rate * remembered / n_documents, remembered)


def moved(memory: np.ndarray, observed: np.ndarray | None, rate: float) -> np.ndarray:
    """A running mean a step on; the first observation replaces zeros, and None is none."""
    if observed is None:
        return memory
    return memory + rate * (observed - memory) if memory.any() else observed
