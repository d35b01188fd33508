# SPDX-License-Identifier: BSD-3-Clause
"""Maximum likelihood of eta, the one Dirichlet parameter of all words of all topics.

Under q(beta) with E[log beta_kv] it maximises

    f(eta) = K (log Gamma(V eta) - V log Gamma(eta)) + eta sum_kv E[log beta_kv],

with f' = K V (psi(V eta) - psi(eta)) + sum and f'' = K V (V psi'(V eta) - psi'(eta)) < 0,
by Newton's method in log eta.
"""

import numpy as np
from scipy.special import digamma, gammaln, polygamma

# From a smaller eta rare words would have no weight at all; a larger one has no topics.
LEAST_ETA, MOST_ETA = 1e-4, 10.0
MAX_STEPS = 100
TOLERANCE = 1e-10


def solve_eta(mean_log_beta: float, n_words: int, start: float) -> float:
    """The eta with V (psi(V eta) - psi(eta)) + V mean_log_beta = 0, within the bounds.

    Parameters
    ----------
    mean_log_beta : float
        E[log beta_kv], the mean over words and topics.
    n_words : int
        V, two at least; of one word eta is what it was.
    start : float
        Positive.

    Returns
    -------
    eta : float

    Examples
    --------
    >>> from scipy.special import digamma
    >>> from streamtopics.updates.word_prior import solve_eta
    >>> round(solve_eta(digamma(0.3) - digamma(0.3 * 50), 50, start=1.0), 6)
    0.3
    """
    if n_words < 2:
        return start
    eta = min(max(start, LEAST_ETA), MOST_ETA)
    for _ in range(MAX_STEPS):
        g, h = derivatives(eta, mean_log_beta, n_words)
        # In x = log eta the slope is eta g and the curvature eta g + eta^2 h.
        curvature = eta * g + eta * eta * h
        step = -eta * g / curvature if curvature < 0 else np.sign(g)
        step = float(np.clip(step, -1.0, 1.0))
        proposal = min(max(eta * np.exp(step), LEAST_ETA), MOST_ETA)
        level = objective(eta, mean_log_beta, n_words)
        while objective(proposal, mean_log_beta, n_words) < level and abs(step) > TOLERANCE:
            step /= 2
            proposal = min(max(eta * np.exp(step), LEAST_ETA), MOST_ETA)
        moved, eta = abs(proposal - eta), proposal
        if moved < TOLERANCE * eta:
            break
    return float(eta)


def objective(eta: float, mean_log_beta: float, n_words: int) -> float:
    """f(eta) / K."""
    return gammaln(n_words * eta) - n_words * gammaln(eta) + n_words * eta * mean_log_beta


def derivatives(eta: float, mean_log_beta: float, n_words: int) -> tuple[float, float]:
    """f'(eta) / K and f''(eta) / K."""
    first = n_words * (digamma(n_words * eta) - digamma(eta) + mean_log_beta)
    second = n_words * (n_words * polygamma(1, n_words * eta) - polygamma(1, eta))
    return float(first), float(second)
