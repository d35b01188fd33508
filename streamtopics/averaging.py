# SPDX-License-Identifier: BSD-3-Clause
"""The average over the iterates of a stream (Polyak and Ruppert), kept lazily.

The average of lam_1 .. lam_t, with weights proportional to 1 .. t, is

    avg_t = (1 - w_t) avg_{t-1} + w_t lam_t,    w_t = 2 / (t + 1).

Written as avg = theta lam + u it obeys, if lam_t = r lam_{t-1} + g s_t + p eta (+ q xi),

    theta_t = w_t + (1 - w_t) theta_{t-1} / r,
    u_t     = (1 - w_t) u_{t-1} + (w_t - theta_t) (g s_t + p eta + q xi),

so that u, like lam, changes only in the rows of the words of the minibatch.
theta grows as lam forgets; before rounding can tell, theta lam is taken into u.
"""

import numpy as np

from streamtopics.posterior import Blend, LazyPosterior, Proportions, blend_together

MOST_THETA = 1e6


class IterateAverage:
    """The average of a posterior's iterates; reads like a posterior.

    For rules that retain the same of all topics, and add no noise.
    """

    def __init__(self, posterior: LazyPosterior):
        self.posterior = posterior
        self.rest = LazyPosterior(posterior.eta, posterior.shape, memory_size=1, xi=posterior.xi)

    @property
    def theta(self) -> float:
        """What the last iterate counts for."""
        return float(self.rest.proportions.memory[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of words and of topics."""
        return self.posterior.shape

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions, the last."""
        return self.posterior.alpha

    @property
    def prior_part(self) -> np.ndarray:
        """Mass in each topic that is owed to the prior."""
        return self.theta * self.posterior.prior_part + self.rest.prior_part

    @property
    def learnt_part(self) -> np.ndarray:
        """Mass in each topic that was learnt."""
        return self.theta * self.posterior.learnt_part + self.rest.learnt_part

    @property
    def mass(self) -> np.ndarray:
        """Sum over the words, for each topic."""
        return self.prior_part + self.learnt_part

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of the average, of shape (len(words), n_components)."""
        return self.theta * self.posterior.rows(words) + self.rest.rows(words)

    def dense(self) -> np.ndarray:
        """The whole of the average, of shape (n_words, n_components)."""
        return self.theta * self.posterior.dense() + self.rest.dense()

    def blend(self, blend: Blend) -> None:
        """Carry out an update of the posterior, and take the new iterate in."""
        w = 2.0 / (self.posterior.n_batches + 2)
        kept, before = (1 - w) * self.theta, self.rest
        if kept > MOST_THETA * blend.retain:
            self.rest = before.plus(self.posterior, self.theta, _theta(0.0))
            kept = 0.0
        theta = w + kept / blend.retain if kept > 0 else w
        rest = Blend(
            1 - w,
            (w - theta) * blend.gain,
            (w - theta) * blend.prior,
            blend.statistics,
            _theta(theta),
            boost=(w - theta) * blend.boost,
        )
        try:
            blend_together([(self.posterior, blend), (self.rest, rest)])
        except BaseException:
            if self.rest.n_batches == before.n_batches:
                self.rest = before
            raise


def _theta(value: float) -> Proportions:
    """theta as what `rest` remembers."""
    return Proportions(np.empty(0), np.array([value]))
