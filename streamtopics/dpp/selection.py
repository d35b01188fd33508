# SPDX-License-Identifier: BSD-3-Clause
"""A diverse selection of points: greedy maximisation of det L_Y.

Each step takes the point of which the squared distance d^2 from the span of those taken,
times its squared quality, is the largest. One row of an incomplete Cholesky factor is added
a step, so l points of n cost O(n l (l + r)). log det L_Y is not monotone where the gains
log d^2 are negative, so that the guarantee of (1 - 1/e) does not hold for it.

Source: Chen, Zhang and Zhou (2018), "Fast greedy MAP inference for determinantal point
process to improve recommendation diversity".
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.dpp.arrays import Floats, Places, Points, dense
from streamtopics.dpp.kernel import Kernel

RELATIVE_GAIN = 1e-12


@dataclass(frozen=True, eq=False)
class Selection:
    """Places of points in the order of the choice, and the gains in log det L_Y, in nats."""

    chosen: Places
    log_gains: Floats


def greedy_map(
    kernel: Kernel, Phi: Points, *, n_points: int | None = None,
    log_quality: Floats | None = None, costs: Floats | None = None, budget: float | None = None,
) -> Selection:  # fmt: skip
    """Choose points of a large det L_Y, L(x, y) = q(x) phi_x'A phi_y q(y).

    Stops early where every further point lies in the span of those taken. Of equals the first
    is taken.

    Parameters
    ----------
    kernel : Kernel
    Phi : CSR matrix or ndarray of shape (n, V)
        Features of the points to choose from.
    n_points : int or None, default=None
        Most points to take; None for no limit beside the budget.
    log_quality : ndarray of shape (n,) or None, default=None
        log q in nats; -inf for a point not to take. None is 0.
    costs, budget : ndarray of shape (n,) and float, or None, default=None
        Cost of each point, such as its words, and most that they may cost together. A point that
        no longer fits is passed over.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Kernel
    >>> from streamtopics.dpp.selection import greedy_map
    >>> Phi = np.array([[2.0, 0.0], [1.9, 0.1], [0.0, 1.0]])
    >>> kernel = Kernel(np.zeros((2, 0)), [], gamma=1.0)
    >>> greedy_map(kernel, Phi, n_points=2).chosen  # Point 1 is like point 0.
    array([0, 2])
    """
    n = Phi.shape[0]
    if n_points is None and budget is None:
        raise ValueError("give n_points, or costs and a budget: otherwise nothing ends the choice")
    left = 0.0 if costs is None or budget is None else float(budget)
    costs = np.zeros(n) if costs is None or budget is None else np.asarray(costs)
    log_quality = np.zeros(n) if log_quality is None else np.asarray(log_quality, dtype=np.float64)
    if np.isnan(log_quality).any() or np.isposinf(log_quality).any():
        raise ValueError(f"log_quality must have numbers below inf; got {log_quality}")
    Z, norms2 = Phi @ kernel.scaled, kernel.norms2(Phi)
    distances, least = norms2.copy(), RELATIVE_GAIN * norms2
    factor = np.zeros((n if n_points is None else min(n, int(n_points)), n))
    free = np.isfinite(log_quality)
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < len(factor):
        candidates = free & (distances > least) & (costs <= left)
        if not candidates.any():
            break
        gain = np.full(n, -np.inf)
        gain[candidates] = np.log(distances[candidates]) + 2 * log_quality[candidates]
        best, done = int(gain.argmax()), factor[: len(chosen)]
        row = Z @ Z[best] + kernel.gamma * (Phi @ dense(Phi[[best]]).ravel())
        factor[len(chosen)] = (row - done[:, best] @ done) / np.sqrt(distances[best])
        distances = distances - factor[len(chosen)] ** 2
        chosen.append(best)
        gains.append(gain[best])
        free[best] = False
        left -= costs[best]
    return Selection(np.array(chosen, dtype=np.intp), np.array(gains))
