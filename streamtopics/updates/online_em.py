# SPDX-License-Identifier: BSD-3-Clause
"""Online EM."""

from dataclasses import dataclass
from typing import Any

from streamtopics.messages import AnyStatistics
from streamtopics.posteriors import Blend, Learn, Posterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.rates import MEAN_DECAY, StepSize, decay_between
from streamtopics.updates.rule import MergeMethod, Rule, Traits
from streamtopics.utils.checks import check_method


@dataclass(frozen=True)
class OnlineEM(Rule):
    """Online EM: topics from a running mean of expected statistics per document.

    ``lam_t = (1 - r_t) lam_{t-1} + r_t s_t / B``, with statistics s_t of the B documents of
    minibatch t. The topics are lam, normalised, and smoothed by the prior (maximum a posteriori):
    Cappé and Moulines (2009); algorithm 1 of chapter 3 of Dupuy (2017).

    Parameters
    ----------
    step_size : StepSize
        Step size r_t of minibatch t, at least 1 / t. With ``MeanDecay(1)`` all minibatches weigh
        alike.
    """

    step_size: StepSize = MEAN_DECAY

    def __post_init__(self) -> None:
        check_method(self, "__call__", "MeanDecay(0.7)", step_size=self.step_size)

    @property
    def traits(self) -> Traits:
        merges: MergeMethod = "mean" if self.step_size(10**9) <= 1e-9 else "decayed mean"
        return Traits(frozenset({"smoothing"}), merges=merges)

    def for_part(self, share: float, first: bool = True) -> Rule:
        return self

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """Product of 1 - r, and the share of the minibatches in the mean."""
        kept = decay_between(self._rate, before.n_batches, after.n_batches)
        return kept, 1.0 - kept

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        return running_mean(posterior, learn(posterior), self._rate(posterior.n_batches)), None

    def _rate(self, n_batches: float) -> float:
        return max(self.step_size(n_batches), 1.0 / (n_batches + 1))


def running_mean(posterior: Any, statistics: AnyStatistics, rate: float) -> Blend:
    """The blend to ``(1 - r) lam + r / B s``, smoothed."""
    gain = rate / statistics.n_documents
    # Maximum a posteriori under Dirichlet(1 + eta): eta weighs against the n documents in the
    # mean, 1 / n_t = (1 - r)^2 / n_{t-1} + r^2 / B.
    remembered = (1 - rate) ** 2 * posterior.c + rate * gain
    return Blend(1 - rate, gain, remembered - (1 - rate) * posterior.c, statistics)
