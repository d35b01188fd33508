# SPDX-License-Identifier: BSD-3-Clause
"""The dense posterior: what rules read and write of it, against the lazy one."""

import copy
import pickle
from dataclasses import replace
from itertools import product, starmap

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.families import dirichlet, gamma, normal_gamma
from streamtopics.messages import NodeStatistics, Statistics
from streamtopics.posteriors import Blend, Block, DensePosterior, TopicPosterior
from streamtopics.updates import Boost, Window
from tests.posteriors.test_conformance import RULES
from tests.updates.given import take

V, K = 7, 3
WORDS = np.arange(V, dtype=np.int32)
ETA = np.random.default_rng(9).uniform(0.2, 1.0, (V, K))


def dense_topics():
    return DensePosterior({"topics": Block(dirichlet, np.ascontiguousarray(ETA.T))})


def of_three_families(weights, components, noises):
    blocks = {
        "weights": Block(dirichlet, np.array(weights)),
        "components": Block(normal_gamma, normal_gamma.from_parameters(*components)),
        "noises": Block(gamma, np.array(noises)),
    }
    return DensePosterior(blocks)


def mixed():
    """Nodes on one, no and two axes."""
    components = np.arange(6.0).reshape(2, 3), 0.5, 2.0, 1.0
    return of_three_families([1.0, 2.0, 0.5], components, [[1.0, 2.0], [3.0, 1.0]])


def knowledge():
    """Other priors of the same families, in no proportion to those."""
    components = np.full((2, 3), -1.0), 1.5, 3.0, 0.7
    return of_three_families([0.2, 0.3, 4.0], components, [[5.0, 1.0], [1.0, 2.0]])


def additions(rng, n=4):
    x = rng.normal(size=(n, 2, 3))
    count = np.full((2, 3), float(n))
    squares = (x**2).sum(axis=0)
    return {
        "weights": rng.gamma(1.0, 2.0, 3),
        "components": np.stack([x.sum(axis=0), count, squares, count], axis=-1),
        "noises": rng.gamma(1.0, 2.0, (2, 2)),
    }


OTHERS = {"alpha", "noise"}
OF_WORDS = [rule for rule in RULES if rule != Window(3) and not rule.traits.needs & OTHERS]


@pytest.mark.parametrize("rule", OF_WORDS, ids=repr)
def test_rules_do_to_a_dirichlet_what_they_do_to_topics(rule):
    """The statistics depend on what is seen, as those of documents do."""
    dense, lazy = dense_topics(), TopicPosterior(ETA, (V, K))
    rng = np.random.default_rng(0)
    states = [rule.init(dense), rule.init(lazy)]
    for _ in range(5):
        base = rng.gamma(0.5, 10.0, (V, K))

        def counts(lam, base=base):
            return base * (1 + lam / lam.sum())

        def learn_dense(view, *, warm=False):
            found = counts(view["topics"].T)
            return dense.statistics({"topics": found.T}, 4, -float(found.sum()))

        def learn_lazy(view, *, warm=False):
            found = counts(view.rows(WORDS))
            lengths = np.full(4, found.sum() / 4)
            return Statistics(WORDS, found, lengths, local_bound=-float(found.sum()))

        states[0] = take(rule, dense, learn_dense, states[0])
        states[1] = take(rule, lazy, learn_lazy, states[1])
        assert_allclose(dense["topics"].T, lazy.dense(), rtol=1e-8)
        assert_allclose(dense.mass, lazy.mass, rtol=1e-8)
        assert_allclose(dense.prior_part, lazy.prior_part, rtol=1e-8)
    assert (dense.n_batches, dense.n_documents) == (lazy.n_batches, lazy.n_documents) == (5, 20)
    assert_allclose(dense.n_tokens, lazy.n_tokens)
    assert not np.allclose(dense["topics"].T, ETA)


def test_nodes_are_counted_flat_in_the_order_of_the_blocks():
    posterior = mixed()
    assert posterior.n_nodes == 1 + 6 + 2
    assert_array_equal(posterior.prior_mass, [3.5, *[0.5] * 6, 1.0, 3.0])
    s = posterior.statistics(additions(np.random.default_rng(0)), 4)
    assert_allclose(s.mass[1:7], 4.0)
    assert_allclose(s.mass[7:], s.additions["noises"][:, 0])
    assert_allclose(s.n_tokens, s.mass.sum())
    parts = posterior.by_block(np.arange(9.0))
    assert_array_equal(parts["weights"], [0.0])
    assert_array_equal(parts["components"][..., 0], [[1, 2, 3], [4, 5, 6]])
    assert_array_equal(parts["noises"][:, 0], [7, 8])


def blends(posterior):
    rng = np.random.default_rng(3)
    s = posterior.statistics(additions(rng), 4)
    n = posterior.n_nodes
    yield Blend(0.5, 2.0, 0.7, s, boost=0.2)
    coefficients = rng.uniform(0.2, 0.9, n), rng.uniform(0.5, 2, n), rng.uniform(0.1, 1, n)
    yield Blend(*coefficients, s, boost=rng.uniform(0.0, 0.5, n))


def test_proposals_are_what_a_blend_would_make():
    for i in range(2):
        posterior = mixed()
        posterior.blend(next(blends(posterior)))
        blend = list(blends(posterior))[i]
        proposal = posterior.after(blend)
        proposed = {name: proposal[name] for name in posterior.blocks}
        mass, base, gain = proposal.mass, proposal.base, proposal.gain
        before = {name: posterior[name] for name in posterior.blocks}
        posterior.blend(blend)
        assert_allclose(mass, posterior.mass, rtol=1e-12)
        for name in posterior.blocks:
            assert_allclose(proposed[name], posterior[name], rtol=1e-12)
            added = gain[name] * blend.statistics.additions[name]
            assert_allclose(base[name] + added, posterior[name], rtol=1e-12)
            assert not np.allclose(before[name], posterior[name])
        assert len(proposal.alpha) == 0


@pytest.mark.parametrize("another", [False, True], ids=["eta", "xi"])
@pytest.mark.parametrize("boost", [0.0, 0.7, np.linspace(0, 3, 9)], ids=["0", "0.7", "each"])
def test_divergences_are_those_of_the_families(boost, another):
    posterior = mixed()
    if another:
        posterior = posterior.boosting(knowledge())
    posterior.blend(next(blends(posterior)))
    blend = replace(list(blends(posterior))[1], boost=boost)
    found = posterior.divergences(blend)
    q, boosts = posterior.after(blend), np.broadcast_to(boost, 9)
    start = 0
    for name, block in posterior.blocks.items():
        xi = knowledge().blocks[name].prior if another else block.prior
        flat = (x.reshape(-1, x.shape[-1]) for x in (q[name], posterior[name], block.prior, xi))
        for q_i, lam, eta, xi_i in zip(*flat, strict=True):
            r = boosts[start] * xi_i
            assert_allclose(found[0][start], block.family.kl(q_i, lam + r), rtol=1e-10)
            assert_allclose(found[1][start], block.family.kl(q_i, eta + r), rtol=1e-10)
            start += 1
    assert start == len(found[0]) == len(found[1])
    assert (found[0] > 0).all()


def test_the_prior_is_kept_apart_from_what_was_learnt():
    posterior = mixed()
    assert posterior.knows_nothing
    nothing = {name: np.zeros_like(block.prior) for name, block in posterior.blocks.items()}
    posterior.blend(Blend(1.0, 1.0, 0.5, posterior.statistics(nothing, 0)))
    assert posterior.knows_nothing
    assert_allclose(posterior.prior_part, 1.5 * posterior.prior_mass)
    posterior.blend(next(blends(posterior)))
    assert not posterior.knows_nothing
    assert_allclose(posterior.prior_part, (0.5 * 1.5 + 0.7 + 0.2) * posterior.prior_mass)


def test_what_is_boosted_may_be_another_prior():
    posterior = mixed().boosting(knowledge())
    assert_array_equal(posterior.boosted_mass, knowledge().prior_mass)
    for one in (posterior, pickle.loads(pickle.dumps(posterior)), copy.deepcopy(posterior)):
        nothing = {name: np.zeros_like(block.prior) for name, block in one.blocks.items()}
        for _ in range(2):
            blend = Blend(0.5, 1.0, 0.5, one.statistics(nothing, 0), boost=0.25)
            proposal = one.after(blend)
            mass, base = proposal.mass, proposal.base
            one.blend(blend)
        for name, block in one.blocks.items():
            expected = block.prior + 0.375 * knowledge().blocks[name].prior
            assert_allclose(one[name], expected)
            assert_allclose(base[name], expected)
        assert_allclose(mass, one.prior_mass + 0.375 * knowledge().prior_mass)
        assert_allclose(one.prior_part, mass)


def test_a_boost_compares_the_nodes_of_a_block():
    posterior = mixed().boosting(knowledge())
    s = posterior.statistics(additions(np.random.default_rng(0)), 4)
    parts = posterior.by_block(Boost(0.3).weight(posterior, s))
    for name, block in posterior.blocks.items():
        said = block.family.mass(s.additions[name]).sum()
        known = block.family.mass(knowledge().blocks[name].prior).sum()
        assert_allclose(parts[name], 0.3 * said / known)
    assert_allclose(Boost(0.3, "topic").weight(posterior, s), 0.3 * s.mass / knowledge().prior_mass)


def frozen(posterior):
    return {name: posterior[name].tobytes() for name in posterior.blocks}, posterior._state[1:]


NO_DENSITY = [
    ("gain", np.inf), ("gain", 1e308), ("retain", np.nan), ("retain", -5.0), ("prior", np.inf),
    ("prior", -2.5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wrong"), NO_DENSITY)
def test_what_is_no_density_is_refused_and_changes_nothing(name, wrong):
    posterior = mixed()
    posterior.blend(next(blends(posterior)))
    before = frozen(posterior)
    s = posterior.statistics(additions(np.random.default_rng(1)), 4)
    coefficients = {"retain": 1.0, "gain": 1.0, "prior": 0.0, name: wrong}
    with pytest.raises(ValueError, match="infinite or undefined"):
        posterior.blend(Blend(**coefficients, statistics=s))
    assert repr(frozen(posterior)) == repr(before)


def not_finite(value, place):
    added = additions(np.random.default_rng(1))
    added["components"][1, 2, place] = value
    return mixed(), added, f"minibatch hold {value};"


def of_shape(shape):
    return dense_topics(), {"topics": np.ones(shape)}, r"to topics must have shape \(3, 7\)"


UNFIT = [
    *map(of_shape, [(2, K, V), (1, V), (V,), (K, V + 1)]),
    *starmap(not_finite, product([np.nan, np.inf, -np.inf], range(4))),
]


def test_statistics_of_earlier_versions_count_their_mass():
    old = NodeStatistics.__new__(NodeStatistics)
    old.__setstate__({"additions": {}, "n_documents": 2, "mass": np.ones(3)})
    assert old.n_tokens == 3


@pytest.mark.parametrize(("posterior", "added", "message"), UNFIT)
def test_additions_that_do_not_fit_change_nothing(posterior, added, message):
    before, commit = repr(frozen(posterior)), {}
    s = NodeStatistics(added, 4, np.ones(posterior.n_nodes), 4.0)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        posterior.blend(Blend(1.0, 1.0, 0.0, s), [(commit, "n_iter", 1)])
    assert repr(frozen(posterior)) == before
    assert commit == {}


@pytest.mark.parametrize("method", ["divergences", "slopes"])
def test_what_leads_to_masses_out_of_reach_has_no_divergence(method):
    posterior = mixed()
    s = posterior.statistics(additions(np.random.default_rng(1)), 4)
    with pytest.raises(ValueError, match="infinite or undefined"):
        getattr(posterior, method)(Blend(1.0, 1e291, 0.0, s))


def test_slopes_are_those_of_the_divergences():
    rng = np.random.default_rng(3)
    posterior = mixed()
    for retain in (1.0, 0.8):
        statistics = posterior.statistics(additions(rng), 4)
        posterior.blend(Blend(retain, 1.0, 1.0 - retain, statistics))
    blend = Blend(0.5, 1.0, 0.5, posterior.statistics(additions(rng), 4))
    slope, after = posterior.slopes(blend), posterior.after(blend)

    def divergence(rho):
        found = []
        for name, block in posterior.blocks.items():
            mixed = rho * posterior[name] + (1 - rho) * block.prior
            found.append(np.ravel(block.family.kl(after[name], mixed)))
        return np.concatenate(found)

    for rho in (0.1, 0.5, 0.9):
        numerical = (divergence(rho - 1e-5) - divergence(rho + 1e-5)) / 2e-5
        assert_allclose(slope(np.full(posterior.n_nodes, rho)), numerical, rtol=1e-5, atol=1e-6)
