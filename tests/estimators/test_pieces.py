# SPDX-License-Identifier: BSD-3-Clause
"""What `StreamingLDA` is made of when nothing is said, and pieces that count documents."""

import pickle
from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from streamtopics import HDPGibbsOnlineEM
from streamtopics.base.composition import auto_inference, auto_passes
from streamtopics.distributed import compute_update
from streamtopics.estimators import SVBLDA, Schedule, StreamingLDA, StreamingMixture
from streamtopics.local import Gibbs, OneTopic, Variational
from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.streams.monitoring.statistics import block_features
from streamtopics.updates import (
    SVB,
    Decay,
    FixedPoint,
    HierarchicalPowerPrior,
    LearnsDocTopicPrior,
    MeanDecay,
    Memory,
    PowerPrior,
    Shares,
)
from tests.small import COUNTS
from tests.updates.given import given, take

V, K = 40, 4
WORDS = np.arange(V, dtype=np.int32)
PIECES = {"short": OneTopic, "middle": Gibbs, "long": Variational}
LENGTHS = {"short": 7, "middle": 30, "long": 90}


def corpus(length, n=120, seed=0):
    """Documents of `length` tokens each, of four topics of ten words."""
    rng = np.random.default_rng(seed)
    beta = np.kron(np.eye(K), np.full(V // K, K / V))
    theta = rng.dirichlet(np.full(K, 0.3), n)
    return sparse.csr_matrix(np.array([rng.multinomial(length, t @ beta) for t in theta], float))


def fitted(X, **parameters):
    return StreamingLDA(K, random_state=0, **parameters).fit(X)


def streamed(*parts, **parameters):
    model = StreamingLDA(K, random_state=0, **parameters)
    for part in parts:
        model.partial_fit(part)
    return model


# "auto"


@pytest.mark.parametrize("kind", PIECES)
def test_the_local_step_suits_the_length_of_documents(kind):
    model = streamed(corpus(LENGTHS[kind]))
    assert type(model.inference_) is PIECES[kind]
    assert model.inference == "auto"
    named = {"short": "one_topic", "middle": "gibbs", "long": "variational"}[kind]
    same = streamed(corpus(LENGTHS[kind]), inference=named)
    assert_array_equal(model.components_, same.components_)
    assert_array_equal(model.transform(corpus(9)), same.transform(corpus(9)))


def test_empty_documents_say_nothing_on_the_length():
    X = sparse.vstack([corpus(30, 30), sparse.csr_matrix((200, V))], format="csr")
    assert type(streamed(X).inference_) is Gibbs
    nothing = streamed(sparse.csr_matrix((3, V)))
    assert nothing.n_documents_seen_ == 3
    assert np.isfinite(nothing.transform(X)).all()


@pytest.mark.parametrize("kind", PIECES)
def test_the_first_token_says_what_suits(kind):
    X, empty = corpus(LENGTHS[kind]), sparse.csr_matrix((50, V))
    model = streamed(empty, empty)
    assert model.n_documents_seen_ == 100
    assert type(model.inference_) is Gibbs
    before = model.transform(X)
    if kind != "short":
        with pytest.raises(ValueError, match="not reported by"):
            model.set_params(doc_topic_prior_update="shares").partial_fit(X)
    assert_array_equal(model.set_params(doc_topic_prior_update="auto").transform(X), before)
    model = pickle.loads(pickle.dumps(model)).partial_fit(X)
    assert type(model.inference_) is PIECES[kind]
    assert (model.n_documents_seen_, model.n_tokens_seen_) == (220, X.sum())
    same = streamed(X)
    assert_allclose(model.components_.sum(), same.components_.sum())
    if kind != "middle":
        # What is drawn at random depends on the number of documents before.
        assert_array_equal(model.components_, same.components_)
    assert model.partial_fit(empty).n_documents_seen_ == 270
    assert type(model.inference_) is PIECES[kind]
    assert model.fit(X).n_documents_seen_ == fitted(X).n_documents_seen_
    assert fitted(sparse.vstack([empty, X], format="csr")).n_documents_seen_ >= 170
    assert np.isfinite(fitted(empty).transform(X)).all()


def test_a_stream_that_begins_without_words_counts_its_documents():
    model = SVBLDA(1, random_state=0)
    X = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
    seen = [model.partial_fit(row[None]).n_documents_seen_ for row in X]
    assert seen == [1, 2, 3, 4]


def test_fit_goes_by_the_corpus_and_partial_fit_by_the_first_minibatch():
    parts = corpus(7, 30), corpus(90, 300)
    assert type(fitted(sparse.vstack(parts, format="csr")).inference_) is Variational
    assert type(streamed(*parts).inference_) is OneTopic


def test_weights_are_no_lengths():
    """Rows of tf-idf sum to a few, whatever the length of the document."""
    rng = np.random.default_rng(0)
    for kind, length in LENGTHS.items():
        X = sparse.csr_matrix(rng.poisson(length / 2000, (100, 2000)).astype(float))
        weights = TfidfTransformer().fit_transform(X)
        assert weights.sum(axis=1).mean() < 12
        assert type(auto_inference(weights)) is PIECES[kind]
    model = StreamingLDA(K, random_state=0).fit(TfidfTransformer().fit_transform(corpus(30)))
    assert type(model.inference_) is Gibbs


@pytest.mark.parametrize(
    ("first", "then"),
    [("one_topic", "gibbs"), ("gibbs", "one_topic"), (OneTopic(1.0), "one_topic")],
)
def test_a_background_cannot_come_or_go(first, then):
    model = streamed(corpus(7), inference=first)
    before = model.components_
    with pytest.raises(ValueError, match=r"inference is .* started with"):
        model.set_params(inference=then).partial_fit(corpus(7))
    assert_array_equal(model.components_, before)
    mixture = StreamingMixture(K, random_state=0).partial_fit(corpus(7))
    before = mixture.transform(corpus(7))
    changed = deepcopy(mixture).set_params(background=0.0)
    features = partial(block_features, changed, n_new=20, rng=np.random.default_rng(0))
    for reads in (changed.partial_fit, changed.transform, changed.score, features):
        with pytest.raises(ValueError, match=r"inference is .* started with"):
            reads(corpus(7))
    if hasattr(model, "merge"):
        with pytest.raises(ValueError, match="inference is"):
            compute_update(model, [corpus(7)])
    same = changed.set_params(background=mixture.background)
    assert_array_equal(same.transform(corpus(7)), before)


def eta_of(model):
    eta = model.posterior_.eta
    assert eta.shape == (1, 1)
    return eta.item()


def test_small_corpora_are_smoothed_more():
    """1.5 tokens of a word over all topics, within bounds, where `fit` has few documents."""
    for n_components, eta in ((1, 0.15), (10, 0.15), (30, 0.05), (75, 0.02), (200, 0.02)):
        model = StreamingLDA(n_components, random_state=0, max_iter=1).fit(corpus(7))
        assert_allclose(eta_of(model), eta)
        same = StreamingLDA(n_components, topic_word_prior=eta_of(model), random_state=0)
        same.set_params(max_iter=1).fit(corpus(7))
        assert_array_equal(model.components_, same.components_)


def test_streams_and_larger_corpora_are_smoothed_as_ever():
    many = corpus(7, n=5000)
    model = fitted(many)
    assert eta_of(model) == 0.02
    assert_array_equal(model.components_, fitted(many, topic_word_prior=0.02).components_)
    assert_allclose(eta_of(fitted(many[:4999])), 0.15)
    assert eta_of(streamed(corpus(7))) == 0.02
    # The size of a corpus before does not count.
    assert eta_of(model.fit(many[:100]).fit(many)) == 0.02
    for rule in ("online_em", "power_prior", "svi"):
        assert eta_of(fitted(corpus(30), update=rule)) == 0.02
    assert_allclose(eta_of(fitted(corpus(30), update="bps")), 0.15)


@pytest.mark.parametrize(("parameters", "length"), [
    ({"doc_topic_prior_update": "gamma"}, 30),
    ({"doc_topic_prior_update": "shares"}, 7),
    ({"doc_topic_prior_update": "fixed_point"}, 90),
    ({"update": HierarchicalPowerPrior(rate_starts=(0.1, 0.9))}, 90),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("before", LENGTHS)
def test_a_fit_does_not_know_what_suited_an_earlier_one(before, parameters, length):
    parameters = parameters | {"view": "geometric_mean", "schedule": Schedule(prior_limit=None)}
    fresh = fitted(corpus(length), **parameters)
    again = fitted(corpus(LENGTHS[before])).set_params(**parameters).fit(corpus(length))
    assert again.inference_ == fresh.inference_
    assert_array_equal(again.components_, fresh.components_)


@pytest.mark.parametrize(("kind", "passes"), [("short", 2), ("middle", 5), ("long", 5)])
def test_small_corpora_have_several_passes(kind, passes):
    X = corpus(LENGTHS[kind])
    model, same = fitted(X), fitted(X, max_iter=passes)
    assert (model.n_iter_, model.n_documents_seen_) == (passes, passes * 120)
    assert_array_equal(model.components_, same.components_)
    assert fitted(X, max_iter=1).n_iter_ == 1


@pytest.mark.parametrize(("inference", "n_documents", "n_tokens", "passes"), [
    (Gibbs(), 5000, 400_000, 1),
    (Gibbs(), 5000, 399_999, 2),
    (Variational(), 4999, 400_000, 2),
    (Gibbs(), 10_000, 140_000, 3),
    (Gibbs(), 2000, 300_000, 3),
    (Gibbs(), 60_000, 10_000, 5),
    (Gibbs(), 1, 0.5, 5),
    (Gibbs(), 0, 0, 5),
    # A mixture fits short documents too closely if it sees them again.
    (OneTopic(), 5000, 1000, 1),
    (OneTopic(), 4999, 1_000_000, 2),
])  # fmt: skip
def test_passes_follow_from_documents_and_tokens(inference, n_documents, n_tokens, passes):
    assert auto_passes(inference, n_documents, n_tokens) == passes


def test_a_corpus_of_many_short_documents_is_read_again():
    X = sparse.vstack([corpus(20, 500)] * 10, format="csr")
    assert StreamingLDA(2, random_state=0).fit(X).n_iter_ == 4
    assert StreamingLDA(2, random_state=0).fit(X * 4).n_iter_ == 1


@pytest.mark.parametrize("inference", ["gibbs", "one_topic"])
def test_topics_that_started_from_documents_have_no_merge_without_a_parent(inference):
    X = corpus(30)
    base, mine, theirs = (
        streamed(X[:40], more, inference=inference) for more in (X[:0], X[40:80], X[80:])
    )
    before = mine.components_
    with pytest.raises(ValueError, match="base") as raised:
        mine.merge(theirs)
    assert "start" in str(raised.value)
    assert_array_equal(mine.components_, before)
    mine.merge(theirs, base=base)
    eta = 0.02 * V * K
    assert_allclose(mine.posterior_.learnt_part.sum(), X.sum(), rtol=1e-6)
    if inference == "gibbs":
        assert_allclose(mine.components_.sum() - eta, X.sum(), rtol=1e-6)


def blended(rule, sizes):
    """The weight of what was known at first, after minibatches of so many documents."""
    posterior = TopicPosterior(np.full((1, 1), 0.1), (V, K))
    known = Statistics(WORDS, np.full((V, K), 7.0), np.full(1, 7.0 * V * K))
    take(SVB(), posterior, given(known))
    nothing = np.zeros((V, K))
    for n in sizes:
        take(rule, posterior, given(Statistics(WORDS, nothing, np.zeros(n))))
    return posterior.learnt_part.sum() / (7.0 * V * K)


@pytest.mark.parametrize("memory", [30.0, 100.0, 2e4])
def test_a_memory_keeps_by_documents(memory):
    rule = PowerPrior(Memory(memory))
    for sizes in ([100], [25] * 4, [1, 9, 40, 50], [1] * 100):
        assert_allclose(blended(rule, sizes), np.exp(-100 / memory), rtol=1e-12)
    assert_allclose(Memory(memory).kept(60), np.exp(-60 / memory))
    assert_allclose(blended(PowerPrior(float(np.exp(-25 / 80))), [25]), np.exp(-25 / 80))


def of_documents(n, shares):
    counts = np.full((V, K), n / (V * K))
    return Statistics(WORDS, counts, np.full(n, 1.0), shares=shares)


def alphas(update, statistics):
    """Alpha after each minibatch."""
    posterior = TopicPosterior(np.full((1, 1), 0.1), (V, K), np.array([0.5, 1.0, 2.0, 0.5]))
    rule = LearnsDocTopicPrior(SVB(), update)
    state, found = rule.init(posterior), []
    for s in statistics:
        state = take(rule, posterior, given(replace(s, alpha=posterior.alpha)), state)
        found.append(posterior.alpha)
    return np.array(found)


@pytest.mark.parametrize("size", [20, 60, 120])
def test_the_burn_in_of_an_estimator_is_that_of_documents(size):
    """Whether minibatches are cut into parts or come one by one."""
    X, burn = corpus(90), FixedPoint(burn_in=60)
    settings = {"inference": "variational", "doc_topic_prior_update": burn}
    model = streamed(X[:60], schedule=Schedule(inner_batch_size=size), **settings)
    assert_allclose(model.doc_topic_prior_, 3 / K)
    model.partial_fit(X[60:])
    assert np.abs(model.doc_topic_prior_ - 3 / K).max() > 1e-3


@pytest.mark.parametrize("floor", [0.01, 0.3])
@pytest.mark.parametrize("step_size", [MeanDecay(1.0), MeanDecay(0.7), Decay(0.6)])
@pytest.mark.parametrize("burn_in", [0, 100])
def test_shares_are_a_running_mean_and_a_floor(floor, step_size, burn_in):
    shares = np.random.default_rng(0).dirichlet(np.full(K, 0.5), 6)
    update = Shares(floor, burn_in, step_size)
    found = alphas(update, [of_documents(50, s) for s in shares])
    first, mean = burn_in // 50, shares[burn_in // 50]
    assert_array_equal(found[:first], np.tile([0.5, 1.0, 2.0, 0.5], (first, 1)))
    for t, s in enumerate(shares[first:], first):
        mean = mean if t == first else (1 - step_size(t)) * mean + step_size(t) * s
        assert_allclose(found[t], 4.0 * ((1 - floor) * mean + floor / K), rtol=1e-10)
        assert_allclose(found[t].sum(), 4.0)


def test_a_name_that_is_refused_is_not_offered():
    with pytest.raises(TypeError, match="update must be") as caught:
        HDPGibbsOnlineEM(update="power_prior").fit(COUNTS)
    assert str(caught.value).count("power_prior") == 1
