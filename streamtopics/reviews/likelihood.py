# SPDX-License-Identifier: BSD-3-Clause
"""The likelihood of reviews whose ratings are not known, given the topics.

A review is positive with a known probability, which chooses its qualitative topic. Its share
p of qualitative words is Beta distributed, and so is integrated out as well.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from streamtopics.families import beta
from streamtopics.metrics import left_to_right, predictive

MOST_NODES = 200


@dataclass(frozen=True)
class Mixed:
    """Word probabilities of descriptive topics, and of a positive and a negative one, or none.

    omega, of shape (2,) or (0,), is the Dirichlet parameter of the shares of both kinds.
    """

    descriptive: np.ndarray
    qualitative: np.ndarray
    omega: np.ndarray


def log_likelihood_by_particles(
    X: sparse.csr_matrix,
    topics: Mixed,
    alpha: np.ndarray,
    positive: np.ndarray,
    *,
    n_particles: int,
    seed: int,
    n_jobs: int | None,
) -> np.ndarray:
    """log p(words) of reviews with proportions of their own, by left-to-right evaluation.

    Each is positive with a probability; alpha is the Dirichlet parameter of the proportions.
    """

    def evaluated(topic_word: np.ndarray, omega: np.ndarray | None) -> np.ndarray:
        return left_to_right(
            X, topic_word, alpha, split_prior=omega, n_particles=n_particles,
            random_state=seed, n_jobs=n_jobs,
        ).log_likelihood  # fmt: skip

    if not len(topics.omega):
        return evaluated(topics.descriptive, None)
    of_signs = [
        evaluated(np.vstack([topics.descriptive, topic]), topics.omega)
        for topic in topics.qualitative
    ]
    return _either(of_signs, positive)


def log_likelihood_of_profiles(
    X: sparse.csr_matrix, topics: Mixed, theta: np.ndarray, positive: np.ndarray
) -> np.ndarray:
    """log p(words) of reviews where the proportions theta (n_documents, n_descriptive) are known.

    Only p is left to integrate, by quadrature: exact for reviews of less than
    2 * MOST_NODES words.
    """
    if not len(topics.omega):
        return predictive.token_log_probability(theta, topics.descriptive, X)
    longest = float(X.sum(axis=1, dtype=np.float64).max()) if X.shape[0] else 0.0
    n_nodes = int(np.clip(np.ceil((longest + 1) / 2), 1, MOST_NODES))
    nodes, log_weights = beta.quadrature(topics.omega[1], topics.omega[0], n_nodes)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    descriptive = predictive.token_probability(theta, topics.descriptive, X)
    of_signs = []
    for topic in topics.qualitative:
        at_nodes = [
            np.bincount(row, X.data * np.log(mixed), X.shape[0])
            for mixed in ((1 - p) * descriptive + p * topic[X.indices] for p in nodes)
        ]
        of_signs.append(logsumexp(np.array(at_nodes) + log_weights[:, None], axis=0))
    return _either(of_signs, positive)


def _either(of_signs: list[np.ndarray], positive: np.ndarray) -> np.ndarray:
    """log of the mean over a positive and a negative review."""
    of_positive, of_negative = of_signs
    mixed: np.ndarray = np.logaddexp(
        of_positive + np.log(positive), of_negative + np.log(1 - positive)
    )
    return mixed
