# SPDX-License-Identifier: BSD-3-Clause
"""Posteriors in blocks: together they are one, and change together."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.local.step import minibatch_of
from streamtopics.local.two_blocks import TwoBlocks
from streamtopics.messages import StackedStatistics, Statistics
from streamtopics.models import MultiView
from streamtopics.posteriors import Blend, Stacked, TopicPosterior
from streamtopics.updates import BPS, Boost, EmpiricalPowerPrior, HierarchicalPowerPrior, PowerPrior
from streamtopics.utils.parallel import SERIAL
from tests.updates.given import dense, given, take

N_WORDS, SIZES = 6, (2, 3, 1)


def posterior():
    etas = [np.linspace(0.1, 1.0, 6)[:, None], np.full((1, 1), 0.5), np.full((1, 1), 0.2)]
    blocks = [
        TopicPosterior(eta, (N_WORDS, k), np.full(k, 0.1 * k))
        for eta, k in zip(etas, SIZES, strict=True)
    ]
    return Stacked(blocks, n_boosted=2)


def statistics(seed=0):
    rng = np.random.default_rng(seed)
    words = [[0, 2], [1, 2, 5], [0, 1, 2, 5]]
    lengths = [[3.0], [1.0, 2.0], [3.0, 1.0, 2.0]]
    return StackedStatistics(
        tuple(
            Statistics(np.array(w, np.int32), rng.gamma(1.0, 2.0, (len(w), k)), np.array(n))
            for w, k, n in zip(words, SIZES, lengths, strict=True)
        )
    )


def of_all(s):
    return np.hstack([dense(part, N_WORDS) for part in s.parts])


def test_topics_are_counted_flat():
    lam = posterior()
    assert lam.shape == (N_WORDS, 6)
    assert lam.places == [slice(0, 2), slice(2, 5), slice(5, 6)]
    assert_allclose(lam.alpha, [0.2, 0.2, 0.3, 0.3, 0.3, 0.1])
    assert_allclose(lam.mass, lam.dense().sum(axis=0))
    assert lam.pooled(np.arange(6.0)) == 0 + 1 + 2 + 3 + 4
    assert_allclose(statistics().mass, of_all(statistics()).sum(axis=0))


@pytest.mark.parametrize("norm", ["whole", "topic"])
def test_a_rule_boosts_the_first_blocks_alone(norm):
    lam, s = posterior(), statistics()
    eta = lam.dense()
    take(BPS(0.5, norm), lam, given(s))
    learnt, boosted = of_all(s), np.arange(6) < 5
    weight = learnt.sum(axis=0) / eta.sum(axis=0)
    if norm == "whole":
        weight = learnt[:, boosted].sum() / eta[:, boosted].sum()
    assert_allclose(lam.dense(), eta + learnt + 0.5 * boosted * weight * eta)
    assert (lam.n_batches, lam.n_documents, lam.n_tokens) == (1, 3, 6.0)
    assert [block.n_documents for block in lam.parts] == [1, 2, 3]


def test_a_proposal_is_what_a_blend_makes():
    lam, s = posterior(), statistics()
    blend = PowerPrior(0.5).step(lam, given(s), None)[0]
    proposal = lam.after(blend)
    masses = [after.mass for after in proposal.parts]
    rows = [after.rows(part.words) for after, part in zip(proposal.parts, s.parts, strict=True)]
    assert_array_equal(proposal.alpha, lam.alpha)
    lam.blend(blend)
    for block, part, mass, after in zip(lam.parts, s.parts, masses, rows, strict=True):
        assert_allclose(mass, block.mass)
        assert_allclose(after, block.rows(part.words))


def test_when_one_block_cannot_change_none_does():
    lam, commit = posterior(), {}
    before, gain = lam.dense(), np.array([1.0, 1.0, 1.0, 1.0, 1.0, np.inf])
    with pytest.raises(ValueError, match="too extreme"):
        lam.blend(Blend(1.0, gain, 0.0, statistics()), [(commit, "n_iter", 1)])
    assert_array_equal(lam.dense(), before)
    assert [part.n_batches for part in lam.parts] == [0, 0, 0]
    assert commit == {}
    lam.blend(Blend(1.0, 1.0, 0.0, statistics()), [(commit, "n_iter", 1)])
    assert commit == {"n_iter": 1}


def learnt(n=3):
    lam = posterior()
    for seed in range(n):
        take(PowerPrior(0.8, Boost(0.2)), lam, given(statistics(seed)))
    return lam


def split(blend):
    """The shares of a blend, by hand."""
    starts = np.cumsum((0, *SIZES))
    for i, (start, stop) in enumerate(pairwise(starts)):
        own = {name: np.broadcast_to(getattr(blend, name), 6)[start:stop] for name in COEFFICIENTS}
        own["boost"] = own["boost"] * (i < 2)
        yield Blend(statistics=blend.statistics.parts[i], **own)


COEFFICIENTS = ("retain", "gain", "prior", "boost")
OF_EACH = np.linspace([0.2, 1.0, 0.5], [0.9, 2.0, 0.1], 6).T
BLENDS = {
    "numbers": Blend(0.6, 1.5, 0.4, statistics(8)),
    "boosted": Blend(0.6, 1.5, 0.4, statistics(8), boost=0.3),
    "of each": Blend(*OF_EACH, statistics(8), boost=np.linspace(0.1, 0.4, 6)),
}


@pytest.mark.parametrize("blend", BLENDS.values(), ids=BLENDS)
def test_divergences_are_those_of_the_parts(blend):
    lam = learnt()
    found = lam.divergences(blend)
    parts = zip(lam.parts, split(blend), strict=True)
    expected = [part.divergences(own) for part, own in parts]
    for side in (0, 1):
        assert_allclose(found[side], np.concatenate([each[side] for each in expected]), rtol=1e-13)
        assert (found[side] > 0).all()


FORGETS = [
    PowerPrior(0.9), HierarchicalPowerPrior(), HierarchicalPowerPrior("topic", boost=Boost(0.1)),
    EmpiricalPowerPrior(), EmpiricalPowerPrior("topic", boost=Boost(0.1)),
]  # fmt: skip


@pytest.mark.parametrize("rule", FORGETS, ids=repr)
def test_rules_that_forget_run_on_the_posterior_of_classes(rule):
    """They notice when the words of the classes change places, in many documents."""
    rng, n_words = np.random.default_rng(0), 20
    model = MultiView(TwoBlocks(2, (6.0, 4.0), 1e-6, 50), seed=1)
    parts = [TopicPosterior(np.full((1, 1), 0.2), (n_words, 2), np.full(2, 0.5)) for _ in range(3)]
    lam, retained = Stacked(parts, n_boosted=2), []
    for t in range(6):
        codes = np.tile([0, 1], 30 if t < 5 else 300)
        p = np.where(np.arange(n_words) < 10, 1.0, 0.05)
        of_class = np.stack([p, p[::-1]])[codes if t < 5 else 1 - codes]
        minibatch = minibatch_of(sparse.csr_matrix(rng.poisson(2.0 * of_class).astype(float)))
        learn = model.learner(lam, minibatch, codes, SERIAL)
        blend, _ = rule.step(lam, learn, rule.init(lam))
        retained.append(np.broadcast_to(blend.retain, 6)[:4].mean())
        lam.blend(blend)
        assert np.isfinite(lam.dense()).all()
        assert (lam.dense() > 0).all()
    assert lam.n_batches == 6
    if isinstance(rule, PowerPrior):
        assert retained == [0.9] * 6
    else:
        assert retained[-1] < retained[-2] - 0.3
