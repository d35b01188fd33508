# SPDX-License-Identifier: BSD-3-Clause
"""Plain twins of the variational kernels: slow, float64, in the log domain.

A document is its counts `c` (U,) and the weights of its words `b` (U, K). The mean
field family is q(theta) = Dirichlet(gamma) and q(z = k | word u) = phi_uk, with

    phi_uk  proportional to  b_uk exp(psi(gamma_k))      over k,
    gamma_k = alpha_k + sum_u c_u phi_uk.
"""

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, polygamma

PLAIN_SWEEPS = 5


def exp_digamma_rows(x, offset=0.0):
    """exp(psi(x) - offset), each row scaled to a largest entry of 1."""
    y = digamma(np.asarray(x, np.float64)) - offset
    return np.exp(y - y.max(axis=1, keepdims=True))


def log_weights(weights):
    """log b in float64; a weight of 0 is -inf."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(weights, np.float64))


def normalised(log_p, axis=1):
    """Probabilities that sum to 1 along an axis."""
    p = np.exp(log_p - log_p.max(axis=axis, keepdims=True))
    return p / p.sum(axis=axis, keepdims=True)


def responsibilities(log_b, gamma):
    """phi, of shape (U, K)."""
    return normalised(log_b + digamma(gamma))


def sweep(counts, weights, alpha, gamma):
    """One round of coordinate ascent: the next gamma."""
    phi = responsibilities(log_weights(weights), np.asarray(gamma, np.float64))
    return alpha + np.asarray(counts, np.float64) @ phi


def plain_fixed_point(counts, weights, alpha, tol, max_iter):
    """gamma and the number of sweeps, of sweeps alone."""
    return fixed_point(counts, weights, alpha, tol, max_iter, n_plain=max_iter)


def extrapolated(first, middle, last, alpha):
    """The step of squared extrapolation after two sweeps, from `first` to `last`.

    With r the first change and v the change of changes, first + 2 a r + a^2 v, where
    a = |r| / |v| in [1, 4]; nothing loses more than half of what it has above alpha.
    """
    r, v = middle - first, last - 2 * middle + first
    if not r @ r > v @ v:
        return last
    a = np.sqrt(r @ r / max(v @ v, (r @ r) / 16))
    return np.maximum(first + 2 * a * r + a**2 * v, alpha + (last - alpha) / 2)


def fixed_point(counts, weights, alpha, tol, max_iter, start=None, n_plain=PLAIN_SWEEPS):
    """gamma and the number of sweeps.

    From `start` or else alpha + tokens / K, until a sweep changes less than `tol`
    times the tokens. After five sweeps, gamma is extrapolated after every second one
    that another follows.
    """
    n_tokens = np.sum(counts, dtype=np.float64)
    gamma = alpha + n_tokens / len(alpha) if start is None else start
    n_iter, change, path = 0, np.inf, []
    while n_iter < max_iter and not change < tol * n_tokens:
        if n_iter >= n_plain:
            path.append(gamma)
        if len(path) == 3:
            gamma = extrapolated(*path, alpha)
            path = [gamma]
        before, gamma = gamma, sweep(counts, weights, alpha, gamma)
        n_iter, change = n_iter + 1, np.abs(gamma - before).sum()
    return gamma, n_iter


def jacobian(counts, weights, gamma):
    """d(next gamma_k) / d(gamma_j) of one sweep."""
    phi = responsibilities(log_weights(weights), gamma)
    spread = np.diag(counts @ phi) - (phi * np.asarray(counts)[:, None]).T @ phi
    return spread * polygamma(1, gamma)


def distance_bound(counts, weights, fixed, point, change):
    """How far `point` may be from the fixed point `fixed`, in l1.

    For a point that a sweep F moves by at most `change` in l1. With J the mean of
    the Jacobian of F along the line between the two,

        point - fixed = (I - J)^-1 (point - F(point)).
    """
    nodes, shares = np.polynomial.legendre.leggauss(16)
    mean = sum(
        share / 2 * jacobian(counts, weights, fixed + (node + 1) / 2 * (point - fixed))
        for node, share in zip(nodes, shares, strict=True)
    )
    inverse = np.linalg.inv(np.eye(len(fixed)) - mean)
    return np.abs(inverse).sum(axis=0).max() * change


def bound(counts, weights, alpha, gamma):
    """The mean-field bound on log p(words | alpha, weights), at the best phi for gamma.

    sum_u c_u log sum_k b_uk exp(E[log theta_k]) - KL(Dirichlet(gamma) || Dirichlet(alpha)).
    """
    gamma = np.asarray(gamma, np.float64)
    log_theta = digamma(gamma) - digamma(gamma.sum())
    words = np.asarray(counts, np.float64) @ logsumexp(log_weights(weights) + log_theta, axis=1)
    kl = gammaln(gamma.sum()) - gammaln(gamma).sum()
    kl -= gammaln(alpha.sum()) - gammaln(alpha).sum()
    kl += (gamma - alpha) @ log_theta
    return words - kl


def word_statistics(dense_counts, weights, gamma):
    """s_wk = sum_d c_dw phi_dwk, of shape (n_words, K), for counts (n_documents, n_words)."""
    log_b = log_weights(weights)
    out = np.zeros(log_b.shape)
    for counts, row in zip(np.asarray(dense_counts, np.float64), gamma, strict=True):
        out += counts[:, None] * responsibilities(log_b, np.asarray(row, np.float64))
    return out
