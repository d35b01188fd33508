# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed Gibbs sampling of the topics of tokens: enumeration, and a plain twin.

The tokens of a document are words x (N,) of weights v (N,); b (n_words, K) are the
weights of the words in the topics. A sweep visits the tokens in turn and draws

    p(z_n = k | z_-n)  proportional to  b[x_n, k] (alpha_k + N_k),
    N_k = sum of v_m over the other tokens m with z_m = k.

A law is the probability of every state z, an array of shape (K,) * N.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma

MOST_TOKENS = 1024
LEAST_EXPECTED = 1.0


def tokens(indices, counts):
    """x and v: a count c is m = min(ceil(c), 1024) tokens of weight c / m."""
    counts = np.asarray(counts, np.float64)
    m = np.minimum(np.ceil(counts), MOST_TOKENS).astype(int)
    return np.repeat(np.asarray(indices), m), np.repeat(counts / np.maximum(m, 1), m)


def conditional(b_row, alpha, others):
    """p(z_n = . | z_-n) for the totals N_k of the other tokens; over the last axis."""
    p = b_row * (alpha + others)
    return p / p.sum(axis=-1, keepdims=True)


def _along(vector, n, n_tokens):
    """The vector along axis n of a law."""
    return np.reshape(vector, [-1 if axis == n else 1 for axis in range(n_tokens)])


def _same(m, n, n_tokens, n_topics):
    """1 where tokens m and n have the same topic, along their axes of a law."""
    shape = [n_topics if axis in (m, n) else 1 for axis in range(n_tokens)]
    return np.eye(n_topics).reshape(shape)


def posterior(x, b, alpha):
    """p(z | x) proportional to prod_n b[x_n, z_n] prod_k Gamma(alpha_k + N_k), v = 1.

    Gamma(alpha_k + N_k) / Gamma(alpha_k) is, over the tokens of topic k in turn, the
    product of alpha_k + the number of earlier ones.
    """
    law = np.ones(())
    for n, row in enumerate(b[x]):
        earlier = sum(_same(m, n, len(x), len(alpha)) for m in range(n))
        law = law * _along(row, n, len(x)) * (_along(alpha, n, len(x)) + earlier)
    return law / law.sum()


def start_factors(x, v, b, alpha):
    """f (K,) of the start: the tokens n m^4 / sum of m^4 of each topic, or 0 where less than 1.

    m (K,) are the tokens that x and v (N,), each token on its own, let expect; x and v may be
    of several documents (..., N).
    """
    own = b[x] * alpha
    m = (v[..., None, :] @ (own / own.sum(axis=-1, keepdims=True)))[..., 0, :]
    f = v.sum(axis=-1, keepdims=True) * m**4 / (m**4).sum(axis=-1, keepdims=True)
    return np.where(f >= LEAST_EXPECTED, f, 0.0)


def start_weights(x, v, b, alpha):
    """What each token starts in proportion to (N, K): b f, or b alpha where that is all 0."""
    p = b[x] * start_factors(x, v, b, alpha)[..., None, :]
    return np.where(p.any(axis=-1, keepdims=True), p, b[x] * alpha)


def start_law(x, v, b, alpha):
    """Where a chain starts: each token on its own, as its weights say."""
    law = np.ones(())
    for n, p in enumerate(start_weights(x, v, b, alpha)):
        law = law * _along(p / p.sum(), n, len(x))
    return law


def point_law(z, n_topics):
    """All probability on one state."""
    law = np.zeros((n_topics,) * len(z))
    law[tuple(z)] = 1.0
    return law


def visits(x, v, b, alpha):
    """p(z_n = . | z_-n), along axis n, for each token n."""
    out = []
    for n, row in enumerate(b[x]):
        others = (v[m] * _same(m, n, len(x), len(alpha)) for m in range(len(x)) if m != n)
        p = _along(row, n, len(x)) * (_along(alpha, n, len(x)) + sum(others))
        out.append(p / p.sum(axis=n, keepdims=True))
    return out


def sweep(law, conditionals):
    """The law after each token was drawn anew, in order."""
    for n, p in enumerate(conditionals):
        law = law.sum(axis=n, keepdims=True) * p
    return law


def chain(law, conditionals, n_sweeps, n_averaged):
    """The law after the sweeps, and the mean of those after the last n_averaged (the last, if 0).

    A token's topic has the same law when it is visited as at the end of the sweep,
    so conditional probabilities too have the expectation that the mean law gives.
    """
    laws = []
    for _ in range(n_sweeps):
        law = sweep(law, conditionals)
        laws.append(law)
    last = laws[-max(n_averaged, 1) :]
    return law, sum(last) / len(last)


class Expectations(NamedTuple):
    """E[v_n 1(z_n = k)] (N, K), E[log theta] (K,) and E[theta] (K,)."""

    tokens: np.ndarray
    log_theta: np.ndarray
    theta: np.ndarray


def expectations(law, v, alpha):
    """Of the statistics of a document, under a law."""
    axes = range(law.ndim)
    each = [law.sum(axis=tuple(m for m in axes if m != n)) for n in axes]
    within = np.indices((2,) * law.ndim).reshape(law.ndim, -1)
    totals = v @ within
    log_theta = np.empty(len(alpha))
    for k, a in enumerate(alpha):
        p = law
        for _ in axes:
            p = np.stack([p.sum(axis=0) - p[k], p[k]], axis=-1)
        log_theta[k] = p.ravel() @ digamma(a + totals)
    log_theta -= digamma(alpha.sum() + v.sum())
    by_token = v[:, None] * np.array(each)
    theta = (alpha + by_token.sum(axis=0)) / (alpha.sum() + v.sum())
    return Expectations(by_token, log_theta, theta)


class Sampled(NamedTuple):
    """z (R, N), v_n p(z_n = k) (R, N, K), log theta (R, K) and theta (R, K)."""

    z: np.ndarray
    tokens: np.ndarray
    log_theta: np.ndarray
    theta: np.ndarray


def draw(p, rng):
    """One topic for each row of p, which need not sum to 1."""
    running = np.cumsum(p, axis=-1)
    point = rng.random(len(p)) * running[:, -1]
    return (running <= point[:, None]).sum(axis=-1)


def _start(x, v, b, alpha, rng):
    weights = start_weights(x, v, b, alpha)
    return np.stack([draw(weights[:, n], rng) for n in range(x.shape[1])], axis=1)


def sample(x, v, b, alpha, n_sweeps, n_averaged, rng, z=None):
    """Sweeps over R documents of N tokens each, x and v (R, N), from z or a fresh start."""
    every = np.arange(len(x))
    z = _start(x, v, b, alpha, rng) if z is None else np.array(z)
    totals = np.zeros((len(x), len(alpha)))
    for n in range(x.shape[1]):
        totals[every, z[:, n]] += v[:, n]
    shares = np.zeros((*x.shape, len(alpha)))
    log_theta, theta = np.zeros((2, *totals.shape))

    def keep(share):
        log_theta[...] += share * (digamma(alpha + totals) - digamma(alpha.sum() + length))
        theta[...] += share * (alpha + totals) / (alpha.sum() + length)

    length = v.sum(axis=1, keepdims=True)
    for t in range(n_sweeps):
        averaged = t >= n_sweeps - n_averaged
        for n in range(x.shape[1]):
            totals[every, z[:, n]] -= v[:, n]
            p = conditional(b[x[:, n]], alpha, totals)
            z[:, n] = draw(p, rng)
            totals[every, z[:, n]] += v[:, n]
            if averaged:
                shares[:, n] += p / n_averaged
        if averaged:
            keep(1 / n_averaged)
    if n_averaged == 0:
        np.put_along_axis(shares, z[..., None], 1.0, axis=2)
        keep(1.0)
    return Sampled(z, v[..., None] * shares, log_theta, theta)


def conditionals_between(before, after, x, v, b, alpha):
    """p(z_n = . | z_-n) (N, K) at the visits of the one sweep that led from z to z."""
    z, out = np.array(before), np.empty((len(x), len(alpha)))
    for n, word in enumerate(x):
        others = np.bincount(z, weights=v, minlength=len(alpha))
        others[z[n]] -= v[n]
        out[n] = conditional(b[word], alpha, others)
        z[n] = after[n]
    return out


def by_word(shares, x, n_words):
    """Sum over the tokens of each word: (..., N, K) to (..., n_words, K), for x (N,)."""
    return (x == np.arange(n_words)[:, None]).astype(float) @ shares
