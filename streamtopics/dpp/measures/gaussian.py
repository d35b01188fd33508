# SPDX-License-Identifier: BSD-3-Clause
"""Vectors in R^V with independent Gaussian entries, phi(x) = x: v = s2, w0 = m."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from streamtopics.dpp.arrays import Floats
from streamtopics.dpp.measures.base import BaseMeasure, check_rates
from streamtopics.dpp.sets import VECTORS
from streamtopics.utils.checks import floats

# Half of the proposals are kept; of numbers that are not finite none is.
MOST_PROPOSALS = 1000


@dataclass(frozen=True, eq=False)
class Gaussian(BaseMeasure):
    """N(mean, Diag(variance)).

    Parameters
    ----------
    mean : array-like of shape (V,)
    variance : array-like of shape (V,)
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Gaussian
    >>> measure = Gaussian([0.0, 1.0], [1.0, 4.0])
    >>> measure.log_p(np.array([[0.0, 1.0]])).round(4)  # -log(2 pi) - log 2
    array([-2.531])
    """

    _holds = "mean: V; variance: V >0"
    mean: Floats
    variance: Floats
    form = VECTORS

    if TYPE_CHECKING:

        def __init__(self, mean: ArrayLike, variance: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        mean = floats(self.mean, "mean")
        variance = check_rates(self.variance, "variance", np.inf)
        if mean.shape != variance.shape or not np.isfinite(mean).all():
            raise ValueError(
                f"mean must be finite and of the shape of variance, {variance.shape}; got {mean!r}"
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "variance", variance)

    @property
    def v(self) -> Floats:
        return self.variance

    @property
    def w0(self) -> Floats:
        return self.mean[:, None]

    def features(self, points: Floats) -> Floats:
        return np.asarray(points, dtype=np.float64)

    def log_p(self, points: Floats) -> Floats:
        z2 = (self.features(points) - self.mean) ** 2 / self.variance
        return np.asarray(-0.5 * (z2.sum(axis=1) + np.log(2 * np.pi * self.variance).sum()))

    def sample(self, n: int, rng: Generator) -> Floats:
        return self.mean + np.sqrt(self.variance) * rng.standard_normal((n, len(self.mean)))

    def sample_tilted(self, H: Floats, rng: Generator) -> Floats:
        """Draw a vector from p(x) (h'x)^2 / h'Sigma h for each row h of H.

        First t = h'x, of which the law is t^2 N(t; h'm, h'Diag(s2)h), then x given t.
        """
        centre, spread2 = H @ self.mean, H**2 @ self.variance
        t = _squared_normal(centre, np.sqrt(spread2), rng)
        x = self.sample(len(H), rng)
        off = (t - np.einsum("nv,nv->n", H, x)) / np.maximum(spread2, 1e-300)
        return np.asarray(x + off[:, None] * H * self.variance)


def _squared_normal(centre: Floats, spread: Floats, rng: Generator) -> Floats:
    """Draw from t^2 N(t; centre, spread^2), by rejection: half of the proposals are kept.

    t^2 <= 2 (t - centre)^2 + 2 centre^2, so a proposal is N with weight centre^2, and
    centre +- spread * chi_3 with weight spread^2.
    """
    t = centre.copy()
    rows = np.arange(len(t))
    for _ in range(MOST_PROPOSALS):
        if rows.size == 0:
            break
        m, s = centre[rows], spread[rows]
        plain = rng.random(rows.size) * (m**2 + s**2) < m**2
        normal = rng.standard_normal(rows.size)
        chi = np.sqrt(rng.chisquare(3, rows.size)) * np.sign(normal)
        proposal = m + s * np.where(plain, normal, chi)
        bound = 2 * (proposal - m) ** 2 + 2 * m**2
        kept = rng.random(rows.size) * bound <= proposal**2
        t[rows[kept]] = proposal[kept]
        rows = rows[~kept]
    return t
