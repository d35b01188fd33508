# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments on determinantal processes compute, beside plain twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from benchmarks.papers import dpp_continuous, dpp_points, dpp_reviews
from benchmarks.papers.dpp_picard import by_size, log_likelihood, picard, wishart
from benchmarks.papers.dpp_recovery import (
    align_signs,
    aligned_distance,
    distance,
    draw,
    random_columns,
)
from streamtopics.dpp import likelihood

RNG = np.random.default_rng(0)


def test_the_distance_is_that_of_the_thesis():
    U, truth = RNG.standard_normal((20, 6)), RNG.standard_normal((20, 3))
    found = U @ np.linalg.solve(U.T @ U, U.T @ truth) - truth
    assert_allclose(distance(U, truth), np.linalg.norm(found) / np.linalg.norm(truth))
    turned = truth @ RNG.standard_normal((3, 3))
    assert distance(turned, truth) < 1e-12


def test_random_columns_are_at_the_root_of_the_share_of_dimensions():
    truth = RNG.standard_normal((100, 5))
    drawn = [distance(random_columns(100, 30, seed), truth) for seed in range(20)]
    assert_allclose(np.mean(drawn), np.sqrt(0.7), atol=0.02)
    assert_array_equal(random_columns(9, 2, 1), random_columns(9, 2, 1))


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


def test_the_nearest_of_points_on_a_grid_are_a_step_away():
    side = (np.arange(5) + 0.5) / 5
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert_allclose(dpp_points.to_the_nearest(grid), 2 * 5 * 0.2)


def test_neighbours_are_those_of_the_highest_cosine_and_not_the_word_itself():
    rows = RNG.standard_normal((30, 4))
    found = dpp_reviews.nearest(rows, np.array([3, 7]))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for word, near in zip((3, 7), found, strict=True):
        cosines = unit @ unit[word]
        expected = [i for i in np.argsort(-cosines) if i != word][: dpp_reviews.NEAREST]
        assert near.tolist() == expected


def test_ends_are_the_largest_and_the_smallest_of_each_column_in_turn():
    columns = RNG.standard_normal((3, 40))
    found = dpp_reviews.ends(columns)
    assert found.shape == (6, 10)
    for k, column in enumerate(columns):
        order = np.argsort(-column)
        assert found[2 * k].tolist() == order[:10].tolist()
        assert found[2 * k + 1].tolist() == order[::-1][:10].tolist()


def test_npmi_of_pairs_is_the_mean_of_the_definition():
    X = sparse.csr_array(RNG.random((50, 12)) < 0.5).astype(float)
    asked, near = np.array([0, 1]), np.array([[2, 3], [4, 5]])
    has, values = X.toarray() > 0, []
    for i, some in zip(asked, near, strict=True):
        for j in some:
            both, one, other = (has[:, i] & has[:, j]).mean(), has[:, i].mean(), has[:, j].mean()
            values.append(np.log(both / (one * other)) / -np.log(both))
    assert_allclose(dpp_reviews.pair_npmi(asked, near, X), np.mean(values))


def test_opinions_are_counted_by_sentence_and_by_word():
    said = ["The food was great, truly great.", "We came by bus."]
    share, density, length = dpp_reviews.measure(said, frozenset({"great"}))
    assert share == 0.5
    # Words of three letters or more: the food was great truly great, came bus.
    assert_allclose([density, length], [2 / 8, 4])
    assert dpp_reviews.shortest(["a b c", "a", "a b", "a b c d", "a", "b c"]).tolist() == [
        1, 4, 2, 5, 0,
    ]  # fmt: skip
