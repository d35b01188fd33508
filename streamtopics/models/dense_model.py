# SPDX-License-Identifier: BSD-3-Clause
"""Models of dense samples."""

from abc import abstractmethod
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import gammaln, logsumexp

from streamtopics.posteriors import DensePosterior, Learn

Numbers = float | np.ndarray


@runtime_checkable
class DenseModel(Protocol):
    """A model of samples X and, for some models, targets y.

    Derive a frozen dataclass of hyper-parameters, without state. `offsets`, if defined, has
    numbers to add to marginals, by (block, name of the marginal).
    """

    #: Whether y, a number for each sample, is required
    needs_target: ClassVar[bool] = False
    #: Whether X may have NaN for missing values
    accepts_missing: ClassVar[bool] = False
    #: Fields that `model` and `boosted_prior` must have equal
    coordinates: ClassVar[tuple[str, ...]] = ()
    #: Blocks of the posterior with an entry for each column of X, and perhaps one for an intercept
    #: after the columns
    by_feature: ClassVar[frozenset[str]]
    #: Number of classes, the targets from 0 on; None without classes
    n_classes: int | None = None
    # Predictions of the model: functions of (posterior, X), or None
    predict: ClassVar[Any] = None
    predict_proba: ClassVar[Any] = None
    transform: ClassVar[Any] = None

    def posterior(self, X: np.ndarray) -> DensePosterior:
        """Return the posterior before any data, for samples of the shape of X."""

    def learner(self, posterior: DensePosterior, X: np.ndarray, y: Any, seed: int) -> Learn:
        """Return the function `learn` called by an update rule."""

    def log_predictive(self, posterior: DensePosterior, X: np.ndarray, y: Any) -> np.ndarray:
        """Return the log predictive density of each sample, in nats; y may be None."""


class MixtureModel(DenseModel):
    @abstractmethod
    def _log_joint(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        """log p(x, k) of each class k, (n_samples, n_classes)."""

    def predict_proba(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        joint = self._log_joint(posterior, X)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict(self, posterior: DensePosterior, X: np.ndarray) -> np.ndarray:
        return self._log_joint(posterior, X).argmax(axis=1)


def log_t_density(x: Numbers, location: Numbers, degrees: Numbers, scale2: Numbers) -> np.ndarray:
    """Student's log density in nats; `scale2` is the squared scale."""
    z2 = (x - location) ** 2 / (degrees * scale2)
    constant = gammaln((degrees + 1) / 2) - gammaln(degrees / 2)
    return constant - 0.5 * (np.log(np.pi * degrees * scale2) + (degrees + 1) * np.log1p(z2))
