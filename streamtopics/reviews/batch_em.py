# SPDX-License-Identifier: BSD-3-Clause
"""Variational EM over a whole corpus, with the hyper-parameters learnt by Newton's method.

A round is an E-step in the documents, which also computes the bound; then alpha from the
documents, eta from q(beta), and q(beta) from the expected counts. Each raises the bound

    L = E_q[log p(x, z, theta | beta)] - E_q[log q(z, theta)] - KL(q(beta) || p(beta | eta)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma

from streamtopics.families import dirichlet
from streamtopics.messages import Statistics
from streamtopics.models.sources import RandomStart
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.word_prior import solve_eta

WORDS_AT_ONCE = 4096
# Rounds from a random start that leave the hyper-parameters alone, and are never the last: as
# long as all topics are alike, proportions do not seem to vary, and alpha would keep them so.
BURN_IN = 10

EStep = Callable[[TopicPosterior | RandomStart, Any], tuple[Statistics, Any]]
AlphaStep = Callable[[np.ndarray, Statistics, Any], np.ndarray]


@dataclass(frozen=True)
class Climbed:
    """The result of the rounds: what the last found, and L in each but a random start, in nats."""

    posterior: TopicPosterior
    statistics: Statistics
    documents: Any
    bounds: tuple[float, ...]
    n_rounds: int


def climb(
    posterior: TopicPosterior, e_step: EStep, alpha_step: AlphaStep, *, seed: int, learn_eta: bool,
    max_iter: int, tol: float, report: Callable[[float], None], documents: Any = None,
) -> Climbed:  # fmt: skip
    """Rounds until one gains less than `tol` times the bound, from a random start 11 at least.

    They start from `posterior`, at random if it knows nothing, and `documents`. `e_step` takes
    topics and documents and returns statistics with their bound and documents; `alpha_step`
    takes alpha and these and returns alpha. eta is one number if it is learnt.
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
        may_end = n_rounds > burn_in and len(bounds) > 1
        if may_end and bounds[-1] - bounds[-2] < tol * abs(bounds[-1]):
            break
    return Climbed(posterior, statistics, documents, tuple(bounds), n_rounds)


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
    """The eta that suits q(beta) best."""
    n_words, n_topics = posterior.shape
    total = -n_words * digamma(posterior.mass).sum()
    for start in range(0, n_words, WORDS_AT_ONCE):
        words = np.arange(start, min(start + WORDS_AT_ONCE, n_words), dtype=np.int32)
        total += digamma(posterior.rows(words)).sum()
    return solve_eta(total / (n_words * n_topics), n_words, float(posterior.eta[0, 0]))
