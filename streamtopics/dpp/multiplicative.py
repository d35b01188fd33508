# SPDX-License-Identifier: BSD-3-Clause
"""Monotone steps for theta, gamma and the level of the noise, without a step size.

log det of the matrix of an observed set is convex in the logarithms of (theta, gamma,
level), by Cauchy and Binet; the log normaliser is concave in them themselves. The tangents
of both bound the log-likelihood from below by a sum, which is greatest where

    theta_k <- theta_k * z_k'L^-1 z_k / (rho [(I + rho P Th)^-1 P]_kk + penalty)

and likewise for gamma and the level: each is multiplied by the up half of its
derivative over the down half. No step makes the objective worse; a parameter that is
0 stays 0. Neither half is convex: theta is a local optimum, near that of the start.

Source: minorisation as in Hunter and Lange (2004), "A tutorial on MM algorithms".
"""

from dataclasses import dataclass, replace

import numpy as np

from streamtopics.dpp.arrays import Floats, products, solve_positive
from streamtopics.dpp.batches import Part, SetBatches
from streamtopics.dpp.kernel import MOST
from streamtopics.dpp.likelihood import Parameters, Slopes, ensemble
from streamtopics.dpp.low_rank import Projected
from streamtopics.kernels import dpp as kernels


@dataclass(frozen=True)
class Settings:
    """Settings of `learning`: those of `LowRankDPP`, and numbers of steps.

    `n_theta` are on theta alone, where each set has its own; `n_embedding` the iterations of
    L-BFGS in a round, `n_joint` steps on theta, gamma and the level together. By kappa a step
    never goes all of the way, since what is 0 stays 0.
    """

    penalty: float = 0.01
    n_theta: int = 20
    learn_gamma: bool = True
    learn_level: bool = True
    max_iter: int = 10
    n_embedding: int = 20
    n_joint: int = 5
    tol: float = 0.01
    own_theta: bool = True
    step_size: float = 0.3
    kappa: float = 0.5


DEFAULT = Settings()


def theta_steps(
    data: SetBatches, parameters: Parameters, *, penalty: float = 0.0, n_steps: int = 20
) -> Floats:
    """Return a theta for each set, after `n_steps` from that of `parameters`; all else stays.

    Each set has the bits that it has alone. It must be possible, and the first theta positive.
    """
    projected = parameters.projected(data.measure)
    theta = np.empty((data.n_sets, parameters.U.shape[1]))
    return data.fill(theta, _part_theta_steps, projected, parameters, penalty, n_steps)


def _part_theta_steps(
    part: Part, projected: Projected, parameters: Parameters, penalty: float, n_steps: int
) -> Floats:
    """Return theta of the sets of a part. With L0 the matrix at Th0, Q = Z'L0^-1 Z, D = Th - Th0,

        Z'L^-1 Z = (I + Q D)^-1 Q,

    like the slope of the normaliser, (I + rho P Th)^-1 rho P: no step costs more than r^3,
    whatever the number of points.
    """
    Z, found = part.embed(parameters.U), []
    P = np.ascontiguousarray(projected.rho * projected.P)
    for batch in part.batches:
        z, theta = batch.of(Z), np.array(parameters.theta_of(batch.places), order="C")
        solved = solve_positive(ensemble(batch, z, theta, parameters), z)
        Q = np.ascontiguousarray(products(z.transpose(0, 2, 1), solved))
        kernels.theta_steps(Q, P, penalty, n_steps, theta)
        found.append(theta)
    return np.asarray(np.minimum(np.concatenate(found), MOST))


def joint_step(
    parameters: Parameters, found: Slopes, settings: Settings = DEFAULT, share: float = 1.0
) -> Parameters:
    """Take a step of theta, gamma and the level, from the slopes of possible sets at a point.

    With a `share` of the way of less than 1 even empty sets leave everything above 0.
    """
    up, down = found.theta.up, found.theta.down + settings.penalty
    if parameters.shared:
        up, down = up.sum(axis=0), down.sum(axis=0)
    gamma, level = parameters.gamma, parameters.noise.level
    if settings.learn_gamma:
        gamma = float(multiplied(gamma, found.gamma.up, found.gamma.down, share))
    if settings.learn_level:
        level = float(multiplied(level, found.level.up, found.level.down, share))
    theta = multiplied(parameters.theta, up, down, share)
    return replace(parameters, theta=theta, gamma=gamma, noise=parameters.noise.at(level))


def multiplied(
    x: Floats | float, up: Floats | float, down: Floats | float, share: float = 1.0
) -> Floats:
    """Go a share of the way from x to x up / down; stay where down is 0, as nothing changes.

    What would rise without bounds, as theta does without a penalty, ends at `MOST`.
    """
    safe = np.where(down > 0, down, 1.0)
    ratio = np.where(down > 0, np.maximum(up, 0.0) / safe, 1.0)
    with np.errstate(over="ignore"):
        result: Floats = x * (1 + share * (ratio - 1)) if share < 1 else x * ratio
    return np.minimum(result, MOST)
