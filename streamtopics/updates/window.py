# SPDX-License-Identifier: BSD-3-Clause
"""Rules that remember the statistics of minibatches, and take them out again.

`Window` stands for the last minibatches alone, lam_t = eta + s_{t-n+1} + .. + s_t.
`MemoizedVB` goes over a corpus of a fixed number of minibatches again and again, in one order,
and replaces what each of them said the last time: lam = eta + sum_b s_b; Hughes and Sudderth
(2013), "Memoized online variational inference for Dirichlet process mixture models".
`IncrementalVB` is a stochastic step towards that sum; Archambeau and Ermis (2015),
"Incremental variational inference for latent Dirichlet allocation", equation 5.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.updates.rule import Rule
from streamtopics.updates.schedules import DECAY, StepSize
from streamtopics.utils.checks import check_able, check_whole

# Tokens that are subtracted for each that stays.
MOST_TAKEN_OUT = 1e6


@dataclass(frozen=True)
class Window(Rule):
    """A sum over the last minibatches.

    Parameters
    ----------
    n_minibatches : int
        How many.
    """

    n_minibatches: int

    def __post_init__(self) -> None:
        check_whole(self, n_minibatches=self.n_minibatches)

    def init(self, posterior: Posterior) -> tuple[Any, ...]:
        return ()

    def step(
        self, posterior: Posterior, learn: Learn, state: tuple[Any, ...]
    ) -> tuple[Blend, tuple[Any, ...]]:
        """Return the blend to lam + s_t - s_{t-n}, of n minibatches."""
        new = learn(posterior)
        change, kept = _replaced(new, state, self.n_minibatches)
        if _rounds(new, state, kept):
            return Blend(0.0, 1.0, 1.0, _sum_of(new, kept)), (*kept, new)
        return Blend(1.0, 1.0, 0.0, change), (*kept, new)

    def without_words(self, state: tuple[Any, ...], words: np.ndarray) -> tuple[Any, ...]:
        return tuple(statistics.without(words) for statistics in state)


@dataclass(frozen=True)
class MemoizedVB(Window):
    """A sum over the minibatches of a corpus, of which each is replaced when it comes again.

    That is a window of one pass.

    Parameters
    ----------
    n_minibatches : int
        Minibatches of a pass; the t-th is the same documents as the one that many before.
    """


@dataclass(frozen=True)
class IncrementalVB(Rule):
    """A stochastic step towards eta and the sum over the minibatches of a corpus.

    Parameters
    ----------
    n_minibatches : int
        As of `MemoizedVB`.
    step_size : StepSize
        r_t of lam <- (1 - r) lam + r (eta + sum_b s_b); 1 is `MemoizedVB`.
    """

    n_minibatches: int
    step_size: StepSize = DECAY

    def __post_init__(self) -> None:
        check_whole(self, n_minibatches=self.n_minibatches)
        check_able(self, "__call__", "Decay(0.7)", step_size=self.step_size)

    def init(self, posterior: Posterior) -> tuple[tuple[Any, ...], Any]:
        return (), None

    def step(
        self, posterior: Posterior, learn: Learn, state: tuple[tuple[Any, ...], Any]
    ) -> tuple[Blend, tuple[tuple[Any, ...], Any]]:
        """Return the blend to (1 - r) lam + r (eta + sum_b s_b)."""
        kept, total = state
        rate, new = self.step_size(posterior.n_batches), learn(posterior)
        before = kept
        change, kept = _replaced(new, before, self.n_minibatches)
        if _rounds(new, before, kept):
            total = _sum_of(new, kept)
        else:
            total = change if total is None else change.plus(total, 1.0)
        return Blend(1 - rate, rate, rate, total), ((*kept, new), total)

    def without_words(
        self, state: tuple[tuple[Any, ...], Any], words: np.ndarray
    ) -> tuple[tuple[Any, ...], Any]:
        kept, total = state
        kept = tuple(statistics.without(words) for statistics in kept)
        return kept, None if total is None else total.without(words)


def _replaced(new: Any, kept: tuple[Any, ...], most: int) -> tuple[Any, tuple[Any, ...]]:
    """New statistics less the oldest kept ones, and those that are kept on, `most` with the new."""
    n_old = max(0, len(kept) + 1 - most)
    for old in kept[:n_old]:
        new = new.plus(old, -1.0)
    return new, kept[n_old:]


def _sum_of(new: Any, kept: tuple[Any, ...]) -> Any:
    """The statistics of all minibatches, added up anew."""
    for one in kept:
        new = new.plus(one, 1.0)
    return new


def _rounds(new: Any, before: tuple[Any, ...], kept: tuple[Any, ...]) -> bool:
    """Whether so much is taken out that rounding is more than a trace of what stays."""
    gone, stays = (
        sum(float(one.n_tokens) for one in some)
        for some in (before[: len(before) - len(kept)], (new, *kept))
    )
    return gone > MOST_TAKEN_OUT * stays
