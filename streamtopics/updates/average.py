# SPDX-License-Identifier: BSD-3-Clause
"""The average over the iterates of a stream (Polyak and Ruppert).

The average avg_t = (1 - w_t) avg_{t-1} + w_t lam_t is kept as theta lam + u. With lam_t = r
lam_{t-1} + g s_t + p eta + q xi (r, g, p, q the coefficients of `Blend`),

    theta_t = w_t + (1 - w_t) theta_{t-1} / r,
    u_t     = (1 - w_t) u_{t-1} + (w_t - theta_t) (g s_t + p eta + q xi),

so u changes only in the rows of the minibatch. theta lam is added to u before theta gets too large.
"""

from collections.abc import Sequence

import numpy as np

from streamtopics.posteriors.protocol import Blend, Swap, swap
from streamtopics.posteriors.topics import TopicPosterior, blend_together, forget_together

MOST_THETA = 1e6


class IterateAverage:
    """The average of a posterior over the minibatches of a stream (Polyak and Ruppert).

    `posterior` is the posterior before the first minibatch. The posterior after minibatch t has the
    weight 1 if `uniform`, else t. `Blend.retain` must be one number for all topics.
    """

    _holds = "self: V K; posterior: V K; rest: V K; theta: >=0; n_averaged: >=0"

    def __init__(self, posterior: TopicPosterior, uniform: bool = False):
        self.posterior, self.uniform, self.shape = posterior, uniform, posterior.shape
        self.rest = TopicPosterior(posterior.eta, posterior.shape, xi=posterior.xi)
        self.n_averaged, self.theta = 0, 0.0

    @property
    def alpha(self) -> np.ndarray:
        return self.posterior.alpha

    @property
    def prior_part(self) -> np.ndarray:
        return self.theta * self.posterior.prior_part + self.rest.prior_part

    @property
    def learnt_part(self) -> np.ndarray:
        return self.theta * self.posterior.learnt_part + self.rest.learnt_part

    @property
    def mass(self) -> np.ndarray:
        return self.prior_part + self.learnt_part

    def rows(self, words: np.ndarray) -> np.ndarray:
        return self.theta * self.posterior.rows(words) + self.rest.rows(words)

    def top_candidates(self, n: int) -> np.ndarray:
        # Of both: a row may be zero in either.
        return np.union1d(self.posterior.top_candidates(n), self.rest.top_candidates(n))

    def dense(self) -> np.ndarray:
        return self.theta * self.posterior.dense() + self.rest.dense()

    def forget(self, words: np.ndarray, swaps: Sequence[Swap] = ()) -> None:
        never_seen = self.posterior.never_seen(words)
        forget_together([(self.posterior, never_seen), (self.rest, 0.0)], words, swaps)

    def blend(self, blend: Blend, swaps: Sequence[Swap] = ()) -> None:
        """Update the posterior, and add the updated posterior to the average."""
        if blend.noise is not None or np.ndim(blend.retain):
            raise ValueError(
                "averages need a rule with one retained share for all topics, without noise; use "
                "another rule, or averaging=None"
            )
        t = self.n_averaged + 1
        w = 1.0 / t if self.uniform else 2.0 / (t + 1)
        kept, rest = (1 - w) * self.theta, self.rest
        if kept > MOST_THETA * blend.retain:
            rest, kept = rest.plus(self.posterior, self.theta), 0.0
        theta = w + kept / blend.retain if kept > 0 else w
        of_rest = Blend(
            1 - w,
            (w - theta) * blend.gain,
            (w - theta) * blend.prior,
            blend.statistics,
            boost=(w - theta) * blend.boost,
        )
        new = {"rest": rest, "theta": theta, "n_averaged": t}
        mine = [swap(self, name, value) for name, value in new.items()]
        blend_together([(self.posterior, blend), (rest, of_rest)], [*mine, *swaps])
