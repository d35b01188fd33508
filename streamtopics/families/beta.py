# SPDX-License-Identifier: BSD-3-Clause
"""The beta family: the Dirichlet family of two outcomes.

The density is proportional to x^(a-1) (1-x)^(b-1). The natural parameter is (a, b), counts of
both outcomes with those of the prior; the statistics are (log x, log(1 - x)).

Source: Johnson, Kotz and Balakrishnan (1995), "Continuous univariate distributions".

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import beta
>>> eta = beta.from_parameters([1.0, 2.0], 3.0)
>>> eta
array([[1., 3.],
       [2., 3.]])
>>> a, b = beta.parameters(eta)
>>> a / (a + b)
array([0.25, 0.4 ])
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh_tridiagonal
from scipy.special import logsumexp
from scipy.stats import beta as beta_distribution

from streamtopics.families import dirichlet
from streamtopics.families.dirichlet import expected_statistics as expected_statistics
from streamtopics.families.dirichlet import kl as kl
from streamtopics.families.dirichlet import log_normalizer as log_normalizer
from streamtopics.families.dirichlet import mass as mass


def from_parameters(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The natural parameter (a, b)."""
    return np.stack(np.broadcast_arrays(a, b), axis=-1).astype(np.float64)


def parameters(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a and b."""
    eta = np.asarray(eta, dtype=np.float64)
    return eta[..., 0], eta[..., 1]


def marginals(eta: np.ndarray) -> dict[str, Any]:
    """The distribution of the probability."""
    return {"probability": beta_distribution(*parameters(eta))}


def valid(eta: np.ndarray) -> np.ndarray:
    """Whether a and b are positive and finite, and nothing else is there."""
    return dirichlet.valid(eta) & (np.shape(eta)[-1] == 2)


def integration_nodes(a: float, b: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and logarithms of weights: E[f(x)] = sum_i exp(log_weight_i) f(node_i).

    Exact for polynomials of degree less than 2 n. The nodes are the eigenvalues of the Jacobi
    matrix (Golub and Welsch 1969), the weights 1 / sum_k p_k(node)^2 of orthonormal polynomials.
    """
    k, mass = np.arange(1.0, n), a + b
    level = 0.5 + (a - b) * (mass - 2) / (2 * (2 * k + mass - 2) * (2 * k + mass))
    level = np.concatenate([[a / mass], level])
    k = k[1:]
    square = k * (k + a - 1) * (k + b - 1) * (k + mass - 2)
    square /= (2 * k + mass - 2) ** 2 * (2 * k + mass - 1) * (2 * k + mass - 3)
    step = np.sqrt(np.concatenate([[a * b / (mass**2 * (mass + 1))], square]))[: n - 1]
    nodes = np.clip(eigvalsh_tridiagonal(level, step), 0.0, 1.0)
    before, now, logs = np.zeros(n), np.ones(n), np.zeros(n)
    for i in range(n - 1):
        after = (nodes - level[i]) * now - (step[i - 1] * before if i else 0.0)
        before, now = now, after / step[i]
        scale = np.sqrt(1 + now**2)
        before, now, logs = before / scale, now / scale, logs - 2 * np.log(scale)
    return nodes, logs - logsumexp(logs)
