# SPDX-License-Identifier: BSD-3-Clause
"""Items against DPPy (Gautier, Polito, Bardenet and Valko 2019), where it is installed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics.dpp.marginal import marginal_kernel
from streamtopics.dpp.noise import Counting
from streamtopics.dpp.sampling import log_symmetric, sample
from tests.dpp import cases

finite_dpps = pytest.importorskip("dppy.finite_dpps")
exact_sampling = pytest.importorskip("dppy.exact_sampling")


def both(noise):
    case = cases.items()
    process = cases.process(case, 0.3, noise)
    theirs = finite_dpps.FiniteDPP("likelihood", L=cases.dense_of(case, process))
    return process, theirs


@pytest.mark.parametrize("noise", [Counting(0.0), Counting(0.2)])
def test_marginal_kernel(noise):
    process, theirs = both(noise)
    theirs.compute_K()
    assert_allclose(marginal_kernel(process, np.arange(8)), theirs.K, atol=1e-12)


def test_elementary_polynomials():
    values = np.random.default_rng(0).exponential(size=7)
    theirs = exact_sampling.elementary_symmetric_polynomials(values, 4)
    assert_allclose(np.exp(log_symmetric(values, 4)).T, theirs, rtol=1e-12)


@pytest.mark.parametrize("size", [None, 2])
def test_samples_have_the_same_inclusion(size):
    process, theirs = both(Counting(0.0))
    n, random_state, rng = 1500, np.random.RandomState(0), np.random.default_rng(0)
    if size is None:
        ours = sample(process, n, rng)
        draws = [theirs.sample_exact(random_state=random_state) for _ in range(n)]
    else:
        ours = sample(process, n, rng, k=size)
        draws = [theirs.sample_exact_k_dpp(size=size, random_state=random_state) for _ in range(n)]
    counts = np.bincount(ours.points, minlength=8)
    their_counts = np.bincount(np.concatenate([np.array(d, int) for d in draws]), minlength=8)
    p = (counts + their_counts) / (2 * n)
    z = (counts - their_counts) / np.sqrt(2 * n * np.maximum(p * (1 - p), 1e-9))
    assert np.abs(z).max() < 4.5
