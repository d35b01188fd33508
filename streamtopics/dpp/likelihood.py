# SPDX-License-Identifier: BSD-3-Clause
"""The log-likelihood of observed sets, and its derivatives.

    log det L_X = sum_{x in X} log p(x) + log det(Diag(delta) + gamma Phi_X Phi_X' + Z Th Z')
    Z = Phi_X U

less the log normaliser. p is never exponentiated with the Background noise, of which a
positive level makes every set possible: with empty and repeated sentences, or more
sentences than the rank. Without noise such sets have the log-likelihood -inf.

Source: Dupuy (2017), equations 19 and 24.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.low_rank import (
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
from streamtopics.dpp.sets import Block, Blocks
from streamtopics.parallel import SERIAL, Workers


@dataclass(frozen=True, eq=False)
class Parameters:
    """What is learnt from sets.

    Attributes
    ----------
    U : ndarray of shape (V, r)
    theta : ndarray of shape (r,), for all sets, or (n_sets, r), for each its own
    gamma : float
    noise : Background or Counting
    """

    U: np.ndarray
    theta: np.ndarray
    gamma: float
    noise: Noise

    @property
    def shared(self) -> bool:
        """Whether all sets have the same theta."""
        return self.theta.ndim == 1

    def theta_of(self, block: Block) -> np.ndarray:
        """The theta of each set of a block, of shape (m, r)."""
        if self.shared:
            return np.broadcast_to(self.theta, (len(block.places), len(self.theta)))
        return self.theta[block.places]

    def distinct_theta_of(self, block: Block) -> np.ndarray:
        """The same, but of shape (1, r) if all sets have the same."""
        return self.theta[None] if self.shared else self.theta[block.places]

    def process(self, measure: BaseMeasure, theta: np.ndarray) -> Process:
        """The process of one theta, of shape (r,)."""
        return Process(measure, Kernel(self.U, theta, self.gamma), self.noise)

    def projected(self, measure: BaseMeasure) -> Projected:
        """What the normalisers of all theta share."""
        return project(measure, self.U, self.gamma, self.noise.rho)


@dataclass(frozen=True, eq=False)
class Halves:
    """A derivative of the log-likelihood: up - down, that of log det L_X less the normaliser's.

    Attributes
    ----------
    up, down : ndarray or float
        Both at least 0 for theta, gamma and the level of the noise.
    """

    up: np.ndarray
    down: np.ndarray

    @property
    def net(self) -> np.ndarray:
        """up - down."""
        return self.up - self.down


@dataclass(frozen=True, eq=False)
class Slopes:
    """A sum of log-likelihoods and its derivatives; those of theta are one for each set.

    Attributes
    ----------
    log_likelihood : float
        The sum itself, in nats.
    U : ndarray of shape (V, r)
    theta : Halves of shape (n_sets, r)
    gamma, level : Halves
    """

    log_likelihood: float
    U: np.ndarray
    theta: Halves
    gamma: Halves
    level: Halves


def ensemble(block: Block, Z: np.ndarray, theta: np.ndarray, parameters: Parameters) -> np.ndarray:
    """Diag(delta) + gamma Phi_X Phi_X' + Z Th Z' of each set, the identity beyond.

    Parameters
    ----------
    block : Block
    Z : ndarray of shape (m, n, r)
    theta : ndarray of shape (m, r)
    parameters : Parameters
        Of which gamma and the noise are used.

    Returns
    -------
    L : ndarray of shape (m, n, n)
    """
    L = (Z * theta[:, None, :]) @ Z.transpose(0, 2, 1) + parameters.gamma * block.gram
    delta = parameters.noise.diagonal(block.log_p)
    m, n = block.inside.shape
    L.reshape(m, n * n)[:, :: n + 1] += np.where(block.inside, delta, 1.0)
    return L


def log_det_positive(L: np.ndarray) -> np.ndarray:
    """log det of positive semidefinite matrices, in nats; -inf if singular up to rounding.

    Parameters
    ----------
    L : ndarray of shape (..., n, n)

    Returns
    -------
    log_det : ndarray of shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.likelihood import log_det_positive
    >>> log_det_positive(np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.3], [0.3, 0.9]]]))
    array([  0., -inf])
    """
    diagonal = np.diagonal(L, axis1=-2, axis2=-1)
    scale = np.where(diagonal > 0, diagonal, 1.0)
    root = np.sqrt(scale)
    correlation = L / (root[..., :, None] * root[..., None, :])
    try:
        factor = np.linalg.cholesky(correlation)
        pivots = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        pivots = np.linalg.eigvalsh(correlation)
    possible = (pivots > 4 * L.shape[-1] * np.finfo(float).eps).all(axis=-1)
    possible &= (diagonal > 0).all(axis=-1)
    terms = np.log(scale).sum(axis=-1) + np.log(np.maximum(pivots, 1e-300)).sum(axis=-1)
    return np.where(possible, terms, -np.inf)


def log_likelihood(
    measure: BaseMeasure, data: Blocks, parameters: Parameters, *, workers: Workers = SERIAL
) -> np.ndarray:
    """log P(X) of each set, in nats; with respect to a density where p is one.

    Parameters
    ----------
    measure : BaseMeasure
    data : Blocks
    parameters : Parameters
    workers : Workers

    Returns
    -------
    log_likelihood : ndarray of shape (n_sets,)
        -inf for a set that the process cannot give.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.likelihood import Parameters, log_likelihood
    >>> from streamtopics.dpp.measures import Items
    >>> from streamtopics.dpp.noise import Counting
    >>> from streamtopics.dpp.sets import PointSets, blocks
    >>> sets = PointSets(np.array([0, 1, 0, 1]), [0, 0, 1, 2, 4])
    >>> parameters = Parameters(np.array([[1.0], [2.0]]), np.array([3.0]), 0.0, Counting(0.0))
    >>> measure = Items.of(2)
    >>> np.exp(log_likelihood(measure, blocks(measure, sets), parameters)).round(4)
    array([0.0625, 0.1875, 0.75  , 0.    ])
    """
    projected = parameters.projected(measure)
    jobs = [(block, projected, parameters) for block in data]
    result = np.empty(data.n_sets)
    for block, values in zip(data, workers.share(_block_log_likelihood, jobs), strict=True):
        result[block.places] = values
    return result - parameters.noise.log_normalizer(measure)


def _block_log_likelihood(block: Block, projected: Projected, parameters: Parameters) -> np.ndarray:
    theta = parameters.theta_of(block)
    L = ensemble(block, block.pad(block.Phi @ parameters.U), theta, parameters)
    log_dets = log_det_positive(L) - log_det(projected, parameters.distinct_theta_of(block))
    return block.log_p.sum(axis=1) + log_dets


def slopes(
    measure: BaseMeasure, data: Blocks, parameters: Parameters, *, workers: Workers = SERIAL
) -> Slopes:
    """The sum of the log-likelihoods of all sets and its derivatives.

    Every set must be possible: `check_possible` tells.

    Parameters
    ----------
    measure : BaseMeasure
    data : Blocks
    parameters : Parameters
    workers : Workers

    Returns
    -------
    slopes : Slopes

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.likelihood import Parameters, slopes
    >>> from streamtopics.dpp.measures import Items
    >>> from streamtopics.dpp.noise import Counting
    >>> from streamtopics.dpp.sets import PointSets, blocks
    >>> measure = Items.of(2)
    >>> data = blocks(measure, PointSets(np.array([0, 1]), [0, 1, 2]))
    >>> parameters = Parameters(np.array([[1.0], [2.0]]), np.array([3.0]), 0.0, Counting(0.0))
    >>> slopes(measure, data, parameters).theta.net.round(4)  # 1 / 3 - 5 / 16, twice
    array([[0.0208],
           [0.0208]])
    """
    projected = parameters.projected(measure)
    jobs = [(measure, block, projected, parameters) for block in data]
    parts = workers.share(_block_slopes, jobs)
    r = parameters.U.shape[1]
    up, down = np.empty((data.n_sets, r)), np.empty((data.n_sets, r))
    for block, part in zip(data, parts, strict=True):
        up[block.places], down[block.places] = part.theta.up, part.theta.down
    inner = sum((part.shrunk for part in parts), np.zeros((r, r)))
    return Slopes(
        sum(part.log_likelihood for part in parts)
        - data.n_sets * parameters.noise.log_normalizer(measure),
        sum((part.U for part in parts), np.zeros_like(parameters.U))
        - slope_embedding(projected, inner),
        Halves(up, down),
        Halves(sum(p.gamma_up for p in parts), slope_gamma(projected, inner, data.n_sets)),
        Halves(sum(p.level.up for p in parts), sum(p.level.down for p in parts)),
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """What a block adds to the slopes; U without the normaliser's part, which is in shrunk."""

    log_likelihood: float
    U: np.ndarray
    theta: Halves
    gamma_up: float
    level: Halves
    shrunk: np.ndarray


def _block_slopes(
    measure: BaseMeasure, block: Block, projected: Projected, parameters: Parameters
) -> _Part:
    theta, noise = parameters.theta_of(block), parameters.noise
    distinct = parameters.distinct_theta_of(block)
    Z = block.pad(block.Phi @ parameters.U)
    L = ensemble(block, Z, theta, parameters)
    inverse = np.linalg.inv(L)
    solved = inverse @ Z
    down, inner = slope_theta(projected, distinct), shrunk(projected, distinct)
    sizes = noise.expected_size(measure, low_rank_sizes(projected, distinct, down, inner))
    n_each = len(theta) / len(distinct)
    diagonal = np.diagonal(inverse, axis1=1, axis2=2)[block.inside]
    level_up = (diagonal * noise.diagonal_slope(block.log_p[block.inside])).sum()
    log_dets = log_det_positive(L) - log_det(projected, distinct)
    return _Part(
        float(block.log_p.sum() + log_dets.sum()),
        2 * (block.Phi.T @ (solved * theta[:, None, :])[block.inside]),
        Halves((Z * solved).sum(axis=1), np.broadcast_to(down, theta.shape)),
        float((block.gram * inverse).sum()),
        Halves(float(level_up), n_each * float(noise.slope(measure, sizes).sum())),
        n_each * inner.sum(axis=0),
    )


def check_possible(measure: BaseMeasure, data: Blocks, parameters: Parameters) -> None:
    """Raise ValueError if some set has the probability 0, for which nothing can be learnt."""
    impossible = np.flatnonzero(~np.isfinite(log_likelihood(measure, data, parameters)))
    if len(impossible):
        raise ValueError(
            f"{len(impossible)} of {data.n_sets} sets, the first of them set {impossible[0]}, have "
            f"probability 0 with the noise {parameters.noise}: they have a point without features, "
            "a point twice, more points than the rank, or one that p excludes. Give the noise a "
            "positive level, or leave such points out"
        )
