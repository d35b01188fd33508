# SPDX-License-Identifier: BSD-3-Clause
"""A view of topics that are made sharper or flatter than they are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class TemperedMean:
    """A view with the weights (lam / mass)^power, scaled so that each word's largest weight is 1.

    With a power below 1 a word more easily joins topics in which the word is rare. With a power
    above 1 a word stays more in its most probable topic.

    Parameters
    ----------
    power : float
        Exponent of the expected topics lam / mass; 1 is the mean.

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = StreamingLDA(5, update="svb", view=TemperedMean(0.8), random_state=0).fit(X)
    >>> model.set_params(view__power=1.0).view
    TemperedMean(power=1.0)
    """

    keeps_bound: ClassVar[bool] = False
    power: float = 1.0

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        """Write the weights into the first columns of `out`, and 0 beyond."""
        log_weights = self.power * (np.log(rows) - np.log(mass))
        log_weights -= log_weights.max(axis=1, keepdims=True)
        out[:] = 0
        out[:, : rows.shape[1]] = np.exp(log_weights)
