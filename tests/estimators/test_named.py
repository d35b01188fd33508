# SPDX-License-Identifier: BSD-3-Clause
"""The classes of methods that have a name, at their defaults: `StreamingLDA` with their rule."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import streamtopics
from streamtopics import BPSLDA, SVBHPP, GibbsOnlineEM, StreamingLDA, VariationalOnlineEM
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs, OneTopic, Variational
from streamtopics.local.step import minibatch_of
from streamtopics.models.lda import geometric_mean
from streamtopics.updates import (
    BPS,
    FixedPoint,
    HierarchicalPowerPrior,
    MeanDecay,
    OnlineEM,
    Shares,
)
from streamtopics.utils.parallel import workers

# Of documents that one topic, sampling and variational inference suit.
LENGTHS = {5: OneTopic, 30: Gibbs, 90: Variational}
CORPORA = {
    length: make_lda_corpus(400, n_features=80, mean_length=length, random_state=0).X
    for length in LENGTHS
}
RULES = {
    "SVBLDA": {"update": "svb"},
    "BPSLDA": {"update": BPS(0.1)},
    "GibbsOnlineEM": {"update": OnlineEM(MeanDecay(0.85)), "schedule": Schedule(n_start_rounds=10)},
    "VariationalOnlineEM": {"update": OnlineEM(MeanDecay(0.85)), "topic_word_prior": 0.02},
}
EM_STEPS = {OneTopic: "one_topic", Gibbs: Gibbs(5), Variational: Variational(1e-3, 20)}


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", RULES)
def test_defaults_are_those_of_streaming_lda(name, length):
    """Bit for bit, with the local step that suits the documents, or the one of the name."""
    X, given, local = CORPORA[length], dict(RULES[name]), LENGTHS[length]
    if "EM" in name:
        if name == "VariationalOnlineEM" and length < 60:
            local = OneTopic
        elif local is not OneTopic:
            local = Gibbs if name == "GibbsOnlineEM" else Variational
        learns = Shares if local is OneTopic else FixedPoint
        given["doc_topic_prior_update"] = learns(step_size=MeanDecay(0.85))
        given["inference"] = EM_STEPS[local]
    one = getattr(streamtopics, name)(4, random_state=1).fit(X)
    other = StreamingLDA(4, start="spectral", random_state=1, **given)
    other.fit(X)
    assert type(one.inference_) is local
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.transform(X), other.transform(X))


@pytest.mark.parametrize("name", [*RULES, "SVBHPP"])
def test_planted_topics_are_found(name):
    """Nine documents of nine tokens, three for each topic, as scikit-learn tests its own LDA."""
    X = np.kron(np.eye(3, dtype=int), np.full((3, 3), 3))
    for seed in range(4):
        model = getattr(streamtopics, name)(3, random_state=seed).fit(X)
        top = np.argsort(model.topic_word_, axis=1)[:, -3:]
        assert sorted(map(sorted, top.tolist())) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("rate", ["shared", "topic"])
def test_several_starts_are_compared_by_the_exact_bound(rate, length):
    """Whatever local step and view learn, the rate is that of the rule on the whole minibatch."""
    X = CORPORA[length]
    model = SVBHPP(4, rate=rate, random_state=0).partial_fit(X[:300])
    composition, posterior = model._composition(), model.posterior_
    rule = HierarchicalPowerPrior(rate, rate_starts=(0.05, 0.95))
    exact = replace(
        composition.model(model.seed_), view=geometric_mean, local=Variational(),
        report=frozenset({"local_bound"}), prior_limit=None,
    )  # fmt: skip
    Y = make_lda_corpus(200, n_features=80, mean_length=length, random_state=7).X.astype("float32")
    with workers(1) as pool:
        blend, _ = rule.step(posterior, exact.learner(posterior, minibatch_of(Y), pool), None)
    first = model._n_hidden if rate == "topic" else 0
    expected = np.broadcast_to(np.atleast_1d(blend.retain)[first:], 4)
    assert_array_equal(model.partial_fit(Y).retention_, expected)


def test_boost_and_tokens_are_exact_in_parts():
    X = CORPORA[90]
    model = BPSLDA(4, boosting_scale=0.25, topic_word_prior=0.05, random_state=0).fit(X)
    assert model.n_batch_iter_ > model.n_iter_ * X.shape[0] / model.batch_size
    learnt = model.components_.sum() - 4 * 80 * 0.05
    assert learnt == pytest.approx(1.25 * model.n_tokens_seen_)
    assert model.n_tokens_seen_ == pytest.approx(model.n_iter_ * X.sum())


def test_what_is_boosted_says_which_topic_is_which():
    """Topics start from noise then, not from clusters, whose places say nothing."""
    X, known = CORPORA[90], np.full((3, 80), 0.05)
    known[0, 3] = 2.0
    apart, alike = (
        BPSLDA(3, boosted_prior=prior, random_state=0).partial_fit(X) for prior in (known, 0.1)
    )
    noise = BPSLDA(3, boosted_prior=known, start="noise", random_state=0).partial_fit(X)
    assert_array_equal(apart.components_, noise.components_)
    assert not np.array_equal(apart.components_, alike.components_)


def test_records_and_words_of_local_steps_keep_their_settings():
    kind = streamtopics.SVBLDA
    assert kind(2, inference=Variational(0.2, 4))._composition().inference.tol == 0.2
    sampled = StreamingLDA(2, inference="gibbs").set_params(inference__n_sweeps=8)
    assert sampled.inference == Gibbs(8)
    X = CORPORA[90]
    assert GibbsOnlineEM(2, n_sweeps=3).fit(X).inference_ == Gibbs(3)
    each = VariationalOnlineEM(2, max_local_iter=4, update_each_sweep=True).fit(X)
    assert each.inference_ == Variational(1e-3, 1)
    rounds = each._composition().schedule
    assert (rounds.n_rounds, rounds.warm_rounds) == (4, True)


@pytest.mark.parametrize("inference", ["auto", "gibbs", "variational", "one_topic"])
def test_rates_are_settled_whether_minibatches_are_in_parts_or_whole(inference):
    X = make_lda_corpus(n_documents=300, n_features=60, random_state=0).X
    model = SVBHPP(3, inference=inference, schedule=Schedule(inner_batch_size=None), random_state=0)
    parts = clone(model).set_params(schedule__inner_batch_size=150)
    for one in (model, parts):
        one.partial_fit(X).partial_fit(X)
    assert_allclose(model.retention_, parts.retention_, atol=0.05)
