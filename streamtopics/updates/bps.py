# SPDX-License-Identifier: BSD-3-Clause
"""Streaming variational Bayes, and boosts."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from streamtopics.messages import AnyStatistics
from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates.rule import Rule, Traits
from streamtopics.utils.checks import check_one_of, check_range

MOST_SCALE = 1e10


@dataclass(frozen=True)
class Boost:
    """Amount of the prior added again with each minibatch.

    Parameters
    ----------
    scale : float
        Pseudo-counts of the prior added for each token of the minibatch (s in Nguyen et al. 2020).
    norm : {"whole", "topic"}
        "whole" multiplies the priors of all topics by one number, so that all additions together
        are `scale` times the tokens of the minibatch. "topic" multiplies each prior by a number of
        its own, so that each addition is `scale` times the topic's tokens in the minibatch. Then
        the prior's share of each topic tends to ``scale / (1 + scale)``. In `StreamingBayes` the
        nodes of a block, such as the components of a mixture, count as topics.
    """

    scale: float
    norm: Literal["whole", "topic"] = "whole"

    def __post_init__(self) -> None:
        check_range(self, 0, MOST_SCALE, scale=self.scale)
        check_one_of(("whole", "topic"), norm=self.norm)

    def weight(self, posterior: Posterior, statistics: AnyStatistics) -> float | np.ndarray:
        """Factor of the prior, one number or one per topic."""
        if self.norm == "whole":
            said, known = map(posterior.pooled, (statistics.mass, posterior.boosted_mass))
            return self.scale * (said / known)
        return self.scale * (statistics.mass / posterior.boosted_mass)


NO_BOOST = Boost(0.0)


@dataclass(frozen=True)
class SVB(Rule):
    """Streaming variational Bayes: each posterior is the prior of the next minibatch.

    ``lam_t = lam_{t-1} + s_t``, with posterior parameters lam and statistics s_t of minibatch t:
    Broderick et al. (2013).
    """

    traits = Traits(merges="sum", adds=True)

    def for_part(self, share: float, first: bool = True) -> Rule:
        return self

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        return Blend(1.0, 1.0, 0.0, learn(posterior)), None


@dataclass(frozen=True)
class BPS(Boost, SVB):
    """Streaming variational Bayes with a boosted prior that does not vanish.

    ``lam_t = lam_{t-1} + s_t + r_t xi``, with posterior parameters lam, statistics s_t of minibatch
    t and a boosted prior xi of weight r_t (`Boost`): Nguyen et al. (2020), equations 34, 42 and 43.

    Parameters
    ----------
    scale, norm
        As in `Boost`; scale 0 is `SVB`.
    """

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        statistics = learn(posterior)
        return Blend(1.0, 1.0, 0.0, statistics, boost=self.weight(posterior, statistics)), None
