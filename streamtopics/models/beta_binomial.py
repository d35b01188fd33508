# SPDX-License-Identifier: BSD-3-Clause
"""Coin flips with a Beta prior."""

from dataclasses import dataclass

import numpy as np

from streamtopics.families import beta
from streamtopics.messages import NodeStatistics
from streamtopics.models.dense_model import DenseModel
from streamtopics.posteriors import Block, DensePosterior, DenseView, Learn
from streamtopics.utils.checks import check_pseudo_counts


@dataclass(frozen=True)
class BetaBinomial(DenseModel):
    """A coin for each column: x_j ~ Bernoulli(theta_j), theta_j ~ Beta(heads, tails).

    Parameters
    ----------
    heads, tails : float
        Prior pseudo-counts of ones (heads) and zeros (tails), positive.

    References
    ----------
    D. A. Nguyen et al., "Boosting prior knowledge in streaming variational Bayes", 2020, algorithms
    3 and 4; A. Masegosa et al., "Variational inference over nonstationary data streams for
    exponential family models", 2020, section 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import BetaBinomial
    >>> bayes = StreamingBayes(BetaBinomial(heads=0.5, tails=0.5)).fit([[1], [0], [0], [0]])
    >>> bayes.model_.mean(bayes.posterior_)
    array([0.3])
    """

    heads: float = 1.0
    tails: float = 1.0

    def __post_init__(self) -> None:
        check_pseudo_counts(self, **vars(self))

    def posterior(self, X: np.ndarray) -> DensePosterior:
        prior = np.tile(beta.from_parameters(self.heads, self.tails), (np.shape(X)[1], 1))
        return DensePosterior({"coins": Block(beta, prior)})

    def learner(
        self, posterior: DensePosterior, X: np.ndarray, y: None = None, seed: int = 0
    ) -> Learn:
        X = _check_binary(X)
        counts = np.stack([X.sum(axis=0), len(X) - X.sum(axis=0)], axis=-1)

        def learn(view: DenseView, *, warm: bool = False) -> NodeStatistics:
            bound = float((counts * beta.expected_statistics(view["coins"])).sum())
            return posterior.statistics({"coins": counts}, len(X), bound)

        return learn

    def log_predictive(
        self, posterior: DensePosterior, X: np.ndarray, y: None = None
    ) -> np.ndarray:
        heads, tails = beta.parameters(posterior["coins"])
        seen = np.where(_check_binary(X) == 1, heads, tails)
        return (np.log(seen) - np.log(heads + tails)).sum(axis=1)

    def mean(self, posterior: DensePosterior) -> np.ndarray:
        """E[theta] of each coin."""
        heads, tails = beta.parameters(posterior["coins"])
        return heads / (heads + tails)


def _check_binary(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    if not np.isin(X, (0.0, 1.0)).all():
        raise ValueError("X must hold zeros and ones only for BetaBinomial; got other values")
    return X
