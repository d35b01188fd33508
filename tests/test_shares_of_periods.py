# SPDX-License-Identifier: BSD-3-Clause
"""Means of the shares of documents by period, and how well they are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.report.documents import ShareSums


@pytest.mark.parametrize("n", [12, 30, 200])
@pytest.mark.parametrize("mass", [0.3, 3.0, None])
def test_intervals_hold_the_mean_in_95_of_100_cases(n, mass):
    """Also where documents differ much, or little; None is all or nothing."""
    rng = np.random.default_rng(n)
    wanted = np.array([0.05, 0.1, 0.15, 0.7])
    draw = {None: lambda: rng.multinomial(1, wanted, (300, n))}
    shares = draw.get(mass, lambda: rng.dirichlet(wanted * mass, (300, n)))()
    sums = ShareSums.zeros(300, 4)
    sums.add(np.repeat(np.arange(300), n), shares.reshape(-1, 4))
    low, high = sums.interval()
    covered = ((low <= wanted) & (wanted <= high)).mean(axis=0)
    assert covered.min() > 0.91
    assert covered.mean() < 0.985
    assert low.min() >= 0
    assert high.max() <= 1


def test_sums_of_parts_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    of, shares = rng.integers(-1, 6, 500), rng.dirichlet(np.ones(3), 500)
    parts, whole = ShareSums.zeros(7, 3), ShareSums.zeros(7, 3)
    for start in range(0, 500, 70):
        parts.add(of[start : start + 70], shares[start : start + 70])
    whole.add(of, shares)
    assert_array_equal(parts.n, whole.n)
    for found, wanted in zip(parts.interval(), whole.interval(), strict=True):
        assert_allclose(found, wanted, rtol=1e-9)
    assert np.isnan(parts.means()[6]).all()


def test_intervals_of_a_document_in_each_period_are_wide():
    """Nothing tells how much these differ; so it is Wilson's for one draw of a proportion."""
    shares = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]])
    sums = ShareSums.zeros(3, 2)
    sums.add(np.arange(3), shares)
    for bounds, sign in zip(sums.interval(), (-1, 1), strict=True):
        z = 1.959964
        half = z * np.sqrt(shares * (1 - shares) + z**2 / 4)
        assert_allclose(bounds, (shares + z**2 / 2 + sign * half) / (1 + z**2), rtol=1e-9)
