# SPDX-License-Identifier: BSD-3-Clause
"""Plain twins of the updates of alpha: Minka's fixed point, and sums over documents.

`counts` are the tokens of each document in each topic, n_dk, of shape (D, K).
"""

import numpy as np
from scipy.special import digamma, gammaln, polygamma


def inverse_digamma(y):
    """The x with psi(x) = y; appendix C of Minka (2000)."""
    y = np.asarray(y, np.float64)
    small = -1 / np.minimum(y - digamma(1.0), -1.0)
    x = np.where(y >= -2.22, np.exp(y) + 0.5, small)
    for _ in range(5):
        x = x - (digamma(x) - y) / polygamma(1, x)
    return x


def minka_fixed_point(mean_log_theta, start, tol, max_iter):
    """alpha_k <- psi^-1(psi(alpha_0) + E[log theta_k]), and the number of iterations."""
    alpha, n_iter, change = start, 0, np.inf
    while n_iter < max_iter and not change < tol:
        before, alpha = alpha, inverse_digamma(digamma(alpha.sum()) + mean_log_theta)
        n_iter, change = n_iter + 1, np.abs(alpha / before - 1).max()
    return alpha, n_iter


def newton_step(alpha, mean_log_theta):
    """-H^-1 g, with H as a matrix."""
    g = digamma(alpha.sum()) - digamma(alpha) + mean_log_theta
    H = polygamma(1, alpha.sum()) - np.diag(polygamma(1, alpha))
    return -np.linalg.solve(H, g)


def mean_log_theta(alpha, counts):
    """E[log theta] under Dirichlet(alpha + n_d), the mean over documents with words."""
    gamma = alpha + counts[counts.sum(axis=1) > 0]
    return (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).mean(axis=0)


def gamma_prior_sums(alpha, counts):
    """sum_d alpha_k (psi(alpha_k + n_dk) - psi(alpha_k)), sum_d psi(alpha_0 + N_d) - psi(alpha_0).

    Over all documents, the empty ones too.
    """
    x = (alpha * (digamma(alpha + counts) - digamma(alpha))).sum(axis=0)
    y = (digamma(alpha.sum() + counts.sum(axis=1)) - digamma(alpha.sum())).sum()
    return x, y


def gamma_prior_log_posterior(alpha, counts, shape, inverse_scale):
    """log p(alpha | z) under independent Gamma(shape, inverse_scale), up to a constant."""
    alpha_0, lengths = alpha.sum(), counts.sum(axis=1)
    documents = gammaln(alpha_0) - gammaln(alpha_0 + lengths)
    topics = gammaln(alpha + counts) - gammaln(alpha)
    prior = (shape - 1) * np.log(alpha) - inverse_scale * alpha
    return documents.sum() + topics.sum() + prior.sum()
