# SPDX-License-Identifier: BSD-3-Clause
"""A stream with seasons: at the start of each, a share of the posterior is carried over."""

from dataclasses import dataclass

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posterior import Blend, LazyPosterior
from streamtopics.updates.rule import Learn, ascend


@dataclass(frozen=True)
class Seasons:
    """Streaming variational Bayes that forgets when a new season starts.

    Parameters
    ----------
    length : int
        Minibatches of a season.
    carried : float
        Share of the posterior that the next season starts with, in [0, 1].
    n_passes : int
        Rounds of coordinate ascent inside a minibatch.

    Examples
    --------
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import BetaBinomial
    >>> model = StreamingBayes(BetaBinomial(), Seasons(length=2))
    >>> for flips in ([[0]], [[0]], [[1]], [[1]]):
    ...     model = model.partial_fit(flips)
    >>> model.posterior_["coins"]
    array([[3., 1.]])
    """

    length: int
    carried: float = 0.0
    n_passes: int = 1

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"length of Seasons must be at least 1; got {self.length}")
        if not 0 <= self.carried <= 1:
            raise ValueError(f"carried of Seasons must be in [0, 1]; got {self.carried}")

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """kept lam + (1 - kept) eta + s, where kept is 1 inside a season."""
        starts = posterior.n_batches > 0 and posterior.n_batches % self.length == 0
        kept = self.carried if starts else 1.0

        def blend(statistics: Statistics, alpha: np.ndarray) -> Blend:
            return Blend(kept, 1.0, 1.0 - kept, statistics)

        return ascend(posterior, learn, blend, self.n_passes)
