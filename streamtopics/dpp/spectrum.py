# SPDX-License-Identifier: BSD-3-Clause
"""The spectrum of the low-rank part, and the law of the number of points.

With A = F F' the eigenvalues of Psi A Psi' that are not 0 are those of F'Sigma F =
E Lam E', a matrix of the rank's size; G = F E Lam^{-1/2} has G'Sigma G = I, so that the
functions g_k'phi are the eigenvectors.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from streamtopics.dpp.arrays import Floats
from streamtopics.dpp.elementary_symmetric import log_elementary
from streamtopics.dpp.kernel import Process
from streamtopics.dpp.low_rank import log_normalizer

RELATIVE_RANK = 1e-13


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues above 0 and eigenvectors of Psi A Psi'.

    Attributes
    ----------
    values : ndarray of shape (n,)
    G : ndarray of shape (V, n)
        G'Sigma G = I.
    """

    values: Floats
    G: Floats


def spectrum(process: Process) -> Spectrum:
    """Compute the spectrum, in O(V r^2) if gamma is 0 and O(V^3) otherwise.

    Examples
    --------
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.spectrum import spectrum
    >>> process = Process(Items.of(2), Kernel([[1.0], [2.0]], [3.0]), Counting(0.0))
    >>> spectrum(process).values.round(6)
    array([15.])
    """
    v, w0, F = process.measure.v, process.measure.w0, process.kernel.root
    WF = w0.T @ F
    values, E = np.linalg.eigh(F.T @ (v[:, None] * F) + WF.T @ WF)
    kept = values > RELATIVE_RANK * max(values[-1:].max(initial=0.0), 1e-300)
    return Spectrum(values[kept], F @ (E[:, kept] / np.sqrt(values[kept])))


def size_probabilities(process: Process, most: int) -> Floats:
    """Return the probabilities of 0, 1, ..., `most` points.

    The low-rank part has m points with a weight e_m of its eigenvalues; the noise adds
    the others.

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
