# SPDX-License-Identifier: BSD-3-Clause
"""The hierarchical Dirichlet process: LDA in which a minibatch can open new topics.

Topic weights are pi_k = pibar_k prod_{j<k} (1 - pibar_j), with pibar_k ~ Beta(1, concentration),
and a document's proportions are Dirichlet(b pi). A table of a document in the Chinese restaurant
franchise stands for one draw from pi. With S_k tables of topic k in all documents, (pi_1 .. pi_T,
pi_u) ~ Dirichlet(S_1 .. S_T, concentration), with pi_u for topics without tables.
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
        """Statistics of a minibatch, given learnt `tables` of topics."""
        words, n = minibatch.words, minibatch.n_documents
        prior = posterior.prior_rows(words)
        eta = np.ascontiguousarray(prior[:, 0])
        if posterior.knows_nothing:
            n_known, mass, lam = 0, posterior.prior_mass, prior.copy()
        else:
            n_known, mass, lam = posterior.shape[1], posterior.mass, posterior.rows(words)
        sampler = kernel.Sampler(
            lam, mass, n_known, eta, float(posterior.prior_mass[0]), posterior.alpha,
            self.concentration, self.doc_concentration,
            tables if self.bayesian else None, self.bayesian,
        )  # fmt: skip
        seeds = document_seeds(self.seed, posterior.n_documents, n)
        given = minibatch.indptr, minibatch.indices, *cut(minibatch), seeds
        for start in range(0, n, DOCUMENTS_PER_JOB):
            stop = min(start + DOCUMENTS_PER_JOB, n)
            sampler.sample(*given, start, stop, self.n_sweeps, self.n_averaged)
        counts, tables, alpha = sampler.results()
        return TableStatistics(words, counts, minibatch.lengths, tables=tables, alpha=alpha)


def mean_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """E[pi_k] under the Dirichlet."""
    return tables / (tables.sum() + concentration)


def stick_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """pi from E[pibar_k], pibar_k ~ Beta(1 + S_k, concentration + sum_{j>k} S_j)."""
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
    """The posterior of the kept topics, the blend to apply, the tables and the topics.

    If topics change, the posterior is a new one, because nothing is written yet. `weights` computes
    pi from the tables and the weight of one document.
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
    """Topics with at least one word of the minibatch after the update, or the largest topic."""
    n_before = posterior.shape[1]
    if statistics.n_tokens == 0:
        return np.arange(n_before)
    known = statistics.of(np.arange(n_before))
    blend, _ = rule.step(posterior, lambda _, warm=False: known, None)
    words = statistics.mass.copy()
    words[:n_before] += blend.retain * posterior.learnt_part / blend.gain
    return np.flatnonzero(words >= min(1.0, words.max()))
