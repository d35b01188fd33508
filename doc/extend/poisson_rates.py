# SPDX-License-Identifier: BSD-3-Clause
"""Counts at unknown rates: x_j ~ Poisson(g_j), g_j ~ Gamma(shape, rate)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from streamtopics.checks import check_positive
from streamtopics.dense_posterior import Block, DensePosterior, View
from streamtopics.families import gamma
from streamtopics.messages import BlockStatistics
from streamtopics.models.dense_model import Learn


@dataclass(frozen=True)
class PoissonRates:
    """A rate for each column of counts.

    Parameters
    ----------
    shape, rate : float
        Of the gamma prior: `shape` events, seen in `rate` samples.

    Examples
    --------
    >>> from streamtopics import StreamingBayes
    >>> model = StreamingBayes(PoissonRates(1.0, 1.0)).fit([[3, 0], [5, 0]])
    >>> model.model_.rates(model.posterior_)
    array([3.        , 0.33333333])
    """

    needs_target: ClassVar[bool] = False
    allows_missing: ClassVar[bool] = False
    coordinates: ClassVar[tuple[str, ...]] = ()

    shape: float = 0.5
    rate: float = 0.1

    def __post_init__(self) -> None:
        check_positive(self, shape=self.shape, rate=self.rate)

    def posterior(self, X: np.ndarray) -> DensePosterior:
        """The prior, for each column of X."""
        prior = np.tile(gamma.from_parameters(self.shape, self.rate), (np.shape(X)[1], 1))
        return DensePosterior({"rates": Block(gamma, prior)})

    def learner(
        self, posterior: DensePosterior, X: np.ndarray, y: None = None, seed: int = 0
    ) -> Learn:
        """log p(X | g) = sum_j (sum_i x_ij) ln g_j - n g_j, in statistics ln g / 2 and -g / 2."""
        X = _counts(X)
        additions = gamma.from_parameters(X.sum(axis=0), float(len(X)))
        constant = gammaln(X + 1).sum()

        def learn(view: View) -> BlockStatistics:
            expected = additions * gamma.expected_statistics(view["rates"])
            return posterior.statistics({"rates": additions}, len(X), expected.sum() - constant)

        return learn

    def log_predictive(
        self, posterior: DensePosterior, X: np.ndarray, y: None = None
    ) -> np.ndarray:
        """The negative binomial that a Poisson is under a gamma rate."""
        X = _counts(X)
        a, b = gamma.parameters(posterior["rates"])
        counts = gammaln(X + a) - gammaln(a) - gammaln(X + 1)
        return (counts - a * np.log1p(1 / b) - X * np.log1p(b)).sum(axis=1)

    def rates(self, posterior: DensePosterior) -> np.ndarray:
        """E[g] of each column."""
        a, b = gamma.parameters(posterior["rates"])
        return a / b


def _counts(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    if (X < 0).any() or (np.floor(X) != X).any():
        raise ValueError("X must hold counts for PoissonRates: whole numbers of at least 0")
    return X
