# SPDX-License-Identifier: BSD-3-Clause
"""The hierarchical Dirichlet process: LDA in which a minibatch can open new topics.

With sticks pibar_k ~ Beta(1, concentration) and pi_k = pibar_k prod_{j<k} (1 - pibar_j), a
document's topics are Dirichlet(b pi). alpha holds the b pi_k of the T represented topics.

A table of a document in the Chinese restaurant franchise stands for one draw from pi. With S_k
tables of topic k in all documents, (pi_1 .. pi_T, pi_u) ~ Dirichlet(S_1 .. S_T, concentration),
pi_u for unrepresented topics. The running tables follow the affine rule of lam.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from streamtopics.kernels import hdp as kernel
from streamtopics.local.step import cut, document_seeds
from streamtopics.messages import Minibatch, TableStatistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates import Rule

DOCUMENTS_PER_JOB = 64
# In tokens of a document; alpha of a topic stays above this value, also with hardly any tables.
LEAST_ALPHA = 1e-10


@dataclass(frozen=True)
class HDP:
    """Documents of a minibatch, sampled one after another because they share new topics."""

    concentration: float  # Of the weights of topics
    doc_concentration: float  # b
    n_sweeps: int  # Gibbs sweeps over a document, and the number of last sweeps in the averages
    n_averaged: int
    seed: int  # Seed of the draws
    # Whether lam is a posterior: a document then has its own weights, and counts while sampled
    bayesian: bool = False

    def learn(
        self, posterior: TopicPosterior, minibatch: Minibatch, tables: np.ndarray
    ) -> TableStatistics:
        """Statistics of a minibatch, given the running tables of each topic."""
        eta = np.ascontiguousarray(posterior.prior_rows(minibatch.words)[:, 0])
        if posterior.knows_nothing:
            n_known, mass = 0, posterior.prior_mass
            lam = posterior.prior_rows(minibatch.words).copy()
        else:
            n_known, mass = posterior.shape[1], posterior.mass
            lam = posterior.rows(minibatch.words)
        sampler = kernel.Sampler(
            lam, mass, n_known, eta, float(posterior.prior_mass[0]), posterior.alpha,
            self.concentration, self.doc_concentration,
            tables if self.bayesian else None, self.bayesian,
        )  # fmt: skip
        seeds = document_seeds(self.seed, posterior.n_documents, minibatch.n_documents)
        given = minibatch.indptr, minibatch.indices, *cut(minibatch), seeds
        for start in range(0, minibatch.n_documents, DOCUMENTS_PER_JOB):
            stop = min(start + DOCUMENTS_PER_JOB, minibatch.n_documents)
            sampler.sample(*given, start, stop, self.n_sweeps, self.n_averaged)
        counts, tables, alpha = sampler.results()
        return TableStatistics(
            minibatch.words, counts, minibatch.lengths, tables=tables, alpha=alpha
        )


def mean_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """E[pi_k] under the Dirichlet: the M-step, which never lowers the likelihood."""
    return tables / (tables.sum() + concentration)


def stick_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """prod of E[sticks] with pibar_k ~ Beta(1 + S_k, concentration + sum_{j>k} S_j)."""
    a = 1 + tables
    b = concentration + np.cumsum(tables[::-1])[::-1] - tables
    stick = a / (a + b)
    return stick * np.cumprod(np.append(1.0, 1 - stick[:-1]))


def apply_update(
    posterior: TopicPosterior,
    statistics: TableStatistics,
    rule: Rule,
    tables: np.ndarray,
    weights: Callable[[np.ndarray, float], np.ndarray],
    b: float,
) -> tuple[TopicPosterior, Blend, np.ndarray, np.ndarray]:
    """A posterior with the kept topics, its blend, its tables and the topics.

    If topics change the posterior is a new one, because nothing is written yet. `weights` makes pi
    from the running tables and the weight of one document; alpha is b pi.
    """
    n_before = posterior.shape[1]
    topics = topics_to_keep(posterior, statistics, rule)
    statistics = statistics.of(topics)
    if not np.array_equal(topics, np.arange(n_before)):
        known = topics < n_before
        places = np.where(known, topics, -1)
        posterior = posterior.with_topics(places, statistics.alpha)
        tables = np.where(known, tables[places], 0.0)
    blend, _ = rule.step(posterior, lambda _, warm=False: statistics, None)
    tables = blend.retain * tables + blend.gain * statistics.tables
    alpha = posterior.alpha
    if tables.any():
        alpha = np.maximum(b * weights(tables, float(blend.gain)), LEAST_ALPHA)
    return posterior, replace(blend, alpha=alpha), tables, topics


def topics_to_keep(
    posterior: TopicPosterior, statistics: TableStatistics, rule: Rule
) -> np.ndarray:
    """Topics worth at least one word of the minibatch after the update, or the largest topic."""
    n_before = posterior.shape[1]
    if statistics.n_tokens == 0:
        return np.arange(n_before)
    blend, _ = rule.step(posterior, lambda _, warm=False: statistics, None)
    words = statistics.mass.copy()
    words[:n_before] += blend.retain * posterior.learnt_part / blend.gain
    return np.flatnonzero(words >= min(1.0, words.max()))
