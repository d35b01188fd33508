# SPDX-License-Identifier: BSD-3-Clause
"""Maximum likelihood of eta, the one Dirichlet parameter of all words of all topics.

Under q(beta) with E[log beta_kv] it maximises

    f(eta) = K (log Gamma(V eta) - V log Gamma(eta)) + eta sum_kv E[log beta_kv],

with f' = K V (psi(V eta) - psi(eta)) + sum and f'' = K V (V psi'(V eta) - psi'(eta)) < 0,
by Newton's method in x = log eta. There, with h(y) = y (log y - psi(y)), the slope is K V times

    F(x) = (log V + mean E[log beta_kv]) eta + h(eta) - h(V eta) / V.

The mean is at most -log V, as the beta_kv of a topic sum to 1. And h(eta) - h(V eta) / V is a
constant and the Laplace transform of a positive decreasing density. So F' < 0 and |F''| <= |F'|,
whence a step of Newton's of at most 1 never lowers f: no search along it is needed.
"""

import numpy as np
from scipy.special import digamma, polygamma

# From a smaller eta rare words would have no weight at all; a larger one has no topics.
LEAST_ETA, MOST_ETA = 1e-4, 10.0
MAX_STEPS = 100
TOLERANCE = 1e-10


def solve_eta(mean_log_beta: float, n_words: int, start: float) -> float:
    """The eta with V (psi(V eta) - psi(eta)) + V mean_log_beta = 0, within the bounds.

    `mean_log_beta` is the mean of E[log beta_kv]; of one word eta stays what it was.
    """
    if n_words < 2:
        return start
    eta = min(max(start, LEAST_ETA), MOST_ETA)
    for _ in range(MAX_STEPS):
        g, h = derivatives(eta, mean_log_beta, n_words)
        # In x = log eta the slope is eta g and the curvature eta g + eta^2 h.
        step = np.clip(-eta * g / (eta * g + eta * eta * h), -1.0, 1.0)
        proposal = min(max(eta * np.exp(step), LEAST_ETA), MOST_ETA)
        moved, eta = abs(proposal - eta), proposal
        if moved < TOLERANCE * eta:
            break
    return float(eta)


def derivatives(eta: float, mean_log_beta: float, n_words: int) -> tuple[float, float]:
    """f'(eta) / K and f''(eta) / K."""
    first = n_words * (digamma(n_words * eta) - digamma(eta) + mean_log_beta)
    second = n_words * (n_words * polygamma(1, n_words * eta) - polygamma(1, eta))
    return float(first), float(second)
