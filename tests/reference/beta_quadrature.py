# SPDX-License-Identifier: BSD-3-Clause
"""Quadrature under a beta distribution."""

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.special import logsumexp


def integration_nodes(a, b, n):
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
