# SPDX-License-Identifier: BSD-3-Clause
"""A view between the mean and the geometric mean of the topics."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import digamma


@dataclass(frozen=True)
class CorrectedMean:
    """exp(psi(lam + shift)) / mass, each word's largest weight made 1.

    exp(psi(x)) is about x - 1/2 where x is above 1, and all but 0 where it is small: with a
    shift of 1/2 a word that a topic has not held yet keeps a chance to come, and with
    counts above 1 the weights are those of the mean.

    Parameters
    ----------
    shift : float
        Pseudo-counts.

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = StreamingLDA(5, update="svb", view=CorrectedMean(), random_state=0).fit(X)
    >>> model.set_params(view__shift=1.0).view
    CorrectedMean(shift=1.0)
    """

    keeps_bound: ClassVar[bool] = False
    shift: float = 0.5

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        """Write the weights into the first columns of `out`, and 0 beyond."""
        log_weights = digamma(rows + self.shift) - np.log(mass)
        log_weights -= log_weights.max(axis=1, keepdims=True)
        out[:] = 0
        out[:, : rows.shape[1]] = np.exp(log_weights)
