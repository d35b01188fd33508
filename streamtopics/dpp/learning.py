# SPDX-License-Identifier: BSD-3-Clause
"""Learning of U, theta, gamma and the noise from sets.

The objective is ``F = -mean log-likelihood + penalty * R``, in nats per set, with

    R = mean_i |theta_i|_1 + (sum_k |u_k|)^2

over sets i and columns u_k of U. `fit` alternates L-BFGS on U, monotone steps on the rest, and
balance of the scales. `learn_minibatch` takes a step of AdaGrad on U.

A monotone step multiplies theta, gamma and the noise level by `Halves.up` over `Halves.down`; down
of theta includes the penalty. F never rises: the step maximises the bound by tangents (MM).

Balance: ``(U D, D^-2 theta)`` gives the same kernel, so only ``b_k = theta_k^{1/2} |u_k|`` counts.
R is least for lengths proportional to ``b_k^{2/3}``.

References
----------
Dupuy (2017), section 4.2.5; Hunter and Lange (2004), "A tutorial on MM algorithms"; Duchi, Hazan
and Singer (2011), "Adaptive subgradient methods".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import minimize

from streamtopics.dpp.arrays import Floats, products, solve_positive
from streamtopics.dpp.batches import Part, SetBatches
from streamtopics.dpp.kernel import MOST, Projected
from streamtopics.dpp.likelihood import (
    Parameters,
    Slopes,
    check_possible,
    ensemble,
    log_likelihood,
    slopes,
)
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Noise
from streamtopics.kernels import dpp as kernels

SMOOTHING = 1e-16
LEAST_NORM = 1e-100


@dataclass(frozen=True)
class Settings:
    """Settings of `LowRankDPP`, and numbers of steps in a round."""

    penalty: float = 0.01
    n_theta: int = 20  # On theta alone, if each set has its own.
    learn_gamma: bool = True
    learn_level: bool = True
    max_iter: int = 10
    n_embedding: int = 20  # Of L-BFGS on U.
    n_joint: int = 5  # On theta, gamma and the level.
    tol: float = 0.01
    own_theta: bool = True
    step_size: float = 0.3
    kappa: float = 0.5


DEFAULT = Settings()


@dataclass(frozen=True, eq=False)
class Fitted:
    """Learnt parameters, and F at the start and after each round."""

    parameters: Parameters
    objective: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Online:
    """State of learning from minibatches."""

    _holds = "parameters.U: V R; squares: V R >=0; scale: >=0; n_batches: >=0"
    parameters: Parameters  # Of one theta, the running mean.
    squares: Floats  # Sums of squared derivatives by U.
    scale: float  # The root mean square of the first U, the unit of the steps.
    n_batches: float = 0.0  # Learnt minibatches, of the size of the next.

    @classmethod
    def of(cls, parameters: Parameters) -> Self:
        scale = float(np.sqrt(np.mean(parameters.U**2)))
        return cls(parameters, np.zeros_like(parameters.U), scale)


def start(
    measure: BaseMeasure, n_components: int, mean_size: float, noise: Noise, rng: Generator, *,
    gamma: float = 0.0,
) -> Parameters:  # fmt: skip
    """Draw U with ``tr(U U' Sigma)`` of about `mean_size`; theta is 1."""
    v, w0 = measure.v, measure.w0
    trace = v.sum() + (w0**2).sum()
    U = rng.standard_normal((len(v), n_components))
    U *= np.sqrt(max(mean_size, 1e-3) / (n_components * trace))
    return Parameters(U, np.ones(n_components), gamma, noise)


def objective(data: SetBatches, parameters: Parameters, penalty: float) -> float:
    """Return the objective F, in nats per set."""
    value, _ = smooth_penalty(parameters.U, parameters.theta)
    return float(-log_likelihood(data, parameters).mean() + penalty * value)


def fit_embedding(
    data: SetBatches, parameters: Parameters, *, penalty: float = 0.01, max_iter: int = 20
) -> Parameters:
    """Learn U by L-BFGS, with rows scaled for rare words."""
    shape, measure = parameters.U.shape, data.measure
    unit = np.sqrt(measure.v + (measure.w0**2).sum(axis=1))[:, None]
    unit = np.where(unit > 0, unit, 1.0)

    def function(x: Floats) -> tuple[float, Floats]:
        U = x.reshape(shape) / unit
        found = slopes(data, replace(parameters, U=U))
        value, slope = smooth_penalty(U, parameters.theta)
        gradient = penalty * slope - found.U / data.n_sets
        return penalty * value - found.log_density / data.n_sets, (gradient / unit).ravel()

    at = (parameters.U * unit).ravel()
    limits: Any = {"maxiter": max_iter, "maxcor": 10}
    found = minimize(function, at, jac=True, method="L-BFGS-B", options=limits)
    return replace(parameters, U=found.x.reshape(shape) / unit)


def fit(
    data: SetBatches, parameters: Parameters, settings: Settings = DEFAULT, *,
    report: Callable[[float], None] = lambda value: None,
) -> Fitted:  # fmt: skip
    """Find a local minimum of F by rounds of U, then theta, gamma and the noise, then balance.

    `report` gets F after each round. Sets of probability 0 are refused.
    """
    check_possible(data, parameters)
    values = [objective(data, parameters, settings.penalty)]
    for _ in range(settings.max_iter):
        parameters = fit_embedding(
            data, parameters, penalty=settings.penalty, max_iter=settings.n_embedding
        )
        if not parameters.shared:
            parameters = _with_own_theta(data, parameters, settings)
        for _ in range(settings.n_joint):
            parameters = joint_step(parameters, slopes(data, parameters), settings)
        U, theta, _scales = balance(parameters.U, parameters.theta)
        parameters = replace(parameters, U=U, theta=theta)
        values.append(objective(data, parameters, settings.penalty))
        report(values[-1])
        if values[-2] - values[-1] < settings.tol:
            break
    return Fitted(parameters, tuple(values))


def _with_own_theta(data: SetBatches, parameters: Parameters, settings: Settings) -> Parameters:
    penalty, n = settings.penalty, settings.n_theta
    return replace(parameters, theta=theta_steps(data, parameters, penalty=penalty, n_steps=n))


def learn_minibatch(data: SetBatches, state: Online, settings: Settings = DEFAULT) -> Online:
    """Return the state after a step on a minibatch; sets of probability 0 are refused."""
    parameters, rate = state.parameters, (state.n_batches + 2) ** -settings.kappa
    check_possible(data, parameters)
    local = _with_own_theta(data, parameters, settings) if settings.own_theta else parameters
    found = slopes(data, local)
    slope = settings.penalty * smooth_penalty(local.U, local.theta)[1] - found.U / data.n_sets
    squares = state.squares + slope**2
    length = settings.step_size * state.scale
    U = local.U - length * slope / np.sqrt(np.maximum(squares, 1e-300))
    stepped = joint_step(local, found, settings, rate)
    theta = stepped.theta
    if settings.own_theta:
        theta = (1 - rate) * parameters.theta + rate * local.theta.mean(axis=0)
    learnt = replace(stepped, U=U, theta=theta)
    return replace(state, parameters=learnt, squares=squares, n_batches=state.n_batches + 1)


def resume(
    minibatches: Iterable[SetBatches], parameters: Parameters, settings: Settings = DEFAULT
) -> Online:
    """Return the state for further minibatches after `fit` has found `parameters`."""
    state, still = Online.of(parameters), replace(settings, step_size=0.0)
    for data in minibatches:
        found = learn_minibatch(data, state, still)
        state = replace(state, squares=found.squares, n_batches=state.n_batches + 1)
    return state


def balance_online(state: Online) -> Online:
    U, theta, scales = balance(state.parameters.U, state.parameters.theta)
    squares = state.squares / np.where(scales > 0, scales, 1.0) ** 2
    return replace(state, parameters=replace(state.parameters, U=U, theta=theta), squares=squares)


# Steps of theta, gamma and the level


def theta_steps(
    data: SetBatches, parameters: Parameters, *, penalty: float = 0.0, n_steps: int = 20
) -> Floats:
    """Return a theta for each set, after `n_steps` from a positive theta."""
    projected = parameters.projected(data.measure)
    theta = np.empty((data.n_sets, parameters.U.shape[1]))
    return data.fill(theta, _part_theta_steps, projected, parameters, penalty, n_steps)


def _part_theta_steps(
    part: Part, projected: Projected, parameters: Parameters, penalty: float, n_steps: int
) -> Floats:
    """Return theta of the sets of a part.

    ``Z'L^-1 Z`` is ``(I + Q D)^-1 Q``, with its value Q at the start and the change D of Th.
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
    """Return parameters after a step of theta, gamma and the noise level.

    A `share` below 1 goes part of the way only, so nothing reaches 0.
    """
    up, down = found.theta.up, found.theta.down + settings.penalty
    if parameters.shared:
        up, down = up.sum(axis=0), down.sum(axis=0)
    gamma, level = parameters.gamma, parameters.noise.level
    if settings.learn_gamma:
        gamma = float(rescale(gamma, found.gamma.up, found.gamma.down, share))
    if settings.learn_level:
        level = float(rescale(level, found.level.up, found.level.down, share))
    theta = rescale(parameters.theta, up, down, share)
    return replace(parameters, theta=theta, gamma=gamma, noise=parameters.noise.at(level))


def rescale(
    x: Floats | float, up: Floats | float, down: Floats | float, share: float = 1.0
) -> Floats:
    """Move x by a share of the way to ``x up / down``, at most `MOST`; stay if down is 0."""
    safe = np.where(down > 0, down, 1.0)
    ratio = np.where(down > 0, np.maximum(up, 0.0) / safe, 1.0)
    with np.errstate(over="ignore"):
        result: Floats = x * (1 + share * (ratio - 1)) if share < 1 else x * ratio
    return np.minimum(result, MOST)


# The penalty


def smooth_penalty(U: Floats, theta: Floats) -> tuple[float, Floats]:
    """Return the penalty R, smoothed at columns of 0, and its derivative by U."""
    norms = np.sqrt((U**2).sum(axis=0) + SMOOTHING)
    value = np.atleast_2d(theta).mean(axis=0).sum() + norms.sum() ** 2
    return float(value), 2 * norms.sum() * U / norms


def column_norms(U: Floats, theta: Floats) -> Floats:
    """Return the strength b_k of each column of U, of shape (r,)."""
    return np.asarray(np.linalg.norm(U, axis=0) * np.sqrt(np.atleast_2d(theta).mean(axis=0)))


def balance(U: Floats, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """Return U and theta of least penalty and the same kernel, and the factors of U's columns."""
    norms, b = np.linalg.norm(U, axis=0), column_norms(U, theta)
    total = (b ** (2 / 3)).sum() ** 0.75
    alive = b > LEAST_NORM * b.max(initial=1.0)
    scales = np.zeros(len(b))
    scales[alive] = b[alive] ** (2 / 3) / np.cbrt(total) / norms[alive]
    return U * scales, theta * alive / np.where(alive, scales, 1.0) ** 2, scales


def active(U: Floats, theta: Floats, *, tolerance: float = 1e-2) -> NDArray[np.bool_]:
    """Return whether the strength of each column is above `tolerance` times the largest."""
    b = column_norms(U, theta)
    return np.asarray(b > tolerance * b.max(initial=0.0))
