# SPDX-License-Identifier: BSD-3-Clause
"""A sliding window."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates.rule import Rule
from streamtopics.utils.checks import check_whole

# Most tokens taken out for each remaining token; beyond, the sum is made anew.
MOST_TAKEN_OUT = 1e6


@dataclass(frozen=True)
class Window(Rule):
    """A posterior of the last n minibatches alone, with n statistics kept in memory.

    ``lam_t = eta + s_{t-n+1} + ... + s_t``, with posterior parameters lam, the prior eta and
    statistics s_t of minibatch t. If n is the number of minibatches of a corpus, each pass over the
    corpus replaces the statistics of the pass before: memoized variational inference.

    Parameters
    ----------
    n_minibatches : int
        Number n of minibatches.
    """

    n_minibatches: int

    def __post_init__(self) -> None:
        check_whole(self, n_minibatches=self.n_minibatches)

    def init(self, posterior: Posterior) -> tuple[Any, ...]:
        return ()

    def step(
        self, posterior: Posterior, learn: Learn, state: tuple[Any, ...]
    ) -> tuple[Blend, tuple[Any, ...]]:
        """The blend to ``lam + s_t - s_{t-n}``."""
        new = learn(posterior)
        n_old = max(0, len(state) + 1 - self.n_minibatches)
        old, kept = state[:n_old], state[n_old:]
        gone, remaining = (sum(float(one.n_tokens) for one in some) for some in (old, (new, *kept)))
        # Rounding would be more than a trace of the rest.
        reset = gone > MOST_TAKEN_OUT * remaining
        total = new
        for one in kept if reset else old:
            total = total.plus(one, 1.0 if reset else -1.0)
        before = gone + remaining - float(new.n_tokens)
        share = 1.0 - gone / before if before > 0 else 1.0
        return Blend(1.0 - reset, 1.0, 1.0 * reset, total, retention=share), (*kept, new)

    def without_words(self, state: tuple[Any, ...], words: np.ndarray) -> tuple[Any, ...]:
        return tuple(statistics.without(words) for statistics in state)
