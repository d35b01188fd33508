# SPDX-License-Identifier: BSD-3-Clause
"""Coin flips with a Beta prior: the smallest model of all.

The first case study of Nguyen et al. (2020), "Boosting prior knowledge in
streaming variational Bayes" (their algorithms 3 and 4). A Beta distribution is a
Dirichlet over two words, so its posterior is that of one topic, heads and tails.
There is nothing local to infer: the statistics of a minibatch are its counts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posterior import LazyPosterior, Proposal


@dataclass(frozen=True)
class BetaBinomial:
    """x ~ Bernoulli(theta), theta ~ Beta(heads, tails).

    Parameters
    ----------
    heads, tails : float
        Prior pseudo-counts, positive.

    Examples
    --------
    >>> from streamtopics.models import BetaBinomial
    >>> from streamtopics.updates import BPS
    >>> model, rule = BetaBinomial(heads=0.5, tails=0.5), BPS(scale=0.25)
    >>> posterior = model.posterior()
    >>> for flips in ([1, 0, 0, 0], [0, 0, 1, 0]):
    ...     posterior.blend(rule.step(posterior, model.learner(flips)))
    >>> round(model.mean(posterior), 3)
    0.318
    """

    heads: float
    tails: float

    def __post_init__(self) -> None:
        if not (0 < self.heads < np.inf and 0 < self.tails < np.inf):
            raise ValueError(f"heads and tails must be positive; got {self.heads}, {self.tails}")

    def posterior(self) -> LazyPosterior:
        """The posterior before any data, which is the prior."""
        return LazyPosterior(np.array([[self.heads], [self.tails]]), (2, 1))

    def learner(self, x: np.ndarray) -> Callable[[LazyPosterior | Proposal], Statistics]:
        """The function `learn` that an update rule calls.

        Parameters
        ----------
        x : array-like of shape (n,)
            Flips, each 0 or 1.
        """
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != 1:
            raise ValueError(f"x must have shape (n,); got {x.shape}")
        if not np.isin(x, (0.0, 1.0)).all():
            raise ValueError("x must hold zeros and ones only; got other values")
        counts = np.array([[x.sum()], [len(x) - x.sum()]])
        statistics = Statistics(np.arange(2, dtype=np.int32), counts, np.ones(len(x)))
        return lambda view: statistics

    def mean(self, posterior: LazyPosterior) -> float:
        """E[theta]."""
        return float(posterior.dense()[0, 0] / posterior.mass[0])
