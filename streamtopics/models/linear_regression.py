# SPDX-License-Identifier: BSD-3-Clause
"""Linear regression with a normal-gamma prior."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from scipy.special import psi

from streamtopics.families import normal_gamma_regression as family
from streamtopics.messages import NodeStatistics
from streamtopics.models.dense_model import DenseModel, log_t_density
from streamtopics.posteriors import Block, DensePosterior, DenseView, Learn
from streamtopics.utils.checks import check_pseudo_counts, check_scales


@dataclass(frozen=True)
class LinearRegression(DenseModel):
    """Exact Bayesian linear regression, with a normal-gamma prior of coefficients and noise.

    y | x ~ N(w'x, 1/g), with w | g ~ N(0, (g L)^-1) and g ~ Gamma(shape, rate).

    Parameters
    ----------
    precision : float
        Prior precision of each coefficient (diagonal of L), in units of the noise's precision g.
    shape, rate : float
        Parameters of the gamma prior of g.
    fit_intercept : bool
        Whether to add a constant, as the last coefficient.
    intercept_precision : float
        Prior precision of the intercept, in units of g.

    Notes
    -----
    Centre y if y is many standard deviations of the noise from 0, the prior mean of the intercept.

    References
    ----------
    J. Bernardo and A. Smith, "Bayesian theory", 1994, appendix A.2.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> bayes = StreamingBayes(LinearRegression()).fit(X, X @ [1.0, -2.0] + 3.0)
    >>> bayes.model_.coefficients(bayes.posterior_).round(1)
    array([ 1., -2.,  3.])
    """

    needs_target: ClassVar[bool] = True
    coordinates: ClassVar[tuple[str, ...]] = ("fit_intercept",)

    precision: float = 1.0
    shape: float = 1.0
    rate: float = 1.0
    fit_intercept: bool = True
    intercept_precision: float = 0.01

    def __post_init__(self) -> None:
        check_pseudo_counts(self, shape=self.shape)
        intercept = {"intercept_precision": self.intercept_precision}
        check_scales(self, precision=self.precision, rate=self.rate, **intercept)

    def posterior(self, X: np.ndarray) -> DensePosterior:
        precisions = np.full(np.shape(X)[1], self.precision)
        if self.fit_intercept:
            precisions = np.append(precisions, self.intercept_precision)
        zero = np.zeros(len(precisions))
        prior = family.from_parameters(zero, np.diag(precisions), self.shape, self.rate)
        return DensePosterior({"regression": Block(family, prior)})

    def learner(
        self, posterior: DensePosterior, X: np.ndarray, y: np.ndarray, seed: int = 0
    ) -> Learn:
        y = np.asarray(y, dtype=np.float64)

        @cache
        def sums() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
            design = self._design(X)
            squares = design.T @ design
            parts = design.T @ y, squares.ravel(), [y @ y, len(y)]
            return design, squares, {"regression": np.concatenate(parts)}

        def learn(view: DenseView, *, warm: bool = False) -> NodeStatistics:
            design, squares, additions = sums()
            m, L, a, b = family.parameters(view["regression"])
            spread = np.trace(np.linalg.solve(L, squares)) + a / b * np.sum((y - design @ m) ** 2)
            bound = len(y) * (psi(a) - np.log(b) - np.log(2 * np.pi)) - spread
            return posterior.statistics(additions, len(y), float(bound) / 2)

        return learn

    def log_predictive(
        self, posterior: DensePosterior, X: np.ndarray, y: np.ndarray | None
    ) -> np.ndarray:
        if y is None:
            return np.zeros(len(X))
        m, L, a, b = family.parameters(posterior["regression"])
        X = self._design(X)
        relative_variance = (X.T * np.linalg.solve(L, X.T)).sum(axis=0)
        return log_t_density(y, X @ m, 2 * a, b / a * (1 + relative_variance))

    def predict(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        return self._design(X) @ self.coefficients(posterior)

    def coefficients(self, posterior: DensePosterior) -> np.ndarray:
        return family.parameters(posterior["regression"])[0]

    def _design(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        return np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X
