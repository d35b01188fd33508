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
    """Descriptive topics, and qualitative ones if there are any.

    Attributes
    ----------
    topic_word : ndarray of shape (n_topics, n_features)
        Word probabilities; the last two of the positive and of the negative topic.
    n_descriptive : int
    omega : ndarray of shape (2,) or (0,)
        Dirichlet parameter of the shares of descriptive and of qualitative words.
    """

    topic_word: np.ndarray
    n_descriptive: int
    omega: np.ndarray

    @property
    def descriptive(self) -> np.ndarray:
        return self.topic_word[: self.n_descriptive]

    @property
    def qualitative(self) -> np.ndarray:
        return self.topic_word[self.n_descriptive :]


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

    Parameters
    ----------
    X : csr matrix of shape (n_documents, n_features)
        Whole numbers of tokens.
    topics : Mixed
    alpha : ndarray of shape (n_descriptive,)
        Dirichlet parameter of the proportions.
    positive : ndarray of shape (n_documents,)
        Probability that each is positive.
    n_particles, seed, n_jobs
        As of `metrics.left_to_right`.

    Returns
    -------
    log_likelihood : ndarray of shape (n_documents,), in nats
    """

    def evaluated(topic_word: np.ndarray, omega: np.ndarray | None) -> np.ndarray:
        return left_to_right(
            X, topic_word, alpha, split_prior=omega, n_particles=n_particles, seed=seed,
            n_jobs=n_jobs,
        ).log_likelihood  # fmt: skip

    if not len(topics.omega):
        return evaluated(topics.topic_word, None)
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
        return predictive.token_log_probability(theta, topics.topic_word, X)
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
