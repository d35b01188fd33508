# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches that were learnt from an older posterior, taken in by one that has gone on."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    DampedNewton,
    Decay,
    FixedPoint,
    GammaPrior,
    Growing,
    LearnsDocTopicPrior,
    MeanDecay,
    Memory,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    Rounds,
    Shares,
    StochasticVI,
)
from streamtopics.updates.composite import Composite, apply_composite
from streamtopics.updates.doc_topic import FIXED
from tests.updates.given import dense, given, take

V, K, B = 9, 3, 4
# Rules whose steps do not depend on how far a stream is.
STEADY = [
    SVB(), BPS(0.3), BPS(0.3, "topic"), PowerPrior(0.7), PowerPrior(0.7, Boost(0.2)),
    PowerPrior(Memory(30)), PopulationVB(50.0, 0.2), PopulationVB(50.0, 0.2, Boost(0.1)),
    PopulationVB(50.0, 1.0), PowerPrior(0.0), Rounds(SVB(), 1),
]  # fmt: skip
FADING = [
    OnlineEM(MeanDecay(0.6)), OnlineEM(MeanDecay(1.0)), StochasticVI(Decay(0.7, 1.0)),
    StochasticVI(Decay(0.7, 1.0), 500, Boost(0.2)), Rounds(OnlineEM(MeanDecay(0.6)), 1),
    Growing(SVB(), 3.0), Growing(BPS(0.2), 2.0), Growing(PowerPrior(0.8), 3.0),
]  # fmt: skip
# Where what is forgotten within a composite, or the number of documents, has a part in its weight.
LOOSE = {StochasticVI(Decay(0.7, 1.0)): 0.08, Growing(PowerPrior(0.8), 3.0): 0.02}
each_rule = pytest.mark.parametrize("rule", STEADY + FADING, ids=str)


def statistics(seed, n_words=5):
    rng = np.random.default_rng(seed)
    words = np.sort(rng.choice(V, n_words, replace=False)).astype(np.int32)
    counts = rng.gamma(1.0, 2.0, (n_words, K))
    log_theta = np.log(rng.dirichlet(np.ones(K), 20)).mean(axis=0)
    return Statistics(
        words, counts, np.full(B, counts.sum() / B), log_theta, alpha=np.ones(K),
        shares=rng.dirichlet(np.ones(K)),
    )  # fmt: skip


def start(boosted=False):
    eta = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))
    xi = np.random.default_rng(2).uniform(0.1, 1.0, (V, K)) if boosted else None
    return TopicPosterior(eta, (V, K), np.ones(K), xi)


def learn(rule, posterior, state, seen):
    for s in seen:
        state = take(rule, posterior, given(s), state)
    return posterior, state


def single(rule, posterior, state, seen):
    """The step of one minibatch as it is, without what `since` makes of it."""
    (one,) = seen
    blend, last = rule.step(posterior, given(one), state)
    return Composite(blend, posterior.counters, posterior.alpha, (state, last)), None


def composite_of(rule, posterior, state, seen):
    after, last = learn(rule, deepcopy(posterior), state, seen)
    kept, _ = rule.decay(posterior.counters, after.counters)
    blend = after.since(posterior, kept)
    return Composite(blend, posterior.counters, posterior.alpha, (state, last)), after


def landed(rule, composite, posterior, state):
    posterior = deepcopy(posterior)
    doc_topic = getattr(rule, "doc_topic", FIXED)
    blend, state = apply_composite(rule, doc_topic, composite, posterior, state)
    posterior.blend(blend)
    return posterior, state


def assert_same(one, other, rtol=1e-12, *, but_c=False):
    assert_allclose(one.a * one.S, other.a * other.S, rtol=rtol, atol=1e-14)
    assert_allclose(one.mass - one.prior_part, other.mass - other.prior_part, rtol=rtol)
    assert one.counters[:2] == other.counters[:2]
    assert_allclose(one.n_tokens, other.n_tokens)
    if not but_c:
        assert_allclose(one.c, other.c, rtol=rtol)
        assert_allclose(one.b, other.b, rtol=rtol, atol=1e-14)


def late_and_now(rule, seen, *, boosted=False, make=composite_of):
    """What minibatches make that land five later, and what they would make then."""
    base, state = learn(rule, start(boosted), None, map(statistics, range(4)))
    composite, _ = make(rule, base, state, seen)
    now, state = learn(rule, deepcopy(base), state, map(statistics, range(4, 9)))
    expected, _ = learn(rule, deepcopy(now), state, seen)
    return landed(rule, composite, now, state)[0], expected


LATE = [statistics(seed) for seed in (20, 21, 22)]


@each_rule
@pytest.mark.parametrize("boosted", [False, True])
@pytest.mark.parametrize("n_before", [0, 1, 5])
def test_where_nothing_was_learnt_meanwhile_it_is_the_minibatches_one_by_one(
    rule, boosted, n_before
):
    base, state = learn(rule, start(boosted), None, map(statistics, range(n_before)))
    composite, after = composite_of(rule, base, state, LATE)
    found, _ = landed(rule, composite, base, state)
    assert_same(found, after)


@each_rule
@pytest.mark.parametrize("boosted", [False, True])
@pytest.mark.parametrize("make", [single, composite_of])
def test_one_minibatch_counts_as_if_it_came_now(rule, boosted, make):
    """With statistics that do not depend on what is seen, nothing tells that it is late."""
    assert_same(*late_and_now(rule, LATE[:1], boosted=boosted, make=make))


@pytest.mark.parametrize("rule", STEADY, ids=str)
@pytest.mark.parametrize("boosted", [False, True])
def test_under_steps_that_do_not_fade_many_minibatches_are_exact(rule, boosted):
    assert_same(*late_and_now(rule, LATE, boosted=boosted))


@pytest.mark.parametrize("rule", FADING, ids=str)
def test_under_steps_that_fade_the_whole_has_the_weight_of_now(rule):
    """Of minibatches that say the same, only the whole matters."""
    found, expected = late_and_now(rule, [LATE[0]] * 3)
    # The weights within it are those of the time, by which documents are remembered.
    assert_same(found, expected, LOOSE.get(rule, 1e-10), but_c=True)
    assert_allclose(found.c, expected.c, rtol=0.08)


def test_online_em_by_hand():
    """The equations of the module, in plain NumPy, for minibatches that differ."""
    rule = OnlineEM(MeanDecay(0.6))
    base, _ = learn(rule, start(), None, map(statistics, range(4)))
    composite, _ = composite_of(rule, base, None, LATE)
    now, _ = learn(rule, deepcopy(base), None, map(statistics, range(4, 9)))
    found, _ = landed(rule, composite, now, None)

    def rates(n):
        return [max((t + 1) ** -0.6, 1 / (t + 1)) for t in range(n, n + 3)]

    mean, squares, left = np.zeros((V, K)), 0.0, 1.0
    for r, s in zip(rates(4)[::-1], LATE[::-1], strict=True):
        mean += left * r * dense(s, V) / B
        squares += (left * r) ** 2 / B
        left *= 1 - r
    retained = np.prod([1 - r for r in rates(9)])
    scale = (1 - retained) / (1 - left)
    assert_allclose(found.a * found.S, retained * now.a * now.S + scale * mean, rtol=1e-12)
    assert_allclose(found.c, retained**2 * now.c + scale**2 * squares, rtol=1e-12)


@pytest.mark.parametrize(
    "doc_topic",
    [FixedPoint(0), GammaPrior(2.0, 1.0, 0), Shares(burn_in=0), DampedNewton(0)],
    ids=lambda update: type(update).__name__,
)
@pytest.mark.parametrize("known", [True, False])
def test_alpha_follows(doc_topic, known):
    if not known:
        # Nothing is remembered before the first of them.
        doc_topic = replace(doc_topic, burn_in=4 * B)
    rule = LearnsDocTopicPrior(OnlineEM(MeanDecay(0.6)), doc_topic)
    base, state = learn(rule, start(), (None, None), map(statistics, range(4)))
    late = [LATE[0]] * 3
    composite, after = composite_of(rule, base, state, late)
    same, new = landed(rule, composite, base, state)
    assert_array_equal(same.alpha, after.alpha)
    assert new is composite.states[1]
    now, state = learn(rule, deepcopy(base), state, map(statistics, range(4, 9)))
    expected, then = learn(rule, deepcopy(now), state, late)
    found, new = landed(rule, composite, now, state)
    assert not np.array_equal(found.alpha, now.alpha)
    if isinstance(doc_topic, DampedNewton):
        rate = doc_topic.step_size(now.n_batches) / doc_topic.step_size(base.n_batches)
        assert_allclose(found.alpha, now.alpha + rate * (after.alpha - base.alpha))
    else:
        assert_allclose(new[1], then[1], rtol=1e-10)
        assert_allclose(found.alpha, expected.alpha, rtol=1e-6)


def test_as_many_documents_with_other_tokens_are_another_past():
    composite, _ = single(SVB(), start(), None, [statistics(20)])
    seen = Counters(2, 2 * B, 9.0, np.zeros(V))
    composite = replace(composite, before=seen)
    assert composite.is_of(seen._replace(c=np.ones(V)))
    for other in ({"n_batches": 1}, {"n_documents": B}, {"n_tokens": 8.0}):
        assert not composite.is_of(seen._replace(**other))
