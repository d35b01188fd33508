# SPDX-License-Identifier: BSD-3-Clause
"""The parameter of a low-rank DPP, and the process that it makes with a ground set.

    A = gamma I + U Diag(theta) U',    L = noise + Diag(p)^{1/2} Phi A Phi' Diag(p)^{1/2}

Source: Dupuy (2017), equations 21 and 23.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        Not negative.
    gamma : float, default=0.0
        Not negative.

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

    if TYPE_CHECKING:

        def __init__(self, U: ArrayLike, theta: ArrayLike, gamma: float = 0.0) -> None: ...

    def __post_init__(self) -> None:
        U, theta = floats(self.U, "U"), floats(self.theta, "theta")
        fits = U.ndim == 2 and theta.shape == U.shape[1:] and np.isfinite(U).all()
        if not fits or not ((theta >= 0) & (theta <= MOST)).all():
            raise ValueError(
                f"U must be a finite matrix of shape (V, r), and theta have r numbers from 0 to "
                f"{MOST:g}; got shapes {U.shape} and {theta.shape}, and theta {theta}"
            )
        check_range(self, 0, np.inf, gamma=self.gamma)
        object.__setattr__(self, "U", U)
        object.__setattr__(self, "theta", theta)

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

    def __post_init__(self) -> None:
        if self.kernel.U.shape[:1] != self.measure.v.shape:
            raise ValueError(
                f"U has {len(self.kernel.U)} rows, but the measure has {len(self.measure.v)} "
                "features"
            )
