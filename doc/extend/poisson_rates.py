# SPDX-License-Identifier: BSD-3-Clause
"""Counts at unknown rates: x_j ~ Poisson(g_j), g_j ~ Gamma(shape, rate)."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from streamtopics.families import gamma
from streamtopics.messages import NodeStatistics
from streamtopics.models.dense_model import DenseModel
from streamtopics.posteriors import Block, DensePosterior, DenseView, Learn


@dataclass(frozen=True)
class PoissonRates(DenseModel):
    """A rate for each column of counts, under a gamma prior: `shape` events in `rate` samples.

    Examples
    --------
    >>> from streamtopics import StreamingBayes
    >>> model = StreamingBayes(PoissonRates(1.0, 1.0)).fit([[3, 0], [5, 0]])
    >>> model.model_.rates(model.posterior_)
    array([3.        , 0.33333333])
    """

    shape: float = 0.5
    rate: float = 0.1

    def posterior(self, X: np.ndarray) -> DensePosterior:
        """Return the prior, for each column of X."""
        prior = np.tile(gamma.from_parameters(self.shape, self.rate), (np.shape(X)[1], 1))
        return DensePosterior({"rates": Block(gamma, prior)})

    def learner(self, posterior: DensePosterior, X: np.ndarray, y=None, seed: int = 0) -> Learn:
        """log p(X | g) = sum_j (sum_i x_ij) ln g_j - n g_j: shape_j += sum_i x_ij, rate_j += n."""
        if (X < 0).any():
            raise ValueError("X must hold counts, which are not negative, for PoissonRates")
        additions = gamma.from_parameters(X.sum(axis=0), float(len(X)))

        def learn(view: DenseView, *, warm: bool = False) -> NodeStatistics:
            expected = (additions * gamma.expected_statistics(view["rates"])).sum()
            bound = expected - gammaln(X + 1).sum()
            return posterior.statistics({"rates": additions}, len(X), bound)

        return learn

    def log_predictive(self, posterior: DensePosterior, X: np.ndarray, y=None) -> np.ndarray:
        """Return log p: a Poisson with a gamma-distributed rate is a negative binomial."""
        a, b = gamma.parameters(posterior["rates"])
        counts = gammaln(X + a) - gammaln(a) - gammaln(X + 1)
        return (counts - a * np.log1p(1 / b) - X * np.log1p(b)).sum(axis=1)

    def rates(self, posterior: DensePosterior) -> np.ndarray:
        """Return E[g] of each column."""
        a, b = gamma.parameters(posterior["rates"])
        return a / b
