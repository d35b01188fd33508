# SPDX-License-Identifier: BSD-3-Clause
"""Several minibatches as one update of a posterior that has changed meanwhile.

Minibatches learnt elsewhere from ``lam_v`` give ``R_v lam_v + G + P eta + X xi``. Meanwhile the
posterior is ``lam_t``. The update is ``lam <- R_t lam_t + (w_t / w_v) (G + X xi) + P_t eta``, with
the retained shares ``R`` and the weights ``w`` of new statistics.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.doc_topic import FIXED, DocTopicUpdate, Learnt
from streamtopics.updates.rule import MEANS, Rule


@dataclass(frozen=True)
class Composite:
    blend: Blend
    before: Counters  # Of the posterior before the first minibatch
    alpha: np.ndarray  # (n_components,): alpha before the first minibatch
    states: tuple[Any, Any]  # Of the rule before the first and after the last minibatch
    # Columns, numbers of the topics by row, and words of the columns; each may be None
    places: tuple[Any, ...] = ()

    def is_of(self, now: Counters) -> bool:
        return self.before[:3] == now[:3]


def apply_composite(
    rule: Rule,
    doc_topic: DocTopicUpdate,
    composite: Composite,
    posterior: TopicPosterior,
    state: Any,
) -> tuple[Blend, Any]:
    """The blend that adds minibatches learnt from an older posterior, and the next state."""
    if composite.is_of(posterior.counters):
        return composite.blend, composite.states[1]
    blend = _reweighted(rule, composite, posterior)
    if doc_topic == FIXED or blend.alpha is None:
        return replace(blend, alpha=None), state
    (inner, memory), ((_, first), (_, last)) = state, composite.states
    learnt = Learnt(
        (composite.alpha, blend.alpha),
        (first, last),
        composite.before.n_batches,
        blend.statistics.n_batches,
    )
    alpha, memory = doc_topic.delayed(posterior.alpha, memory, learnt, posterior.n_batches)
    return replace(blend, alpha=alpha), (inner, memory)


def _reweighted(rule: Rule, composite: Composite, posterior: TopicPosterior) -> Blend:
    blend, before, now = composite.blend, composite.before, posterior.counters
    then, new = before.plus(blend), now.plus(blend)
    (was_kept, weight), (kept_now, weight_now) = rule.decay(before, then), rule.decay(now, new)
    # By the retained shares: equal if the rule always retains the same, whatever the parts.
    kept = blend.retain * (kept_now / was_kept) if was_kept > 0 else kept_now
    scale = weight_now / weight if weight > 0 else 1.0
    if rule.traits.merges in MEANS:
        # 1 / c documents are remembered: minibatches enter with squared weights.
        own = then.c - blend.retain**2 * before.c
        prior = kept**2 * now.c + scale**2 * own - kept * now.c
    else:
        prior_boost = blend.prior - (1.0 - blend.retain)
        prior = 1.0 - kept + scale * prior_boost
    return replace(
        blend, retain=kept, gain=scale * blend.gain, prior=prior, boost=scale * blend.boost
    )
