# SPDX-License-Identifier: BSD-3-Clause
"""Rules that remember statistics, against plain sums of them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import GuidedTopics, StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs
from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.text import NamedCounts
from streamtopics.updates import FixedPoint, LearnsDocTopicPrior, MeanDecay, Window
from tests.updates.given import dense, given, take

V, K = 9, 3
ETA = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))


def stream(n, dtype=np.float64, start=0):
    """Minibatches of 1 to 5 documents over some of the words."""
    for t in range(start, start + n):
        rng = np.random.default_rng(t)
        words = np.flatnonzero(rng.random(V) < 0.5).astype(np.int32)
        counts = rng.gamma(1.0, 3.0, (len(words), K)).astype(dtype)
        yield Statistics(words, counts, rng.gamma(2.0, 3.0, rng.integers(1, 6)))


def make():
    return TopicPosterior(ETA, (V, K))


def run(rule, parts, posterior=None):
    """The posterior after each minibatch."""
    posterior = make() if posterior is None else posterior
    state = rule.init(posterior)
    for s in parts:
        state = take(rule, posterior, given(s), state)
        yield posterior


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1, 2, 5, 40])
def test_a_window_is_the_plain_sum_of_the_last(length, dtype):
    parts = list(stream(25, dtype))
    for t, posterior in enumerate(run(Window(length), parts), 1):
        lam = ETA + sum(dense(s, V) for s in parts[max(0, t - length) : t])
        assert_allclose(posterior.dense(), lam, rtol=1e-10)
        assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-10)
        assert_array_equal(posterior.c, 1.0)
    assert posterior.n_documents == sum(s.n_documents for s in parts)
    assert posterior.n_tokens == pytest.approx(sum(s.n_tokens for s in parts))


def test_a_state_is_not_changed_in_place():
    rule, posterior, parts = Window(3), make(), list(stream(6))
    state = rule.init(posterior)
    for s in parts:
        before = pickle.dumps(state)
        new = take(rule, posterior, given(s), state)
        assert pickle.dumps(state) == before
        state = new


def test_nothing_is_left_of_a_minibatch_of_many_more_tokens():
    """Nor of its rounding."""
    parts = list(stream(4))
    many = replace(parts[0], counts=1e12 * parts[0].counts, lengths=1e12 * parts[0].lengths)
    *_, posterior = run(Window(2), [many, *parts[1:]])
    lam = ETA + sum(dense(s, V) for s in parts[2:])
    assert_allclose(posterior.dense(), lam, rtol=1e-12)
    assert_allclose(posterior.mass, lam.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize(("count", "prior"), [(1e15, 0.01), (1e9, 1e-8), (1e6, 1e-10)])
def test_what_a_window_takes_out_leaves_no_trace(count, prior):
    large = count * (0.5 + 0.5 * np.random.default_rng(1).random((5, 6)))
    model = StreamingLDA(
        3, update=Window(1), topic_word_prior=prior, schedule=Schedule(growth=1), random_state=0
    )
    for part in (large, large[::-1], np.zeros((3, 6))):
        model.partial_fit(part)
    # What is left is the prior.
    assert_allclose(model.components_, prior, rtol=1e-6)
    X = np.random.default_rng(0).poisson(1.0, (8, 6))
    assert_allclose(model.transform(X).sum(axis=1), 1)


@pytest.mark.parametrize("n", [0, 2, 5])
def test_a_state_without_words_is_that_of_minibatches_without_them(n):
    rule, words, parts = Window(3), np.array([1, 4, 5], np.int32), list(stream(n + 4))
    forgetting, never = make(), make()
    state, expected = rule.init(forgetting), rule.init(never)
    for s in parts[:n]:
        state = take(rule, forgetting, given(s), state)
        expected = take(rule, never, given(s.without(words)), expected)
    state = rule.without_words(state, words)
    forgetting.forget(words)
    for s in parts[n:]:
        state = take(rule, forgetting, given(s), state)
        expected = take(rule, never, given(s), expected)
        assert_allclose(forgetting.dense(), never.dense(), rtol=1e-10)


def test_around_such_a_rule_alpha_may_be_learnt():
    """The state is of both."""
    rule = Window(3)
    learns = LearnsDocTopicPrior(rule, FixedPoint(0, MeanDecay(1.0)))
    posterior, plain = TopicPosterior(ETA, (V, K), np.ones(K)), make()
    state, inner = learns.init(posterior), rule.init(plain)
    for t, s in enumerate(stream(6), 1):
        s = replace(s, log_theta=np.log([0.1, 0.2, 0.3]) - t, alpha=posterior.alpha)
        before = posterior.alpha
        state = take(learns, posterior, given(s), state)
        inner = take(rule, plain, given(s), inner)
        assert_array_equal(posterior.dense(), plain.dense())
        assert np.all(posterior.alpha != before)
        assert_allclose(state[1], np.log([0.1, 0.2, 0.3]) - (t + 1) / 2)


def test_a_window_holds_its_minibatches_alone():
    X = make_lda_corpus(n_documents=1200, n_features=100, random_state=0).X
    step = Gibbs(5, rounding=0.3)
    model = StreamingLDA(50, update=Window(2), inference=step, start="noise", random_state=0)
    named = NamedCounts.of(X, np.array([f"w{i}" for i in range(100)], dtype=object))
    seeds = {"a": ["w0"], "b": ["w1"]}
    guided = GuidedTopics(seeds, update=Window(2), max_count=None, random_state=0)
    for i in range(0, 1200, 100):
        model.partial_fit(X[i : i + 100])
        guided.partial_fit(named[i : i + 100])
        for one in (model, guided):
            assert_allclose(one.posterior_.learnt_part.sum(), X[max(0, i - 100) : i + 100].sum())
