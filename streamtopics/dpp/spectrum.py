# SPDX-License-Identifier: BSD-3-Clause
"""The spectrum of the low-rank part, and the law of the number of points.

With A = F F' the eigenvalues of Psi A Psi' that are not 0 are those of F'Sigma F =
E Lam E', a matrix of the rank's size; G = F E Lam^{-1/2} has G'Sigma G = I, so that the
functions g_k'phi are the eigenvectors.

The law of the size needs the elementary symmetric polynomials e_m(lam) of the eigenvalues,
sums over subsets of size m of the product of their lam. They stay in logarithms, where sums
of positive terms lose nothing and nothing overflows.

Source: Kulesza and Taskar (2012), "Determinantal point processes for machine learning",
algorithms 7 and 8.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import logsumexp

from streamtopics.dpp.arrays import Floats, Places
from streamtopics.dpp.kernel import Process
from streamtopics.dpp.low_rank import log_normalizer

RELATIVE_RANK = 1e-13


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues above 0, of shape (n,), and G of the eigenvectors, of shape (V, n)."""

    values: Floats
    G: Floats


def spectrum(process: Process) -> Spectrum:
    """Compute the spectrum, in O(V r^2) if gamma is 0 and O(V^3) otherwise."""
    v, w0, F = process.measure.v, process.measure.w0, process.kernel.root
    WF = w0.T @ F
    values, E = np.linalg.eigh(F.T @ (v[:, None] * F) + WF.T @ WF)
    kept = values > RELATIVE_RANK * max(values[-1:].max(initial=0.0), 1e-300)
    return Spectrum(values[kept], F @ (E[:, kept] / np.sqrt(values[kept])))


def size_probabilities(process: Process, most: int) -> Floats:
    """Return the probabilities of 0, 1, ..., `most` points.

    Examples
    --------
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.spectrum import size_probabilities
    >>> process = Process(Items.of(2), Kernel([[1.0], [2.0]], [3.0]), Counting(0.0))
    >>> size_probabilities(process, 2)
    array([0.0625, 0.9375, 0.    ])
    """
    log_weights = size_log_weights(process, spectrum(process), most)
    result: Floats = np.exp(logsumexp(log_weights, axis=1) - log_normalizer(process))
    return result


def size_log_weights(process: Process, eigen: Spectrum, most: int) -> Floats:
    """Return the log of the sum of det L_X over sets of n points, m of the low-rank part.

    Entry (n, m) of shape (most + 1, most + 1), in nats; -inf where m > n.
    """
    log_e = log_elementary(eigen.values, most)[-1]
    n, m = np.arange(most + 1)[:, None], np.arange(most + 1)
    extra = np.maximum(n - m, 0)
    log_noise = process.noise.log_weight(process.measure, m, extra)
    return np.where(m <= n, log_e + log_noise, -np.inf)


def log_elementary(values: Floats, most: int) -> Floats:
    """Return log e_m of the first i values as entry (i, m), -inf where m > i."""
    table = np.full((len(values) + 1, most + 1), -np.inf)
    table[:, 0] = 0.0
    with np.errstate(divide="ignore"):
        log_values = np.log(values)
    for i, log_value in enumerate(log_values):
        table[i + 1, 1:] = np.logaddexp(table[i, 1:], log_value + table[i, :-1])
    return table


def draw_subsets(values: Floats, sizes: Places, rng: Generator) -> NDArray[np.bool_]:
    """Draw a subset of each size m, with probability its product over e_m, as rows of bools."""
    table = log_elementary(values, int(sizes.max(initial=0)))
    chosen = np.zeros((len(sizes), len(values)), dtype=bool)
    left = sizes.copy()
    with np.errstate(divide="ignore"):
        log_values = np.log(values)
    for i in range(len(values) - 1, -1, -1):
        rows = np.flatnonzero(left)
        m = left[rows]
        log_share = log_values[i] + table[i, m - 1] - table[i + 1, m]
        taken = rows[rng.random(len(rows)) < np.exp(log_share)]
        chosen[taken, i] = True
        left[taken] -= 1
    return chosen
