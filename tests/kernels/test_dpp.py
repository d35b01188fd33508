# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of determinantal point processes against their NumPy twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.kernels import dpp
from tests.kernels.variants import freeze
from tests.reference import dpp as reference


@pytest.mark.parametrize("penalty", [0.0, 0.1])
@pytest.mark.parametrize(("r", "n_points"), [(1, 1), (2, 5), (10, 3), (10, 30), (40, 40)])
def test_theta_steps(r, n_points, penalty):
    rng = np.random.default_rng(r)
    first = rng.exponential(size=(7, r))
    # Z'(noise + Z Th Z')^-1 Z for each theta.
    Z = rng.standard_normal((7, n_points, r))
    L = 0.3 * np.eye(n_points) + (Z * first[:, None]) @ Z.transpose(0, 2, 1)
    Q = np.ascontiguousarray(Z.transpose(0, 2, 1) @ np.linalg.solve(L, Z))
    factor = rng.standard_normal((r, 2 * r))
    P = factor @ factor.T
    freeze(Q, P)
    for n_steps in (0, 1, 6):
        theta = first.copy()
        dpp.theta_steps(Q, P, penalty, n_steps, theta)
        twin = [reference.theta_steps(q, P, penalty, n_steps, t)
                for q, t in zip(Q, first, strict=True)]  # fmt: skip
        assert_allclose(theta, twin, rtol=1e-8, atol=1e-12)


def test_what_has_no_effect_stays():
    Q, P = np.zeros((2, 3, 3)), np.zeros((3, 3))
    theta = np.full((2, 3), 4.0)
    dpp.theta_steps(Q, P, 0.0, 3, theta)
    assert_array_equal(theta, 4)
    dpp.theta_steps(Q, P, 0.5, 1, theta)
    assert_array_equal(theta, 0)


def test_nothing():
    dpp.theta_steps(np.zeros((0, 3, 3)), np.eye(3), 0.0, 2, np.zeros((0, 3)))
    dpp.theta_steps(np.zeros((2, 0, 0)), np.zeros((0, 0)), 0.0, 2, np.zeros((2, 0)))


@pytest.mark.parametrize(
    "shapes",
    [((2, 3, 3), (2, 2), (2, 3)), ((2, 3, 3), (3, 3), (1, 3)), ((2, 3, 2), (3, 3), (2, 3))],
)
def test_shapes_that_do_not_agree(shapes):
    Q, P, theta = map(np.zeros, shapes)
    with pytest.raises(ValueError, match="do not agree"):
        dpp.theta_steps(Q, P, 0.0, 1, theta)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("m", "n"), [(5, 3), (1, 1), (4, 0), (0, 3), (2, 30)])
def test_grams(m, n, index):
    rows = sparse.random_array((m * n + 2, 50), density=0.2, rng=m, format="csr")
    indptr, indices = rows.indptr.astype(index)[1:-1], rows.indices.astype(index)
    G = np.full((m, n, n), np.nan)
    dpp.grams(indptr, indices, rows.data, 50, G)
    dense = rows.toarray()[1:-1].reshape(m, n, 50)
    assert_allclose(G, dense @ dense.transpose(0, 2, 1), rtol=1e-14)


def test_grams_of_entries_that_are_there_twice():
    G = np.empty((1, 2, 2))
    dpp.grams(np.array([0, 3, 4]), np.array([1, 1, 0, 1]), np.array([1.0, 2.0, 5.0, 1.0]), 2, G)
    assert_array_equal(G[0], [[34, 3], [3, 1]])


@pytest.mark.parametrize(
    ("indptr", "indices", "shape", "match"),
    [
        ([0, 1], [0], (2, 1, 1), "shapes of indptr and G"),
        ([0, 1, 1], [0], (1, 2, 1), "shapes of indptr and G"),
        ([0, 2], [0], (1, 1, 1), "indptr, indices and data do not agree"),
        ([0, 1], [3], (1, 1, 1), "column 3 is outside of the 3 columns"),
        ([0, 1], [-1], (1, 1, 1), "column -1 is outside"),
    ],
)
def test_grams_of_what_does_not_agree(indptr, indices, shape, match):
    with pytest.raises((ValueError, IndexError), match=match):
        dpp.grams(np.array(indptr), np.array(indices), np.ones(1), 3, np.empty(shape))
