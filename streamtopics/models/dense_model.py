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

    Derive a frozen dataclass of hyper-parameters, without state. `predict`, `predict_proba` and
    `transform` are optional methods (posterior, X) with a row for each sample.
    """

    #: Whether y, a number for each sample, is required
    needs_target: ClassVar[bool] = False
    #: Whether X may have NaN for missing values
    accepts_missing: ClassVar[bool] = False
    #: Names of fields that must be equal in the model and in the estimator's `boosted_prior`
    coordinates: ClassVar[tuple[str, ...]] = ()
    #: Number of classes of a classifier, whose targets are numbers from 0 on; None without classes
    n_classes: int | None = None
    #: Methods (posterior, X) of the model; None if the model has no such method
    predict: ClassVar[Any] = None
    predict_proba: ClassVar[Any] = None
    transform: ClassVar[Any] = None

    def posterior(self, X: np.ndarray) -> DensePosterior:
        """Return the posterior before any data, for samples with the columns of X."""

    def learner(self, posterior: DensePosterior, X: np.ndarray, y: Any, seed: int) -> Learn:
        """Return the function `learn` called by an update rule, for the minibatch X, y.

        The first call comes before any learning: raise ValueError for data that do not fit the
        model. X may have no rows. `seed` is the same in all minibatches of a stream.
        """

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
