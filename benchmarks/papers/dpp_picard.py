# SPDX-License-Identifier: BSD-3-Clause
"""The Picard iteration of Mariet and Sra (2015), the rival of the thesis, in plain NumPy.

    L <- L + L Delta L,    Delta = mean_i U_i L_{X_i}^-1 U_i' - (I + L)^-1

never lowers the likelihood and keeps L positive definite. It also keeps the range of L, and a
diagonal L diagonal, so that it has to start elsewhere: from a Wishart draw, as its authors do.
On sentences the same step is one of A, with Sigma in the place of the identity; there it is
only for kernels without noise that the likelihood is known not to fall.
"""

from dataclasses import replace

import numpy as np

from streamtopics.dpp.batches import SetBatches
from streamtopics.dpp.likelihood import Parameters, slopes
from streamtopics.dpp.measures import BaseMeasure


def wishart(n_items: int, mean_size: float, rng: np.random.Generator) -> np.ndarray:
    """A full positive definite matrix, the scale by the mean size of a set."""
    G = rng.standard_normal((n_items, n_items))
    return G @ G.T / n_items * mean_size / (n_items - mean_size)


def by_size(data: SetBatches) -> list[np.ndarray]:
    """The items of all sets of a size, of shape (m, n), for each size."""
    rows = {}
    for part in data:
        for batch in part.batches:
            items = part.Phi.indices[batch.points].reshape(batch.log_p.shape)
            rows.setdefault(items.shape[1], []).extend(items)
    return [np.array(items, dtype=np.intp) for items in rows.values()]


def log_likelihood(sets: list[np.ndarray], L: np.ndarray) -> np.ndarray:
    """Of each set, in nats, those of one size after another."""
    parts = [np.linalg.slogdet(submatrices(L, items))[1] for items in sets]
    return np.concatenate(parts) - np.linalg.slogdet(L + np.eye(len(L)))[1]


def submatrices(L: np.ndarray, items: np.ndarray) -> np.ndarray:
    """L_X of each set, of shape (m, n, n)."""
    return L[items[:, :, None], items[:, None, :]]


def picard(sets: list[np.ndarray], L: np.ndarray, n_steps: int) -> np.ndarray:
    """L after so many steps."""
    V, n_sets = len(L), sum(len(items) for items in sets)
    places = [(items[:, :, None] * V + items[:, None, :]).ravel() for items in sets]
    for _ in range(n_steps):
        total = np.zeros(V * V)
        for items, place in zip(sets, places, strict=True):
            inverse = np.linalg.inv(submatrices(L, items))
            total += np.bincount(place, inverse.ravel(), V * V)
        Delta = total.reshape(V, V) / n_sets - np.linalg.inv(np.eye(V) + L)
        L = L + L @ Delta @ L
        L = (L + L.T) / 2
    return L


def picard_features(
    measure: BaseMeasure, data: SetBatches, at: Parameters, n_steps: int
) -> tuple[Parameters, list[float]]:
    """The same for A = F F', F square in the place of U, theta 1 and gamma 0.

    Returns also the log density before each step, per set. With G the derivative by A, that
    by F is 2 G F, so that A G A comes from it. The noise stays as it is.
    """
    values = []
    for _ in range(n_steps):
        found = slopes(data, at)
        values.append(found.log_density / data.n_sets)
        inner = at.U.T @ found.U / (2 * data.n_sets)
        A = at.U @ (np.eye(len(inner)) + (inner + inner.T) / 2) @ at.U.T
        at = replace(at, U=np.linalg.cholesky((A + A.T) / 2))
    return at, values
