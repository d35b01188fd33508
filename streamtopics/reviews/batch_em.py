# SPDX-License-Identifier: BSD-3-Clause
"""Variational EM over a whole corpus, with priors learnt by Newton's method.

A round is an E-step, then new alpha, eta and posterior q(beta) of the topics. Each step raises the
bound

    L = E_q[log p(x, z, theta | beta)] - E_q[log q(z, theta)] - KL(q(beta) || p(beta | eta)).

eta maximises, for K topics and V words,

    f(eta) = K (log Gamma(V eta) - V log Gamma(eta)) + eta sum_kv E[log beta_kv]

by Newton's method in log eta. A step of at most 1 never lowers f.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, polygamma

from streamtopics.families import dirichlet
from streamtopics.messages import Statistics
from streamtopics.models.sources import RandomStart
from streamtopics.posteriors import Blend, TopicPosterior

WORDS_AT_ONCE = 4096
# First rounds from a random start, with fixed hyper-parameters: while topics are alike, proportions
# do not vary, and alpha would keep topics alike. None of these rounds is the last.
BURN_IN = 10
# From a smaller eta rare words would have no weight at all; a larger one has no topics.
LEAST_ETA, MOST_ETA = 1e-4, 10.0
MAX_STEPS = 100
TOLERANCE = 1e-10

EStep = Callable[[TopicPosterior | RandomStart, Any], tuple[Statistics, Any]]
AlphaStep = Callable[[np.ndarray, Statistics, Any], np.ndarray]


@dataclass(frozen=True)
class EMResult:
    """Result of the last round, and the bound L of each round but a random start."""

    posterior: TopicPosterior
    statistics: Statistics
    documents: Any
    bounds: tuple[float, ...]
    n_rounds: int


def run_em(
    posterior: TopicPosterior, e_step: EStep, alpha_step: AlphaStep, *, seed: int, learn_eta: bool,
    max_iter: int, tol: float, report: Callable[[float], None], documents: Any = None,
) -> EMResult:  # fmt: skip
    """Run EM until a round gains less than `tol` times the bound.

    An empty `posterior` means a random start, and at least 11 rounds. `documents` are latent
    variables, passed from round to round.
    """
    bounds: list[float] = []
    burn_in = BURN_IN if posterior.knows_nothing else 0
    for n_rounds in range(1, max_iter + 1):
        random = posterior.knows_nothing
        source = RandomStart(posterior, seed) if random else posterior
        statistics, documents = e_step(source, documents)
        if not random:
            of_documents: Any = statistics.local_bound
            bounds.append(of_documents - divergence(posterior))
            report(bounds[-1])
        eta, alpha = posterior.eta, posterior.alpha
        if n_rounds > burn_in:
            eta = np.full((1, 1), learnt_eta(posterior)) if learn_eta else eta
            alpha = alpha_step(alpha, statistics, documents)
        posterior = fresh(eta, posterior.shape, alpha, statistics)
        can_stop = n_rounds > burn_in and len(bounds) > 1
        if can_stop and bounds[-1] - bounds[-2] < tol * abs(bounds[-1]):
            break
    return EMResult(posterior, statistics, documents, tuple(bounds), n_rounds)


def fresh(
    eta: np.ndarray, shape: tuple[int, int], alpha: np.ndarray | None, statistics: Statistics
) -> TopicPosterior:
    posterior = TopicPosterior(eta, shape, alpha)
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics))
    return posterior


def divergence(posterior: TopicPosterior) -> float:
    """Return ``KL(q(beta) || p(beta | eta))``, summed over topics."""
    eta = np.broadcast_to(posterior.eta, posterior.shape)
    return float(dirichlet.kl(posterior.dense(), eta, axis=0).sum())


def learnt_eta(posterior: TopicPosterior) -> float:
    n_words, n_topics = posterior.shape
    total = -n_words * digamma(posterior.mass).sum()
    for start in range(0, n_words, WORDS_AT_ONCE):
        words = np.arange(start, min(start + WORDS_AT_ONCE, n_words), dtype=np.int32)
        total += digamma(posterior.rows(words)).sum()
    return solve_eta(total / (n_words * n_topics), n_words, float(posterior.eta[0, 0]))


def solve_eta(mean_log_beta: float, n_words: int, start: float) -> float:
    """Return the eta with ``psi(V eta) - psi(eta) + mean_log_beta = 0``, within bounds.

    `mean_log_beta` is the mean of ``E[log beta_kv]``.
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
    """Return ``f'(eta) / K`` and ``f''(eta) / K``."""
    first = n_words * (digamma(n_words * eta) - digamma(eta) + mean_log_beta)
    second = n_words * (n_words * polygamma(1, n_words * eta) - polygamma(1, eta))
    return float(first), float(second)
