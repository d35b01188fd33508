# SPDX-License-Identifier: BSD-3-Clause
"""The order of work: how long rounds are and how many may be under way, by the place in a stream.

What is learnt from topics that are D minibatches old costs about D / n at the n-th minibatch, so
both grow along a stream: the delay is at most a sixteenth of what was learnt. As long as rounds
would be so short that sending them costs more than learning them, the client learns by itself.
All are functions of the place alone, never of the time or of the number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtopics.utils.checks import check_whole

# Minibatches learnt for each one of delay.
RAMP = 16
# A round is worth its way with so many minibatches, or documents.
ENOUGH, ENOUGH_DOCUMENTS = 8, 4000


@dataclass(frozen=True)
class Schedule:
    """Rounds along a stream.

    Parameters
    ----------
    rounds : int
        Minibatches of a round, at most.
    staleness : int
        Rounds that may be under way when another one begins, at most.
    every : int or None
        Minibatches after which nothing may be under way, and the multiples of it.
    batch_size : int
        Documents in a minibatch.
    """

    rounds: int
    staleness: int
    every: int | None = None
    batch_size: int = 100

    def __post_init__(self) -> None:
        check_whole(self, rounds=self.rounds, batch_size=self.batch_size)
        check_whole(self, least=0, staleness=self.staleness)

    def learns_here(self, n_learnt: int) -> bool:
        """Whether the client learns a minibatch by itself, by those that were learnt before it."""
        least = min(ENOUGH, -(-ENOUGH_DOCUMENTS // self.batch_size), self.rounds)
        return n_learnt < RAMP * self.staleness * least

    def length(self, n_before: int, n_learnt: int, n_left: int) -> int:
        """Minibatches of a round.

        Parameters
        ----------
        n_before : int
            Minibatches of the stream before it.
        n_learnt : int
            Those that its topics will have been learnt from, also before the stream.
        n_left : int
            Those that were read together with it.
        """
        longest = self.rounds
        if self.staleness:
            longest = min(longest, max(1, n_learnt // (RAMP * self.staleness)))
        if self.every is not None:
            longest = min(longest, self.every - n_before % self.every)
        return min(longest, n_left)

    def under_way(self, n_before: int, n_learnt: int) -> int:
        """Rounds that may be under way when another one begins."""
        if self.every is not None and n_before % self.every == 0:
            return 0
        return min(self.staleness, n_learnt // RAMP)
