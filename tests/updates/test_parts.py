# SPDX-License-Identifier: BSD-3-Clause
"""A minibatch in parts is the rule stepped part by part, as one update."""

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule, StreamingLDA
from streamtopics.local import OneTopic, Variational
from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    BudgetedPowerPrior,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    Langevin,
    MeanDecay,
    Memory,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    Rounds,
    StochasticVI,
    Window,
)
from streamtopics.updates.power_prior import FixedRate
from streamtopics.updates.rule import in_parts
from streamtopics.utils.parallel import SERIAL
from tests.updates.given import given, take

X = make_lda_corpus(n_documents=160, n_features=70, random_state=3).X.astype(np.float64)
K = 4
DIVISIBLE = [
    SVB(), BPS(0.3), BPS(0.3, "topic"), OnlineEM(MeanDecay(0.6)), PowerPrior(0.7),
    PowerPrior(0.7, Boost(0.2)), PowerPrior(Memory(100)), PopulationVB(500.0, 0.2), StochasticVI(),
]  # fmt: skip
WHOLE = [Window(3), Langevin()]
SETTLING = [
    BudgetedPowerPrior(0.5, Boost(0.2)),
    HierarchicalPowerPrior(),
    HierarchicalPowerPrior("topic", boost=Boost(0.2)),
    EmpiricalPowerPrior(),
]

each_rule = pytest.mark.parametrize("rule", DIVISIBLE, ids=str)
VARIATIONAL = Variational()


def model_of(rule, size="auto", inference=VARIATIONAL, **parameters):
    model = StreamingLDA(K, update=rule, inference=inference, start="noise", random_state=0)
    return model.set_params(schedule__inner_batch_size=size, **parameters)


def part_by_part(model, rows, size):
    """The same by one `partial_fit` for each part, with the divided rule."""
    whole = model.update
    for start in range(0, rows.shape[0], size):
        part = rows[start : start + size]
        rule = whole.for_part(part.shape[0] / rows.shape[0], start == 0)
        model.set_params(update=rule, schedule__inner_batch_size=None).partial_fit(part)
    return model


@each_rule
@pytest.mark.parametrize("inference", [Variational(), "gibbs", OneTopic()], ids=str)
@pytest.mark.parametrize("before", [0, 40])
def test_one_call_is_the_rule_stepped_part_by_part(rule, inference, before):
    """And the stream goes on alike."""
    parts = model_of(rule, 30, inference)
    if before:
        parts.set_params(schedule__inner_batch_size=None).partial_fit(X[:before])
    loop = deepcopy(parts)
    parts.set_params(schedule__inner_batch_size=30).partial_fit(X[before : before + 90])
    part_by_part(loop, X[before : before + 90], 30)
    assert_allclose(parts.components_, loop.components_, rtol=1e-10)
    assert_allclose(parts.doc_topic_prior_, loop.doc_topic_prior_, rtol=1e-10)
    assert_allclose(parts.posterior_.mass, loop.posterior_.mass, rtol=1e-10)
    assert parts.n_documents_seen_ == loop.n_documents_seen_ == before + 90
    assert parts.posterior_.n_batches == loop.posterior_.n_batches
    assert_allclose(parts.n_tokens_seen_, X[: before + 90].sum())
    for model in (parts, loop):
        model.set_params(update=rule, schedule__inner_batch_size=None).partial_fit(X[130:])
    assert_allclose(parts.components_, loop.components_, rtol=1e-10)
    assert_allclose(parts.transform(X[:9]), loop.transform(X[:9]), rtol=1e-8)


STEADY = [rule for rule in DIVISIBLE if not isinstance(rule, OnlineEM | StochasticVI)]


@pytest.mark.parametrize("rule", STEADY, ids=str)
def test_the_parts_of_a_rule_keep_what_it_keeps(rule):
    """With statistics that do not depend on what is seen, retention and mass are the whole's."""
    words = np.arange(5, dtype=np.int32)
    eta = np.random.default_rng(0).uniform(0.1, 1.0, (5, K))
    counts = np.random.default_rng(1).gamma(1.0, 9.0, (5, K))
    first = Statistics(words, counts, np.full(8, counts.sum() / 8))
    posterior = TopicPosterior(eta, (5, K))
    take(rule, posterior, given(first))
    whole, _ = rule.step(posterior, given(first), None)
    kept = 1.0
    for share in (0.25, 0.75):
        part = Statistics(words, share * counts, first.lengths[: round(8 * share)])
        blend, _ = rule.for_part(share, share == 0.25).step(posterior, given(part), None)
        kept = kept * blend.retain
    assert_allclose(kept, whole.retain, rtol=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_a_power_prior_forgets_nothing_of_its_own_minibatch(rho):
    """The mass is rho of what was learnt before, and all of the minibatch, in parts as whole."""
    masses = []
    for size in (None, 20):
        model = model_of(PowerPrior(rho), size, schedule__growth=1.0).partial_fit(X[:80])
        masses.append(model.partial_fit(X[80:]).components_.sum())
    assert_allclose(masses[1], masses[0], rtol=1e-9)
    prior = model.posterior_.prior_mass.sum()
    assert_allclose(masses[1], rho * X[:80].sum() + X[80:].sum() + prior, rtol=1e-9)


@each_rule
def test_the_blend_of_all_parts_is_that_of_blends_one_by_one(rule):
    """By statistics of different words, that depend on what is seen."""
    rng = np.random.default_rng(2)
    posterior = TopicPosterior(rng.uniform(0.1, 1.0, (9, K)), (9, K))
    start = Statistics(np.arange(9, dtype=np.int32), rng.gamma(1.0, 3.0, (9, K)), np.full(4, 9.0))
    take(rule, posterior, given(start))
    words = np.array([1, 2, 4, 5, 8], np.int32)
    own = [words[:3], words[1:4], words[2:]]
    parts = [
        (rule.for_part(1 / 3, i == 0), _seeing(w, rng.gamma(1.0, 2.0, len(w)), i))
        for i, w in enumerate(own)
    ]
    loop = deepcopy(posterior)
    for divided, learn in parts:
        take(divided, loop, learn)
    before = posterior.dense()
    blend, _ = in_parts(iter(parts), posterior.of_words(words), words, None, SERIAL.share)
    assert_array_equal(posterior.dense(), before)
    posterior.blend(blend)
    assert_allclose(posterior.dense(), loop.dense(), rtol=1e-10)
    assert_allclose(posterior.mass, loop.mass, rtol=1e-10)
    assert posterior.n_documents == loop.n_documents
    assert posterior.n_batches == loop.n_batches
    assert_allclose(posterior.n_tokens, loop.n_tokens)
    # Of the first part one document has words, of the others both.
    assert_allclose(blend.statistics.shares, np.array([1, 2, 2]) @ SHARES / 5)


SHARES = np.random.default_rng(5).dirichlet(np.ones(K), 3)


def _seeing(words, tokens, part):
    """A `learn` whose tokens go to the topics as the rows that are seen."""
    lengths = np.array([0.5, 0.5] if part else [0.0, 1.0]) * tokens.sum()

    def learn(view, *, warm=False):
        rows = view.rows(words)
        counts = tokens[:, None] * rows / rows.sum(axis=1, keepdims=True)
        return Statistics(words, counts, lengths, shares=SHARES[part])

    return learn


@each_rule
def test_it_is_all_or_nothing(rule, monkeypatch):
    model = model_of(rule, 20).partial_fit(X[:60])
    before, prior = model.components_, model.doc_topic_prior_
    counters = model.n_batch_iter_, model.n_documents_seen_, model.n_tokens_seen_
    calls = []
    plainly = Variational.step

    def failing(self, minibatch, *args, **kwargs):
        calls.append(minibatch.n_documents)
        if len(calls) == 3:
            raise RuntimeError("in the third part")
        return plainly(self, minibatch, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Variational, "step", failing)
        with pytest.raises(RuntimeError, match="third part"):
            model.partial_fit(X[60:120])
    assert calls == [20, 20, 20]
    assert_array_equal(model.components_, before)
    assert_array_equal(model.doc_topic_prior_, prior)
    assert (model.n_batch_iter_, model.n_documents_seen_, model.n_tokens_seen_) == counters
    untouched = model_of(rule, 20).partial_fit(X[:60]).partial_fit(X[60:])
    assert_array_equal(model.partial_fit(X[60:]).components_, untouched.components_)


def test_the_bits_do_not_depend_on_n_jobs():
    one, two = (model_of(BPS(0.2), 50, n_jobs=n_jobs).fit(X) for n_jobs in (None, 2))
    assert_array_equal(two.components_, one.components_)


@pytest.mark.parametrize(
    ("rule", "kept"), [(PowerPrior(0.7), 0.7), (PopulationVB(500.0, 0.2), 0.8)]
)
def test_what_is_told_of_drift_is_of_the_whole(rule, kept):
    model = model_of(rule, 20).partial_fit(X[:60]).partial_fit(X[60:120])
    assert len(model.drift_) == 2
    assert_allclose(model.retention_, kept)
    assert_allclose(model.effective_sample_size_, model.components_.sum(axis=1))


@pytest.mark.parametrize("rule", WHOLE, ids=str)
def test_a_rule_of_whole_minibatches_is_refused_by_name(rule):
    assert rule.for_part(0.5, True) is None
    with pytest.raises(ValueError, match=type(rule).__name__) as raised:
        model_of(rule, 20).partial_fit(X[:60])
    assert "has no `for_part`" in str(raised.value)
    assert "inner_batch_size to None" in str(raised.value)
    assert model_of(rule, None).partial_fit(X[:60]).n_documents_seen_ == 60


@pytest.mark.parametrize("rule", SETTLING, ids=str)
@pytest.mark.parametrize("inference", [Variational(), OneTopic(1.0)], ids=str)
@pytest.mark.parametrize("size", [30, 60])
def test_a_rate_is_settled_on_the_whole_and_kept_before_the_first_part(rule, inference, size):
    """The rate is that of the minibatch whole; the rest is SVB or BPS, part by part."""
    model = model_of(rule, size, inference, schedule=Schedule(growth=1.0, prior_limit=None))
    model.partial_fit(X[:60])
    whole, loop = deepcopy(model), deepcopy(model)
    other_words = X[60:120][:, ::-1]
    model.partial_fit(other_words)
    rate = whole.set_params(schedule__inner_batch_size=None).partial_fit(other_words).retention_
    assert rate.min() < 0.999
    assert_allclose(model.retention_, rate, rtol=1e-12)
    settled = FixedRate(rate, 1.0 - rate, rule.boost)
    part_by_part(loop.set_params(update=settled), other_words, size)
    assert_allclose(model.components_, loop.components_, rtol=1e-9)


@pytest.mark.parametrize("rule", SETTLING, ids=str)
def test_where_nothing_is_known_no_rate_is_settled(rule):
    found, plainly = (
        model_of(one, 30, schedule__growth=1.0).partial_fit(X[:90])
        for one in (rule, BPS(rule.boost.scale))
    )
    assert_array_equal(found.components_, plainly.components_)
    assert_array_equal(found.retention_, np.ones(K))


@pytest.mark.parametrize("rule", SETTLING, ids=str)
def test_auto_cuts_such_minibatches_but_not_in_sampling(rule):
    many = make_lda_corpus(n_documents=320, n_features=50, random_state=1).X
    for inference, part in (("variational", 150), ("one_topic", 150), ("gibbs", None)):
        auto = model_of(rule, "auto", inference).partial_fit(many)
        set_so = model_of(rule, part, inference).partial_fit(many)
        assert_array_equal(auto.components_, set_so.components_)


def test_a_rule_that_settles_is_found_through_what_is_around_it():
    posterior, boost = TopicPosterior(np.full((5, K), 0.1), (5, K)), Boost(0.2)
    around = Rounds(HierarchicalPowerPrior(boost=boost), 3)
    assert around.traits.learns_rate
    assert not Rounds(Window(3)).traits.learns_rate
    settled = around.for_rate(posterior, given(None))
    assert settled == Rounds(FixedRate(1.0, 0.0, boost), 3)
    assert settled.for_part(0.5, False) == settled
    half = FixedRate(0.5, 0.5, boost)
    assert half.for_part(0.5, True) == half
    assert half.for_part(0.5, False) == FixedRate(1.0, 0.0, boost)


def test_auto_parts_of_variational_inference_grow_with_many_topics():
    for step, most in (("variational", 450), ("gibbs", 150), ("one_topic", 150)):
        composed = StreamingLDA(inference=step)._composition()
        assert [composed.part_size(k) for k in (10, 333, 1000)] == [150, 150, most]


def test_steps_are_parts_of_minibatches(recwarn):
    X = make_lda_corpus(n_documents=2400, n_features=60, random_state=0).X
    StreamingLDA(5, start="noise", max_iter=1, random_state=0).fit(X)
    assert not [one for one in recwarn if "fewer than" in str(one.message)]
