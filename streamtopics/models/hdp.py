# SPDX-License-Identifier: BSD-3-Clause
"""The hierarchical Dirichlet process: LDA in which a minibatch can open new topics.

With sticks pibar_k ~ Beta(1, concentration) and pi_k = pibar_k prod_{j<k} (1 - pibar_j),
a document's topics are Dirichlet(b pi). alpha holds the b pi_k of the T topics represented.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.kernels import hdp as kernel
from streamtopics.local.step import cut, document_seeds
from streamtopics.messages import Minibatch, TableStatistics
from streamtopics.posteriors import TopicPosterior

DOCUMENTS_PER_JOB = 64


@dataclass(frozen=True)
class HDP:
    """Documents of a minibatch, sampled one after the other as they share the topics born."""

    concentration: float  # Of the weights of topics
    doc_concentration: float  # b
    n_sweeps: int  # Gibbs sweeps over a document, and how many of them, the last, are averaged
    n_averaged: int
    seed: int  # Of what is drawn
    # Whether lam is a posterior: then a document has weights of topics of its own, and its words
    # count in the topics while it is sampled
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
