# SPDX-License-Identifier: BSD-3-Clause
"""Updates at the edge of what is possible: refused, or right."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics import GibbsOnlineEM
from streamtopics.local.step import content_seeds, minibatch_of
from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior, blend_together
from streamtopics.updates import Langevin
from tests.updates.given import given

V, K = 6, 2


def ones(alpha=None):
    return TopicPosterior(np.ones((1, 1)), (V, K), alpha)


def some(words=(0,), n=2):
    return Statistics(np.array(words, np.int32), np.ones((len(words), K)), np.full(n, 1.0))


def test_the_noise_of_langevin_is_that_of_lam_before_the_drift():
    """lam <- |lam + e/2 (...) + sqrt(e lam) xi|: lam, not lam after the drift."""
    lam, counts = np.full((V, K), 10.0), np.ones((V, K))
    counts[0] = 20.0
    s = Statistics(np.arange(V, dtype=np.int32), counts, np.full(2, 25.0))
    draws = []
    for seed in range(4000):
        posterior = TopicPosterior(lam, (V, K), seed=seed)
        posterior.blend(Langevin(0.02, 1e9, 0.6, 200).step(posterior, given(s), None)[0])
        draws.append(posterior.dense())
    assert np.abs(np.var(draws, axis=0) / (0.02 * lam) - 1).max() < 5 * (2 / 4000) ** 0.5


def test_streams_of_neighbouring_seeds_have_noise_of_their_own():
    """Seed 3 at its second minibatch draws what seed 4 draws at its first."""
    lam = np.full((V, K), 1000.0)
    nothing = Statistics(np.empty(0, np.int32), np.empty((0, K)), np.zeros(2))
    late, early = (TopicPosterior(lam, (V, K), seed=seed) for seed in (3, 4))
    late.blend(Blend(1.0, 1.0, 0.0, nothing))
    late.blend(Langevin(1.0, 1e9, 0.6).step(late, given(nothing), None)[0])
    early.blend(Langevin(1.0, 1e9, 0.6).step(early, given(nothing), None)[0])
    assert np.abs(late.dense() - early.dense()).max() > 1


def test_blends_together_are_all_or_none_where_the_kernel_raises():
    one, other = ones(), ones()
    fine, wrong = (Blend(1.0, 1.0, 0.0, some((word,))) for word in (0, V))
    with pytest.raises(IndexError):
        blend_together([(one, fine), (other, wrong)])
    assert one.n_batches == 0


def test_content_seeds_do_not_depend_on_zeros_that_are_stored():
    plain = sparse.csr_matrix(np.array([[1.0, 0, 2]]))
    other = sparse.csr_matrix(([1.0, 0.0, 2.0], [0, 1, 2], [0, 3]), shape=(1, 3))
    assert_array_equal(content_seeds(minibatch_of(other)), content_seeds(minibatch_of(plain)))


def test_transform_does_not_depend_on_how_a_document_is_stored():
    X = np.random.default_rng(0).poisson(0.5, (200, 12)).astype(float)
    model = GibbsOnlineEM(5, random_state=0).fit(X)
    plain = sparse.csr_matrix(X[:1])
    data, indices = (np.r_[half[::-1], half] for half in (plain.data / 2, plain.indices))
    twice = sparse.csr_matrix((data, indices, [0, 2 * plain.nnz]), shape=(1, 12))
    assert_array_equal(model.transform(twice), model.transform(plain))
