# SPDX-License-Identifier: BSD-3-Clause
"""Corners of a cube, {-1, 1}^V, such as votes for and against: phi(x) = x."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.sets import VECTORS, Form


@dataclass(frozen=True)
class Corners(BaseMeasure):
    """All 2^V corners, equally probable: Sigma = I.

    Examples
    --------
    >>> from streamtopics import LowRankDPP
    >>> meetings = [[[1, -1, 1], [-1, 1, 1]], [[1, 1, -1]], [[-1, -1, -1], [1, 1, 1]]] * 10
    >>> model = LowRankDPP(Corners(3), n_components=2, random_state=0).fit(meetings)
    >>> model.sample(1, random_state=0)[0].shape[1]
    3
    """

    n_votes: int
    form: ClassVar[Form] = VECTORS

    v = property(lambda self: np.ones(self.n_votes))
    w0 = property(lambda self: np.zeros((self.n_votes, 0)))
    n_items = property(lambda self: 2.0**self.n_votes)
    can_list = property(lambda self: self.n_votes <= 16)

    def features(self, points):
        return np.asarray(points, dtype=np.float64)

    def log_p(self, points):
        is_corner = (np.abs(self.features(points)) == 1).all(axis=1)
        return np.where(is_corner, -self.n_votes * np.log(2), -np.inf)

    def sample(self, n, rng):
        return 2.0 * rng.integers(2, size=(n, self.n_votes)) - 1

    def sample_tilted(self, H, rng):
        """Draw vote after vote: x_i has a probability proportional to (a + h_i x_i)^2 + c."""
        # a is h'x so far, and c the sum of h^2 of the votes to come.
        x, a, c = np.empty(H.shape), np.zeros(len(H)), (H**2).sum(axis=1)
        for i, h in enumerate(H.T):
            c = np.maximum(c - h**2, 0.0)
            up, down = (a + h) ** 2 + c, (a - h) ** 2 + c
            x[:, i] = np.where(rng.random(len(H)) * (up + down) < up, 1.0, -1.0)
            a += h * x[:, i]
        return x

    def ground_set(self):
        return 2.0 * (np.arange(2**self.n_votes)[:, None] >> np.arange(self.n_votes) & 1) - 1

    def places(self, points):
        return ((self.features(points) > 0) @ (1 << np.arange(self.n_votes))).astype(np.intp)
