# SPDX-License-Identifier: BSD-3-Clause
"""Sentiments and aspects of one document, in NumPy: b is (n_sentences, E, T)."""

import numpy as np
from scipy.special import logsumexp

from tests.reference.variational import normalised


def log_likelihoods(counts, log_beta, n_sentiments):
    """b of the sentences that have words, from dense counts."""
    b = counts[counts.sum(axis=1) > 0] @ log_beta
    return b.reshape(len(b), n_sentiments, log_beta.shape[1] // n_sentiments)


def objective(pi, theta, b, gamma=1.0, alpha=1.0):
    """The log likelihood and the log prior, but for a constant."""
    with np.errstate(divide="ignore"):
        log_psi = np.log(pi)[:, None] + np.log(theta)
    value = logsumexp(log_psi + b, axis=(1, 2)).sum()
    if gamma > 1:
        value += (gamma - 1) * np.log(pi).sum()
    if alpha > 1:
        value += (alpha - 1) * np.log(theta).sum()
    return value


def responsibility(pi, theta, b):
    with np.errstate(divide="ignore"):
        log_r = np.log(pi)[:, None] + np.log(theta) + b
    return normalised(log_r, axis=(1, 2))


def gradients(pi, theta, b, gamma=1.0, alpha=1.0):
    """Of the objective, in pi and in theta."""
    log_sum = logsumexp(np.log(pi)[:, None] + np.log(theta) + b, axis=(1, 2), keepdims=True)
    of_theta = np.exp(np.log(pi)[:, None] + b - log_sum).sum(axis=0)
    of_pi = np.exp(np.log(theta) + b - log_sum).sum(axis=(0, 2))
    return of_pi + (gamma - 1) / pi, of_theta + (alpha - 1) / theta


def em(b, n_iter, gamma=1.0, alpha=1.0):
    """pi and theta after some steps of EM from equal proportions."""
    E, T = b.shape[1:]
    pi, theta = np.full(E, 1 / E), np.full((E, T), 1 / T)
    for _ in range(n_iter):
        c = responsibility(pi, theta, b).sum(axis=0)
        pi = c.sum(axis=1) + (gamma - 1)
        pi = pi / pi.sum()
        mass = c.sum(axis=1, keepdims=True) + T * (alpha - 1)
        theta = np.where(mass > 0, (c + (alpha - 1)) / np.maximum(mass, 1e-300), theta)
    return pi, theta


def frank_wolfe(b, n_iter, gamma=1.0, alpha=1.0):
    """pi and theta after some rounds of steps with theta and with pi."""
    E, T = b.shape[1:]
    pi, theta = np.full(E, 1 / E), np.full((E, T), 1 / T)
    for n in range(n_iter):
        step = 2 / (n + 3)
        best = gradients(pi, theta, b, gamma, alpha)[1].argmax(axis=1)
        theta = (1 - step) * theta + step * np.eye(T)[best]
        best = gradients(pi, theta, b, gamma, alpha)[0].argmax()
        pi = (1 - step) * pi + step * np.eye(E)[best]
    return pi, theta
