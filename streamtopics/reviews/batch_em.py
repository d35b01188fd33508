# SPDX-License-Identifier: BSD-3-Clause
"""Variational EM over a whole corpus, with hyper-parameters learnt by Newton's method.

A round is an E-step in the documents, with the bound; then alpha from the documents, eta from
q(beta), and q(beta) from the expected counts. Each step raises the bound

    L = E_q[log p(x, z, theta | beta)] - E_q[log q(z, theta)] - KL(q(beta) || p(beta | eta)).

Learning of eta. Under q(beta) it maximises

    f(eta) = K (log Gamma(V eta) - V log Gamma(eta)) + eta sum_kv E[log beta_kv],

with f' = K V (psi(V eta) - psi(eta)) + sum and f'' = K V (V psi'(V eta) - psi'(eta)) < 0,
by Newton's method in x = log eta. With h(y) = y (log y - psi(y)), the slope there is K V times

    F(x) = (log V + mean E[log beta_kv]) eta + h(eta) - h(V eta) / V.

The mean is at most -log V, and h(eta) - h(V eta) / V is a constant plus the Laplace transform of a
positive decreasing density. So F' < 0 and |F''| <= |F'|: a Newton step of at most 1 never lowers f.
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
    """Result of the last round, and the bound L in nats of all rounds but a random start."""

    posterior: TopicPosterior
    statistics: Statistics
    documents: Any
    bounds: tuple[float, ...]
    n_rounds: int


def run_em(
    posterior: TopicPosterior, e_step: EStep, alpha_step: AlphaStep, *, seed: int, learn_eta: bool,
    max_iter: int, tol: float, report: Callable[[float], None], documents: Any = None,
) -> EMResult:  # fmt: skip
    """Rounds until the gain is less than `tol` times the bound; from a random start 11 at least.

    The start is `posterior`, random if empty, and `documents`. `e_step` maps topics and documents
    to statistics and documents; `alpha_step` maps alpha and documents to alpha. A learnt eta is a
    number.
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
    """The posterior of topics under a prior, after all statistics."""
    posterior = TopicPosterior(eta, shape, alpha)
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics))
    return posterior


def divergence(posterior: TopicPosterior) -> float:
    """KL(q(beta) || p(beta | eta)), over all topics."""
    eta = np.broadcast_to(posterior.eta, posterior.shape)
    return float(dirichlet.kl(posterior.dense(), eta, axis=0).sum())


def learnt_eta(posterior: TopicPosterior) -> float:
    """The eta of greatest bound under q(beta)."""
    n_words, n_topics = posterior.shape
    total = -n_words * digamma(posterior.mass).sum()
    for start in range(0, n_words, WORDS_AT_ONCE):
        words = np.arange(start, min(start + WORDS_AT_ONCE, n_words), dtype=np.int32)
        total += digamma(posterior.rows(words)).sum()
    return solve_eta(total / (n_words * n_topics), n_words, float(posterior.eta[0, 0]))


def solve_eta(mean_log_beta: float, n_words: int, start: float) -> float:
    """The eta with V (psi(V eta) - psi(eta)) + V mean_log_beta = 0, within the bounds.

    `mean_log_beta` is the mean of E[log beta_kv]; with one word eta stays.
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
