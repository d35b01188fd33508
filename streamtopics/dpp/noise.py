# SPDX-License-Identifier: BSD-3-Clause
"""Points that come beside those of the low-rank part, so that any set is possible.

`Background`: a Poisson number of independent draws from p. On a set X the kernel with
respect to p is level I + Phi_X A Phi_X', whose density over multisets has the normaliser
e^level det(I + A Sigma): finite for repeated sentences and on infinite ground sets.
`Counting`: L = level I + ... on a finite ground set of N items, as in Dupuy (2017): each
item outside of the low-rank part joins with probability level / (1 + level).

Both have the same attributes and methods; the rest of the room does not ask which it is.

    rho                  factor of A in the normaliser, det(I + rho A Sigma)
    log_normalizer       its term of the log normaliser of the process
    slope                derivative of the whole log normaliser by the level
    expected_size        of the process, given that of the low-rank part
    diagonal             what is added to Phi_X A Phi_X'; diagonal_slope by the level
    inclusion            of a point by the noise alone
    log_weight           of m points of the low-rank part with e more
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from streamtopics.dpp.measures import BaseMeasure, Bernoulli, Items
from streamtopics.dpp.measures.base import Points

LEAST_LOG_P = -700.0


def _check_level(level: float) -> None:
    if not 0 <= level < np.inf:
        raise ValueError(f"level must be finite and not negative; got {level!r}")


@dataclass(frozen=True)
class Background:
    """A Poisson number of draws from the base measure itself.

    Parameters
    ----------
    level : float
        Their expected number, per unit of mass of the measure: beta.

    Examples
    --------
    >>> from streamtopics.dpp.measures import Bernoulli
    >>> from streamtopics.dpp.noise import Background
    >>> Background(2.0).expected_size(Bernoulli([0.5, 0.5]), 3.0)
    5.0
    """

    level: float

    def __post_init__(self):
        _check_level(self.level)

    @property
    def rho(self) -> float:
        return 1.0

    def at(self, level: float) -> "Background":
        """The same noise at another level."""
        return replace(self, level=level)

    def log_normalizer(self, measure: BaseMeasure) -> float:
        """level * mass, in nats."""
        return self.level * measure.mass

    def slope(self, measure: BaseMeasure, expected_size: np.ndarray) -> np.ndarray:
        """The mass, whatever the expected size of the process."""
        return np.full(np.shape(expected_size), measure.mass)

    def expected_size(self, measure: BaseMeasure, low_rank: np.ndarray) -> np.ndarray:
        """Points in all: those of the low-rank part + level * mass."""
        return low_rank + self.level * measure.mass

    def diagonal(self, log_p: np.ndarray) -> np.ndarray:
        """The level, for each point."""
        return np.full(np.shape(log_p), self.level)

    def diagonal_slope(self, log_p: np.ndarray) -> np.ndarray:
        """Derivative of `diagonal` by the level: 1."""
        return np.ones(np.shape(log_p))

    def inclusion(self, log_p: np.ndarray) -> np.ndarray:
        """level * p: the expected number of times that the noise has each point."""
        return self.level * np.exp(log_p)

    def log_weight(self, measure: BaseMeasure, m: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Log of (level * mass)^e / e!."""
        return xlogy(e, self.level * measure.mass) - gammaln(e + 1.0)

    def draw(
        self,
        measure: BaseMeasure,
        n_sets: int,
        places: np.ndarray,
        points: Points,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, Points]:
        """Points that join `n_sets` sets, of which set places[i] has points[i] already.

        Returns the places of the new points' sets, and the points.
        """
        counts = rng.poisson(self.level * measure.mass, size=n_sets)
        return self.draw_exactly(measure, counts, places, points, rng)

    def draw_exactly(
        self,
        measure: BaseMeasure,
        counts: np.ndarray,
        places: np.ndarray,
        points: Points,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, Points]:
        """As `draw`, given how many points join each set."""
        joined = np.repeat(np.arange(len(counts)), counts)
        return joined, measure.sample(len(joined), rng)

    def remove(self, measure: BaseMeasure, points: Points) -> BaseMeasure:
        """The measure that is left to further points beside those given: the same."""
        return measure


@dataclass(frozen=True)
class Counting:
    """The multiple of the identity in L, on a finite ground set that can be listed.

    Parameters
    ----------
    level : float
        alpha in L = alpha I + ...; each item outside of the low-rank part joins with
        probability alpha / (1 + alpha). With 0 there is no noise on any ground set.

    Examples
    --------
    >>> from streamtopics.dpp.measures import Items
    >>> from streamtopics.dpp.noise import Counting
    >>> Counting(0.25).expected_size(Items.of(10), 5.0)
    6.0
    """

    level: float

    def __post_init__(self):
        _check_level(self.level)

    @property
    def rho(self) -> float:
        return 1 / (1 + self.level)

    @property
    def sigma(self) -> float:
        """level / (1 + level)."""
        return self.level / (1 + self.level)

    def at(self, level: float) -> "Counting":
        """The same noise at another level."""
        return replace(self, level=level)

    def log_normalizer(self, measure: BaseMeasure) -> float:
        """N log(1 + level), in nats."""
        return measure.n_items * np.log1p(self.level) if self.level else 0.0

    def slope(self, measure: BaseMeasure, expected_size: np.ndarray) -> np.ndarray:
        """tr (I + L)^-1 = N - E|X|."""
        return measure.n_items - expected_size

    def expected_size(self, measure: BaseMeasure, low_rank: np.ndarray) -> np.ndarray:
        """Points in all: those of the low-rank part + sigma of all others."""
        return low_rank + (self.sigma * (measure.n_items - low_rank) if self.level else 0.0)

    def diagonal(self, log_p: np.ndarray) -> np.ndarray:
        """level / p, for each point; finite even where p is 0."""
        return self.level * self.diagonal_slope(log_p)

    def diagonal_slope(self, log_p: np.ndarray) -> np.ndarray:
        """Derivative of `diagonal` by the level: 1 / p."""
        return np.exp(-np.maximum(log_p, LEAST_LOG_P))

    def inclusion(self, log_p: np.ndarray) -> np.ndarray:
        """level / (1 + level) for each point of the ground set; 0 where p is 0."""
        return np.where(np.isneginf(log_p), 0.0, self.sigma)

    def log_weight(self, measure: BaseMeasure, m: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Log of level^e times the number of ways to choose e of the N - m other items."""
        if self.level == 0:
            return np.where(np.equal(e, 0) & (m >= 0), 0.0, -np.inf)
        free = measure.n_items - m
        chosen = np.minimum(e, free)
        log_ways = -np.log1p(free) - betaln(free - chosen + 1, chosen + 1)
        return np.where(e <= free, xlogy(e, self.level) + log_ways, -np.inf)

    def draw(
        self,
        measure: Items | Bernoulli,
        n_sets: int,
        places: np.ndarray,
        points: Points,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, Points]:
        """Points that join `n_sets` sets, of which set places[i] has points[i] already.

        Returns the places of the new points' sets, and the points.
        """
        if self.level == 0:
            return np.zeros(0, dtype=np.intp), points[:0]
        ground_set, taken = _listed(measure, places, points)
        N = ground_set.shape[0]
        n_joined = rng.binomial(n_sets * N, self.sigma)
        cells = rng.choice(n_sets * N, size=n_joined, replace=False)
        cells = np.setdiff1d(cells, taken)
        return cells // N, ground_set[cells % N]

    def draw_exactly(
        self,
        measure: Items | Bernoulli,
        counts: np.ndarray,
        places: np.ndarray,
        points: Points,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, Points]:
        """As `draw`, given how many points join each set."""
        if not counts.any():
            return np.zeros(0, dtype=np.intp), points[:0]
        ground_set, taken = _listed(measure, places, points)
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
        """The measure that is left to further points beside those given: without them."""
        if self.level == 0:
            return measure
        if not isinstance(measure, Items):
            raise ValueError(
                f"with Counting(level={self.level:g}) points can be given only on Items, not on "
                f"{type(measure).__name__}; use Background, which has no such limit"
            )
        return measure.without(points)


Noise = Background | Counting


def _listed(
    measure: Items | Bernoulli, places: np.ndarray, points: Points
) -> tuple[Points, np.ndarray]:
    """The ground set, and set * N + item of each point."""
    if not isinstance(measure, Items | Bernoulli):
        raise ValueError(
            f"Counting noise lists the ground set, which {type(measure).__name__} cannot; use "
            "Background"
        )
    ground_set = measure.ground_set()
    return ground_set, places * ground_set.shape[0] + measure.places(points)
