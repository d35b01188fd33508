# SPDX-License-Identifier: BSD-3-Clause
"""log p(words) of reviews whose ratings are not known, given the topics of a learnt model.

A review is positive with a known probability, which chooses its qualitative topic. Its share p
of qualitative words is Beta distributed, and is integrated out. Of known profiles that is exact,
by quadrature; the proportions of others are integrated out by left-to-right evaluation.
"""

import numpy as np
from scipy.special import logsumexp

from streamtopics import RatingLDA
from streamtopics.metrics import left_to_right, predictive
from streamtopics.reviews.base import UserItemModel
from tests.reference.beta_quadrature import integration_nodes

MOST_NODES = 200


def log_likelihood(model, X, items=None, users=None, *, n_particles=100, random_state=0):
    """In nats, for each row of X."""
    is_review = isinstance(model, UserItemModel)
    whose = {"items": items, "users": users} if is_review else {}
    batch, n = model._checked_documents("score", X, **whose), np.shape(X)[0]
    known = np.zeros(n, bool)
    if is_review:
        theta, known = model._profiles(batch.columns, n)
    positive = np.full(n, 0.5)
    if isinstance(model, RatingLDA):
        positive = model._positive(batch.columns, n)
    alpha = model.doc_topic_prior_
    K, topics, omega = len(alpha), model.topic_word_, model.posterior_.alpha[len(alpha) :]
    out = np.empty(n)
    if known.any():
        own = theta[known], positive[known]
        out[known] = of_profiles(batch.X[known], topics, K, omega, *own)

    def by_particles(topic_word, split_prior):
        return left_to_right(
            batch.X[~known], topic_word, alpha, split_prior=split_prior,
            n_particles=n_particles, random_state=random_state, n_jobs=model.n_jobs,
        ).log_likelihood  # fmt: skip

    if len(omega):
        signs = [by_particles(np.vstack([topics[:K], topic]), omega) for topic in topics[K:]]
        out[~known] = either(signs, positive[~known])
    else:
        out[~known] = by_particles(topics, None)
    return out


def of_profiles(X, topics, K, omega, theta, positive):
    """Where theta is known; exact for reviews of less than 2 * MOST_NODES words."""
    if not len(omega):
        return predictive.token_log_probability(theta, topics, X)
    longest = float(X.sum(axis=1, dtype=np.float64).max()) if X.shape[0] else 0.0
    n_nodes = int(np.clip(np.ceil((longest + 1) / 2), 1, MOST_NODES))
    nodes, log_weights = integration_nodes(omega[1], omega[0], n_nodes)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    descriptive = predictive.token_probability(theta, topics[:K], X)
    signs = []
    for topic in topics[K:]:
        at_nodes = [
            np.bincount(row, X.data * np.log(mixed), X.shape[0])
            for mixed in ((1 - p) * descriptive + p * topic[X.indices] for p in nodes)
        ]
        signs.append(logsumexp(np.array(at_nodes) + log_weights[:, None], axis=0))
    return either(signs, positive)


def either(signs, positive):
    """log of the mean over a positive and a negative review."""
    return np.logaddexp(signs[0] + np.log(positive), signs[1] + np.log(1 - positive))
