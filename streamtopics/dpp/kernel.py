# SPDX-License-Identifier: BSD-3-Clause
"""The parameter of a low-rank DPP, its process on a ground set, and conditioning of that.

    A = gamma I + U Diag(theta) U',    L = noise + Diag(p)^{1/2} Phi A Phi' Diag(p)^{1/2}

Source: Dupuy (2017), equations 21 and 23.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.dpp.arrays import Floats, Points, squares
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Noise
from streamtopics.utils.checks import check_range, floats

# Far from where products of two entries would have no room.
MOST = 1e100


@dataclass(frozen=True, eq=False)
class Kernel:
    """A = gamma I + U Diag(theta) U'.

    Parameters
    ----------
    U : array-like of shape (V, r)
    theta : array-like of shape (r,)
        At least 0, as gamma.
    gamma : float, default=0.0

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
        """U Diag(theta)^{1/2}, so that A = gamma I + Ut Ut'."""
        return self.U * np.sqrt(self.theta)

    @property
    def matrix(self) -> Floats:
        """A, of shape (V, V)."""
        return self.gamma * np.eye(len(self.U)) + self.scaled @ self.scaled.T

    @property
    def root(self) -> Floats:
        """F with A = F F': Ut if gamma is 0, else the symmetric root, of shape (V, V)."""
        if self.gamma == 0:
            return self.scaled
        Q, s, _ = np.linalg.svd(self.scaled, full_matrices=False)
        grown = np.sqrt(self.gamma + s**2) + np.sqrt(self.gamma)
        return np.asarray(np.sqrt(self.gamma) * np.eye(len(Q)) + (Q * (s**2 / grown)) @ Q.T)

    def norms2(self, Phi: Points) -> Floats:
        """Return phi'A phi of each row, of shape (n,)."""
        low_rank = ((Phi @ self.scaled) ** 2).sum(axis=1)
        return np.asarray(low_rank + self.gamma * np.asarray(squares(Phi).sum(axis=1)).ravel())


@dataclass(frozen=True, eq=False)
class Process:
    """A determinantal point process on a ground set.

    Examples
    --------
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> process = Process(Items.of(2), Kernel([[1.0], [2.0]], [3.0]), Counting(0.1))
    """

    measure: BaseMeasure
    kernel: Kernel
    noise: Noise


def condition(process: Process, points: Points) -> Process:
    """Return the process of the further points, given that these are in the set.

    Counting noise takes the given points out of the ground set; Background noise may repeat
    them. Points of probability 0, such as the same point twice without noise, are refused.

    With Y given, the other points are a process of the same kind, with

        A' = A - A Phi_Y' (Diag(delta) + Phi_Y A Phi_Y')^-1 Phi_Y A,

    delta the noise with respect to p; p cancels. A' = F' F'', F' = F C, with A = F F' and
    C C' = I - F'Phi_Y' (Diag(delta) + Phi_Y F F'Phi_Y')^-1 Phi_Y F. Source: Borodin and Rains
    (2005), "Eynard-Mehta theorem, Schur process, and their Pfaffian analogs", proposition 1.2.

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
    F = process.kernel.root
    Z = measure.features(points) @ F
    delta = noise.diagonal(measure.log_p(points))
    lengths = np.sqrt(delta + (Z**2).sum(axis=1))
    unit = np.where(lengths > 0, lengths, 1.0)
    Z = Z / unit[:, None]
    correlation = np.diag(delta / unit**2) + Z @ Z.T
    values, vectors = np.linalg.eigh(correlation)
    if (values <= 4 * len(values) * np.finfo(float).eps).any():
        raise ValueError(
            f"the {len(values)} given points have probability 0. Give each point once, none "
            "without features, and not more than the rank; or give the noise a positive level"
        )
    whitened = vectors.T @ Z / np.sqrt(values)[:, None]
    # The root of I - W'W comes from the singular values s of W: (1 - s^2)^{1/2}.
    _, s, R = np.linalg.svd(whitened, full_matrices=False)
    U = F - ((F @ R.T) * (1 - np.sqrt(np.maximum((1 - s) * (1 + s), 0.0)))) @ R
    return Process(left, Kernel(U, np.ones(U.shape[1])), noise)
