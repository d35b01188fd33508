# SPDX-License-Identifier: BSD-3-Clause
"""Hidden factors as topics: gradients by finite differences, expectations by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from streamtopics.local.step import minibatch_of
from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.factors import (
    Factors,
    Ratings,
    expected_topics,
    fit_factors,
    led_by_text,
    log_prior,
    objective,
)
from streamtopics.utils.parallel import SERIAL

RNG = np.random.default_rng(0)
K, N_USERS, N_ITEMS = 3, 4, 5
USER, ITEM = RNG.integers(N_USERS, size=30), RNG.integers(N_ITEMS, size=30)
COUNTS = RNG.gamma(0.5, 10.0, (N_ITEMS, K))
FACTORS = Factors(
    5.0, 1.4, RNG.standard_normal((N_USERS, 1 + K)), RNG.standard_normal((N_ITEMS, 1 + K))
)
BEFORE = Factors(4.0, 1.0, 0.3 * FACTORS.users[::-1], 0.2 * FACTORS.items[::-1])
RATINGS = Ratings(
    5 + RNG.standard_normal(30), USER, ITEM, BEFORE, 0.7, RNG.gamma(2.0, 1.0, N_USERS),
    RNG.gamma(2.0, 1.0, N_ITEMS), COUNTS, None,
)  # fmt: skip


def test_the_objective_by_its_definition():
    value = objective(FACTORS, RATINGS, COUNTS, 0.3)[0]
    expected = 0.7 * (5.0 - 4.0) ** 2
    for y, u, i in zip(RATINGS.y, USER, ITEM, strict=True):
        user, item = FACTORS.users[u], FACTORS.items[i]
        expected += (y - 5.0 - user[0] - item[0] - user[1:] @ item[1:]) ** 2
    expected += (RATINGS.user_weight[:, None] * (FACTORS.users - BEFORE.users) ** 2).sum()
    expected += (RATINGS.item_weight[:, None] * (FACTORS.items - BEFORE.items) ** 2).sum()
    theta = np.exp(1.4 * FACTORS.items[:, 1:])
    theta /= theta.sum(axis=1, keepdims=True)
    assert_allclose(theta, FACTORS.proportions)
    expected -= 0.3 * (COUNTS * np.log(theta)).sum()
    assert_allclose(value, expected)


def flat(factors):
    parts = [factors.offset, factors.peakedness], factors.users.ravel(), factors.items.ravel()
    return np.concatenate(parts)


def test_gradients():
    start, h = flat(FACTORS), 1e-6
    gradient = flat(objective(FACTORS, RATINGS, COUNTS, 0.3)[1])
    for place in range(len(start)):
        levels = []
        for sign in (-1, 1):
            x = start.copy()
            x[place] += sign * h
            users = x[2 : 2 + N_USERS * (1 + K)].reshape(N_USERS, 1 + K)
            items = x[2 + users.size :].reshape(N_ITEMS, 1 + K)
            levels.append(objective(Factors(x[0], x[1], users, items), RATINGS, COUNTS, 0.3)[0])
        assert_allclose(gradient[place], (levels[1] - levels[0]) / (2 * h), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("learn_peakedness", [True, False])
def test_descent(learn_peakedness):
    settings = {"n_steps": 400, "learn_peakedness": learn_peakedness}
    found = fit_factors(FACTORS, RATINGS, COUNTS, 0.3, **settings)
    before, after = (objective(f, RATINGS, COUNTS, 0.3) for f in (FACTORS, found))
    assert after[0] < before[0]
    # All but that of the peakedness, which may end at a bound.
    assert np.abs(flat(replace(after[1], peakedness=0.0))).max() < 0.01
    assert (found.peakedness == FACTORS.peakedness) != learn_peakedness


def test_expected_topics():
    X = sparse.csr_matrix(RNG.poisson(1.0, (N_ITEMS, 8)) * (np.arange(8) != 3), dtype=np.float32)
    posterior = TopicPosterior(np.full((1, 1), 0.1), (8, K))
    lam = RNG.gamma(1.0, 3.0, (8, K))
    posterior.blend(Blend(1.0, 1.0, 0.0, Statistics(np.arange(8, dtype=np.int32), lam, np.ones(2))))
    theta, phi = FACTORS.proportions, posterior.dense() / posterior.mass
    statistics, of_items = expected_topics(posterior, minibatch_of(X), theta, SERIAL)
    joint = theta[:, None, :] * phi[None]
    share = joint / joint.sum(axis=2, keepdims=True) * X.toarray()[..., None]
    assert_allclose(of_items, share.sum(axis=1))
    assert_allclose(statistics.counts, share.sum(axis=0)[statistics.words])
    assert_allclose(statistics.local_bound, (X.toarray() * np.log(joint.sum(axis=2))).sum())
    assert_allclose(log_prior(posterior), 0.1 * np.log(phi).sum())


def test_factors_led_by_text():
    nothing = Factors(3.0, 1.0, np.zeros((2, 1 + K)), np.zeros((N_ITEMS, 1 + K)))
    expected = (COUNTS + 1 / K) / (COUNTS.sum(axis=1, keepdims=True) + 1)
    assert_allclose(led_by_text(nothing, COUNTS).proportions, expected, rtol=1e-9)
