# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all words from bins, against reading every word."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma, gammaln

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior, bins, rows

V, K = 3000, 5


def learnt(eta=0.05, xi=None, n=12, boost=0.0, seed=0):
    """A posterior that has seen some minibatches, and the next update."""
    rng = np.random.default_rng(seed)
    posterior = TopicPosterior(np.atleast_2d(eta), (V, K), np.ones(K), xi)
    for _ in range(n):
        posterior.blend(update(rng, boost=boost))
    return posterior, update(rng, boost=boost)


def update(rng, retain=None, boost=0.0):
    words = np.sort(rng.choice(V, 40, replace=False)).astype(np.int32)
    counts = 10.0 ** rng.uniform(-12, 4, (40, K))
    retain = rng.uniform(0.3, 1.0, K) if retain is None else retain
    return Blend(retain, 1.0, 1.0 - retain, Statistics(words, counts, np.ones(9)), boost=boost)


@pytest.fixture
def by_bins(monkeypatch):
    """Sums by bins even in vocabularies where reading all words costs less."""
    monkeypatch.setattr(rows, "LEAST_WORDS", 0)


def read(posterior, blend):
    """The same posterior, of which every word is read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "LEAST_WORDS", 10 * V)
        return posterior.divergences(blend)


PRIORS = [
    (0.05, None, 0.0), (3.0, None, 0.0), (1e-4, None, 0.3), (np.linspace(0.01, 0.5, K), None, 0.0),
    (0.05, np.full((1, 1), 0.2), 0.1), (0.05, np.linspace(0.1, 1.0, K)[None], 0.1),
]  # fmt: skip


@pytest.mark.parametrize(("eta", "xi", "boost"), PRIORS)
def test_divergences_by_bins_are_those_of_all_words(by_bins, eta, xi, boost):
    posterior, blend = learnt(eta, xi, boost=boost)
    assert posterior._elsewhere(blend.statistics.words) is not None
    found = posterior.divergences(blend)
    for by_bin, exact in zip(found, read(posterior, blend), strict=False):
        assert_allclose(by_bin, exact, rtol=1e-9)


def assert_as_from_a_pickle(posterior, blend):
    """Which has no bins."""
    again = pickle.loads(pickle.dumps(posterior))
    assert again.bin_cache.bins is None
    assert_array_equal(posterior.divergences(blend), again.divergences(blend))
    assert_array_equal(posterior.bin_cache.bins[1].sums, again.bin_cache.bins[1].sums)


@pytest.mark.parametrize("retain", [0.0, 1e-12, 0.9])
def test_bins_depend_on_the_counts_alone(by_bins, retain):
    """Kept through updates they are to the bit those that are made anew, and so are results."""
    rng = np.random.default_rng(1)
    posterior, _ = learnt(n=0)
    for _ in range(6):
        blend = update(rng, np.full(K, retain))
        assert copy.deepcopy(posterior).bin_cache.nodes is None
        assert_as_from_a_pickle(posterior, blend)
        posterior.blend(blend)
    # They are brought along with the state, unless it keeps next to nothing.
    assert (posterior.bin_cache.bins[0] is posterior._state) == (retain == 0.9)


def test_what_was_computed_for_another_minibatch_is_not_used(by_bins):
    rng, retain = np.random.default_rng(1), np.full(K, 0.9)
    posterior, _ = learnt(n=0)
    for _ in range(4):
        posterior.divergences(update(rng, retain))
        posterior.blend(update(rng, retain))
    assert_as_from_a_pickle(posterior, update(rng, retain))


def test_what_is_too_large_for_the_bins_is_read(by_bins):
    posterior, blend = learnt(1e-18)
    assert posterior._elsewhere(blend.statistics.words) is None
    found = posterior.divergences(blend)
    for by_bin, exact in zip(found, read(posterior, blend), strict=False):
        assert_array_equal(by_bin, exact)


@pytest.mark.parametrize("exponent", [-32, 0, 16])
@pytest.mark.parametrize("most", [30, 64], ids=["some bins", "all bins"])
def test_nodes_give_the_sums_of_polynomials_and_of_smooth_functions(exponent, most):
    rng = np.random.default_rng(2)
    S = 2.0 ** (exponent + rng.uniform(-10, most, (400, 3)))
    S[rng.random(S.shape) < 0.2] = 0.0
    every_word, some = np.arange(400, dtype=np.int32), np.array([3, 77], np.int32)
    sigma = np.array([4.0, 5.0, 700.0]) * 2.0**exponent
    parts = (bins.binned(S, words, exponent) for words in (every_word, some))
    nodes = bins.nodes(*parts, sigma)
    rest = np.delete(S, some, axis=0)
    assert_allclose(nodes.weights.sum(axis=0), len(rest))
    assert_allclose((nodes.weights * nodes.counts).sum(axis=0), rest.sum(axis=0))
    assert_allclose((nodes.weights * nodes.counts**7).sum(axis=0), (rest**7).sum(axis=0))
    for function in (gammaln, digamma):
        found = (nodes.weights * function(0.05 + nodes.counts * 0.05 / sigma)).sum(axis=0)
        expected = function(0.05 + rest * 0.05 / sigma).sum(axis=0)
        assert_allclose(found, expected, rtol=1e-7)


def test_a_step_that_fails_leaves_the_bins(by_bins):
    posterior, blend = learnt()
    posterior.divergences(blend)
    before = posterior.bin_cache.bins[1].sums.copy()
    wrong = Statistics(blend.statistics.words, np.full((40, K), np.nan), np.ones(9))
    with pytest.raises(ValueError, match="nan"):
        posterior.blend(Blend(1.0, 1.0, 0.0, wrong))
    assert_array_equal(posterior.bin_cache.bins[1].sums, before)
    assert posterior.bin_cache.bins[0] is posterior._state
