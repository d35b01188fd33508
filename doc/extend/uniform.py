# SPDX-License-Identifier: BSD-3-Clause
"""A noise of points that are equally frequent, whatever p is."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, xlogy

from streamtopics.dpp.noise import Noise


@dataclass(frozen=True)
class Uniform(Noise):
    """A Poisson number of points of a ground set of N, on average `level` of each.

    With respect to p the kernel is Diag(level / p) + Phi_X A Phi_X'. A point may come again, so
    the normaliser, a sum over all multisets, is e^(level N) det(I + A Sigma).

    Examples
    --------
    >>> from streamtopics import LowRankDPP
    >>> documents = [[[1, 0], [0, 1]], [[1, 1], [0, 0], [1, 1]]] * 10
    >>> model = LowRankDPP("bernoulli", 2, noise=Uniform(0.1), random_state=0).fit(documents)
    >>> type(model.process().noise).__name__
    'Uniform'
    """

    level: float
    needs_list: ClassVar[bool] = True

    def log_normalizer(self, measure):
        return self.level * measure.n_items

    def slope(self, measure, expected_size):
        return np.full(np.shape(expected_size), measure.n_items)

    def expected_size(self, measure, low_rank):
        return low_rank + self.level * measure.n_items

    def diagonal(self, log_p):
        return self.level * self.diagonal_slope(log_p)

    def diagonal_slope(self, log_p):
        return np.exp(-np.maximum(log_p, -700.0))

    def inclusion(self, log_p):
        return np.where(np.isneginf(log_p), 0.0, self.level)

    def log_weight(self, measure, m, e):
        return xlogy(e, self.level * measure.n_items) - gammaln(e + 1.0)

    def draw(self, measure, n_sets, drawn, rng):
        counts = rng.poisson(self.level * measure.n_items, size=n_sets)
        return self.draw_exactly(measure, counts, drawn, rng)

    def draw_exactly(self, measure, counts, drawn, rng):
        every = measure.ground_set()
        chosen = rng.integers(every.shape[0], size=counts.sum())
        return np.repeat(np.arange(len(counts)), counts), every[chosen]
