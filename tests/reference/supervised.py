# SPDX-License-Identifier: BSD-3-Clause
"""Plain twin of local inference in supervised LDA."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, xlogy

from tests.reference.variational import normalised


def word_topics(logits, x, pull, slope):
    """phi in proportion to exp(logits + (pull - slope x' phi) x)."""

    def given(mean):
        return normalised(logits + (pull - slope * mean) * x, axis=0)

    if x.min() == x.max():
        return given(x[0])
    return given(brentq(lambda m: given(m) @ x - m, x.min(), x.max(), xtol=1e-15, rtol=1e-14))


def sweep(n_tokens, weight, topics, gamma, x, variance, y, means):
    """phi (U, K) of the words of a document, one after the other, and their means x' phi.

    n_tokens, weight, means (U,), topics (U, K), of which the means are those before.
    """
    c, means = n_tokens * weight, means.copy()
    tokens = c.sum()
    phi = np.empty_like(topics)
    for u in range(len(c)):
        others = c @ means - c[u] * means[u]
        pull = (y * tokens - others) / (tokens**2 * variance)
        slope = (n_tokens[u] - 1) * weight[u] / (tokens**2 * variance)
        logits = np.log(topics[u]) + digamma(gamma)
        logits -= weight[u] * x**2 / (2 * tokens**2 * variance)
        phi[u] = word_topics(logits, x, pull, slope)
        means[u] = x @ phi[u]
    return phi, means


def infer(n_tokens, weight, topics, alpha, x, variance, y, gamma, n_sweeps):
    """gamma, expected tokens (U, K), the sum over tokens of w^2 Cov[z] / N^2, and the bound.

    The bound is without -KL(q(theta) || p(theta)) and without N digamma(sum_k gamma_k).
    """
    c = n_tokens * weight
    beyond = gamma - alpha
    means = np.full(len(c), x @ beyond / beyond.sum())
    for _ in range(n_sweeps):
        phi, means = sweep(n_tokens, weight, topics, gamma, x, variance, y, means)
        gamma = alpha + c @ phi
    phi, means = sweep(n_tokens, weight, topics, gamma, x, variance, y, means)
    tokens = c.sum()
    within = np.diag((c * weight) @ phi) - phi.T @ ((c * weight)[:, None] * phi)
    bound = (c[:, None] * (phi * (digamma(gamma) + np.log(topics)) - xlogy(phi, phi))).sum()
    bound -= 0.5 * np.log(2 * np.pi * variance)
    bound -= ((y - c @ means / tokens) ** 2 + x @ within @ x / tokens**2) / (2 * variance)
    return gamma, c[:, None] * phi, within / tokens**2, bound
