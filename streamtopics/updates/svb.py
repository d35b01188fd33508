# SPDX-License-Identifier: BSD-3-Clause
"""Streaming variational Bayes: lam_t = lam_{t-1} + s_t.

Broderick et al. (2013); equation 19 of Nguyen et al. (2020), "Boosting prior
knowledge in streaming variational Bayes".
"""

from dataclasses import dataclass

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates.rule import Rule, Traits


@dataclass(frozen=True)
class SVB(Rule):
    """Yesterday's posterior is today's prior."""

    traits = Traits(merges="sum", adds=True)

    def for_part(self, share: float, first: bool = True) -> Rule:
        """This rule."""
        return self

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """Return the blend to lam + s."""
        return Blend(1.0, 1.0, 0.0, learn(posterior)), None
