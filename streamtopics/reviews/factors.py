# SPDX-License-Identifier: BSD-3-Clause
"""Hidden factors as topics: a recommender with item factors as topics of the reviews.

A rating of item i by user u is about ``offset + b_u + b_i + g_u' g_i``. A word of a review of i
comes from topic k, phi_k, with probability theta_ik proportional to ``exp(peakedness g_ik)``. The
objective to minimise, with word counts c_iw, is (McAuley and Leskovec 2013)

    sum of squared errors + penalty * squares of all b and g
        - text_weight * (sum_iw c_iw log sum_k theta_ik phi_kw + eta sum_kw log phi_kw).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from streamtopics.kernels import variational
from streamtopics.messages import Minibatch, Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.utils.parallel import Workers, spans

ROWS_PER_JOB = 1024
# The least is its inverse; M is its logarithm.
MOST_PEAKEDNESS = 100.0
INSIDE = -1 + 1e-9, 1 - 1e-9
# Beyond this, the slope of tanh is 0 in 64 bits; the square of cosh does not overflow.
FLAT = -350.0, 350.0


@dataclass(frozen=True)
class Factors:
    """Biases and factors of users and items, each (n, 1 + K); peakedness is the paper's kappa."""

    offset: float
    peakedness: float
    users: np.ndarray
    items: np.ndarray

    @property
    def proportions(self) -> np.ndarray:
        """Topic proportions theta, of shape (n_items, K)."""
        return softmax(self.peakedness * self.items[:, 1:], axis=1)

    def ratings(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        of_user, of_item = self.users[user], self.items[item]
        factors = np.einsum("ik,ik->i", of_user[:, 1:], of_item[:, 1:])
        return np.asarray(self.offset + of_user[:, 0] + of_item[:, 0] + factors)


@dataclass(frozen=True)
class Ratings:
    """Ratings y by rows of users and items; weights hold the factors to their earlier values.

    Without labels there is one user, and an item for each rating.
    """

    y: np.ndarray
    user: np.ndarray
    item: np.ndarray
    before: Factors
    offset_weight: float
    user_weight: np.ndarray
    item_weight: np.ndarray
    counts: np.ndarray  # Of each item the earlier expected tokens of topics, (n_items, K).
    words: Minibatch  # Of each item.
    user_labels: np.ndarray | None = None
    item_labels: np.ndarray | None = None


def objective(
    factors: Factors, ratings: Ratings, counts: np.ndarray, text_weight: float
) -> tuple[float, Factors]:
    """Return the objective for expected topic counts of items, (n_items, K), and its gradient."""
    before, peakedness = ratings.before, factors.peakedness
    log_theta = log_softmax(peakedness * factors.items[:, 1:], axis=1)
    error = factors.ratings(ratings.user, ratings.item) - ratings.y
    of_offset = factors.offset - before.offset
    of_users, of_items = factors.users - before.users, factors.items - before.items
    value = error @ error + ratings.offset_weight * of_offset**2
    value += ratings.user_weight @ (of_users**2).sum(axis=1)
    value += ratings.item_weight @ (of_items**2).sum(axis=1)
    value -= text_weight * float((counts * log_theta).sum())
    users = 2 * ratings.user_weight[:, None] * of_users
    items = 2 * ratings.item_weight[:, None] * of_items
    of_user, of_item = factors.users[ratings.user], factors.items[ratings.item]
    of_user[:, 0] = of_item[:, 0] = 1
    users += summed(ratings.user, of_item, len(users), 2 * error)
    items += summed(ratings.item, of_user, len(items), 2 * error)
    residual = counts - counts.sum(axis=1, keepdims=True) * np.exp(log_theta)
    items[:, 1:] -= text_weight * peakedness * residual
    slope = -text_weight * float((residual * factors.items[:, 1:]).sum())
    offset = 2 * error.sum() + 2 * ratings.offset_weight * of_offset
    return float(value), Factors(float(offset), slope, users, items)


def summed(place: np.ndarray, rows: Any, n: int, weight: np.ndarray) -> Any:
    """Return n weighted sums of rows, by place."""
    shape = n, len(place)
    return sparse.csr_matrix((weight, (place, np.arange(len(place)))), shape=shape) @ rows


def fit_factors(
    factors: Factors, ratings: Ratings, counts: np.ndarray, text_weight: float, n_steps: int,
    *, learn_peakedness: bool,
) -> Factors:  # fmt: skip
    """Return the factors after steps of L-BFGS, with peakedness up to `MOST_PEAKEDNESS`."""
    n_users, n_items, width = len(factors.users), len(factors.items), factors.users.shape[1]
    most = np.log(MOST_PEAKEDNESS)

    def unpack(x: np.ndarray) -> Factors:
        users = x[2 : 2 + n_users * width].reshape(n_users, width)
        peakedness = (
            float(np.exp(most * np.tanh(x[1] / most))) if learn_peakedness else factors.peakedness
        )
        return Factors(float(x[0]), peakedness, users, x[2 + users.size :].reshape(n_items, width))

    def pack(some: Factors, v: float) -> np.ndarray:
        return np.concatenate([[some.offset, v], some.users.ravel(), some.items.ravel()])

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        here, slope = unpack(x), 0.0
        level, slopes = objective(here, ratings, counts, text_weight)
        if learn_peakedness:
            slope = slopes.peakedness * here.peakedness / np.cosh(np.clip(x[1] / most, *FLAT)) ** 2
        return level, pack(slopes, slope)

    start = pack(factors, most * np.arctanh(np.clip(np.log(factors.peakedness) / most, *INSIDE)))
    found: Any = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": n_steps})
    return unpack(found.x)


def led_by_text(factors: Factors, counts: np.ndarray) -> Factors:
    """Return factors with theta_ik of items proportional to ``counts_ik + 1 / K``."""
    logs = np.log(counts + 1 / counts.shape[1])
    items = factors.items.copy()
    items[:, 1:] = (logs - logs.mean(axis=1, keepdims=True)) / factors.peakedness
    return replace(factors, items=items)


def expected_topics(
    source: TopicPosterior, items: Minibatch, theta: np.ndarray, workers: Workers
) -> tuple[Statistics, np.ndarray]:
    """Return expected counts of words and of items in topics, and the log likelihood."""
    K, n_items = theta.shape[1], len(theta)
    n_words, width = len(items.words), variational.padded_width(K)
    phi, padded = np.zeros((n_words, width)), np.zeros((n_items, width))
    phi[:, :K] = source.rows(items.words) / source.mass
    padded[:, :K] = theta
    data = items.counts.astype(np.float64)
    by_word = items.matrix(data).tocsc()
    counts, of_items = np.empty((n_words, K)), np.empty((n_items, K))
    logs = np.zeros(n_items)
    jobs = (
        (by_word.indptr, by_word.indices, by_word.data, phi, padded, *span, counts)
        for span in spans(n_words, ROWS_PER_JOB)
    )
    workers.share(variational.word_statistics, jobs)
    by_item = (
        (items.indptr, items.indices, data, padded, phi, *span, of_items, logs)
        for span in spans(n_items, ROWS_PER_JOB)
    )
    workers.share(variational.word_statistics, by_item)
    return Statistics(items.words, counts, items.lengths, None, float(logs.sum())), of_items


def log_prior(posterior: TopicPosterior) -> float:
    """Return the log prior of the topics, ``eta sum_kw log phi_kw``."""
    phi = posterior.dense() / posterior.mass
    return float((np.broadcast_to(posterior.eta, phi.shape) * np.log(phi)).sum())
