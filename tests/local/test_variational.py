# SPDX-License-Identifier: BSD-3-Clause
"""The variational step: its bound against the definition, and its sweeps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics.local import Variational
from streamtopics.utils.parallel import SERIAL
from tests.local.test_hinted import random_case, seeds_of
from tests.local.test_one_topic import minibatch_of, topics_of
from tests.reference import variational as reference


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_bound_is_that_of_the_definition(dtype, scale):
    """In double precision: beside a great alpha, single precision would lose it."""
    counts, weights, alpha, _ = random_case()
    alpha, topics = scale * alpha, topics_of(weights, scale * alpha, dtype)
    statistics, gamma = Variational().step(
        minibatch_of(counts, dtype), topics, seeds_of(12), SERIAL, report=frozenset({"local_bound"})
    )
    assert gamma.dtype == dtype
    seen = topics.weights[:, : len(alpha)]
    expected = sum(map(reference.bound, counts, [seen] * 12, [alpha] * 12, gamma))
    assert_allclose(statistics.local_bound, expected, rtol=1e-6)


@pytest.mark.parametrize(("max_iter", "thorough"), [(5, 100), (99, 100), (100, 100), (250, 250)])
def test_it_is_thorough_with_at_least_100_sweeps(max_iter, thorough):
    assert Variational(0.1, max_iter).thorough() == Variational(0.1, thorough)
