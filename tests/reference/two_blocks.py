# SPDX-License-Identifier: BSD-3-Clause
"""Plain twins of inference in two blocks of topics, and the exact likelihood by enumeration.

A document is its counts `c` (U,) and the weights of its words `b` (U, K), of which the
first `n_first` columns are one block of topics and the others the second. With m_b the sum
of gamma over a block and v_b = share_prior_b + sum of (gamma - alpha) over it,

    phi_uk  proportional to  b_uk exp(psi(gamma_k) - psi(m_b) + psi(v_b))    over all k,
    gamma_k = alpha_k + sum_u c_u phi_uk.
"""

from itertools import product

import numpy as np
from scipy.special import betaln, digamma, gammaln, logsumexp

from tests.reference.variational import log_weights, normalised


def blocks(alpha, n_first, share_prior):
    """Place of each block's topics, their alpha, and their part of the share prior."""
    first, second = slice(0, n_first), slice(n_first, len(alpha))
    return [(first, alpha[first], share_prior[0]), (second, alpha[second], share_prior[1])]


def shares(gamma, alpha, n_first, share_prior):
    """Beta parameters v of a document, or of each row of gamma."""
    of = blocks(alpha, n_first, share_prior)
    return np.stack([s + (gamma[..., at] - a).sum(axis=-1) for at, a, s in of], axis=-1)


def log_theta(gamma, alpha, n_first, share_prior):
    """E[log theta_k], the share of the block included."""
    out = digamma(gamma)
    v = shares(gamma, alpha, n_first, share_prior)
    log_v = digamma(v) - digamma(v.sum(axis=-1, keepdims=True))
    for i, (at, _, _) in enumerate(blocks(alpha, n_first, share_prior)):
        within = digamma(gamma[..., at].sum(axis=-1))
        out[..., at] += (log_v[..., i] - within)[..., None]
    return out


def responsibilities(weights, gamma, alpha, n_first, share_prior):
    """phi, of shape (U, K), or (J, U, K) for as many weights and rows of gamma."""
    expected = log_theta(gamma, alpha, n_first, share_prior)[..., None, :]
    return normalised(log_weights(weights) + expected, axis=-1)


def fixed_point(counts, weights, *given):
    """gamma and the number of sweeps, from alpha + tokens / K."""
    [gamma], [n_iter] = fixed_points(counts, weights[None], *given)
    return gamma, n_iter


def fixed_points(counts, weights, alpha, n_first, share_prior, tol, max_iter):
    """gamma (J, K) and the number of sweeps (J,) for each of several weights (J, U, K)."""
    counts, n_tokens = np.asarray(counts, np.float64), np.sum(counts, dtype=np.float64)
    gamma = np.tile(alpha + n_tokens / len(alpha), (len(weights), 1))
    n_iter, left = np.zeros(len(gamma), int), np.arange(len(gamma))
    while len(left) and n_iter.max() < max_iter:
        before = gamma[left]
        phi = responsibilities(weights[left], before, alpha, n_first, share_prior)
        gamma[left] = alpha + counts @ phi
        n_iter[left] += 1
        change = np.abs(gamma[left] - before).sum(axis=1)
        left = left[~(change < tol * n_tokens)]
    return gamma, n_iter


def bound(counts, weights, alpha, n_first, share_prior, gamma, phi=None, v=None):
    """E_q[log p(words, z, theta, v)] - E_q[log q], by its definition term by term.

    For any gamma, phi and v; where these are not given, at the best phi for gamma and at
    the v that goes with gamma.
    """
    counts = np.asarray(counts, np.float64)
    if v is None:
        v = shares(gamma, alpha, n_first, share_prior)
    log_v = digamma(v) - digamma(sum(v))
    expected = np.empty(len(alpha))
    value = betaln(*v) - betaln(*share_prior)
    for i, (at, prior, share) in enumerate(blocks(alpha, n_first, share_prior)):
        within = digamma(gamma[at]) - digamma(gamma[at].sum())
        expected[at] = within + log_v[i]
        value += (share - v[i]) * log_v[i]
        value += ((prior - gamma[at]) * within).sum()
        value += gammaln(prior.sum()) - gammaln(prior).sum()
        value -= gammaln(gamma[at].sum()) - gammaln(gamma[at]).sum()
    joint = log_weights(weights) + expected
    if phi is None:
        phi = normalised(joint)
    terms = np.where(phi > 0, phi * (joint - np.log(np.where(phi > 0, phi, 1.0))), 0.0)
    return value + counts @ terms.sum(axis=1)


def log_likelihood(words, alpha, n_first, share_prior, beta):
    """log p(words), theta and v integrated out, by the sum over all topics of all words.

    `words` are the tokens in order, beta (K, V).
    """
    words = np.asarray(words, np.intp)
    z = np.array(list(product(range(len(alpha)), repeat=len(words))), np.intp)
    n = (z[:, :, None] == np.arange(len(alpha))).sum(axis=1)
    terms, held = np.log(beta[z, words]).sum(axis=1), []
    for at, a, share in blocks(alpha, n_first, share_prior):
        held.append(share + n[:, at].sum(axis=1))
        terms += (gammaln(a + n[:, at]) - gammaln(a)).sum(axis=1)
        terms += gammaln(a.sum()) - gammaln(a.sum() + n[:, at].sum(axis=1))
    return logsumexp(terms + betaln(*held) - betaln(*share_prior))
