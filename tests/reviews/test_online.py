# SPDX-License-Identifier: BSD-3-Clause
"""Steps of online EM by documents."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.reviews.online import Step, moved, step_by_documents


@pytest.mark.parametrize("kappa", [0.6, 1.0])
def test_counts_are_a_weighted_mean_of_documents_times_their_number(kappa):
    """The number that a mean with the weights w stands for is (sum w)^2 / sum w^2."""
    rng, sizes = np.random.default_rng(0), [7, 2, 12, 5]
    posterior = TopicPosterior(np.full((1, 1), 0.5), (4, 2), np.ones(2))
    weights, sums, seen, remembered = np.empty(0), [], 0, 0.0
    for n in sizes:
        rate = (n / (seen + n)) ** kappa
        weights = np.append(weights * (1 - rate), rate)
        sums.append(rng.gamma(1.0, 1.0, (4, 2)))
        statistics = Statistics(np.arange(4, dtype=np.int32), sums[-1], np.ones(n))
        step = Step(1.0, 0.0, 1.0, n)
        if seen:
            step = step_by_documents(seen, remembered, n, kappa)
        posterior.blend(step.blend(statistics, np.ones(2)))
        seen, remembered = seen + n, step.remembered
    per_document = np.repeat(weights / sizes, sizes)
    mean = sum(w * s / n for w, s, n in zip(weights, sums, sizes, strict=True))
    assert_allclose(remembered, 1 / (per_document**2).sum())
    assert_allclose(posterior.dense(), 0.5 + mean / (per_document**2).sum())


def test_a_running_mean_starts_with_what_is_observed_first():
    observed = np.array([-1.0, -2.0])
    assert moved(None, observed, 0.25) is observed
    assert_allclose(moved(np.array([-3.0, -2.0]), observed, 0.25), [-2.5, -2.0])
    assert moved(observed, None, 0.25) is observed
    assert moved(None, None, 0.25) is None
