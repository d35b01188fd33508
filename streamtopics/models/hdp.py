# SPDX-License-Identifier: BSD-3-Clause
"""The hierarchical Dirichlet process: LDA in which a minibatch can open new topics.

With sticks pibar_k ~ Beta(1, concentration) and pi_k = pibar_k prod_{j<k} (1 - pibar_j),
a document's topics are Dirichlet(b pi). Only the first T of the topics are represented;
alpha holds their b pi_k, and what it lacks to b belongs to all the others.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.kernels import hdp as kernel
from streamtopics.messages import Minibatch, Statistics
from streamtopics.models.lda import document_seeds
from streamtopics.posterior import LazyPosterior

DOCUMENTS_PER_JOB = 64


@dataclass(frozen=True)
class HDPStatistics(Statistics):
    """Statistics whose last columns may be topics that the posterior does not have yet.

    Attributes
    ----------
    tables : ndarray of shape (T',), float64
        Tables of each topic in the Chinese restaurant franchise, summed over documents.
    alpha : ndarray of shape (T',), float64
        b pi as it was sampled with, which is what the new topics start with.
    """

    tables: np.ndarray = None
    alpha: np.ndarray = None

    def of(self, topics: np.ndarray) -> "HDPStatistics":
        """Those of some of the topics."""
        counts = np.ascontiguousarray(self.counts[:, topics])
        return HDPStatistics(
            self.words, counts, self.lengths, None, self.tables[topics], self.alpha[topics]
        )


@dataclass(frozen=True)
class HDP:
    """Documents of a minibatch under a hierarchical Dirichlet process.

    They are sampled one after the other, as they share the topics that are born.

    Parameters
    ----------
    concentration : float
        Of the weights of topics.
    doc_concentration : float
        b.
    n_sweeps, n_averaged : int
        Gibbs sweeps over a document, and how many of them, the last, are averaged.
    seed : int
        Of what is drawn.
    bayesian : bool
        Whether lam is a posterior: then a document has weights of topics of its own, from
        the posterior of the sticks, and its words count in the topics while it is sampled.
    """

    concentration: float
    doc_concentration: float
    n_sweeps: int
    n_averaged: int
    seed: int
    bayesian: bool = False

    def learn(self, posterior: LazyPosterior, minibatch: Minibatch) -> HDPStatistics:
        """Statistics of a minibatch."""
        eta = np.ascontiguousarray(posterior.prior_rows(minibatch.words)[:, 0])
        fresh = posterior.knows_nothing
        n_topics = posterior.shape[1]
        lam = posterior.rows(minibatch.words)
        mass = posterior.mass
        if fresh:
            lam, mass = np.repeat(eta[:, None], n_topics, axis=1), posterior.prior_mass
        sampler = kernel.Sampler(
            lam, mass, 0 if fresh else n_topics, eta, float(posterior.prior_mass[0]),
            posterior.alpha, self.concentration, self.doc_concentration,
            posterior.proportions.memory if self.bayesian else None, self.bayesian,
        )  # fmt: skip
        seeds = document_seeds(self.seed, posterior.n_documents, minibatch.n_documents)
        given = minibatch.indptr, minibatch.indices, minibatch.counts.astype(np.float64), seeds
        for start in range(0, minibatch.n_documents, DOCUMENTS_PER_JOB):
            stop = min(start + DOCUMENTS_PER_JOB, minibatch.n_documents)
            sampler.sample(*given, start, stop, self.n_sweeps, self.n_averaged)
        counts, tables, alpha = sampler.results()
        return HDPStatistics(minibatch.words, counts, minibatch.lengths, None, tables, alpha)
