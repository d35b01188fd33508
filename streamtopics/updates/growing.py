# SPDX-License-Identifier: BSD-3-Clause
"""Weights of minibatches that grow along a stream, around a rule that adds up counts.

With N_t the tokens seen up to the t-th minibatch, it weighs N_t^h - N_{t-1}^h, and all are
scaled such that what is learnt still counts the tokens seen:

    lam_t = eta + k (lam_{t-1} - eta) + g s_t,   r = 1 - (N_{t-1} / N_t)^h,
    g = r N_t / (N_t - N_{t-1}),   k = (1 - r) N_t / N_{t-1}.

A boost in s_t takes part, so that its share of the topics is what it was: s / (1 + s). A rule that
forgets does so on top of k, and its counts end at h times the tokens that it remembers.
"""

from dataclasses import dataclass, replace
from typing import Any

from streamtopics.posteriors import Blend, Learn, Posterior, TopicPosterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.rule import Around, Traits
from streamtopics.utils.checks import check_range


@dataclass(frozen=True)
class Growing(Around):
    """A rule whose minibatches count more, the later they come, so that first guesses fade.

    Parameters
    ----------
    update
        As of `Around`; a rule that adds a minibatch once to what it keeps.
    power : float
        h, at least 1, with which all minibatches count alike. With 3, the first third of a
        stream has 4 % of the weight; it is then worth 5/9 of its tokens.
    """

    power: float = 3.0

    def __post_init__(self) -> None:
        check_range(self, 1, 100, power=self.power)

    @property
    def traits(self) -> Traits:
        """Those of the inner rule, but weights do not grow once more."""
        return replace(self.update.traits, adds=False)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """What the inner rule says, times (N / N')^(h - 1) and the mean weight of a new token."""
        kept, weight = self.update.decay(before, after)
        old, now = before.n_tokens, after.n_tokens
        if old > 0:
            kept = float(kept * (old / now) ** (self.power - 1))
        if now > old > 0:
            weight = weight * (1.0 - (old / now) ** self.power) * now / (now - old)
        return kept, weight

    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        """Return the blend of the rule with growing weights."""
        blend, state = self.update.step(posterior, learn, state)
        before, new = posterior.n_tokens, blend.statistics.n_tokens
        if self.power == 1 or before == 0 or new == 0:
            return blend, state
        now = before + new
        rate = 1.0 - (before / now) ** self.power
        gain, keep = rate * now / new, (1.0 - rate) * now / before
        grown = replace(
            blend,
            retain=keep * blend.retain,
            retention=blend.reported_retention,
            gain=gain * blend.gain,
            prior=blend.prior + blend.retain * (1.0 - keep),
            boost=gain * blend.boost,
        )
        return grown, state


def merged_weights(
    power: float, mine: TopicPosterior, theirs: TopicPosterior, base: TopicPosterior | None
) -> tuple[float, float, float]:
    """Weights of what two sums and their ancestor learnt, in the posterior of both.

    Both parts count by their tokens, and `base` as in one stream.
    """
    if base is None or power == 1 or not base.n_tokens > 0:
        return 1.0, 1.0, -1.0
    before, parts = base.n_tokens, (mine, theirs)
    own = [part.n_tokens - before for part in parts]
    if not sum(own) > 0:
        return 1.0, 1.0, -1.0
    now = before + sum(own)
    faded = [(before / part.n_tokens) ** (power - 1) for part in parts]
    left = (before / now) ** (power - 1)
    weights = [
        (now - left * before) * tokens / sum(own) / (part.n_tokens - kept * before)
        if tokens > 0
        else 0.0
        for part, tokens, kept in zip(parts, own, faded, strict=True)
    ]
    of_base = left - sum(w * kept for w, kept in zip(weights, faded, strict=True))
    return weights[0], weights[1], of_base
