# SPDX-License-Identifier: BSD-3-Clause
"""Plain twins of online EM, stochastic variational inference and iterate averages.

Dense and slow. `batches` are dense counts (documents, V); `start` are the weights
(V, K) that local steps see until a minibatch had tokens. Each stream yields lam
(V, K) after every minibatch.
"""

import numpy as np

from tests.reference import lda


def rate_of_means(t, kappa, tau):
    """Step size of the t-th minibatch, t = 1, 2, ..: never below that of a plain mean."""
    return max((t + tau) ** -kappa, 1 / t)


def inverse_memory(before, rate, n_documents):
    """1 / n_t: weights w_d of documents that sum to one count like 1 / sum w_d^2 of them."""
    return (1 - rate) ** 2 * before + rate**2 / n_documents


def online_em(
    batches, start, eta, alpha, *, kappa, tau=0.0, n_rounds=None, tol=0.0, max_iter=20
):  # fmt: skip
    """Iterates s_t + eta / n_t of s_t = (1 - r_t) s_{t-1} + r_t S_t / B.

    The documents see beta = (s + eta / n) normalised. `n_rounds` is the boosted
    variant: that many times one sweep, from where the last left the documents, and
    the M-step, from the same s_{t-1}.
    """
    s, inverse_n, weights = np.zeros_like(eta), 0.0, start
    for t, batch in enumerate(batches, 1):
        rate = rate_of_means(t, kappa, tau)
        memory = inverse_memory(inverse_n, rate, len(batch))
        gammas = None
        for _ in range(n_rounds or 1):
            learnt, gammas = lda.e_step(
                batch, weights, alpha, tol=tol, max_iter=1 if n_rounds else max_iter,
                starts=gammas,
            )  # fmt: skip
            new = (1 - rate) * s + rate * learnt / len(batch)
            lam = new + eta * memory
            if new.any():
                weights = lam / lam.sum(axis=0)
        s, inverse_n = new, memory
        yield lam


def stochastic_vi(
    batches, start, eta, alpha, *, kappa, tau=0.0, n_documents=None, tol=0.0, max_iter=20
):
    """Iterates lam_t = (1 - r_t) lam_{t-1} + r_t (eta + D / B S_t); D None is those so far."""
    lam, weights, seen = eta, start, 0
    for t, batch in enumerate(batches, 1):
        rate, seen = min(1.0, (t + tau) ** -kappa), seen + len(batch)
        learnt, _ = lda.e_step(batch, weights, alpha, tol=tol, max_iter=max_iter)
        lam = (1 - rate) * lam + rate * (eta + (n_documents or seen) / len(batch) * learnt)
        if learnt.any() or weights is not start:
            weights = lda.topic_weights(lam)
        yield lam


def averages(iterates):
    """sum_i i x_i / sum_i i over the first t iterates, for every t."""
    total, weight = 0.0, 0.0
    for t, iterate in enumerate(iterates, 1):
        total, weight = total + t * iterate, weight + t
        yield total / weight
