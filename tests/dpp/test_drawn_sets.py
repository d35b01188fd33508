# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic sets against the size that their kernel says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.marginal import expected_size
from tests.reference.dpp_sets import make_dpp_sets


@pytest.mark.parametrize("ground_set", ["items", "exponential", "fourier"])
@pytest.mark.parametrize("own_theta", [False, True])
def test_sizes(ground_set, own_theta):
    n = 60 if ground_set == "fourier" else 300
    data = make_dpp_sets(n, ground_set, noise=0.01, own_theta=own_theta, random_state=0)
    assert len(data.sets) == n
    assert_array_equal(data.groups, np.repeat(np.arange(n), data.sets.sizes))
    assert data.theta.shape == ((n, data.U.shape[1]) if own_theta else (data.U.shape[1],))
    kernels = [Kernel(data.U, theta, data.gamma) for theta in np.atleast_2d(data.theta)]
    each = [expected_size(Process(data.measure, kernel, data.noise)) for kernel in kernels]
    assert abs(data.sets.sizes.mean() - np.mean(each)) < 4.5 * np.sqrt(np.mean(each) / n)


def test_strength_is_the_expected_eigenvalue():
    data = make_dpp_sets(1, n_features=4000, n_components=3, strength=2.0, random_state=0)
    assert_allclose(np.linalg.eigvalsh(data.U.T @ data.U), 2, rtol=0.2)
    assert data.gamma == 0
    assert data.noise.level == 1e-5


def test_the_square():
    data = make_dpp_sets(5, "fourier", n_features=5, strength=8.0, random_state=0)
    assert data.sets.points.shape[1] == 2
    assert data.U.shape == (25, 25)
    assert_allclose(data.U.max() ** 2, 8)
    assert make_dpp_sets(2, "fourier", n_features=1, random_state=0).U.shape == (1, 1)
