# SPDX-License-Identifier: BSD-3-Clause
"""Learning of U, theta, gamma and the noise from sets.

The objective is F = -mean log-likelihood + penalty * R(U, theta), in nats per set, R as in
`penalty`. `fit` goes over all sets: L-BFGS on U, monotone steps on the rest, balance of the
scales, in turn. `learn_minibatch` takes one step of AdaGrad on U, which rare words with
their small gradients need.

(u_k, theta_k) = 0 is a strict local minimum under a penalty, from which no column comes back:
start with more of them than are wanted.

Source: Dupuy (2017), section 4.2.5; Duchi, Hazan and Singer (2011), "Adaptive subgradient
methods".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from streamtopics.dpp.arrays import Floats
from streamtopics.dpp.batches import SetBatches
from streamtopics.dpp.likelihood import Parameters, check_possible, log_likelihood, slopes
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.multiplicative import DEFAULT, Settings, joint_step, theta_steps
from streamtopics.dpp.noise import Noise
from streamtopics.dpp.penalty import balance, smooth_penalty


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of `fit`: parameters, and F at the start and after each round, in nats per set."""

    parameters: Parameters
    objective: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Online:
    """The state of learning from minibatches.

    Parameters with one theta, the running mean; sums of squared derivatives by U; the root mean
    square of the first U, the unit of the steps; and the minibatches learnt from, of the size of
    the next one.
    """

    _holds = "parameters.U: V R; squares: V R >=0; scale: >=0; n_batches: >=0"
    parameters: Parameters
    squares: Floats
    scale: float
    n_batches: float = 0.0

    @classmethod
    def of(cls, parameters: Parameters) -> Self:
        """Return the state before the first minibatch."""
        scale = float(np.sqrt(np.mean(parameters.U**2)))
        return cls(parameters, np.zeros_like(parameters.U), scale)


def start(
    measure: BaseMeasure, n_components: int, mean_size: float, noise: Noise, rng: Generator, *,
    gamma: float = 0.0,
) -> Parameters:  # fmt: skip
    """Draw a U at the scale of the data: E tr(U U' Sigma) is `mean_size`; theta is 1."""
    v, w0 = measure.v, measure.w0
    trace = v.sum() + (w0**2).sum()
    U = rng.standard_normal((len(v), n_components))
    U *= np.sqrt(max(mean_size, 1e-3) / (n_components * trace))
    return Parameters(U, np.ones(n_components), gamma, noise)


def objective(data: SetBatches, parameters: Parameters, penalty: float) -> float:
    """Return F, in nats per set."""
    value, _ = smooth_penalty(parameters.U, parameters.theta)
    return float(-log_likelihood(data, parameters).mean() + penalty * value)


def fit_embedding(
    data: SetBatches, parameters: Parameters, *, penalty: float = 0.01, max_iter: int = 20
) -> Parameters:
    """Learn U by L-BFGS from possible sets, with rows scaled so that rare words move too."""
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
    """Find a local minimum of F, by rounds of U, then theta, gamma and the noise, then balance.

    A theta of shape (r,) is learnt for all sets, one of shape (n_sets, r) for each, and a gamma
    or a level of 0 stays 0. `report` gets F after each round. Sets of probability 0 are refused.
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
    """Return the parameters with a theta for each set, by steps from the present one."""
    penalty, n = settings.penalty, settings.n_theta
    return replace(parameters, theta=theta_steps(data, parameters, penalty=penalty, n_steps=n))


def learn_minibatch(data: SetBatches, state: Online, settings: Settings = DEFAULT) -> Online:
    """Take one step from a minibatch of sets, none of probability 0."""
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
    """Return the state as if `learn_minibatch` had found these parameters, of one theta, itself."""
    state, still = Online.of(parameters), replace(settings, step_size=0.0)
    for data in minibatches:
        found = learn_minibatch(data, state, still)
        state = replace(state, squares=found.squares, n_batches=state.n_batches + 1)
    return state


def balance_online(state: Online) -> Online:
    """Return the state with the scales of least penalty; the kernel stays the same."""
    U, theta, scales = balance(state.parameters.U, state.parameters.theta)
    squares = state.squares / np.where(scales > 0, scales, 1.0) ** 2
    return replace(state, parameters=replace(state.parameters, U=U, theta=theta), squares=squares)
