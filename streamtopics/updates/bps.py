# SPDX-License-Identifier: BSD-3-Clause
"""Boosted prior knowledge: lam_t = lam_{t-1} + s_t + r_t eta.

The prior is added again with every minibatch, with r_t such that it has `scale`
times the mass of what the minibatch says; equations 34, 42 and 43 of Nguyen et
al. (2020), "Boosting prior knowledge in streaming variational Bayes". The norms
are those of the data part and of eta alone.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posterior import Blend, LazyPosterior
from streamtopics.updates.rule import Learn, ascend


@dataclass(frozen=True)
class BPS:
    """Streaming variational Bayes whose prior does not vanish; scale 0 is SVB.

    Parameters
    ----------
    scale : float
        The paper's s: prior pseudo-counts added for each token seen.
    norm : {"whole", "topic"}
        Whether the masses are compared over all topics together, which gives
        each topic the same boost, or topic by topic, which gives each the same
        share s / (1 + s) of prior.
    n_passes : int
        Rounds of coordinate ascent inside a minibatch.
    """

    scale: float
    norm: Literal["whole", "topic"] = "whole"
    n_passes: int = 1

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """lam + s + r eta."""

        def blend(statistics: Statistics, alpha: np.ndarray) -> Blend:
            if self.norm == "whole":
                share = statistics.n_tokens / posterior.prior_mass.sum()
            else:
                share = statistics.mass / posterior.prior_mass
            return Blend(1.0, 1.0, self.scale * share, statistics)

        return ascend(posterior, learn, blend, self.n_passes)
