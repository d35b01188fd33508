# SPDX-License-Identifier: BSD-3-Clause
"""Exact draws of sets, on ground sets without a list: 2^500 sentences, a cube.

1. Each eigenvector of the low-rank part is taken or not, independently. The eigenvalues are
   those of ``F'Sigma F = E Lam E'``, the eigenvectors the functions g_k'phi, with ``A = F F'``
   and ``G = F E Lam^{-1/2}``.
2. Each taken eigenvector gives a point: q is drawn uniformly on the unit sphere of the span left
   by earlier points, then x with weight ``p(x) (q'G'phi(x))^2``.
3. The noise adds points.

References
----------
Hough et al. (2006), "Determinantal processes and independence", algorithm 18, as in Kulesza and
Taskar (2012), "Determinantal point processes for machine learning", algorithms 1, 7, 8.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import index

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import logsumexp

from streamtopics.dpp.arrays import Floats, Places, Points
from streamtopics.dpp.kernel import Process, log_normalizer
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Drawn
from streamtopics.dpp.sets import PointSets, stack

MOST_NUMBERS = 2**21
RELATIVE_RANK = 1e-13


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Positive eigenvalues of the low-rank part, (n,), and G of the eigenvectors, (V, n)."""

    values: Floats
    G: Floats


def spectrum(process: Process) -> Spectrum:
    v, w0, F = process.measure.v, process.measure.w0, process.kernel.root
    WF = w0.T @ F
    values, E = np.linalg.eigh(F.T @ (v[:, None] * F) + WF.T @ WF)
    kept = values > RELATIVE_RANK * max(values[-1:].max(initial=0.0), 1e-300)
    return Spectrum(values[kept], F @ (E[:, kept] / np.sqrt(values[kept])))


def size_probabilities(process: Process, most: int) -> Floats:
    """Return the probabilities of the set sizes 0, 1, ..., `most`, of shape (most + 1,).

    Examples
    --------
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.sampling import size_probabilities
    >>> process = Process(Items.of(2), Kernel([[1.0], [2.0]], [3.0]), Counting(0.0))
    >>> size_probabilities(process, 2)
    array([0.0625, 0.9375, 0.    ])
    """
    log_weights = size_log_weights(process, spectrum(process), most)
    return np.asarray(np.exp(logsumexp(log_weights, axis=1) - log_normalizer(process)))


def size_log_weights(process: Process, eigen: Spectrum, most: int) -> Floats:
    """Return the log of the sum of det L_X over sets of n points, m of them low-rank, as (n, m)."""
    log_e = log_symmetric(eigen.values, most)[-1]
    n, m = np.arange(most + 1)[:, None], np.arange(most + 1)
    extra = np.maximum(n - m, 0)
    log_noise = process.noise.log_weight(process.measure, m, extra)
    return np.where(m <= n, log_e + log_noise, -np.inf)


def log_symmetric(values: Floats, most: int) -> Floats:
    """Return log e_m of the first i values as entry (i, m)."""
    table = np.full((len(values) + 1, most + 1), -np.inf)
    table[:, 0] = 0.0
    log_values = np.log(values, out=np.full(len(values), -np.inf), where=values > 0)
    for i, log_value in enumerate(log_values):
        table[i + 1, 1:] = np.logaddexp(table[i, 1:], log_value + table[i, :-1])
    return table


def draw_subsets(values: Floats, sizes: Places, rng: Generator) -> NDArray[np.bool_]:
    """Draw a subset of each size as rows of bools, weighted by the product of its values."""
    table = log_symmetric(values, int(sizes.max(initial=0)))
    chosen = np.zeros((len(sizes), len(values)), dtype=bool)
    left = sizes.copy()
    log_values = np.log(values, out=np.full(len(values), -np.inf), where=values > 0)
    for i in range(len(values) - 1, -1, -1):
        rows = np.flatnonzero(left)
        m = left[rows]
        log_share = log_values[i] + table[i, m - 1] - table[i + 1, m]
        taken = rows[rng.random(len(rows)) < np.exp(log_share)]
        chosen[taken, i] = True
        left[taken] -= 1
    return chosen


def sample(process: Process, n_sets: int, rng: Generator, *, k: int | None = None) -> PointSets:
    """Draw `n_sets` independent sets from a process, as `PointSets`.

    If k is given, each set has exactly k points. Without noise k is at most the rank of A.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Background, Bernoulli, Kernel, Process
    >>> from streamtopics.dpp.sampling import sample
    >>> rng = np.random.default_rng(0)
    >>> kernel = Kernel(rng.standard_normal((500, 12)), np.full(12, 10.0))
    >>> process = Process(Bernoulli(np.full(500, 0.01)), kernel, Background(0.1))
    >>> sample(process, 3, rng).sizes
    array([12, 11, 12])
    """
    n_sets, noise, eigen = index(n_sets), process.noise, spectrum(process)
    if k is None:
        kept = eigen.values * noise.rho
        chosen = rng.random((n_sets, len(kept))) < kept / (1 + kept)
    else:
        log_weights = size_log_weights(process, eigen, index(k))[k]
        if np.isneginf(log_weights).all():
            raise ValueError(
                f"k is {k}, but no set of this process has so many points: its rank is "
                f"{len(eigen.values)} and its noise is {noise}. Lower k or raise the level"
            )
        shares = np.exp(log_weights - logsumexp(log_weights))
        sizes = rng.choice(k + 1, size=n_sets, p=shares / shares.sum())
        chosen = draw_subsets(eigen.values, sizes, rng)
    drawn = _draw_projections(process.measure, eigen, chosen, rng)
    if k is None:
        more = noise.draw(process.measure, n_sets, drawn, rng)
    else:
        more = noise.draw_exactly(process.measure, k - sizes, drawn, rng)
    places = np.concatenate([drawn[0], more[0]])
    points = stack([drawn[1], more[1]])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=n_sets))])
    return PointSets(points[np.argsort(places, kind="stable")], indptr)


def _draw_projections(
    measure: BaseMeasure, eigen: Spectrum, chosen: NDArray[np.bool_], rng: Generator
) -> Drawn:
    """Draw points by the chosen eigenvectors of each row; return rows and points."""
    most = int(chosen.sum(axis=1).max(initial=0))
    step = max(1, MOST_NUMBERS // max(len(eigen.G), most**2, 1))
    places, points = [np.zeros(0, dtype=np.intp)], [measure.sample(0, rng)]
    for start in range(0, len(chosen), step):
        rows = chosen[start : start + step]
        sizes = rows.sum(axis=1)
        order = np.argsort(-sizes, kind="stable")
        for active, drawn in _draw_in_turn(measure, eigen.G, rows[order], sizes[order], rng):
            places.append(start + order[:active])
            points.append(drawn)
    return np.concatenate(places), stack(points)


def _draw_in_turn(
    measure: BaseMeasure, G: Floats, chosen: NDArray[np.bool_], sizes: Places, rng: Generator
) -> Iterator[tuple[int, Points]]:
    """Yield the number of sets with more than j points, and their j-th points, for each j.

    Sets come from large to small. Vectors have coordinates for the chosen eigenvectors.
    """
    most = int(sizes.max(initial=0))
    places = np.argsort(~chosen, axis=1, kind="stable")[:, :most]
    inside = np.arange(most) < sizes[:, None]
    basis = np.zeros((len(chosen), most, most))
    for j in range(most):
        active = int(np.searchsorted(-sizes, -j))
        span, columns = basis[:active, :j], places[:active]
        q = _orthogonalize(rng.standard_normal((active, most)) * inside[:active], span)
        coefficients = np.zeros((active, G.shape[1]))
        np.put_along_axis(coefficients, columns, q, axis=1)
        drawn = measure.sample_tilted(coefficients @ G.T, rng)
        direction = np.take_along_axis(measure.features(drawn) @ G, columns, axis=1)
        basis[:active, j] = _orthogonalize(direction * inside[:active], span)
        yield active, drawn


def _orthogonalize(x: Floats, span: Floats) -> Floats:
    """Return the part of x orthogonal to the rows of `span`, scaled to length 1."""
    for _ in range(2):  # The first time leaves rounding errors of the original length.
        x = x - np.einsum("njk,nj->nk", span, np.einsum("njk,nk->nj", span, x))
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
    return x
