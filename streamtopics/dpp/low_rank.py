# SPDX-License-Identifier: BSD-3-Clause
"""The normaliser of a low-rank DPP without its 2^V items, and its derivatives.

With rho from the noise, Sigma = Diag(v) + w0 w0' and A = gamma I + U Th U',

    d = 1 + rho gamma v,   W = w0 / d,   Sq = I + rho gamma w0'W
    T = Sigma (I + rho gamma Sigma)^-1 = Diag(v / d) + W Sq^-1 W'
    P = U'T U,   M = I + rho Th^{1/2} P Th^{1/2}
    log det(I + rho A Sigma) = sum_i log d_i + log det Sq + log det M

plus the term of the noise. gamma, theta and v may be 0. P does not depend on theta: each further
theta costs r^3 only.

Source: Dupuy (2017), appendix 4.D, rearranged by the Woodbury identity.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.dpp.arrays import Floats, pivots
from streamtopics.dpp.kernel import Process
from streamtopics.dpp.measures import BaseMeasure


@dataclass(frozen=True, eq=False)
class Projected:
    """The part of the normaliser that does not depend on theta; log_det is without U, in nats."""

    rho: float
    gamma: float
    d: Floats
    v: Floats
    W: Floats
    Sq_inverse: Floats
    TU: Floats
    P: Floats
    log_det: float

    @property
    def trace(self) -> float:
        return float((self.v / self.d).sum() + np.sum((self.W @ self.Sq_inverse) * self.W))

    def resolve(self, X: Floats) -> Floats:
        """Return (I + rho gamma Sigma)^-1 X, for X of shape (V, n)."""
        shared = self.W @ (self.Sq_inverse @ (self.W.T @ X))
        return X / self.d[:, None] - self.rho * self.gamma * shared


def project(measure: BaseMeasure, U: Floats, gamma: float, rho: float) -> Projected:
    """Compute T U, P and the rest of `Projected`, in O(V (r + q)^2)."""
    v, w0 = measure.v, measure.w0
    d = 1 + rho * gamma * v
    W = w0 / d[:, None]
    Sq = np.eye(W.shape[1]) + rho * gamma * (w0.T @ W)
    log_det = np.log(d).sum() + np.linalg.slogdet(Sq)[1]
    inverse = np.linalg.inv(Sq)
    TU = (v / d)[:, None] * U + W @ (inverse @ (W.T @ U))
    return Projected(rho, gamma, d, v, W, inverse, TU, U.T @ TU, float(log_det))


def core(projected: Projected, theta: Floats) -> Floats:
    """Return M = I + rho Th^{1/2} P Th^{1/2}, of shape (..., r, r), for theta of shape (..., r)."""
    root = np.sqrt(theta)
    M = projected.rho * root[..., :, None] * projected.P * root[..., None, :]
    r = M.shape[-1]
    M.reshape(*M.shape[:-2], r * r)[..., :: r + 1] += 1
    return M


def log_det(projected: Projected, theta: Floats) -> Floats:
    """Return log det(I + rho A Sigma) for each theta, in nats: the normaliser without the noise."""
    found = pivots(core(projected, theta))  # At least 1, but for rounding.
    return np.asarray(projected.log_det + np.log(np.maximum(found, 1.0)).sum(axis=-1))


def log_normalizer(process: Process) -> float:
    """Return the log of the sum of det L_X over all sets X: log det(L + I), in nats."""
    kernel, noise = process.kernel, process.noise
    projected = project(process.measure, kernel.U, kernel.gamma, noise.rho)
    return float(log_det(projected, kernel.theta)) + noise.log_normalizer(process.measure)


def slope_theta(projected: Projected, theta: Floats) -> Floats:
    """Return d log_det / d theta_k = rho [(I + rho P Th)^-1 P]_kk, of the shape of theta."""
    r = len(projected.P)
    moved = np.eye(r) + projected.rho * projected.P * theta[..., None, :]
    solved = np.linalg.solve(moved, np.broadcast_to(projected.P, moved.shape))
    return projected.rho * np.diagonal(solved, axis1=-2, axis2=-1)


def shrunk(projected: Projected, theta: Floats) -> Floats:
    """Return Th^{1/2} M^-1 Th^{1/2} = (Th^-1 + rho P)^-1, of shape (..., r, r)."""
    root = np.sqrt(theta)
    result: Floats = root[..., :, None] * np.linalg.inv(core(projected, theta)) * root[..., None, :]
    return result


def slope_embedding(projected: Projected, shrunk_sum: Floats) -> Floats:
    """Return the derivative by U of the sum of log_det over documents, from the sum of `shrunk`."""
    return 2 * projected.rho * projected.TU @ shrunk_sum


def slope_gamma(projected: Projected, shrunk_sum: Floats, n: int) -> float:
    """Return the derivative by gamma of the sum of log_det over n documents, at least 0."""
    rho, TU = projected.rho, projected.TU
    slope = rho * (n * projected.trace - rho * np.sum((TU.T @ TU) * shrunk_sum))
    return max(float(slope), 0.0)


def low_rank_sizes(projected: Projected, theta: Floats, slope: Floats, shrunk: Floats) -> Floats:
    """Return tr(rho A Sigma (I + rho A Sigma)^-1), the expected size of the low-rank part.

    It is sum_k theta_k d log_det / d theta_k + gamma d log_det / d gamma, for each theta.
    """
    rho, TU = projected.rho, projected.TU
    by_gamma = rho * (projected.trace - rho * np.einsum("...kl,kl->...", shrunk, TU.T @ TU))
    return np.asarray((theta * slope).sum(axis=-1) + projected.gamma * by_gamma)
