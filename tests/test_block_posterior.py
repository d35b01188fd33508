# SPDX-License-Identifier: BSD-3-Clause
"""Posteriors in blocks: together they are one, and change together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from streamtopics.block_posterior import BlockPosterior, StatisticsOfBlocks
from streamtopics.posterior import Blend, LazyPosterior

from streamtopics.messages import Statistics
from streamtopics.updates import BPS, PowerPrior

N_WORDS, SIZES = 6, (2, 3, 1)


def posterior():
    etas = [np.linspace(0.1, 1.0, 6)[:, None], np.full((1, 1), 0.5), np.full((1, 1), 0.2)]
    blocks = [
        LazyPosterior(eta, (N_WORDS, k), np.full(k, 0.1 * k))
        for eta, k in zip(etas, SIZES, strict=True)
    ]
    return BlockPosterior(blocks, n_boosted=2)


def statistics(seed=0):
    rng = np.random.default_rng(seed)
    words = [[0, 2], [1, 2, 5], [0, 1, 2, 5]]
    lengths = [[3.0], [1.0, 2.0], [3.0, 1.0, 2.0]]
    return StatisticsOfBlocks(
        tuple(
            Statistics(np.array(w, np.int32), rng.gamma(1.0, 2.0, (len(w), k)), np.array(n))
            for w, k, n in zip(words, SIZES, lengths, strict=True)
        )
    )


def dense(s):
    out = np.zeros((N_WORDS, sum(SIZES)))
    for block, stop in zip(s.blocks, np.cumsum(SIZES), strict=True):
        out[block.words, stop - block.counts.shape[1] : stop] = block.counts
    return out


def test_topics_are_counted_flat():
    lam = posterior()
    assert lam.shape == (N_WORDS, 6)
    assert lam.places == [slice(0, 2), slice(2, 5), slice(5, 6)]
    assert_allclose(lam.alpha, [0.2, 0.2, 0.3, 0.3, 0.3, 0.1])
    assert_allclose(lam.mass, lam.dense().sum(axis=0))
    assert lam.pooled(np.arange(6.0)) == 0 + 1 + 2 + 3 + 4
    assert_allclose(statistics().mass, dense(statistics()).sum(axis=0))


@pytest.mark.parametrize("norm", ["whole", "topic"])
def test_a_rule_boosts_the_first_blocks_alone(norm):
    lam, s = posterior(), statistics()
    eta = lam.dense()
    lam.blend(BPS(0.5, norm).step(lam, lambda view: s))
    learnt, boosted = dense(s), np.arange(6) < 5
    weight = learnt.sum(axis=0) / eta.sum(axis=0)
    if norm == "whole":
        weight = learnt[:, boosted].sum() / eta[:, boosted].sum()
    assert_allclose(lam.dense(), eta + learnt + 0.5 * boosted * weight * eta)
    assert (lam.n_batches, lam.n_documents, lam.n_tokens) == (1, 3, 6.0)
    assert [block.n_documents for block in lam.blocks] == [1, 2, 3]


def test_a_proposal_is_what_a_blend_makes():
    lam, s = posterior(), statistics()
    blend = PowerPrior(0.5).step(lam, lambda view: s)
    proposal = lam.after(blend)
    masses = [after.mass for after in proposal.blocks]
    rows = [after.rows(part.words) for after, part in zip(proposal.blocks, s.blocks, strict=True)]
    assert_array_equal(proposal.alpha, lam.alpha)
    lam.blend(blend)
    for block, part, mass, after in zip(lam.blocks, s.blocks, masses, rows, strict=True):
        assert_allclose(mass, block.mass)
        assert_allclose(after, block.rows(part.words))


def test_when_one_block_cannot_change_none_does():
    lam = posterior()
    before, gain = lam.dense(), np.array([1.0, 1.0, 1.0, 1.0, 1.0, np.inf])
    with pytest.raises(ValueError, match="too extreme"):
        lam.blend(Blend(1.0, gain, 0.0, statistics()))
    assert_array_equal(lam.dense(), before)
    assert lam.n_batches == 0
