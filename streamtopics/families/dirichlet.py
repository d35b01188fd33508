# SPDX-License-Identifier: BSD-3-Clause
"""The Dirichlet family: probabilities b that sum to 1, with the statistics log b.

The natural parameter is the concentration alpha > 0: counts of words and pseudo-counts. The base
measure is h(b) = prod 1/b_v.

    A(alpha) = sum_v lnG(alpha_v) - lnG(sum_v alpha_v)

Source: Nguyen et al. (2020), Table 2.

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import dirichlet
>>> eta = np.array([1.0, 2.0, 1.0])
>>> dirichlet.expected_statistics(eta).round(4)
array([-1.8333, -0.8333, -1.8333])
>>> float(dirichlet.mass(eta))
4.0
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import psi
from scipy.stats import beta as beta_distribution
from scipy.stats import binom

from streamtopics.families.log_gamma import deviance, remainder, remainder_divergence

# Cells in one step of `kl`; intermediate results stay in the cache.
BLOCK = 8192


def expected_statistics(eta: np.ndarray) -> np.ndarray:
    """E[log b_v] = psi(alpha_v) - psi(sum alpha)."""
    eta = np.asarray(eta, dtype=np.float64)
    return psi(eta) - psi(eta.sum(axis=-1, keepdims=True))


def marginals(eta: np.ndarray) -> dict[str, Any]:
    eta = np.asarray(eta, dtype=np.float64)
    if eta.shape[-1] == 1:
        return {"probability": binom(1, np.ones_like(eta))}
    others = np.zeros_like(eta)
    np.cumsum(eta[..., :-1], axis=-1, out=others[..., 1:])
    others[..., :-1] += np.cumsum(eta[..., :0:-1], axis=-1)[..., ::-1]
    return {"probability": beta_distribution(eta, others)}


def log_normalizer(eta: np.ndarray) -> np.ndarray:
    """A(alpha), in nats; the error is about 1e-16 times the sum of alpha."""
    eta = np.asarray(eta, dtype=np.float64)
    total = eta.sum(axis=-1, keepdims=True)
    return (eta * np.log(eta / total) + remainder(eta)).sum(axis=-1) - remainder(total[..., 0])


def kl(eta: np.ndarray, other: np.ndarray, axis: int = -1) -> np.ndarray:
    """KL(Dir(alpha) || Dir(beta)), in nats; `axis` is the axis of the natural parameter.

    With a and b the sums of alpha and beta, the divergence is

        sum_v [d(beta_v, alpha_v b / a) + D(alpha_v, beta_v)] - D(a, b),

    d being `log_gamma.deviance` and D `log_gamma.remainder_divergence`. The error of a cell is
    about 1e-15 if a concentration is below 10, else a relative 1e-14. Concentrations are between
    1e-50 and 1e25.
    """
    q, p = np.broadcast_arrays(eta, other)
    q, p = np.moveaxis(q, axis, 0), np.moveaxis(p, axis, 0)
    a, b = np.zeros(q.shape[1:]), np.zeros(q.shape[1:])
    for q_block, p_block in _blocks(q, p):
        a += q_block.sum(axis=0)
        b += p_block.sum(axis=0)
    out = -remainder_divergence(a, b)
    scale = b / a
    for q_block, p_block in _blocks(q, p):
        cells = deviance(p_block, scale * q_block) + remainder_divergence(q_block, p_block)
        out += cells.sum(axis=0)
    return np.maximum(out, 0.0)


def _blocks(q: np.ndarray, p: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of about `BLOCK` cells along the first axis, in float64."""
    step = max(1, BLOCK * len(q) // max(1, q.size))
    for start in range(0, len(q), step):
        part = slice(start, start + step)
        yield q[part].astype(np.float64, copy=False), p[part].astype(np.float64, copy=False)


def mass(eta: np.ndarray) -> np.ndarray:
    """sum_v alpha_v: the number of words, with pseudo-counts."""
    return np.add.reduce(eta, axis=-1, dtype=np.float64)


def valid(eta: np.ndarray) -> np.ndarray:
    eta = np.asarray(eta)
    return ((eta > 0) & np.isfinite(eta)).all(axis=-1)
