# SPDX-License-Identifier: BSD-3-Clause
"""The log-likelihood of observed sets, and its derivatives.

For a set X, ``Z = Phi_X U``, ``Th = Diag(theta)`` and delta the noise divided by p,

    log det L_X = sum_{x in X} log p(x) + log det(Diag(delta) + gamma Phi_X Phi_X' + Z Th Z').

Less the log normaliser this is the density of ordered points: m equal points subtract log m!.

Source: Dupuy (2017), equations 19 and 24.
"""

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from streamtopics.dpp.arrays import Floats, Places, log_det_positive, products
from streamtopics.dpp.batches import MOST_ENTRIES, Part, SetBatch, SetBatches
from streamtopics.dpp.kernel import (
    Kernel,
    Process,
    Projected,
    log_det,
    low_rank_sizes,
    project,
    shrunk,
    slope_embedding,
    slope_gamma,
    slope_theta,
)
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Noise


@dataclass(frozen=True, eq=False)
class Parameters:
    """Learnt parameters of a process: the noise, and U, theta and gamma of `Kernel`.

    theta has the shape (r,) if all sets share theta, else (n_sets, r), a row for each set.
    """

    _holds = "U: V R; gamma: >=0"
    U: Floats
    theta: Floats
    gamma: float
    noise: Noise

    @property
    def shared(self) -> bool:
        return self.theta.ndim == 1

    def theta_of(self, places: Places) -> Floats:
        if self.shared:
            return np.broadcast_to(self.theta, (len(places), len(self.theta)))
        return self.theta[places]

    def process(self, measure: BaseMeasure, theta: Floats) -> Process:
        """Return the process of one theta, of shape (r,)."""
        return Process(measure, Kernel(self.U, theta, self.gamma), self.noise)

    def projected(self, measure: BaseMeasure) -> Projected:
        """Return the part of the normaliser shared by all theta, computed once."""
        known: tuple[BaseMeasure, Projected] | None = self.__dict__.get("_projected")
        if known is None or known[0] is not measure:
            known = measure, project(measure, self.U, self.gamma, self.noise.rho)
            object.__setattr__(self, "_projected", known)
        return known[1]

    def __getstate__(self) -> dict[str, Any]:
        return {k: value for k, value in self.__dict__.items() if k != "_projected"}


Number = TypeVar("Number", Floats, float)


@dataclass(frozen=True, eq=False)
class Halves(Generic[Number]):
    """A derivative of the log-likelihood: up from log det L_X, minus down from the normaliser.

    Both are at least 0 for theta, gamma and the noise level.
    """

    up: Number
    down: Number


@dataclass(frozen=True, eq=False)
class Slopes:
    """Sum of log densities of sets, in nats, and derivatives; theta has a row for each set."""

    log_density: float
    U: Floats
    theta: Halves[Floats]
    gamma: Halves[float]
    level: Halves[float]


def ensemble(batch: SetBatch, Z: Floats, theta: Floats, parameters: Parameters) -> Floats:
    """Return ``Diag(delta) + gamma Phi_X Phi_X' + Z Th Z'`` of each set, (m, n, n)."""
    L = products(Z * theta[:, None, :], Z.transpose(0, 2, 1)) + parameters.gamma * batch.gram
    m, n = batch.log_p.shape
    L.reshape(m, n * n)[:, :: n + 1] += parameters.noise.diagonal(batch.log_p)
    return L


def log_likelihood(data: SetBatches, parameters: Parameters) -> Floats:
    """Return log P(X) of each set, in nats; -inf for impossible sets."""
    return log_density(data, parameters) - data.log_repeats


def log_density(data: SetBatches, parameters: Parameters) -> Floats:
    """Return the log-likelihood of each set if equal points count as different."""
    projected = parameters.projected(data.measure)
    values = data.fill(np.empty(data.n_sets), _part_log_density, projected, parameters)
    return values - parameters.noise.log_normalizer(data.measure)


def _part_log_density(part: Part, projected: Projected, parameters: Parameters) -> Floats:
    Z, found = part.embed(parameters.U), []
    for batch in part.batches:
        L = ensemble(batch, batch.of(Z), parameters.theta_of(batch.places), parameters)
        found.append(batch.log_p.sum(axis=1) + log_det_positive(L))
    theta = parameters.theta[None] if parameters.shared else parameters.theta[part.places]
    return np.concatenate(found) - log_det(projected, theta)


def slopes(data: SetBatches, parameters: Parameters) -> Slopes:
    """Return the sum of log densities of possible sets, with derivatives."""
    measure, share, n_sets = data.measure, data.workers.share, data.n_sets
    projected, noise = parameters.projected(measure), parameters.noise
    theta = np.atleast_2d(parameters.theta)
    cuts: list[Any] = [slice(None)] if parameters.shared else [part.places for part in data]
    observed = share(_observed, [(part, parameters) for part in data])
    normalizers = share(_normalizers, [(measure, noise, projected, theta[cut]) for cut in cuts])
    by_theta = Halves(np.empty((n_sets, theta.shape[1])), np.empty((n_sets, theta.shape[1])))
    for part, found in zip(data, observed, strict=True):
        by_theta.up[part.places] = found.theta
    for cut, found in zip(cuts, normalizers, strict=True):
        by_theta.down[cut] = found.theta
    times = n_sets if parameters.shared else 1
    inner = times * sum((found.shrunk for found in normalizers), np.zeros_like(projected.P))
    return Slopes(
        sum(found.log_det for found in observed)
        - times * sum(found.log_det for found in normalizers)
        - n_sets * noise.log_normalizer(measure),
        sum((found.U for found in observed), np.zeros_like(parameters.U))
        - slope_embedding(projected, inner),
        by_theta,
        Halves(sum(found.gamma for found in observed), slope_gamma(projected, inner, n_sets)),
        Halves(
            sum(found.level for found in observed),
            times * sum(found.level for found in normalizers),
        ),
    )


class _Observed(NamedTuple):
    log_det: float
    U: Floats
    theta: Floats
    gamma: float
    level: float


def _observed(part: Part, parameters: Parameters) -> _Observed:
    Z, noise = part.embed(parameters.U), parameters.noise
    moved, theta = np.empty_like(Z), []
    log_det = gamma = level = 0.0
    for batch in part.batches:
        z, own = batch.of(Z), parameters.theta_of(batch.places)
        L = ensemble(batch, z, own, parameters)
        log_dets = log_det_positive(L)
        L[np.isneginf(log_dets)] = np.eye(L.shape[1])  # Impossible sets have no derivatives.
        log_det += batch.log_p.sum() + log_dets.sum()
        inverse = np.linalg.inv(L)
        solved = products(inverse, z)
        moved[batch.points] = (solved * own[:, None, :]).reshape(batch.log_p.size, Z.shape[1])
        theta.append((z * solved).sum(axis=1))
        gamma += np.vdot(batch.gram, inverse)
        diagonal = np.diagonal(inverse, axis1=1, axis2=2)
        level += (diagonal * noise.diagonal_slope(batch.log_p)).sum()
    return _Observed(
        float(log_det), 2 * (part.Phi.T @ moved), np.concatenate(theta), float(gamma), float(level)
    )


class _Normalizers(NamedTuple):
    log_det: float
    shrunk: Floats
    theta: Floats
    level: float


def _normalizers(
    measure: BaseMeasure, noise: Noise, projected: Projected, theta: Floats
) -> _Normalizers:
    total, inner, slope, level = 0.0, np.zeros_like(projected.P), np.empty_like(theta), 0.0
    step = max(1, MOST_ENTRIES // max(theta.shape[1], 1) ** 2)
    for start in range(0, len(theta), step):
        some = slice(start, start + step)
        total += log_det(projected, theta[some]).sum()
        slope[some] = slope_theta(projected, theta[some])
        each = shrunk(projected, theta[some])
        inner += each.sum(axis=0)
        sizes = low_rank_sizes(projected, theta[some], slope[some], each)
        level += noise.slope(measure, noise.expected_size(measure, sizes)).sum()
    return _Normalizers(float(total), inner, slope, float(level))


def check_possible(data: SetBatches, parameters: Parameters) -> None:
    places = np.flatnonzero(~np.isfinite(log_density(data, parameters)))
    if len(places):
        raise ValueError(
            f"{len(places)} of {data.n_sets} sets, the first of them set {places[0]}, have "
            f"probability 0 with the noise {parameters.noise}: points without features, repeated, "
            "excluded by p, or more than the rank. Give the noise a positive level, or leave "
            "such points out"
        )
