# SPDX-License-Identifier: BSD-3-Clause
"""Plain twin of local inference in rated reviews, and their exact likelihood."""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln


def token_terms(gamma, pi, weights, qualitative, learn):
    """What a token adds: descriptive (U, K) and qualitative (U,) terms; gamma may be theta."""
    log_theta = digamma(gamma) - digamma(gamma.sum()) if learn else np.log(gamma)
    if qualitative is None:
        return np.exp(log_theta) * weights, np.zeros(len(weights))
    log_p = digamma(pi) - digamma(pi.sum())
    return np.exp(log_p[0] + log_theta) * weights, np.exp(log_p[1]) * qualitative


def sweep(documents, prior, omega, gamma, pi, learn):
    """The next gamma and pi, and sum_u c_u log(sum of the terms), of one profile.

    `documents` are triples (counts (U,), weights (U, K), qualitative weights (U,) or None).
    """
    next_gamma, next_pi, logs = prior.copy(), np.tile(omega, (len(documents), 1)), 0.0
    for d, (counts, weights, qualitative) in enumerate(documents):
        terms, other = token_terms(gamma, pi[d], weights, qualitative, learn)
        total = terms.sum(axis=1) + other
        next_gamma += counts @ (terms / total[:, None])
        next_pi[d] += (counts / total) @ np.column_stack([terms.sum(axis=1), other])
        logs += counts @ np.log(total)
    return next_gamma if learn else gamma, next_pi, logs


def log_likelihood(documents, topic_word, psi, alpha, omega):
    """log p of the tokens of one profile's documents, by summing over all assignments.

    `documents` are pairs (tokens, sign), the topics beta and psi[sign] known.
    """
    K = len(alpha)
    choices = [range(K + 1)] * sum(len(tokens) for tokens, _ in documents)
    log_terms = []
    for z in product(*choices):
        place, log_p, counts = 0, 0.0, np.zeros(K)
        for tokens, sign in documents:
            own = np.array(z[place : place + len(tokens)], dtype=int)
            place += len(tokens)
            n = np.array([(own < K).sum(), (own == K).sum()])
            log_p += log_dirichlet_multinomial(omega, n)
            counts += np.bincount(own, minlength=K + 1)[:K]
            for token, k in zip(tokens, own, strict=True):
                log_p += np.log(psi[sign][token] if k == K else topic_word[k][token])
        log_terms.append(log_p + log_dirichlet_multinomial(alpha, counts))
    return np.logaddexp.reduce(log_terms)


def log_dirichlet_multinomial(alpha, n):
    """log E[prod theta_k^n_k] under Dirichlet(alpha)."""
    total = gammaln(alpha.sum()) - gammaln(alpha.sum() + n.sum())
    return total + (gammaln(alpha + n) - gammaln(alpha)).sum()
