# SPDX-License-Identifier: BSD-3-Clause
"""Streaming variational Bayes, lam_t = lam_{t-1} + s_t, and boosted prior knowledge, + r_t xi.

Broderick et al. (2013); Nguyen et al. (2020), "Boosting prior knowledge in streaming variational
Bayes", equations 19, 34, 42 and 43. r_t gives xi `scale` times the mass of the statistics.
"""

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
    """Amount of the prior added again with a minibatch.

    Parameters
    ----------
    scale : float
        Pseudo-counts of the prior added for each token of the minibatch (s in Nguyen et al. 2020).
    norm : {"whole", "topic"}
        "whole" multiplies the priors of all topics by one number, so that the sum over the topics
        is `scale` times the tokens of the minibatch. "topic" adds to each topic `scale` times the
        tokens of the topic: the share of the prior tends to scale / (1 + scale) in each topic. In a
        model of `StreamingBayes` "whole" takes the sums over the nodes of a kind.
    """

    scale: float
    norm: Literal["whole", "topic"] = "whole"

    def __post_init__(self) -> None:
        check_range(self, 0, MOST_SCALE, scale=self.scale)
        check_one_of(("whole", "topic"), norm=self.norm)

    def weight(self, posterior: Posterior, statistics: AnyStatistics) -> float | np.ndarray:
        """r_t, a number or one per topic."""
        if self.norm == "whole":
            said, known = map(posterior.pooled, (statistics.mass, posterior.boosted_mass))
            return self.scale * (said / known)
        return self.scale * (statistics.mass / posterior.boosted_mass)


NO_BOOST = Boost(0.0)


@dataclass(frozen=True)
class BPS(Rule):
    """Streaming variational Bayes with a prior that does not vanish; scale 0 is SVB.

    Parameters
    ----------
    scale, norm
        Fields of the `Boost` of the prior.
    """

    scale: float
    norm: Literal["whole", "topic"] = "whole"

    traits = Traits(merges="sum", adds=True)

    def __post_init__(self) -> None:
        check_range(self, 0, MOST_SCALE, scale=self.scale)
        check_one_of(("whole", "topic"), norm=self.norm)

    def for_part(self, share: float, first: bool = True) -> Rule:
        return self

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        statistics = learn(posterior)
        weight = Boost(self.scale, self.norm).weight(posterior, statistics)
        return Blend(1.0, 1.0, 0.0, statistics, boost=weight), None


@dataclass(frozen=True)
class SVB(Rule):
    """Streaming variational Bayes: yesterday's posterior is today's prior."""

    traits = Traits(merges="sum", adds=True)

    def for_part(self, share: float, first: bool = True) -> Rule:
        return self

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        return Blend(1.0, 1.0, 0.0, learn(posterior)), None
