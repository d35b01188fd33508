# SPDX-License-Identifier: BSD-3-Clause
"""The rules on their own, with statistics that are given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.messages import Statistics
from streamtopics.models import BetaBinomial
from streamtopics.posterior import LazyPosterior
from streamtopics.updates import BPS, SVB

V, K = 6, 2
WORDS = np.arange(V, dtype=np.int32)


def stream(n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        counts = rng.gamma(1.0, 2.0, (V, K)) * [1.0, 5.0]
        yield Statistics(WORDS, counts, np.full(3, counts.sum() / 3))


def run(rule, n=10):
    eta = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))
    posterior = LazyPosterior(eta, (V, K))
    for s in stream(n):
        posterior.blend(rule.step(posterior, lambda view, s=s: s))
    return posterior, eta


def test_svb_adds():
    posterior, eta = run(SVB())
    assert_allclose(posterior.dense(), eta + sum(s.counts for s in stream(10)))


@pytest.mark.parametrize("norm", ["whole", "topic"])
def test_bps_without_boost_is_svb_bit_for_bit(norm):
    assert_array_equal(run(BPS(0.0, norm))[0].dense(), run(SVB())[0].dense())


@pytest.mark.parametrize("scale", [0.02, 0.5, 3.0])
def test_bps_boosts_the_whole_by_the_tokens(scale):
    posterior, eta = run(BPS(scale))
    tokens = sum(s.n_tokens for s in stream(10))
    learnt = sum(s.counts for s in stream(10))
    assert_allclose(posterior.dense(), learnt + (1 + scale * tokens / eta.sum()) * eta)


@pytest.mark.parametrize("scale", [0.02, 0.5, 3.0])
def test_bps_boosts_each_topic_by_its_own_tokens(scale):
    posterior, eta = run(BPS(scale, "topic"))
    learnt = sum(s.counts for s in stream(10))
    rate = scale * learnt.sum(axis=0) / eta.sum(axis=0)
    assert_allclose(posterior.dense(), learnt + (1 + rate) * eta)


def test_the_boost_does_not_depend_on_how_the_stream_is_cut():
    parts = list(stream(10))
    whole = Statistics(
        WORDS, sum(s.counts for s in parts), np.concatenate([s.lengths for s in parts])
    )
    eta = np.full((1, 1), 0.3)
    posterior = LazyPosterior(eta, (V, K))
    posterior.blend(BPS(0.4).step(posterior, lambda view: whole))
    cut = LazyPosterior(eta, (V, K))
    for s in parts:
        cut.blend(BPS(0.4).step(cut, lambda view, s=s: s))
    assert_allclose(cut.dense(), posterior.dense())


@pytest.mark.parametrize("rule", [SVB(n_passes=4), BPS(0.3, n_passes=4)])
def test_passes_see_what_the_last_one_proposed(rule):
    posterior = LazyPosterior(np.full((1, 1), 0.5), (V, K))
    s = next(stream(1))
    seen = []

    def learn(view):
        seen.append(view.rows(WORDS))
        return Statistics(s.words, s.counts * len(seen), s.lengths * len(seen))

    blend = rule.step(posterior, learn)
    assert len(seen) == 4
    assert posterior.n_batches == 0
    assert_array_equal(seen[0], 0.5)
    for i in (1, 2, 3):
        boost = getattr(rule, "scale", 0.0) * i * s.mass.sum() / (0.5 * V * K)
        assert_allclose(seen[i], 0.5 * (1 + boost) + i * s.counts)
    assert_array_equal(blend.statistics.counts, 4 * s.counts)


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("prior_mean", [0.1, 0.5])
def test_coin_tends_to_the_closed_form(scale, prior_mean):
    model = BetaBinomial(heads=prior_mean, tails=1 - prior_mean)
    posterior = model.posterior()
    for _ in range(3000):
        posterior.blend(BPS(scale).step(posterior, model.learner([1, 0, 0, 0, 0])))
    limit = (0.2 + scale * prior_mean) / (1 + scale)
    assert_allclose(model.mean(posterior), limit, atol=1e-4)


def test_coin_by_hand():
    model = BetaBinomial(heads=2.0, tails=3.0)
    posterior = model.posterior()
    posterior.blend(SVB().step(posterior, model.learner([1, 1, 0])))
    assert_array_equal(posterior.dense().ravel(), [4.0, 4.0])
    posterior.blend(BPS(0.5).step(posterior, model.learner([1, 0, 0, 0])))
    assert_allclose(posterior.dense().ravel(), [4 + 1 + 0.4 * 2, 4 + 3 + 0.4 * 3])


def test_flips_must_be_zeros_and_ones():
    with pytest.raises(ValueError, match="zeros and ones"):
        BetaBinomial(1.0, 1.0).learner([0, 2])
