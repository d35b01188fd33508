# SPDX-License-Identifier: BSD-3-Clause
"""Plain twins of streams of LDA, and the exact likelihood of tiny documents."""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

from tests.reference import variational


def topic_weights(lam):
    """exp(E[log beta]) under Dirichlet(lam[:, k]), up to a factor for each word."""
    return variational.exp_digamma_rows(lam, digamma(lam.sum(axis=0)))


def e_step(batch, weights, alpha, tol=0.0, max_iter=20, starts=None):
    """Expected tokens of each word in each topic (V, K), and gamma of each document.

    For dense counts (documents, V).
    """
    starts = [None] * len(batch) if starts is None else starts
    total, gammas = np.zeros(weights.shape), []
    for counts, start in zip(batch, starts, strict=True):
        used = np.flatnonzero(counts)
        gamma, _ = variational.fixed_point(counts[used], weights[used], alpha, tol, max_iter, start)
        total[used] += variational.word_statistics(counts[None, used], weights[used], [gamma])
        gammas.append(gamma)
    return total, gammas


def stream(
    batches, start, eta, alpha, *, scale=0.0, norm="whole", n_passes=1, tol=0.0, max_iter=20
):
    """lam (V, K) after the minibatches; scale 0 is SVB, any other BPS.

    The first local step sees the weights `start` (V, K), every other those of lam;
    further passes over a minibatch see what the last would make of lam.
    """
    lam, weights = eta.copy(), start
    for batch in batches:
        for _ in range(n_passes):
            learnt, _ = e_step(batch, weights, alpha, tol, max_iter)
            if norm == "whole":
                boost = scale * learnt.sum() / eta.sum()
            else:
                boost = scale * learnt.sum(axis=0) / eta.sum(axis=0)
            proposal = lam + learnt + boost * eta
            weights = topic_weights(proposal)
        lam = proposal
    return lam


def log_likelihood(words, alpha, beta):
    """log p(words | alpha, beta), theta integrated out, by the sum over all z.

    `words` are the tokens in order, beta (K, V); p(z | alpha) is the
    Dirichlet-multinomial probability of the sequence.
    """
    words = np.asarray(words, np.intp)
    z = np.array(list(product(range(len(alpha)), repeat=len(words))), np.intp)
    n = (z[:, :, None] == np.arange(len(alpha))).sum(axis=1)
    terms = np.log(beta[z, words]).sum(axis=1) + (gammaln(alpha + n) - gammaln(alpha)).sum(axis=1)
    return logsumexp(terms) + gammaln(alpha.sum()) - gammaln(alpha.sum() + len(words))
