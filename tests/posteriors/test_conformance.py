# SPDX-License-Identifier: BSD-3-Clause
"""Every rule on every kind of posterior: it runs, or says beforehand that it cannot."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import updates
from streamtopics.families import dirichlet, gamma, normal_gamma
from streamtopics.messages import StackedStatistics, Statistics
from streamtopics.posteriors import Block, DensePosterior, Stacked, TopicPosterior
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    BudgetedPowerPrior,
    DampedNewton,
    EmpiricalPowerPrior,
    Fixed,
    FixedPoint,
    GammaPrior,
    Growing,
    HierarchicalPowerPrior,
    IterateAverage,
    Langevin,
    LearnsDocTopicPrior,
    MeanDecay,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    Rounds,
    ScaledDecay,
    StochasticVI,
    Window,
)
from streamtopics.updates.rates import Normal

V, K, N = 10, 3, 7
WORDS = np.arange(V, dtype=np.int32)

RULES = [
    SVB(), BPS(0.3), BPS(0.3, "topic"), PowerPrior(0.0), PowerPrior(0.8),
    PowerPrior(0.8, Boost(0.2, "topic")), PopulationVB(40.0, 0.2), StochasticVI(),
    StochasticVI(ScaledDecay(0.5, 0.6), 100, Boost(0.1)), OnlineEM(), OnlineEM(MeanDecay(1.0)),
    HierarchicalPowerPrior(),
    HierarchicalPowerPrior("topic", rate_starts=(0.05, 0.95), boost=Boost(0.2)),
    HierarchicalPowerPrior("topic", Normal(0.5, 5.0), (0.05, 0.95), Boost(0.3, "topic")),
    EmpiricalPowerPrior(), BudgetedPowerPrior(0.5, Boost(0.2)),
    EmpiricalPowerPrior("topic", boost=Boost(0.2, "topic")), Langevin(), Window(3),
    LearnsDocTopicPrior(SVB(), Fixed()), LearnsDocTopicPrior(OnlineEM(), FixedPoint(2)),
    LearnsDocTopicPrior(PowerPrior(0.9), GammaPrior(burn_in=2)), Growing(SVB(), 3.0),
    LearnsDocTopicPrior(Window(3), DampedNewton(2)), Rounds(SVB(), 2, 3),
    Rounds(BPS(0.4, "topic"), 2), Rounds(PowerPrior(0.8, Boost(0.3, "topic")), 2),
    Rounds(OnlineEM(MeanDecay(1.0)), 2),
    Rounds(LearnsDocTopicPrior(Window(3), FixedPoint(2)), 2, warm=True),
    Rounds(HierarchicalPowerPrior(), 2),
]  # fmt: skip


class Topics:
    """Topics over words; the statistics depend on what is seen, as those of documents do."""

    reports = frozenset({"log_theta", "local_bound"})

    def __init__(self, xi=False):
        self.boosted = xi

    def fresh(self, k=K):
        rng = np.random.default_rng(k)
        xi = rng.uniform(0.1, 1.0, (V, k)) if self.boosted else None
        return TopicPosterior(rng.uniform(0.2, 1.0, (V, k)), (V, k), np.full(k, 0.5), xi, seed=3)

    def learner(self, posterior, t):
        base = np.random.default_rng(t).gamma(0.5, 8.0, (V, posterior.shape[1]))

        def learn(view, *, warm=False):
            return self.statistics(view, base)

        return learn

    def statistics(self, view, base):
        lam = view.rows(WORDS)
        counts = base * (0.5 + lam / view.mass)
        log_theta = np.log(counts.sum(axis=0) / counts.sum()) - 0.5
        return Statistics(
            WORDS, counts, np.full(N, counts.sum() / N), log_theta,
            -float(counts.sum()), np.array(view.alpha),
        )  # fmt: skip

    def arrays(self, posterior):
        return [posterior.dense(), posterior.mass, posterior.prior_part, posterior.alpha]


class Average(Topics):
    """The average of the iterates of topics."""

    def fresh(self, k=K):
        return IterateAverage(super().fresh(k))

    def learner(self, average, t):
        return super().learner(average.posterior, t)

    def arrays(self, average):
        return [*super().arrays(average), *super().arrays(average.posterior)]


class Parts(Topics):
    """Topics in parts, whose local step reports nothing of the documents."""

    reports = frozenset()
    sizes = (2, 3, 1)

    def fresh(self):
        return Stacked([Topics.fresh(self, k) for k in self.sizes], n_boosted=2)

    def learner(self, posterior, t):
        bases = [np.random.default_rng((t, k)).gamma(0.5, 8.0, (V, k)) for k in self.sizes]

        def learn(view, *, warm=False):
            pairs = zip(view.parts, bases, strict=True)
            return StackedStatistics(tuple(self.statistics(*pair) for pair in pairs))

        return learn


class Nodes:
    """Distributions of three families."""

    reports = frozenset({"local_bound"})

    def __init__(self, xi=False):
        self.boosted = xi

    def fresh(self):
        components = normal_gamma.from_parameters(np.arange(4.0), 0.5, 2.0, 1.0)
        blocks = {
            "weights": Block(dirichlet, np.array([1.0, 2.0, 0.5])),
            "components": Block(normal_gamma, components),
            "noises": Block(gamma, np.array([[1.0, 2.0], [3.0, 1.0]])),
        }
        posterior = DensePosterior(blocks, seed=3)
        return posterior.boosting(DensePosterior(blocks)) if self.boosted else posterior

    def learner(self, posterior, t):
        rng = np.random.default_rng(t)
        x, weights = rng.normal(size=(N, 4)), rng.gamma(1.0, 2.0, 3)
        noises = rng.gamma(1, 2, (2, 2))

        def learn(view, *, warm=False):
            share = 0.5 + view["weights"] / view["weights"].sum()
            count = np.full(4, float(N))
            squares = (x**2).sum(axis=0)
            additions = {
                "weights": weights * share,
                "components": np.stack([x.sum(axis=0), count, squares, count], axis=-1),
                "noises": noises,
            }
            return posterior.statistics(additions, N, -float((weights * share).sum()))

        return learn

    def arrays(self, posterior):
        of_blocks = [posterior[name] for name in posterior.blocks]
        return [*of_blocks, posterior.mass, posterior.prior_part]


KINDS = {
    "topics": Topics(),
    "topics that boost another prior": Topics(xi=True),
    "average": Average(),
    "side by side": Parts(),
    "side by side that boost another prior": Parts(xi=True),
    "nodes": Nodes(),
    "nodes that boost another prior": Nodes(xi=True),
}
PAIRS = list(product(KINDS, RULES))


def inner(posterior):
    """What a rule steps from."""
    return posterior.posterior if isinstance(posterior, IterateAverage) else posterior


def lacking(kind, rule):
    """What the rule needs and neither the posterior nor its local step has."""
    return rule.traits.needs - inner(KINDS[kind].fresh()).offers - KINDS[kind].reports


def not_averaged(kind, rule):
    """Noise, and rates of each topic, which the average refuses by name."""
    of_topics = getattr(rule, "rate", None) == "topic"
    return kind == "average" and ("noise" in rule.traits.needs or of_topics)


def name(pair):
    return f"{pair[0]}, {pair[1]!r}"


RUN = [pair for pair in PAIRS if not lacking(*pair) and not not_averaged(*pair)]
REFUSED = [pair for pair in PAIRS if lacking(*pair)]
NOT_AVERAGED = [pair for pair in PAIRS if not lacking(*pair) and not_averaged(*pair)]


def step(kind, rule, posterior, state, t):
    """The masses of what was proposed are those of the blend, where no noise is added."""
    learn = KINDS[kind].learner(posterior, t)
    blend, state = rule.step(inner(posterior), learn, state)
    proposed = inner(posterior).after(blend).mass
    posterior.blend(blend)
    if blend.noise is None:
        assert_allclose(proposed, inner(posterior).mass, rtol=1e-9)
    return state


@pytest.mark.parametrize(("kind", "rule"), RUN, ids=map(name, RUN))
def test_it_runs(kind, rule):
    """Whole, and cut: the posterior and the state go on from a pickle with the same bits."""
    posterior, cut = KINDS[kind].fresh(), KINDS[kind].fresh()
    state, start = (rule.init(inner(each)) for each in (posterior, cut))
    for t in range(6):
        state = step(kind, rule, posterior, state, t)
        start = step(kind, rule, cut, start, t)
        cut, start = pickle.loads(pickle.dumps((cut, start)))
        seen = inner(posterior)
        assert (seen.n_batches, seen.n_documents) == (t + 1, N * (t + 1))
        assert np.isfinite(seen.n_tokens)
        assert seen.mass.shape == (seen.n_nodes,)
        assert (posterior.mass > 0).all()
        pairs = zip(KINDS[kind].arrays(posterior), KINDS[kind].arrays(cut), strict=True)
        for array, again in pairs:
            assert np.isfinite(array).all()
            assert_array_equal(array, again)
    pairs = zip(KINDS[kind].arrays(posterior), KINDS[kind].arrays(KINDS[kind].fresh()), strict=True)
    assert any(np.abs(now - before).max() > 0.01 for now, before in pairs if now.size)


@pytest.mark.parametrize(("kind", "rule"), NOT_AVERAGED, ids=map(name, NOT_AVERAGED))
def test_what_cannot_be_averaged_is_refused(kind, rule):
    posterior = KINDS[kind].fresh()
    state = rule.init(inner(posterior))
    first = 0 if "noise" in rule.traits.needs else 1
    for t in range(first):
        state = step(kind, rule, posterior, state, t)
    before = pickle.dumps(posterior)
    with pytest.raises(ValueError, match="averages need a rule"):
        step(kind, rule, posterior, state, first)
    assert pickle.dumps(posterior) == before


def test_none_is_left_out():
    """All rules that there are, and how many pairs run and are refused."""
    named = {getattr(updates, name) for name in updates.__all__}
    rules = {one for one in named if updates.Rule in getattr(one, "__mro__", ())}
    assert rules - {updates.Rule} == {type(rule) for rule in RULES}
    assert (len(RUN), len(REFUSED), len(NOT_AVERAGED)) == (170, 36, 4)
    assert len(PAIRS) == len(KINDS) * len(RULES) == 210


ALPHA = {"alpha", "log_theta"}
MISSING = [
    (OnlineEM(), {"smoothing"}),
    (Langevin(), {"noise"}),
    (LearnsDocTopicPrior(SVB(), FixedPoint()), ALPHA),
    (Rounds(LearnsDocTopicPrior(OnlineEM(), GammaPrior()), 2), ALPHA | {"smoothing"}),
]


@pytest.mark.parametrize(("rule", "missing"), MISSING, ids=lambda one: repr(one).split("{")[0])
def test_what_is_missing_is_said(rule, missing):
    assert lacking("side by side", rule) == lacking("nodes", rule) == missing
    several = HierarchicalPowerPrior(rate_starts=(0.1, 0.9))
    assert lacking("side by side", several) == {"local_bound"}
