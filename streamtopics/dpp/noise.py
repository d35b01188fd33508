# SPDX-License-Identifier: BSD-3-Clause
"""Noise: points in addition to the low-rank part.

Source: Dupuy (2017), for `Counting`.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.random import Generator
from scipy.special import betaln, gammaln, xlogy

from streamtopics.dpp.arrays import Floats, Places, Points
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.utils.checks import check_range

Sizes = TypeVar("Sizes", float, Floats)
# The set of each point, and the points.
Drawn: TypeAlias = tuple[Places, Points]

LEAST_LOG_P = -700.0
# Points of all sets drawn at once.
MOST_DRAWN = 10_000_000


class Noise(Protocol):
    """Base class of noises. A noise adds random points to the sets of a low-rank process.

    Points not added by the noise are called low-rank points. A set X with the features Phi_X has
    a density proportional to ``det(Diag(delta) + Phi_X A Phi_X')``, relative to p. `Kernel` is the
    matrix A; `diagonal` returns delta. A subclass is a frozen dataclass. Learning multiplies
    `level` by factors, so 0 stays 0. `needs_list` says that the
    measure must be able to list all points (`can_list`).
    """

    level: float
    needs_list: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_range(self, 0, np.inf, level=self.level)

    def at(self, level: float) -> Self:
        """Return a copy of the noise with the given level."""
        return cast(Self, replace(cast(Any, self), level=level))

    @property
    def rho(self) -> float:
        """Number in the normaliser's factor ``det(I + rho A Sigma)`` (Sigma: `BaseMeasure.v`)."""
        return 1.0

    @abstractmethod
    def log_normalizer(self, measure: BaseMeasure) -> float:
        """Return the logarithm of the other factors of the normaliser (see `rho`), in nats."""

    @abstractmethod
    def slope(self, measure: BaseMeasure, expected_size: Floats) -> Floats:
        """Return the derivative of the log normaliser of the process with respect to `level`.

        `expected_size` is the expected number of points of a set, noise included.
        """

    @abstractmethod
    def expected_size(self, measure: BaseMeasure, low_rank: Sizes) -> Sizes:
        """Return the expected size of a set from the expected number of low-rank points."""

    @abstractmethod
    def diagonal(self, log_p: Floats) -> Floats:
        """Return delta, added to the diagonal of the kernel, for points with the given log p."""

    @abstractmethod
    def diagonal_slope(self, log_p: Floats) -> Floats:
        """Return the derivative of `diagonal` with respect to `level`, for each point."""

    @abstractmethod
    def inclusion(self, log_p: Floats) -> Floats:
        """Return the probability that noise alone adds a point, for points with the given log p.

        For noise that repeats points, such as `Background`, return expected counts.
        """

    @abstractmethod
    def log_weight(self, measure: BaseMeasure, m: Places, e: Places) -> Floats:
        """Return the log weight of e added points in a set with m low-rank points.

        The weight is the density of e noise points, integrated over the ground set. Given m, the
        probability of e is proportional to the weight. Sizes of sets are drawn with the weights.
        """

    @abstractmethod
    def draw(self, measure: BaseMeasure, n_sets: int, drawn: Drawn, rng: Generator) -> Drawn:
        """Draw the noise points of `n_sets` sets, given the low-rank points `drawn`.

        `drawn` and the result are pairs of arrays: for each point the index of its set, and the
        points.
        """

    @abstractmethod
    def draw_exactly(
        self, measure: BaseMeasure, counts: Places, drawn: Drawn, rng: Generator
    ) -> Drawn:
        """Draw noise points as `draw` does, but exactly ``counts[i]`` of them for set i."""

    def remove(self, measure: BaseMeasure, points: Points) -> BaseMeasure:
        """Return the measure for the other points of a set, given that the set has `points`.

        By default `measure` unchanged.
        """
        return measure


@dataclass(frozen=True)
class Background(Noise):
    """Noise that adds points drawn independently from the base measure p, in a Poisson number.

    Parameters
    ----------
    level : float
        Expected number of added points of a set, divided by the sum of p over the ground set.

    Examples
    --------
    >>> from streamtopics.dpp import Background, Bernoulli
    >>> Background(2.0).expected_size(Bernoulli([0.5, 0.5]), 3.0)  # 3 low-rank points, 2 more
    5.0
    """

    level: float

    @classmethod
    def expecting(cls, measure: BaseMeasure, n_points: float) -> Self:
        """Return the noise of `n_points` expected points."""
        return cls(n_points / measure.mass)

    def log_normalizer(self, measure: BaseMeasure) -> float:
        return self.level * measure.mass

    def slope(self, measure: BaseMeasure, expected_size: Floats) -> Floats:
        return np.full(np.shape(expected_size), measure.mass)

    def expected_size(self, measure: BaseMeasure, low_rank: Sizes) -> Sizes:
        return low_rank + self.level * measure.mass

    def diagonal(self, log_p: Floats) -> Floats:
        return np.full(np.shape(log_p), self.level)

    def diagonal_slope(self, log_p: Floats) -> Floats:
        return np.ones(np.shape(log_p))

    def inclusion(self, log_p: Floats) -> Floats:
        return self.level * np.exp(log_p)

    def log_weight(self, measure: BaseMeasure, m: Places, e: Places) -> Floats:
        return np.asarray(xlogy(e, self.level * measure.mass) - gammaln(e + 1.0))

    def draw(self, measure: BaseMeasure, n_sets: int, drawn: Drawn, rng: Generator) -> Drawn:
        counts = rng.poisson(self.level * measure.mass, size=n_sets)
        return self.draw_exactly(measure, counts, drawn, rng)

    def draw_exactly(
        self, measure: BaseMeasure, counts: Places, drawn: Drawn, rng: Generator
    ) -> Drawn:
        if np.sum(counts, dtype=np.float64) > MOST_DRAWN:
            raise ValueError(f"{self} gives too many points; draw fewer sets, or lower its level")
        joined = np.repeat(np.arange(len(counts)), counts)
        return joined, measure.sample(len(joined), rng)


@dataclass(frozen=True)
class Counting(Noise):
    """Noise that adds each item of a finite list independently: ``level I`` in the L-ensemble.

    Parameters
    ----------
    level : float
        Each item that a set does not have yet joins the set with probability
        ``level / (1 + level)``. 0 is no noise.

    Examples
    --------
    >>> from streamtopics.dpp import Counting, Items
    >>> Counting(0.25).expected_size(Items.of(10), 5.0)  # 5 + 0.2 x (10 - 5)
    6.0
    """

    level: float
    needs_list: ClassVar[bool] = True

    @classmethod
    def expecting(cls, measure: BaseMeasure, n_points: float) -> Self:
        """Return the noise of `n_points` expected points, at most half of all items."""
        share = min(n_points / measure.n_items, 0.5)
        return cls(share / (1 - share))

    @property
    def rho(self) -> float:
        return 1 / (1 + self.level)

    @property
    def sigma(self) -> float:
        return self.level / (1 + self.level)

    def log_normalizer(self, measure: BaseMeasure) -> float:
        return float(measure.n_items * np.log1p(self.level)) if self.level else 0.0

    def slope(self, measure: BaseMeasure, expected_size: Floats) -> Floats:
        return measure.n_items - expected_size

    def expected_size(self, measure: BaseMeasure, low_rank: Sizes) -> Sizes:
        return low_rank + (self.sigma * (measure.n_items - low_rank) if self.level else 0.0)

    def diagonal(self, log_p: Floats) -> Floats:
        return self.level * self.diagonal_slope(log_p)

    def diagonal_slope(self, log_p: Floats) -> Floats:
        return np.exp(-np.maximum(log_p, LEAST_LOG_P))

    def inclusion(self, log_p: Floats) -> Floats:
        return np.where(np.isneginf(log_p), 0.0, self.sigma)

    def log_weight(self, measure: BaseMeasure, m: Places, e: Places) -> Floats:
        if self.level == 0:
            return np.where(np.equal(e, 0) & (m >= 0), 0.0, -np.inf)
        free = np.maximum(measure.n_items - m, 0)
        chosen = np.minimum(e, free)
        log_choices = -np.log1p(free) - betaln(free - chosen + 1, chosen + 1)
        return np.where(e <= measure.n_items - m, xlogy(e, self.level) + log_choices, -np.inf)

    def draw(self, measure: BaseMeasure, n_sets: int, drawn: Drawn, rng: Generator) -> Drawn:
        if self.level == 0:
            return drawn[0][:0], drawn[1][:0]
        ground_set, taken = self._listed(measure, drawn)
        N = ground_set.shape[0]
        n_joined = rng.binomial(n_sets * N, self.sigma)
        cells = np.setdiff1d(rng.choice(n_sets * N, size=n_joined, replace=False), taken)
        return cells // N, ground_set[cells % N]

    def draw_exactly(
        self, measure: BaseMeasure, counts: Places, drawn: Drawn, rng: Generator
    ) -> Drawn:
        if not counts.any():
            return drawn[0][:0], drawn[1][:0]
        ground_set, taken = self._listed(measure, drawn)
        N = ground_set.shape[0]
        taken = np.sort(taken)
        starts = np.searchsorted(taken, np.arange(len(counts) + 1) * N)
        joined = []
        for place, count in enumerate(counts):
            free = np.ones(N, dtype=bool)
            free[taken[starts[place] : starts[place + 1]] - place * N] = False
            joined.append(rng.choice(np.flatnonzero(free), size=count, replace=False))
        return np.repeat(np.arange(len(counts)), counts), ground_set[np.concatenate(joined)]

    def remove(self, measure: BaseMeasure, points: Points) -> BaseMeasure:
        return measure.without(points) if self.level else measure

    def _listed(self, measure: BaseMeasure, drawn: Drawn) -> tuple[Points, Places]:
        """Return the ground set of N items, and set * N + item for each point."""
        check_listed(self, measure)
        ground_set = measure.ground_set()
        return ground_set, drawn[0] * ground_set.shape[0] + measure.places(drawn[1])


def check_listed(noise: Noise, measure: BaseMeasure) -> None:
    if noise.needs_list and not measure.can_list:
        raise ValueError(
            f"{type(noise).__name__} noise needs a list of the ground set, but "
            f"{type(measure).__name__} has none; use Background (noise='background')"
        )
