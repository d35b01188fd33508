# SPDX-License-Identifier: BSD-3-Clause
"""Views: the weights that a local step sees instead of the topics' posterior.

A view turns rows of lam, and its sums over all words, into weights of words in topics. A
factor for each word cancels in every local step; it is chosen such that the largest weight of
each row is 1.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import digamma

from streamtopics.kernels import rows as kernel
from streamtopics.kernels import variational


class TopicView(Protocol):
    """A view.

    Attributes
    ----------
    keeps_bound : bool
        Whether a local step's bound on the evidence holds for its weights.
    """

    keeps_bound: ClassVar[bool]

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        """Write the weights of words (n_words, width) into `out`, beyond the topics 0.

        `rows` of lam have shape (n_words, n_components), `mass` (n_components,).
        """


@dataclass(frozen=True)
class GeometricMean:
    """exp(E[log beta]) under q(beta | lam): the Bayesian view."""

    keeps_bound: ClassVar[bool] = True

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        variational.exp_digamma_rows(rows, digamma(mass), out)

    def log(self, lam: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return digamma(lam) - digamma(mass)


@dataclass(frozen=True)
class Mean:
    """E[beta] = lam / mass, which is the M-step's beta: the frequentist view."""

    keeps_bound: ClassVar[bool] = False

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        kernel.scale_rows(rows, 1.0 / mass, out)

    def log(self, lam: np.ndarray, mass: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.log(lam / mass)
        return found


@dataclass(frozen=True)
class CorrectedMean:
    """exp(psi(lam + 1/2)) / mass, a smooth weight between the two others.

    Above 1 it is the mean to the second order in 1 / lam, where exp(psi(lam)) is half a token
    less. Below, it tends to .14 for a word that a topic does not hold yet, where exp(psi(lam)) is
    e^-20 for a pseudo-count of .05 and locks the word out for good.
    """

    keeps_bound: ClassVar[bool] = False

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        variational.exp_digamma_rows(rows + 0.5, np.log(mass), out)


corrected_mean, geometric_mean, mean = CorrectedMean(), GeometricMean(), Mean()
