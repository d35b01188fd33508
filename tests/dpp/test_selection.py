# SPDX-License-Identifier: BSD-3-Clause
"""Greedy selection against naive greedy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from streamtopics.dpp.kernel import Kernel
from streamtopics.dpp.summary_kernel import greedy_map
from tests.reference import dpp as reference


def random_case(seed, n=12, V=6, r=3, gamma=0.1):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, V))
    kernel = Kernel(rng.standard_normal((V, r)), rng.exponential(size=r), gamma)
    log_quality = rng.standard_normal(n)
    q = np.exp(log_quality)
    return Phi, kernel, log_quality, q[:, None] * (Phi @ kernel.matrix @ Phi.T) * q


@pytest.mark.parametrize("gamma", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(10))
def test_equals_naive_greedy(seed, gamma):
    Phi, kernel, log_quality, L = random_case(seed, gamma=gamma)
    n_points = 3 if gamma == 0 else 5
    for features in (Phi, sparse.csr_matrix(Phi), sparse.csr_array(Phi)):
        found = greedy_map(kernel, features, n_points=n_points, log_quality=log_quality)
        assert found.chosen.tolist() == reference.greedy(L, n_points)
        whole = np.linalg.slogdet(L[np.ix_(found.chosen, found.chosen)])[1]
        assert_allclose(found.log_gains.sum(), whole, rtol=1e-9)
        assert (np.diff(found.log_gains) < 1e-12).all()


def test_qualities_hundreds_of_nats_apart():
    """No point that adds something is taken for one in the span of the others."""
    log_quality = np.array([-30.0, 0.0, -900.0, -10.0, -np.inf])
    found = greedy_map(Kernel(np.eye(5), np.ones(5)), np.eye(5), n_points=5,
                       log_quality=log_quality)  # fmt: skip
    assert found.chosen.tolist() == [1, 3, 0, 2]
    assert_allclose(found.log_gains, 2 * log_quality[found.chosen], atol=1e-12)
    short = greedy_map(Kernel(np.eye(2), np.ones(2)), np.diag([1.0, 1e-9]), n_points=2)
    assert short.chosen.tolist() == [0, 1]


def test_stops_at_the_rank_and_skips_repeats():
    Phi, kernel, _, _ = random_case(0, gamma=0.0)
    assert len(greedy_map(kernel, Phi, n_points=12).chosen) == 3
    Phi[:4] = 10 * Phi[0]
    Phi[4] = 0
    chosen = greedy_map(Kernel(kernel.U, kernel.theta, 0.1), Phi, n_points=12).chosen
    assert len(set(chosen) & {0, 1, 2, 3}) == 1
    assert 4 not in chosen
    assert 0 in chosen


def test_budget():
    Phi, kernel, log_quality, L = random_case(3)
    costs = np.arange(12) % 4 + 1.0
    found = greedy_map(kernel, Phi, log_quality=log_quality, costs=costs, budget=7)
    chosen, left = [], 7
    while True:
        gains = [
            np.linalg.det(L[np.ix_([*chosen, i], [*chosen, i])])
            if i not in chosen and costs[i] <= left and len(chosen) < 6 else -1.0
            for i in range(12)
        ]  # fmt: skip
        if max(gains) <= 1e-12:
            break
        chosen.append(int(np.argmax(gains)))
        left -= costs[chosen[-1]]
    assert found.chosen.tolist() == chosen
    assert costs[found.chosen].sum() <= 7
    both = greedy_map(kernel, Phi, n_points=2, log_quality=log_quality, costs=costs, budget=7)
    assert both.chosen.tolist() == chosen[:2]
