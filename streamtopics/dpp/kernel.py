# SPDX-License-Identifier: BSD-3-Clause
"""The kernel and process of a low-rank DPP, conditioning, and the normaliser.

With rho from the noise, ``Th = Diag(theta)`` and ``Sigma = Diag(v) + w0 w0'``, the normaliser is
the term of the noise plus ``log det(I + rho A Sigma)``:

    d = 1 + rho gamma v,   W = w0 / d,   Sq = I + rho gamma w0'W
    T = Sigma (I + rho gamma Sigma)^-1 = Diag(v / d) + W Sq^-1 W'
    P = U'T U,   M = I + rho Th^{1/2} P Th^{1/2}
    log det(I + rho A Sigma) = sum_i log d_i + log det Sq + log det M

P does not depend on theta: each further theta costs r^3 only.

Source: Dupuy (2017), appendix 4.D, rearranged by the Woodbury identity.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.dpp.arrays import Floats, Points, squared_diagonal, squares
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Noise
from streamtopics.utils.checks import check_range, floats

# Far from where products of two entries would have no room.
MOST = 1e100
ROUNDING = 4 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Kernel:
    """Similarity ``phi(x)'A phi(y)`` of features phi, with ``A = gamma I + U Diag(theta) U'``.

    Parameters
    ----------
    U : array-like of shape (V, r)
        Embedding of the V features in r dimensions.
    theta : array-like of shape (r,)
        Weights of the columns of U, at least 0.
    gamma : float, default=0.0
        Weight of the identity, at least 0.

    Examples
    --------
    >>> from streamtopics.dpp import Kernel
    >>> Kernel([[1.0], [2.0]], [3.0], 0.5).matrix
    array([[ 3.5,  6. ],
           [ 6. , 12.5]])
    """

    U: Floats
    theta: Floats
    gamma: float = 0.0

    def __init__(self, U: ArrayLike, theta: ArrayLike, gamma: float = 0.0) -> None:
        U, theta = floats(U, "U"), floats(theta, "theta")
        fits = U.ndim == 2 and theta.shape == U.shape[1:] and np.isfinite(U).all()
        if not fits or not ((theta >= 0) & (theta <= MOST)).all():
            raise ValueError(
                f"U must be a finite matrix of shape (V, r), and theta have r numbers from 0 to "
                f"{MOST:g}; got shapes {U.shape} and {theta.shape}, and theta {theta}"
            )
        check_range(self, 0, np.inf, gamma=gamma)
        for name, value in (("U", U), ("theta", theta), ("gamma", gamma)):
            object.__setattr__(self, name, value)

    @property
    def scaled(self) -> Floats:
        """Matrix ``Ut = U Diag(theta)^{1/2}``, of shape (V, r). ``A = gamma I + Ut Ut'``."""
        return self.U * np.sqrt(self.theta)

    @property
    def matrix(self) -> Floats:
        """The matrix A, of shape (V, V)."""
        return self.gamma * np.eye(len(self.U)) + self.scaled @ self.scaled.T

    @property
    def root(self) -> Floats:
        """Matrix F with ``A = F F'``: `scaled` if gamma is 0, else symmetric of shape (V, V)."""
        if self.gamma == 0:
            return self.scaled
        Q, s, _ = np.linalg.svd(self.scaled, full_matrices=False)
        scale = np.sqrt(self.gamma + s**2) + np.sqrt(self.gamma)
        return np.asarray(np.sqrt(self.gamma) * np.eye(len(Q)) + (Q * (s**2 / scale)) @ Q.T)

    def norms2(self, Phi: Points) -> Floats:
        """Return ``phi'A phi`` for each row phi of `Phi`, of shape (n,)."""
        low_rank = ((Phi @ self.scaled) ** 2).sum(axis=1)
        return np.asarray(low_rank + self.gamma * np.asarray(squares(Phi).sum(axis=1)).ravel())


@dataclass(frozen=True, eq=False)
class Process:
    """A determinantal point process: the distribution over sets that `LowRankDPP` learns.

    Attributes
    ----------
    measure : BaseMeasure
        The ground set, with the base measure p and the features phi of points.
    kernel : Kernel
        The matrix A.
    noise : Noise
        Random points in addition to the points drawn by `kernel`.

    Examples
    --------
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> Process(Items.of(2), Kernel([[1.0], [2.0]], [3.0]), Counting(0.1)).noise
    Counting(level=0.1)
    """

    measure: BaseMeasure
    kernel: Kernel
    noise: Noise


def condition(process: Process, points: Points) -> Process:
    """Return the process of the remaining points of a set, given that `points` are in the set.

    With `Counting` noise the given points leave the ground set. With `Background` noise a given
    point may occur again. An error is raised if no set can have all `points`, for example if a
    point is given twice and the noise has level 0.

    For given points Y with the features Phi_Y, A becomes
    ``A - A Phi_Y' (Diag(delta) + Phi_Y A Phi_Y')^-1 Phi_Y A``, with delta of `Noise.diagonal`.

    References
    ----------
    A. Borodin and E. Rains (2005), "Eynard-Mehta theorem, Schur process, and their Pfaffian
    analogs", proposition 1.2.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.kernel import condition
    >>> from streamtopics.dpp.marginal import marginals
    >>> kernel = Kernel([[1.0, 0.0], [1.0, 0.1], [0.0, 3.0]], [1.0, 1.0])
    >>> rest = condition(Process(Items.of(3), kernel, Counting(0.0)), np.array([0]))
    >>> marginals(rest, np.arange(3)).round(2)  # Item 1 is like item 0.
    array([0. , 0. , 0.9])
    """
    measure, noise = process.measure, process.noise
    left = noise.remove(measure, points)
    F, Phi, log_p = process.kernel.root, measure.features(points), measure.log_p(points)
    Z, lengths = Phi @ F, np.linalg.norm(F, axis=1)
    # Shorter features are rounding.
    least = np.where(np.isneginf(log_p), np.inf, ROUNDING * (abs(Phi) @ lengths) ** 2)
    whitened = inverse_root(np.diag(noise.diagonal(log_p)) + Z @ Z.T, least) @ Z
    # The root of I - W'W comes from the singular values s of W: (1 - s^2)^{1/2}.
    _, s, R = np.linalg.svd(whitened, full_matrices=False)
    U = F - ((F @ R.T) * (1 - np.sqrt(np.maximum((1 - s) * (1 + s), 0.0)))) @ R
    U[np.linalg.norm(U, axis=1) <= np.sqrt(ROUNDING) * lengths] = 0.0
    return Process(left, Kernel(U, np.ones(U.shape[1])), noise)


def inverse_root(L: Floats, least: Floats) -> Floats:
    """Return W with ``W'W = L^-1``; refused if L is singular, or its diagonal at most `least`."""
    unit = np.sqrt(np.where(L.diagonal() > least, L.diagonal(), np.inf))
    values, vectors = np.linalg.eigh(L / unit / unit[:, None])
    if (values <= len(values) * ROUNDING).any():
        raise ValueError(
            f"the {len(values)} given points have probability 0. Give each point once, none of "
            "measure 0 or without features, at most the rank; or give the noise a positive level"
        )
    return np.asarray(vectors.T / unit / np.sqrt(values)[:, None])


# The normaliser


@dataclass(frozen=True, eq=False)
class Projected:
    """Parts of the normaliser independent of theta. log_det leaves out ``log det M``."""

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
        """Return ``(I + rho gamma Sigma)^-1 X``, for X of shape (V, n)."""
        shared = self.W @ (self.Sq_inverse @ (self.W.T @ X))
        return X / self.d[:, None] - self.rho * self.gamma * shared


def project(measure: BaseMeasure, U: Floats, gamma: float, rho: float) -> Projected:
    v, w0 = measure.v, measure.w0
    d = 1 + rho * gamma * v
    W = w0 / d[:, None]
    Sq = np.eye(W.shape[1]) + rho * gamma * (w0.T @ W)
    log_det = np.log(d).sum() + np.linalg.slogdet(Sq)[1]
    inverse = np.linalg.inv(Sq)
    TU = (v / d)[:, None] * U + W @ (inverse @ (W.T @ U))
    return Projected(rho, gamma, d, v, W, inverse, TU, U.T @ TU, float(log_det))


def core(projected: Projected, theta: Floats) -> Floats:
    """Return M of the normaliser, of shape (..., r, r), for theta of shape (..., r)."""
    root = np.sqrt(theta)
    M = projected.rho * root[..., :, None] * projected.P * root[..., None, :]
    r = M.shape[-1]
    M.reshape(*M.shape[:-2], r * r)[..., :: r + 1] += 1
    return M


def log_det(projected: Projected, theta: Floats) -> Floats:
    """Return ``log det(I + rho A Sigma)`` for each theta, in nats."""
    found = squared_diagonal(core(projected, theta))  # At least 1, but for rounding.
    return np.asarray(projected.log_det + np.log(np.maximum(found, 1.0)).sum(axis=-1))


def log_normalizer(process: Process) -> float:
    """Return ``log det(L + I)``, the log of the sum of det L_X over all sets X, in nats."""
    kernel, noise = process.kernel, process.noise
    projected = project(process.measure, kernel.U, kernel.gamma, noise.rho)
    return float(log_det(projected, kernel.theta)) + noise.log_normalizer(process.measure)


def slope_theta(projected: Projected, theta: Floats) -> Floats:
    """Return the derivative of log_det by each theta_k: ``rho [(I + rho P Th)^-1 P]_kk``."""
    r = len(projected.P)
    moved = np.eye(r) + projected.rho * projected.P * theta[..., None, :]
    solved = np.linalg.solve(moved, np.broadcast_to(projected.P, moved.shape))
    return projected.rho * np.diagonal(solved, axis1=-2, axis2=-1)


def shrunk(projected: Projected, theta: Floats) -> Floats:
    """Return ``Th^{1/2} M^-1 Th^{1/2}``, as in the derivatives by U and gamma."""
    root = np.sqrt(theta)
    result: Floats = root[..., :, None] * np.linalg.inv(core(projected, theta)) * root[..., None, :]
    return result


def slope_embedding(projected: Projected, shrunk_sum: Floats) -> Floats:
    """Return ``d log_det / d U`` summed over sets, from the sum of `shrunk`."""
    return 2 * projected.rho * projected.TU @ shrunk_sum


def slope_gamma(projected: Projected, shrunk_sum: Floats, n: int) -> float:
    """Return ``d log_det / d gamma`` summed over n sets, at least 0."""
    rho, TU = projected.rho, projected.TU
    return max(float(rho * (n * projected.trace - rho * np.sum((TU.T @ TU) * shrunk_sum))), 0.0)


def low_rank_sizes(projected: Projected, theta: Floats, slope: Floats, shrunk: Floats) -> Floats:
    """Return the expected size of the low-rank part, for each theta.

    It is ``sum_k theta_k d log_det / d theta_k + gamma d log_det / d gamma``.
    """
    rho, TU = projected.rho, projected.TU
    by_gamma = rho * (projected.trace - rho * np.einsum("...kl,kl->...", shrunk, TU.T @ TU))
    return np.asarray((theta * slope).sum(axis=-1) + projected.gamma * by_gamma)
