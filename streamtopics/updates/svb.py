# SPDX-License-Identifier: BSD-3-Clause
"""Streaming variational Bayes: lam_t = lam_{t-1} + s_t.

Broderick et al. (2013); equation 19 of Nguyen et al. (2020), "Boosting prior
knowledge in streaming variational Bayes".
"""

from dataclasses import dataclass

from streamtopics.checks import check_whole
from streamtopics.posterior import Blend, LazyPosterior
from streamtopics.updates.rule import Learn, ascend


@dataclass(frozen=True)
class SVB:
    """Yesterday's posterior is today's prior.

    Parameters
    ----------
    n_passes : int
        Rounds of coordinate ascent inside a minibatch; 1 is the single
        sufficient-statistics update (SSU).
    """

    n_passes: int = 1

    def __post_init__(self) -> None:
        check_whole(self, n_passes=self.n_passes)

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """lam + s."""
        return ascend(posterior, learn, lambda s, alpha: Blend(1.0, 1.0, 0.0, s), self.n_passes)
