# SPDX-License-Identifier: BSD-3-Clause
"""Online EM with steps by documents, on a posterior that is one of pseudo-counts.

The mean statistics of a document go the part r = (B / (N + B))^kappa of the way to those
of a minibatch of B documents, after N others. lam - eta is that mean times the number n_t of
documents that it stands for, 1 / n_t = (1 - r)^2 / n_{t-1} + r^2 / B, so that with kappa = 1
lam is the posterior of all documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend


@dataclass(frozen=True)
class Step:
    """A step of online EM: r, the weights of what was learnt before and of the minibatch, n_t."""

    rate: float
    retain: float
    gain: float
    remembered: float

    def blend(self, statistics: Statistics, alpha: np.ndarray) -> Blend:
        """The step as an update of a posterior."""
        return Blend(self.retain, self.gain, 1 - self.retain, statistics, alpha)


def step_by_documents(n_before: int, remembered: float, n_documents: int, kappa: float) -> Step:
    """The step after `n_before` documents, of which the mean stands for `remembered`."""
    rate = (n_documents / (n_before + n_documents)) ** kappa
    stands_for = 1 / ((1 - rate) ** 2 / remembered + rate**2 / n_documents)
    retain = (1 - rate) * stands_for / remembered
    return Step(rate, retain, rate * stands_for / n_documents, stands_for)


def moved(mean: np.ndarray | None, observed: np.ndarray | None, rate: float) -> np.ndarray | None:
    """A running mean after a step; None stands for no mean, and for no observation."""
    if mean is None or observed is None:
        return mean if observed is None else observed
    return np.asarray(mean + rate * (observed - mean))
