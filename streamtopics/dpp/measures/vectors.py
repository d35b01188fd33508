# SPDX-License-Identifier: BSD-3-Clause
"""Gaussian vectors, or vectors in a cube with Fourier features.

A Fourier feature is a product of functions, one for each coordinate x, out of ``psi(x) = (1, sqrt2
cos(2 pi x), sqrt2 sin(2 pi x), ..., sqrt2 sin(2 pi d x))``. Features are orthonormal: Sigma = I
(Dupuy 2017, section 4.3.1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from streamtopics.dpp.arrays import Floats, Places
from streamtopics.dpp.measures.base import BaseMeasure, check_rates
from streamtopics.dpp.sets import VECTORS
from streamtopics.utils.checks import check_whole, floats

# Half of the proposals are kept; of infinite or NaN numbers none is.
MOST_PROPOSALS = 1000
MOST_STEPS, PRECISION = 60, 1e-14


@dataclass(frozen=True, eq=False)
class Gaussian(BaseMeasure):
    """Normal measure on vectors of length V, N(mean, Diag(variance)); ``phi(x) = x``.

    Parameters
    ----------
    mean, variance : array-like of shape (V,)
        Mean and positive variance of each coordinate.

    Examples
    --------
    >>> from streamtopics.dpp import Gaussian
    >>> Gaussian([0.0, 1.0], [1.0, 4.0]).log_p([[0.0, 1.0]]).round(4)  # -log(2 pi) - log 2
    array([-2.531])
    """

    _holds = "mean: V; variance: V >0"
    mean: Floats
    variance: Floats
    form = VECTORS

    def __init__(self, mean: ArrayLike, variance: ArrayLike) -> None:
        object.__setattr__(self, "mean", floats(mean, "mean"))
        object.__setattr__(self, "variance", check_rates(variance, "variance", np.inf))
        if self.mean.shape != self.variance.shape or not np.isfinite(self.mean).all():
            raise ValueError(
                f"mean must be finite and of the shape of variance, {self.variance.shape}; "
                f"got {mean!r:.60}"
            )

    @property
    def v(self) -> Floats:
        return self.variance

    @property
    def w0(self) -> Floats:
        return self.mean[:, None]

    def features(self, points: ArrayLike) -> Floats:
        return np.asarray(points, dtype=np.float64)

    def log_p(self, points: ArrayLike) -> Floats:
        z2 = (self.features(points) - self.mean) ** 2 / self.variance
        return np.asarray(-0.5 * (z2.sum(axis=1) + np.log(2 * np.pi * self.variance).sum()))

    def sample(self, n: int, rng: Generator) -> Floats:
        return self.mean + np.sqrt(self.variance) * rng.standard_normal((n, len(self.mean)))

    def sample_tilted(self, H: Floats, rng: Generator) -> Floats:
        """Draw ``t = h'x`` from ``t^2 N(t; h'mean, h'Diag(variance)h)``, then x given t."""
        centre, spread2 = H @ self.mean, H**2 @ self.variance
        t = _squared_normal(centre, np.sqrt(spread2), rng)
        x = self.sample(len(H), rng)
        off = (t - np.einsum("nv,nv->n", H, x)) / np.maximum(spread2, 1e-300)
        return np.asarray(x + off[:, None] * H * self.variance)


def _squared_normal(centre: Floats, spread: Floats, rng: Generator) -> Floats:
    """Draw from ``t^2 N(t; centre, spread^2)``, by rejection.

    ``t^2 <= 2 (t - centre)^2 + 2 centre^2``, so a proposal is N with weight ``centre^2``, and
    ``centre +- spread * chi_3`` with weight ``spread^2``.
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


@dataclass(frozen=True)
class Fourier(BaseMeasure):
    """Uniform measure on the cube ``[0, 1]^m``, with ``(2 d + 1)^m`` Fourier features.

    Parameters
    ----------
    n_dimensions : int
        m, the number of coordinates of a point.
    degree : int
        d, the highest frequency of the sines and cosines of a coordinate.

    Examples
    --------
    >>> from streamtopics.dpp import Fourier
    >>> Fourier(1, 1).features([[0.25]]).round(3)  # 1, sqrt2 cos(2 pi x), sqrt2 sin(2 pi x)
    array([[1.   , 0.   , 1.414]])
    """

    n_dimensions: int
    degree: int
    form = VECTORS

    def __post_init__(self) -> None:
        check_whole(self, n_dimensions=self.n_dimensions)
        check_whole(self, least=0, degree=self.degree)

    @property
    def _side(self) -> int:
        return 2 * self.degree + 1

    @property
    def frequencies(self) -> Places:
        """The frequency of each feature in each coordinate, (V, m)."""
        each = (np.arange(self._side) + 1) // 2
        grid = np.meshgrid(*[each] * self.n_dimensions, indexing="ij")
        return np.stack([axis.ravel() for axis in grid], axis=1)

    @property
    def v(self) -> Floats:
        return np.ones(self._side**self.n_dimensions)

    @property
    def w0(self) -> Floats:
        return np.zeros((self._side**self.n_dimensions, 0))

    def features(self, points: ArrayLike) -> Floats:
        points = floats(points, "points")
        phi = np.ones((len(points), 1))
        for x in points.T:
            phi = np.einsum("na,nb->nab", phi, self._basis(x)).reshape(
                len(points), phi.shape[1] * self._side
            )
        return phi

    def log_p(self, points: ArrayLike) -> Floats:
        points = floats(points, "points")
        return np.where(((points >= 0) & (points <= 1)).all(axis=1), 0.0, -np.inf)

    def sample(self, n: int, rng: Generator) -> Floats:
        return rng.random((n, self.n_dimensions))

    def sample_tilted(self, H: Floats, rng: Generator) -> Floats:
        """Draw the coordinates of x one after the other.

        Write h as a matrix H with a row for each function of x_1. x_1 has
        the density ``|H'psi(x_1)|^2 / |h|^2``; ``H'psi(x_1)`` is the h of the next coordinates.
        """
        points = np.empty((len(H), self.n_dimensions))
        for axis in range(self.n_dimensions):
            H = H.reshape(len(H), self._side, H.shape[1] // self._side)
            points[:, axis] = self._sample_first(H, rng)
            H = np.einsum("nb,nbr->nr", self._basis(points[:, axis]), H)
        return points

    def _basis(self, x: Floats) -> Floats:
        """Return psi(x), of shape ``(len(x), 2 d + 1)``."""
        angle = 2 * np.pi * x[:, None] * np.arange(1, self.degree + 1)
        psi = np.ones((len(x), self._side))
        psi[:, 1::2], psi[:, 2::2] = np.sqrt(2) * np.cos(angle), np.sqrt(2) * np.sin(angle)
        return psi

    def _sample_first(self, H: Floats, rng: Generator) -> Floats:
        """Draw from ``|H'psi(x)|^2 / |H|^2``, by inversion of the distribution function."""
        n_grid = 4 * self.degree + 2
        values = np.einsum("gb,nbr->ngr", self._basis(np.arange(n_grid) / n_grid), H)
        series = np.fft.rfft((values**2).sum(axis=2), axis=1)[:, :-1] / n_grid
        return _invert(series / np.maximum(series[:, :1].real, 1e-300), rng.random(len(H)))


def _invert(series: NDArray[np.complexfloating[Any]], target: Floats) -> Floats:
    """Return x where the integral of ``1 + 2 Re sum_k c_k e^(2 pi i k x)`` is the target.

    Newton's steps stay in a shrinking bracket, or else are bisections.
    """
    frequencies = np.arange(1, series.shape[1])
    density, integral = 2 * series[:, 1:], series[:, 1:] / (1j * np.pi * frequencies)
    start = integral.sum(axis=1).real
    low, high = np.zeros(len(target)), np.ones(len(target))
    x = target.copy()
    for _ in range(MOST_STEPS):
        z = np.exp(2j * np.pi * x)
        off = x + _evaluate(integral, z) - start - target
        low, high = np.where(off < 0, x, low), np.where(off < 0, high, x)
        step = x - off / np.maximum(1 + _evaluate(density, z), 1e-300)
        moved = np.where((step > low) & (step < high), step, (low + high) / 2)
        done, x = np.abs(moved - x).max(initial=0.0) < PRECISION, moved
        if done:
            break
    return x


def _evaluate(
    coefficients: NDArray[np.complexfloating[Any]], z: NDArray[np.complexfloating[Any]]
) -> Floats:
    """Return the real part of ``sum_k c_k z^k``, by Horner's rule."""
    total = np.zeros(len(coefficients), dtype=complex)
    for c in coefficients.T[::-1]:
        total = (total + c) * z
    return total.real
