# SPDX-License-Identifier: BSD-3-Clause
"""Topics of words in lists, as estimators keep them: all that holds of rows holds of lists."""

import pickle
from copy import deepcopy
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import StreamingLDA, editing, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs
from streamtopics.local.gibbs import MANY_TOPICS, ROUNDING
from streamtopics.updates import BPS, HierarchicalPowerPrior, OnlineEM, PowerPrior

K, V = 40, 300
X = make_lda_corpus(600, 20, V, mean_length=30, random_state=0).X


def model(rounding=0.05, **others):
    step = Gibbs(rounding=rounding)
    return StreamingLDA(K, inference=step, random_state=0, batch_size=300, **others)


def has_lists(estimator):
    return estimator.posterior_.has_lists


@pytest.fixture(scope="module")
def fitted():
    return model(max_iter=2).fit(X)


def test_lists_score_as_rows_do(fitted):
    rows = model(0.0, max_iter=2).fit(X)
    assert has_lists(fitted)
    assert not has_lists(rows)
    assert fitted.score(X) > rows.score(X) - 0.03
    assert fitted.posterior_._state.S.places[:, 1].sum() < 0.7 * K * V
    # What rounding makes of the tokens is right on average.
    assert_allclose(fitted.posterior_.learnt_part.sum(), fitted.n_tokens_seen_, rtol=0.01)
    assert len(fitted.top_words()) == K
    assert_allclose(fitted.topic_word_.sum(axis=1), 1, rtol=1e-9)
    assert_allclose(fitted.components_.sum(axis=1), fitted.posterior_.mass, rtol=1e-9)


def test_each_row_of_transform_depends_on_its_document_alone(fitted):
    together = fitted.transform(X[:30])
    assert_array_equal(together[7:9], fitted.transform(X[7:9]))
    assert_allclose(together.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("size", ["auto", None])
def test_the_bits_do_not_depend_on_threads_or_pauses(size, tmp_path):
    schedule = Schedule(inner_batch_size=size)
    whole, cut = model(schedule=schedule, n_jobs=2), model(schedule=schedule)
    for start in range(0, 600, 200):
        whole.partial_fit(X[start : start + 200])
        cut.partial_fit(X[start : start + 200])
        cut = pickle.loads(pickle.dumps(cut))
    save(cut, tmp_path / "model")
    cut = load(tmp_path / "model")
    for each in (whole, cut):
        each.partial_fit(X[:250])
    assert has_lists(cut)
    assert_array_equal(cut.components_, whole.components_)
    assert_array_equal(cut.transform(X[:9]), whole.transform(X[:9]))


def test_a_call_that_fails_changes_nothing(monkeypatch):
    estimator = model().partial_fit(X[:300])
    before = pickle.dumps(estimator.posterior_)
    monkeypatch.setattr("streamtopics.updates.rule.joined", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        estimator.partial_fit(X[300:])
    assert pickle.dumps(estimator.posterior_) == before


@pytest.mark.parametrize(
    ("update", "kept"),
    [(BPS(0.1), True), (OnlineEM(), True), (PowerPrior(0.9), False),
     (HierarchicalPowerPrior(), False)],
)  # fmt: skip
def test_rules_that_need_all_cells_keep_rows(update, kept):
    estimator = model(update=update).fit(X[:400])
    assert has_lists(estimator) == kept
    assert np.isfinite(estimator.score(X[400:]))


def test_a_mean_over_documents_keeps_its_small_counts():
    lists, rows = (model(rounding, update=OnlineEM(), max_iter=2).fit(X) for rounding in (0.05, 0))
    in_lists, in_rows = (m.posterior_.learnt_part.sum() for m in (lists, rows))
    assert_allclose(in_lists, in_rows, rtol=0.02)
    assert lists.score(X) > rows.score(X) - 0.05


@pytest.mark.parametrize(
    "others",
    [{"topic_word_prior": np.full((K, V), 0.1)}, {"boosted_prior": 0.2, "update": BPS(0.1)},
     {"view": "geometric_mean"}, {"schedule": Schedule(averaging="linear")}],
)  # fmt: skip
def test_what_lists_cannot_hold_is_kept_in_rows(others):
    assert not has_lists(model(**others).partial_fit(X[:100]))


@pytest.mark.parametrize("others", [{}, {"update": OnlineEM()}])
def test_models_of_parts_are_made_one(others):
    base = model(**others).partial_fit(X[:200])
    one, other = (deepcopy(base).partial_fit(part) for part in (X[200:400], X[400:]))
    one.merge(other, base=base)
    assert has_lists(one)
    assert one.n_documents_seen_ == 600
    assert_allclose(one.posterior_.mass, one.components_.sum(axis=1), rtol=1e-9)
    assert one.partial_fit(X[:100]).score(X) > base.score(X) - 0.05


def test_a_rule_that_forgets_from_now_on_still_learns_and_reports():
    estimator = model().partial_fit(X[:300])
    estimator.set_params(update=PowerPrior(0.9)).partial_fit(X[300:])
    assert has_lists(estimator)
    assert estimator.drift_[-1].effective_sample_size.shape == (K,)
    assert_allclose(estimator.components_.sum(axis=1), estimator.posterior_.mass, rtol=1e-9)


def test_topics_are_edited():
    estimator = model().fit(X)
    words = estimator.top_words()[0]
    editing.exclude(estimator, 0, words[:1])
    estimator.partial_fit(X[:100])
    editing.lock(estimator, [1])
    editing.merge(estimator, [2, 3])
    estimator.partial_fit(X[:100])
    assert words[0] not in estimator.top_words()[0]
    fresh = model().fit(X)
    editing.lock(fresh, [1])
    topic = fresh.topic_word_[1]
    fresh.partial_fit(X[:100])
    assert has_lists(fresh)
    assert_allclose(fresh.topic_word_[1], topic, atol=2e-3)


def test_lists_are_kept_from_many_topics_on():
    assert Gibbs().rounding_of(MANY_TOPICS) == ROUNDING
    assert Gibbs().rounding_of(MANY_TOPICS - 1) == Gibbs(rounding=0.5).rounding_of(32) == 0
    with pytest.raises(ValueError, match="rounding"):
        Gibbs(rounding=-1.0)
