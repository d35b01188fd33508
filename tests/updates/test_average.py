# SPDX-License-Identifier: BSD-3-Clause
"""The lazy average of the iterates against the plain one."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from streamtopics import StreamingBayes, StreamingLDA
from streamtopics.estimators import Schedule
from streamtopics.messages import Statistics
from streamtopics.models import BetaBinomial
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    Decay,
    IterateAverage,
    MeanDecay,
    OnlineEM,
    PowerPrior,
    StochasticVI,
    Window,
)  # fmt: skip
from tests.plain import VariationalOnlineEM
from tests.reference import online_em as reference
from tests.reference import variational
from tests.updates.given import given, take

V, K = 9, 3
PRIORS = {"scalar": (1, 1), "words": (V, 1), "topics": (1, K), "matrix": (V, K)}
XI = {"the same": None, "another": np.random.default_rng(4).uniform(0.1, 1.0, (V, K))}
RULES = {
    "forgets at once": OnlineEM(MeanDecay(0.1)),
    "forgets": OnlineEM(MeanDecay(0.3)),
    "usual": OnlineEM(MeanDecay(0.7, 4.0)),
    "mean": OnlineEM(MeanDecay(1.0)),
    "stochastic": StochasticVI(Decay(0.5, 3.0), n_documents=100),
    "endless": StochasticVI(Decay(0.9, 0.0)),
    "counts": SVB(),
    "boosts": BPS(0.2, norm="topic"),
    "forgets and boosts": PowerPrior(0.6, Boost(0.3)),
}


def make(shape=(V, K), **others):
    return TopicPosterior(np.random.default_rng(2).uniform(0.1, 2.0, shape), (V, K), **others)


def stream(n, dtype=np.float64):
    """Statistics of some of the words; those of the last only come early."""
    rng = np.random.default_rng(3)
    for t in range(n):
        words = np.flatnonzero(rng.random(V) < 0.4).astype(np.int32)
        words = words[words < V - 1] if t > 20 else words
        counts = rng.gamma(0.5, 4.0, (len(words), K)).astype(dtype)
        n_documents = rng.integers(1, 5)
        yield Statistics(words, counts, np.full(n_documents, counts.sum() / n_documents))


def run(rule, n, average, dtype=np.float64):
    """Blend a stream in; a generator, so that the average can be looked at between."""
    for s in stream(n, dtype):
        yield average.blend(rule.step(average.posterior, given(s), None)[0])


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("shape", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("xi", XI.values(), ids=XI)
def test_follows_the_plain_average(rule, shape, xi):
    """Also where what is boosted is another prior."""
    average, alone = IterateAverage(make(shape, xi=xi)), make(shape, xi=xi)
    dense, prior, learnt = [], [], []
    words = np.array([0, 4, V - 1], dtype=np.int32)
    for s, _ in zip(stream(60), run(rule, 60, average), strict=True):
        take(rule, alone, given(s))
        dense.append(alone.dense())
        prior.append(alone.prior_part)
        learnt.append(alone.dense().sum(axis=0) - prior[-1])
        *_, expected = reference.averages(dense)
        assert_allclose(average.dense(), expected, rtol=1e-7)
        assert_allclose(average.rows(words), expected[words], rtol=1e-7)
        assert_allclose(average.mass, expected.sum(axis=0), rtol=1e-7)
        *_, expected = reference.averages(prior)
        assert_allclose(average.prior_part, expected, rtol=1e-7)
        *_, expected = reference.averages(learnt)
        assert_allclose(average.learnt_part, expected, rtol=1e-7)
    assert average.shape == (V, K)


@pytest.mark.parametrize(
    ("kappa", "n_steps", "dtype", "n_folds"),
    [(0.1, 400, np.float64, 15), (0.3, 3000, np.float32, 20)],
)
def test_thousands_of_steps_of_forgetting(kappa, n_steps, dtype, n_folds):
    """theta passes its limit, and is taken into the rest, many times."""
    rule, average, alone = OnlineEM(MeanDecay(kappa)), IterateAverage(make()), make()
    dense, prior, weight = 0.0, 0.0, 0.0
    folds, before, worst = 0, 0.0, 0.0
    steps = zip(stream(n_steps, dtype), run(rule, n_steps, average, dtype), strict=True)
    for t, (s, _) in enumerate(steps, 1):
        take(rule, alone, given(s))
        folds, before = folds + (average.theta < before / 1e3), average.theta
        dense, prior, weight = dense + t * alone.dense(), prior + t * alone.prior_part, weight + t
        pairs = [
            (average.dense(), dense / weight),
            (average.prior_part, prior / weight),
            (average.mass, dense.sum(axis=0) / weight),
            (average.learnt_part, (dense.sum(axis=0) - prior) / weight),
        ]
        worst = max(worst, *(np.abs(result / wanted - 1).max() for result, wanted in pairs))
    assert worst < 1e-7
    assert folds >= n_folds


@pytest.mark.parametrize("uniform", [False, True])
def test_a_word_that_is_forgotten_was_never_seen(uniform):
    average, without = (IterateAverage(make(), uniform=uniform) for _ in range(2))
    rule, word, state = OnlineEM(MeanDecay(0.6)), 4, {}
    for s in stream(12):
        average.blend(rule.step(average.posterior, given(s), None)[0])
        kept = s.words != word
        s = replace(s, words=s.words[kept], counts=s.counts[kept])
        without.blend(rule.step(without.posterior, given(s), None)[0])
    assert np.abs(average.dense()[word] - without.dense()[word]).min() > 1e-3
    average.forget(np.array([word], np.int32), [(state, "forgotten", word)])
    assert state == {"forgotten": word}
    assert_allclose(average.dense(), without.dense(), rtol=1e-12)
    assert_allclose(average.posterior.dense(), without.posterior.dense(), rtol=1e-12)


WRONG = {
    "gain": {"gain": np.inf},
    "prior": {"prior": np.inf},
    "undefined": {"gain": np.nan},
    "too many topics": {"gain": np.ones(K + 1)},
    "only too much for the rest": {"gain": 1e307},
    "only too much prior for the rest": {"prior": 1e306},
    "alpha": {"alpha": np.full(K, np.nan)},
    "another alpha": {"alpha": np.ones(K + 1)},
    "infinite counts": {"counts": np.full((2, K), np.inf)},
    "undefined counts": {"counts": np.full((2, K), np.nan)},
    "counts": {"counts": np.ones((2, K + 1))},
    "word": {"words": np.array([0, V], dtype=np.int32)},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_failure_of_either_half_changes_nothing(wrong):
    average = IterateAverage(make(alpha=np.ones(K)))
    list(run(OnlineEM(MeanDecay(0.3)), 12, average))
    assert average.theta > 100
    before = pickle.dumps(average)
    parts = {"retain": 0.5, "gain": 0.5, "prior": 0.5, "words": np.array([1, 5], np.int32)}
    parts |= {"counts": np.ones((2, K))} | wrong
    s = Statistics(parts.pop("words"), parts.pop("counts"), np.ones(2))
    blend = Blend(**parts, statistics=s)
    with np.errstate(all="ignore"), pytest.raises((ValueError, IndexError)):
        average.blend(blend)
    assert pickle.dumps(average) == before


def corpus(n=90, dtype=np.float64):
    rng = np.random.default_rng(11)
    return sparse.csr_matrix(rng.poisson(rng.gamma(0.3, 3.0, (n, 15))), dtype=dtype)


ESTIMATORS = {
    "plain": VariationalOnlineEM(3, kappa=0.3, random_state=0),
    "boosted": VariationalOnlineEM(
        3, kappa=0.4, update_each_sweep=True, max_local_iter=4, random_state=0
    ),
}


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS, name="estimator")
def fresh_estimator(request):
    return clone(request.param).set_params(
        schedule__averaging="linear", batch_size=5, doc_topic_prior=0.5
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_topics_are_the_average_of_those_of_the_plain_run(estimator, dtype):
    plain, X = clone(estimator).set_params(schedule__averaging=None), corpus(dtype=dtype)
    snapshots, weights, prior = [], [], []
    for start in range(0, 90, 5):
        plain.partial_fit(X[start : start + 5])
        estimator.partial_fit(X[start : start + 5])
        snapshots.append(plain.components_)
        weights.append(plain.topic_weights_ * plain.posterior_.learnt_part.sum())
        prior.append(plain.posterior_.prior_part)
        *_, expected = reference.averages(snapshots)
        assert_allclose(estimator.components_, expected, rtol=1e-9)
        mass = expected.sum(axis=1)
        assert_allclose(estimator.topic_word_, expected / mass[:, None], rtol=1e-9)
        *_, expected = reference.averages(weights)
        assert_allclose(estimator.topic_weights_, expected / expected.sum(), rtol=1e-9)
        *_, expected = reference.averages(prior)
        assert_allclose(estimator.prior_retention_, expected / mass, rtol=1e-9)
        assert_array_equal(estimator.doc_topic_prior_, plain.doc_topic_prior_)
    assert np.abs(estimator.components_ - plain.components_).max() > 1e-3


@pytest.mark.parametrize("averaging", ["uniform", "linear"])
def test_a_minibatch_in_parts_is_one_iterate(averaging):
    settings = {"update": "online_em", "inference": "gibbs", "random_state": 0}
    plain = StreamingLDA(3, schedule=Schedule(inner_batch_size=5), **settings)
    model, X, iterates = clone(plain).set_params(schedule__averaging=averaging), corpus(), []
    for start in range(0, 90, 18):
        plain.partial_fit(X[start : start + 18])
        model.partial_fit(X[start : start + 18])
        iterates.append(plain.components_)
        weights = np.arange(1, len(iterates) + 1) if averaging == "linear" else None
        expected = np.average(iterates, axis=0, weights=weights)
        assert_allclose(model.components_, expected, rtol=1e-9)
        model = pickle.loads(pickle.dumps(model))
    assert model.posterior_.n_batches >= 20


def test_documents_see_the_average(estimator):
    X = corpus()
    estimator.set_params(local_tol=1e-9).fit(X)
    topics, alpha = estimator.topic_word_.T, estimator.doc_topic_prior_
    dense = X[:4].toarray()
    gammas = [variational.fixed_point(counts, topics, alpha, 1e-9, 100)[0] for counts in dense]
    expected = [gamma / gamma.sum() for gamma in gammas]
    assert_allclose(estimator.transform(X[:4]), expected, rtol=1e-6)
    last = clone(estimator).set_params(schedule__averaging=None).fit(X)
    assert abs(last.score(X) - estimator.score(X)) > 1e-6
    assert np.abs(last.transform(X) - estimator.transform(X)).max() > 1e-4


@pytest.mark.parametrize(("n", "kind"), [(1, "uniform"), (2, "linear")])
def test_averages_of_a_window_are_means_of_its_topics(n, kind):
    rng, found, schedule = np.random.default_rng(0), [], Schedule(averaging=kind)
    how = {"inference": "variational", "random_state": 0}
    model = StreamingLDA(2, update=Window(n), schedule=schedule, **how)
    for _ in range(6):
        found.append(model.partial_fit(rng.poisson(0.5, (30, 40))).posterior_.dense().T.copy())
    weights = np.ones(6) if kind == "uniform" else np.arange(1, 7)
    assert_allclose(model.components_, np.average(found, axis=0, weights=weights))
    bayes = StreamingBayes(BetaBinomial(), Window(n))
    for _ in range(4):
        bayes.partial_fit(rng.random((100, 1)) < 0.5)
    assert bayes.retention_history_.ravel().tolist() == [1, 1 - (n == 1), 1 - 1 / n, 1 - 1 / n]
