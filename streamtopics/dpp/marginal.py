# SPDX-License-Identifier: BSD-3-Clause
"""Marginals of a process: probabilities of points and words, and sizes.

The marginal kernel is ``K = sigma I + Diag(p)^{1/2} Phi B Phi' Diag(p)^{1/2}`` with

    B = rho^2 [gamma S^-1 + S^-1 Ut M^-1 Ut' S^-1],    S = I + rho gamma Sigma.

sigma and rho come from the noise, Ut and M are as in `kernel`.

Source: Dupuy (2017), proposition 1, equations 20 and 22; Kulesza and Taskar (2012), section 3.1.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from streamtopics.dpp.arrays import Floats, Places, Points, dense, squares
from streamtopics.dpp.kernel import (
    ROUNDING,
    Kernel,
    Process,
    core,
    inverse_root,
    low_rank_sizes,
    project,
    shrunk,
    slope_theta,
)
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Background

TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Marginal:
    """The matrix ``B = Diag(b) + R R' - N N'``, with b (V,), R (V, r) and N (V, q)."""

    b: Floats
    R: Floats
    N: Floats

    @property
    def diagonal(self) -> Floats:
        return np.asarray(self.b + (self.R**2).sum(axis=1) - (self.N**2).sum(axis=1))

    def times(self, X: Floats) -> Floats:
        return self.b[:, None] * X + self.R @ (self.R.T @ X) - self.N @ (self.N.T @ X)

    def product(self, Phi: Points) -> Floats:
        """Return ``Phi B Phi'``, of shape (n, n)."""
        R, N = Phi @ self.R, Phi @ self.N
        scaled = Phi @ sparse.diags_array(np.sqrt(self.b))
        return np.asarray(dense(scaled @ scaled.T) + R @ R.T - N @ N.T)

    def norms2(self, Phi: Points) -> Floats:
        """Return ``phi'B phi`` of each row phi, of shape (n,)."""
        low_rank = ((Phi @ self.R) ** 2).sum(axis=1) - ((Phi @ self.N) ** 2).sum(axis=1)
        return np.asarray(squares(Phi) @ self.b + low_rank)


def marginal(process: Process) -> Marginal:
    kernel, rho = process.kernel, process.noise.rho
    projected = project(process.measure, kernel.U, kernel.gamma, rho)
    factor = np.linalg.cholesky(core(projected, kernel.theta))
    R = rho * np.linalg.solve(factor, projected.resolve(kernel.scaled).T).T
    W = np.linalg.solve(np.linalg.cholesky(np.linalg.inv(projected.Sq_inverse)), projected.W.T).T
    return Marginal(rho**2 * kernel.gamma / projected.d, R, rho**1.5 * kernel.gamma * W)


def marginals(process: Process, points: Points, given: Points = None) -> Floats:
    """Return the probability of each point to be in a set of the process, of shape (n_points,).

    For vectors the values are densities. With `Background` noise a set can have a point several
    times; the values then are expected counts. `given` are points known to be in the set.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.marginal import marginals
    >>> process = Process(Items.of(2), Kernel([[1.0], [2.0]], [3.0]), Counting(0.0))
    >>> marginals(process, np.array([0, 1]))
    array([0.1875, 0.75  ])
    """
    measure, noise, B = process.measure, process.noise, marginal(process)
    Phi = measure.features(points)
    norms2 = B.norms2(Phi)
    if given is not None:
        X, log_p = dense(measure.features(given)).T, measure.log_p(given)
        BX, least = B.times(X), np.where(np.isneginf(log_p), np.inf, 0.0)
        W = inverse_root(np.diag(noise.rho * noise.diagonal(log_p)) + X.T @ BX, least)
        left = norms2 - ((Phi @ (BX @ W.T)) ** 2).sum(axis=1)
        norms2 = np.where(left > ROUNDING * norms2, left, 0.0)
        measure = noise.remove(measure, given)
    log_p = measure.log_p(points)
    return noise.inclusion(log_p) + np.exp(log_p) * norms2


def marginal_kernel(process: Process, points: Points) -> Floats:
    """Return the marginal kernel K of a process on the n given points, of shape (n, n).

    ``det K_Y`` is the probability that a set holds all points of Y, if Y has no repeated points.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.marginal import marginal_kernel
    >>> process = Process(Items.of(2), Kernel(np.eye(2), [1.0, 3.0]), Counting(0.0))
    >>> K = marginal_kernel(process, np.array([0, 1]))
    >>> float(np.linalg.det(K).round(6))  # Both items are in the set: 1/2 times 3/4.
    0.375
    """
    log_p = process.measure.log_p(points)
    root = np.exp(0.5 * log_p)
    low_rank = marginal(process).product(process.measure.features(points))
    return np.asarray(np.diag(process.noise.inclusion(log_p)) + root[:, None] * low_rank * root)


def expected_size(process: Process) -> float:
    """Return the expected number of points in a set of the process, noise included.

    Examples
    --------
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.marginal import expected_size
    >>> process = Process(Items.of(2), Kernel([[1.0], [2.0]], [3.0]), Counting(0.0))
    >>> expected_size(process)
    0.9375
    """
    kernel, noise = process.kernel, process.noise
    projected = project(process.measure, kernel.U, kernel.gamma, noise.rho)
    theta = kernel.theta
    slope, inner = slope_theta(projected, theta), shrunk(projected, theta)
    low_rank = low_rank_sizes(projected, theta, slope, inner)
    return float(noise.expected_size(process.measure, low_rank))


def expected_with_word(process: Process) -> Floats:
    """Return the expected number of low-rank points with each word.

    It is ``tr(B Sigma)`` less the trace over sentences without the word, by `absence`.
    """
    measure, B = process.measure, marginal(process)
    factor_v, factor_W = measure.absence()
    v, w0 = measure.v, measure.w0
    BW, diagonal = B.times(w0), B.diagonal
    by_v, by_W = v * diagonal, (w0 * BW).sum()
    without_W = by_W - 2 * (w0 * BW).sum(axis=1) + (w0**2).sum(axis=1) * diagonal
    without_v = by_v.sum() - by_v
    return np.asarray(by_v.sum() + by_W - factor_v * without_v - factor_W * without_W)


def telling_words(measure: BaseMeasure, components: Floats, n: int) -> list[Places]:
    """Return the places of the n words of `LowRankDPP.top_words`, for each row u."""
    V = measure.v.size
    baseline = _share_with_word(measure, Kernel(np.zeros((V, 1)), np.zeros(1), TINY))
    found: list[Places] = []
    for u in components:
        if not u.any():
            found.append(np.zeros(0, dtype=np.int64))
            continue
        along = Kernel(u[:, None] / np.abs(u).max(), np.ones(1))
        P = np.clip(_share_with_word(measure, along), 1e-300, 1.0)
        weight = P * np.log(P / np.maximum(baseline, 1e-300))
        found.append(np.argsort(-weight, kind="stable")[:n])
    return found


def _share_with_word(measure: BaseMeasure, kernel: Kernel) -> Floats:
    process = Process(measure, kernel, Background(0.0))
    return expected_with_word(process) / expected_size(process)
