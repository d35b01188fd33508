# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments on determinantal processes compute, beside plain twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.papers import dpp_continuous
from benchmarks.papers.dpp_picard import by_size, log_likelihood, picard, wishart
from benchmarks.papers.dpp_recovery import align_signs, aligned_distance, distance, draw
from streamtopics.dpp import likelihood

RNG = np.random.default_rng(0)


def test_the_distance_is_that_of_the_thesis():
    U, truth = RNG.standard_normal((20, 6)), RNG.standard_normal((20, 3))
    found = U @ np.linalg.solve(U.T @ U, U.T @ truth) - truth
    assert_allclose(distance(U, truth), np.linalg.norm(found) / np.linalg.norm(truth))
    turned = truth @ RNG.standard_normal((3, 3))
    assert distance(turned, truth) < 1e-12


def test_aligned_signs_bring_turned_rows_back():
    truth = RNG.standard_normal((40, 3))
    turned = truth * RNG.choice([-1.0, 1.0], 40)[:, None]
    assert distance(turned, truth) > 0.5
    assert aligned_distance(turned, truth) < 1e-12
    assert_allclose(np.abs(align_signs(turned, truth)), np.abs(truth))


def test_picard_iteration_never_loses_likelihood_which_is_that_of_the_package():
    truth, _, (train, _) = draw(200, 1, "items", n_features=12, n_components=2, random_state=0)
    sets, L = by_size(train), wishart(12, train.mean_size, np.random.default_rng(0))
    values = []
    for _ in range(10):
        values.append(log_likelihood(sets, L).mean())
        L = picard(sets, L, 1)
    assert (np.diff(values) > 0).all()
    true_L = truth.noise.level * np.eye(12) + truth.U @ truth.U.T
    own = log_likelihood(sets, true_L).mean()
    assert_allclose(own, likelihood.log_likelihood(train, truth).mean())


@pytest.mark.parametrize("scale", [1, 100])
def test_the_marginal_kernel_is_that_of_a_dense_matrix(scale):
    a = dpp_continuous.law(scale, 2.0)
    points = np.vstack([np.full((1, 2), 0.5), RNG.random((4, 2))])
    Phi = dpp_continuous.MEASURE.features(points)
    K = Phi @ np.linalg.solve(np.eye(len(a)) + np.diag(a), np.diag(a)) @ Phi.T
    assert_allclose(dpp_continuous.marginal(a, points), K[0], atol=1e-9)


def test_the_square_has_the_likelihood_of_a_dense_matrix_and_its_slope():
    train, _ = dpp_continuous.draw(1, (6, 1), 0)
    a = dpp_continuous.law(1, 1.5)
    value, up = train.slope(a)
    expected = -np.log1p(a).sum()
    for Phi in (sets for rows in train.by_size for sets in rows):
        expected += np.linalg.slogdet(Phi @ np.diag(a) @ Phi.T)[1] / train.n_sets
    assert_allclose(value, expected)
    step = 1e-6
    more = a.copy()
    more[3] += step
    slope = up[3] - 1 / (1 + a[3])
    assert_allclose((train.slope(more)[0] - value) / step, slope, rtol=1e-4)
