# SPDX-License-Identifier: BSD-3-Clause
"""Columns of counts that a model forgets: as if their words had never occurred."""

import pickle
from functools import cache
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import streamtopics as st
from streamtopics.estimators import Schedule
from streamtopics.estimators.presets import PLAIN
from streamtopics.messages import Statistics
from streamtopics.text import NamedCounts, StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import Window
from tests.estimators.table import CLASSES, name_of, rows
from tests.updates.given import given

N_WORDS = 40
FORGOTTEN = np.array([3, 17, 0, 39])
RNG = np.random.default_rng(0)
X = sparse.csr_matrix(RNG.poisson(0.5, (90, N_WORDS)).astype(float))
SMALL = {"random_state": 0, "batch_size": 30}
MODELS = [
    *rows(4, **SMALL),
    *[kind(4, **SMALL) for kind in CLASSES.values()],
    st.StreamingLDA(
        4, update=Window(3), schedule=PLAIN, inference="variational", max_iter=1, **SMALL
    ),
    st.GibbsOnlineEM(4, schedule=Schedule(averaging="linear"), **SMALL),
    st.GibbsOnlineEM(4, schedule=Schedule(averaging="uniform"), **SMALL),
    st.SVBLDA(4, topic_word_prior=RNG.uniform(0.1, 2, (4, N_WORDS)), **SMALL),
    st.HDPGibbsOnlineEM(4, **SMALL),
    st.HDPVarGibbs(4, **SMALL),
    st.GuidedTopics({"one": ["w1", "w2"], "two": ["w5"]}, **SMALL),
]


def learnt(estimator, times=3):
    model, data = clone(estimator), X
    if isinstance(estimator, st.GuidedTopics):
        data = NamedCounts.of(X, [f"w{i}" for i in range(N_WORDS)])
    for i in range(times):
        model.partial_fit(data[30 * i : 30 * i + 30])
    return model, data


def prior_rows(model):
    """What a word has that never came."""
    found = model._learnt
    parts = [(1.0, found)]
    if hasattr(found, "rest"):
        parts = [(found.theta, found.posterior), (1.0, found.rest)]
    total = 0.0
    for weight, part in parts:
        xi = 0.0 if part.xi is None else part.xi
        row = np.broadcast_to(part.c * part.eta + part.b * xi, part.shape)
        if part is not getattr(found, "rest", None) and not (part.c + part.b).any():
            row = np.broadcast_to(part.eta, part.shape)
        total = total + weight * row
    return total[FORGOTTEN]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", MODELS, ids=name_of)
def test_forgotten_columns_are_the_prior_and_others_what_they_were(estimator):
    model, data = learnt(estimator)
    before = model._learnt.dense()
    counters = model.n_batch_iter_, model.n_documents_seen_, model.n_tokens_seen_
    assert model.forget_words(FORGOTTEN) is model
    after, others = model._learnt.dense(), np.setdiff1d(np.arange(N_WORDS), FORGOTTEN)
    assert_allclose(after[FORGOTTEN], prior_rows(model), rtol=1e-12)
    assert not np.allclose(before[FORGOTTEN], after[FORGOTTEN])
    assert_array_equal(after[others], before[others])
    assert_allclose(model._learnt.mass, after.sum(axis=0), rtol=1e-9)
    assert counters == (model.n_batch_iter_, model.n_documents_seen_, model.n_tokens_seen_)
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.partial_fit(data[:30])
        assert (one._learnt.dense() > 0).all()
        assert_allclose(one._learnt.mass, one._learnt.dense().sum(axis=0), rtol=1e-9)
    assert_array_equal(model.components_, again.components_)


def test_what_a_rule_remembers_of_a_column_is_not_taken_from_its_next_word():
    """Against a stream that never had the words, where the local step sees fixed topics."""
    update = Window(4)

    def blends(parts, forget_after):
        state, kept = update.init(None), {}
        for t, counts in enumerate(parts):
            view = type("View", (), {"n_batches": t})()
            blend, state = update.step(view, given(counts), state)
            kept[t] = blend
            if t == forget_after:
                state = update.without_words(state, np.array([1]))
        return kept

    words = np.arange(3, dtype=np.int32)
    rich = [
        Statistics(words, np.random.default_rng(t).uniform(1, 2, (3, 2)), np.ones(2))
        for t in range(9)
    ]
    poor = [one.without(np.array([1])) for one in rich[:3]]
    forgot, never = blends(rich, 2), blends(poor + rich[3:], None)
    for t in range(3, 9):
        assert_array_equal(forgot[t].statistics.words, never[t].statistics.words)
        assert_allclose(forgot[t].statistics.counts, never[t].statistics.counts, rtol=1e-12)


def test_svb_forgets_exactly_what_the_words_added():
    model, _ = learnt(st.SVBLDA(4, random_state=0))
    assert_array_equal(model.forget_words(FORGOTTEN).posterior_.S[FORGOTTEN], 0.0)
    model.forget_words(np.arange(N_WORDS))
    assert_allclose(model.components_, np.broadcast_to(model.posterior_.eta, (N_WORDS, 4)).T)
    assert (model.posterior_.learnt_mass >= 0).all()


@pytest.mark.parametrize(
    ("columns", "range_"),
    [([40], " from 0 to 39"), ([1, -1], " from 0 to 39"), ([0.5], ""), ([True], "")],
)
def test_wrong_columns_change_nothing(columns, range_):
    model, _ = learnt(st.SVBLDA(4, random_state=0), 1)
    before = model.components_
    with pytest.raises(ValueError, match=f"columns must be whole numbers{range_}"):
        model.forget_words(columns)
    assert_array_equal(model.components_, before)
    assert_array_equal(model.forget_words([]).components_, before)
    assert_array_equal(model.forget_words([2, 2]).posterior_.S[2], 0.0)
    with pytest.raises(NotFittedError):
        st.SVBLDA(4).forget_words([1])


@cache
def texts_of(t, n=40):
    rng = np.random.default_rng(t)
    first = 10 * (t // 2)
    return [" ".join(f"w{first + r}" for r in rng.zipf(1.5, 15) % 60) for _ in range(n)]


LAST = [
    st.SVBLDA(3, random_state=0),
    # All others but those that need the words of columns, which change along a stream.
    *[one for one in MODELS if one.get_params().get("topic_word_prior", None) is None
      or np.ndim(one.topic_word_prior) == 0 if not isinstance(one, st.GuidedTopics)],
]  # fmt: skip


def pipeline_of(last):
    words = StreamingCountVectorizer(max_features=30, half_life=60.0, n_candidates=60)
    return StreamingPipeline([("words", words), ("topics", clone(last))])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("last", LAST, ids=name_of)
def test_a_pipeline_forgets_columns_that_changed_hands(last):
    """As by hand, and cut as uncut, bit for bit."""
    pipeline, cut = pipeline_of(last), pipeline_of(last)
    words, topics = pipeline_of(last).named_steps.values()
    n_recycled = 0
    for t in range(12):
        pipeline.partial_fit(texts_of(t))
        cut = pickle.loads(pickle.dumps(cut)).partial_fit(texts_of(t))
        counts = words.partial_fit_transform(texts_of(t))
        if t:
            topics.forget_words(words.recycled_)
        topics.partial_fit(counts)
        n_recycled += len(words.recycled_)
        for model in (pipeline, cut):
            assert_array_equal(model[-1].components_, topics.components_)
            assert_array_equal(model[0].get_feature_names_out(), words.get_feature_names_out())
    assert n_recycled > 20
    assert pipeline.transform(texts_of(1)).shape == (40, topics.components_.shape[0])
    named = set(words.vocabulary_)
    assert all(set(top) <= named for top in pipeline.top_words(n_words=5))


def test_after_a_failure_the_columns_are_handed_over_with_the_next_minibatch(monkeypatch):
    pipeline = pipeline_of(LAST[0])
    for t in range(3):
        pipeline.partial_fit(texts_of(t))
    before = pipeline[-1].components_
    with monkeypatch.context() as patch:
        patch.setattr(st.SVBLDA, "forget_words", None)
        with pytest.raises(TypeError):
            pipeline.partial_fit(texts_of(8))
    lost = pipeline[0].recycled_
    assert len(lost)
    assert_array_equal(pipeline[-1].components_, before)
    handed = Mock(wraps=pipeline[-1].forget_words)
    monkeypatch.setattr(st.SVBLDA, "forget_words", handed)
    pipeline.partial_fit(texts_of(9))
    assert set(lost) <= set(handed.call_args_list[0].args[0].tolist())
