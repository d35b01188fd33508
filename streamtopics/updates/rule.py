# SPDX-License-Identifier: BSD-3-Clause
"""What an update rule is, and the ascent inside a minibatch that rules share."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posterior import Blend, LazyPosterior, Proposal

Learn = Callable[[LazyPosterior | Proposal], Statistics]


class Rule(Protocol):
    """An update rule."""

    def step(self, posterior: LazyPosterior, learn: Learn) -> Blend:
        """The blend that takes in the current minibatch."""


def ascend(
    posterior: LazyPosterior,
    learn: Learn,
    blend: Callable[[Statistics, np.ndarray], Blend],
    n_passes: int,
) -> Blend:
    """Coordinate ascent between the local step and `blend`, for `n_passes` rounds.

    The first round sees the posterior as it was before the minibatch; each
    further one sees what the last would make of it. `blend` is given the
    statistics, and the alpha of the documents that they were found under.
    """
    proposal = blend(learn(posterior), posterior.alpha)
    for _ in range(n_passes - 1):
        seen = posterior.after(proposal)
        proposal = blend(learn(seen), seen.alpha)
    return proposal
