# SPDX-License-Identifier: BSD-3-Clause
"""Weights on the features, ``phi = s * x``, for example of TF-IDF."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.dpp.arrays import Floats, Places, Points
from streamtopics.dpp.measures.base import BaseMeasure
from streamtopics.dpp.sets import Form
from streamtopics.utils.checks import floats


@dataclass(frozen=True, eq=False)
class Weighted(BaseMeasure):
    """Another measure with each feature multiplied by a weight.

    Parameters
    ----------
    measure : BaseMeasure
        The measure with the unweighted features.
    s : array-like of shape (V,)
        Weight of each feature. 0 removes a feature from the kernel.

    Examples
    --------
    >>> from streamtopics.dpp import Bernoulli, Weighted
    >>> measure = Weighted(Bernoulli([0.5, 0.5]), [1.0, 3.0])
    >>> measure.features([[0, 1], [1, 1]]).toarray()
    array([[0., 3.],
           [1., 3.]])
    """

    measure: BaseMeasure
    _holds = "s: V >=0"
    s: Floats

    def __init__(self, measure: BaseMeasure, s: ArrayLike) -> None:
        object.__setattr__(self, "measure", measure)
        object.__setattr__(self, "s", floats(s, "s"))
        if self.s.shape != measure.v.shape or not (np.isfinite(self.s) & (self.s >= 0)).all():
            raise ValueError(
                f"s must hold one finite, non-negative weight for each of the {len(measure.v)} "
                f"features; got {s!r:.60}"
            )

    @property
    def v(self) -> Floats:
        return self.s**2 * self.measure.v

    @property
    def w0(self) -> Floats:
        return self.s[:, None] * self.measure.w0

    @property
    def form(self) -> Form:
        return self.measure.form

    @property
    def mass(self) -> float:
        return self.measure.mass

    @property
    def n_items(self) -> float:
        return self.measure.n_items

    @property
    def can_list(self) -> bool:
        return self.measure.can_list

    def features(self, points: Points) -> Points:
        phi = self.measure.features(points)
        if hasattr(phi, "toarray"):
            data = phi.data * self.s[phi.indices]
            return sparse.csr_matrix((data, phi.indices, phi.indptr), shape=phi.shape)
        return phi * self.s

    def canonical(self, points: Points) -> Points:
        return self.measure.canonical(points)

    def log_p(self, points: Points) -> Floats:
        return self.measure.log_p(points)

    def sample(self, n: int, rng: Generator) -> Points:
        return self.measure.sample(n, rng)

    def sample_tilted(self, H: Floats, rng: Generator) -> Points:
        return self.measure.sample_tilted(H * self.s, rng)

    def ground_set(self) -> Points:
        return self.measure.ground_set()

    def places(self, points: Points) -> Places:
        return self.measure.places(points)

    def without(self, points: Points) -> Self:
        return replace(self, measure=self.measure.without(points))

    def absence(self) -> tuple[Floats, Floats]:
        return self.measure.absence()
