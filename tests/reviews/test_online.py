# SPDX-License-Identifier: BSD-3-Clause
"""Steps of online EM by documents."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.reviews.online import moved, step_by_documents
from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior, Proportions


@pytest.mark.parametrize("kappa", [0.6, 1.0])
def test_counts_are_a_weighted_mean_of_documents_times_their_number(kappa):
    """The number that a mean with the weights w stands for is (sum w)^2 / sum w^2."""
    rng, sizes = np.random.default_rng(0), [7, 2, 12, 5]
    posterior = TopicPosterior(np.full((1, 1), 0.5), (4, 2), np.ones(2), 1)
    weights, sums, seen = np.empty(0), [], 0
    for n in sizes:
        rate = (n / (seen + n)) ** kappa
        weights, seen = np.append(weights * (1 - rate), rate), seen + n
        sums.append(rng.gamma(1.0, 1.0, (4, 2)))
        step = step_by_documents(posterior, n, kappa)
        statistics = Statistics(np.arange(4, dtype=np.int32), sums[-1], np.ones(n))
        memory = Proportions(np.ones(2), np.array([step.remembered]))
        posterior.blend(step.blend(statistics, memory))
    per_document = np.repeat(weights / sizes, sizes)
    mean = sum(w * s / n for w, s, n in zip(weights, sums, sizes, strict=True))
    assert_allclose(step.remembered, 1 / (per_document**2).sum())
    assert_allclose(posterior.dense(), 0.5 + mean / (per_document**2).sum())


def test_a_running_mean_starts_with_what_is_observed_first():
    observed = np.array([-1.0, -2.0])
    assert_array_equal(moved(np.zeros(2), observed, 0.25), observed)
    assert_allclose(moved(np.array([-3.0, -2.0]), observed, 0.25), [-2.5, -2.0])
    assert moved(observed, None, 0.25) is observed
