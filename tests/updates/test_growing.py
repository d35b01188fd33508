# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches that count more the later they come, against the closed form of their sum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule, StreamingLDA
from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import (
    BPS,
    SVB,
    Growing,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    StochasticVI,
    Window,
)
from streamtopics.updates.rule import merged_weights
from tests.updates.given import given, take

V, K = 7, 3
WORDS = np.arange(V, dtype=np.int32)
POWERS = [1.0, 1.5, 2.0, 3.0, 6.0]


def of(counts):
    """Statistics of such counts, of three documents."""
    return Statistics(WORDS, counts, np.full(3, counts.sum() / 3))


def stream(n=8, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.gamma(1.0, rng.uniform(0.2, 5.0), (V, K)) for _ in range(n)]


def fresh():
    return TopicPosterior(np.random.default_rng(1).uniform(0.1, 1.0, (V, K)), (V, K))


def learnt(counts, power, rho=1.0):
    """S_t = N_t^(1-h) sum_i (N_i^h - N_(i-1)^h) rho^(t-i) s_i / |s_i|."""
    ends = np.cumsum([c.sum() for c in counts])
    starts = np.concatenate([[0], ends[:-1]])
    weights = (ends**power - starts**power) * ends[-1] ** (1 - power)
    weights *= rho ** np.arange(len(counts))[::-1]
    return sum(w * c / c.sum() for w, c in zip(weights, counts, strict=True))


def run(rule, counts, posterior=None):
    posterior = fresh() if posterior is None else posterior
    for c in counts:
        take(rule, posterior, given(of(c)))
    return posterior


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("n", [1, 2, 8])
def test_the_posterior_is_the_prior_and_the_weighted_sum(power, n):
    posterior = run(Growing(SVB(), power), stream(n))
    assert_allclose(posterior.dense(), fresh().dense() + learnt(stream(n), power), rtol=1e-10)
    tokens = sum(c.sum() for c in stream(n))
    assert_allclose(posterior.learnt_part.sum(), tokens, rtol=1e-12)
    assert_allclose(posterior.mass, posterior.dense().sum(axis=0), rtol=1e-12)
    assert_allclose(posterior.n_tokens, tokens)


@pytest.mark.parametrize("rule", [SVB(), BPS(0.4), BPS(0.4, "topic")], ids=str)
def test_with_power_1_it_is_the_rule_itself_bit_for_bit(rule):
    found, plainly = run(Growing(rule, 1.0), stream()), run(rule, stream())
    assert_array_equal(found.dense(), plainly.dense())
    assert_array_equal(found.mass, plainly.mass)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
def test_a_boost_has_the_share_that_it_has_without(power, scale):
    posterior = run(Growing(BPS(scale), power), stream())
    eta, tokens = fresh().dense(), sum(c.sum() for c in stream())
    boosted = (1 + scale * tokens / eta.sum()) * eta
    assert_allclose(posterior.dense(), boosted + learnt(stream(), power), rtol=1e-10)
    share = 1 - posterior.learnt_part.sum() / posterior.mass.sum()
    assert_allclose(share, (eta.sum() + scale * tokens) / (eta.sum() + (1 + scale) * tokens))
    plainly = run(BPS(scale), stream())
    assert_allclose(share, 1 - plainly.learnt_part.sum() / plainly.mass.sum())


@pytest.mark.parametrize("power", POWERS)
def test_a_minibatch_in_halves_is_as_whole(power):
    counts = stream(5)
    halves = [part for c in counts for part in (0.3 * c, 0.7 * c)]
    whole, cut = run(Growing(SVB(), power), counts), run(Growing(SVB(), power), halves)
    assert_allclose(cut.dense(), whole.dense(), rtol=1e-10)


def test_a_minibatch_without_tokens_changes_nothing():
    rule = Growing(SVB(), 3.0)
    posterior = fresh()
    take(rule, posterior, given(of(np.zeros((V, K)))))
    assert_array_equal(posterior.dense(), fresh().dense())
    run(rule, stream(3), posterior)
    before = posterior.dense()
    take(rule, posterior, given(of(np.zeros((V, K)))))
    assert_allclose(posterior.dense(), before, rtol=1e-14)
    assert_allclose(before, fresh().dense() + learnt(stream(3), 3.0), rtol=1e-10)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("power", POWERS)
def test_what_a_power_prior_keeps_comes_on_top_of_the_weights(rho, power):
    """The prior stays whole."""
    posterior = run(Growing(PowerPrior(rho), power), stream(6))
    assert_allclose(posterior.dense(), fresh().dense() + learnt(stream(6), power, rho), rtol=1e-10)


@pytest.mark.parametrize(
    "rule", [Window(2), PopulationVB(9, 0.1), StochasticVI(), OnlineEM()], ids=repr
)
def test_rules_that_weigh_minibatches_themselves_do_not_grow(rule):
    # A window, for one, would take back another weight than it gave.
    X = make_lda_corpus(n_documents=50, n_features=60, random_state=0).X
    settings = {"update": rule, "inference": "variational", "view": "mean", "random_state": 0}
    model = StreamingLDA(3, schedule=Schedule(growth=3.0), **settings)
    with pytest.raises(ValueError, match=f"{type(rule).__name__} weighs .*growth=3.0 to 1"):
        model.fit(X)
    assert not hasattr(model, "components_")
    for growth in (None, 1.0):
        StreamingLDA(3, schedule=Schedule(growth=growth), **settings).fit(X)


def merged(rule, base_counts, mine_counts, theirs_counts):
    base = run(rule, base_counts)
    mine = run(rule, mine_counts, run(rule, base_counts))
    theirs = run(rule, theirs_counts, run(rule, base_counts))
    common = base if base_counts else None
    weights = merged_weights(rule.power, mine, theirs, common)
    return mine, theirs, base, mine.added_to(theirs, common, weights=weights), weights


@pytest.mark.parametrize("power", POWERS)
def test_without_a_base_both_count_in_full(power):
    rule = Growing(SVB(), power)
    mine, theirs, _, both, _ = merged(rule, [], stream(3, 1), stream(5, 2))
    eta = fresh().dense()
    assert_allclose(both.dense(), mine.dense() + theirs.dense() - eta, rtol=1e-10)
    assert_allclose(both.n_tokens, mine.n_tokens + theirs.n_tokens)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("sizes", [(3, 2, 4), (1, 6, 1), (6, 1, 1)])
def test_with_a_base_tokens_count_once_and_the_base_as_in_one_stream(power, sizes):
    rule = Growing(SVB(), power)
    first, second, third = (stream(n, seed) for n, seed in zip(sizes, (1, 2, 3), strict=True))
    mine, theirs, base, both, (of_mine, of_theirs, of_base) = merged(rule, first, second, third)
    n_base, n_mine, n_theirs = base.n_tokens, mine.n_tokens, theirs.n_tokens
    n = n_mine + n_theirs - n_base
    assert_allclose(both.n_tokens, n)
    assert_allclose(both.learnt_part.sum(), n, rtol=1e-9)
    # The base is in both parts already, faded as far as they went.
    coefficient = (
        of_mine * (n_base / n_mine) ** (power - 1)
        + of_theirs * (n_base / n_theirs) ** (power - 1)
        + of_base
    )
    assert_allclose(coefficient, (n_base / n) ** (power - 1), rtol=1e-9)
    # What each part learnt of its own has a weight by its tokens.
    own_mine = of_mine * (n_mine - n_mine ** (1 - power) * n_base**power)
    own_theirs = of_theirs * (n_theirs - n_theirs ** (1 - power) * n_base**power)
    ratio = (n_mine - n_base) / (n_theirs - n_base)
    assert_allclose(own_mine / own_theirs, ratio, rtol=1e-9)
    assert np.all(both.dense() > 0)
    _, _, _, swapped, _ = merged(rule, first, third, second)
    assert_allclose(swapped.dense(), both.dense(), rtol=1e-10)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_a_part_that_learnt_nothing_changes_nothing(power):
    """Merging with the base itself, in either place, gives the other part."""
    rule = Growing(SVB(), power)
    mine, _, _, both, _ = merged(rule, stream(3, 1), stream(4, 2), [])
    assert_allclose(both.dense(), mine.dense(), rtol=1e-9)
    _, theirs, _, both, _ = merged(rule, stream(3, 1), [], stream(4, 2))
    assert_allclose(both.dense(), theirs.dense(), rtol=1e-9)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("n_base", [0, 3])
def test_the_order_of_three_parts_does_not_matter(power, n_base):
    rule = Growing(SVB(), power)
    base = run(rule, stream(n_base, 1))
    known = base if n_base else None
    parts = [run(rule, stream(n, n), run(rule, stream(n_base, 1))) for n in (2, 4, 7)]

    def together(order):
        both = parts[order[0]]
        for i in order[1:]:
            weights = merged_weights(rule.power, both, parts[i], known)
            both = both.added_to(parts[i], known, weights=weights)
        return both.dense()

    for order in ((2, 1, 0), (1, 2, 0), (2, 0, 1)):
        assert_allclose(together(order), together((0, 1, 2)), rtol=1e-9)


def test_merged_estimators_have_the_mass_of_all_tokens():
    X = make_lda_corpus(n_documents=240, n_features=60, random_state=0).X
    base = StreamingLDA(4, start="noise", random_state=0).partial_fit(X[:80])

    def on(rows):
        model = StreamingLDA(4, start="noise", random_state=0)
        return model.partial_fit(X[:80]).partial_fit(rows)

    both = on(X[80:160]).merge(on(X[160:]), base=base)
    other = on(X[160:]).merge(on(X[80:160]), base=base)
    eta = 0.02 * 4 * 60
    assert_allclose(both.components_.sum() - eta, X.sum(), rtol=1e-7)
    assert_allclose(other.components_, both.components_, rtol=1e-9)
    assert both.n_documents_seen_ == 240
