# SPDX-License-Identifier: BSD-3-Clause
"""Priors as parameters: resolved at fit, in pipelines and searches on raw texts."""

import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

import streamtopics as st
from streamtopics.datasets import iter_minibatches
from streamtopics.priors import (
    ClassWords,
    SeedWords,
    ZipfPrior,
    class_words_prior,
    seed_prior,
    word_ranks,
    zipf_prior,
)
from streamtopics.text import NamedVectorizer
from streamtopics.updates import BPS
from tests import plain as rules

TEXTS = ["a ship at sea", "the deep sea", "a plane in the sky", "the blue sky"] * 30
LABELS = ["sea", "sea", "air", "air"] * 30
SEEDS = {"water": ["sea"], "air": ["sky", "plane"]}
X = NamedVectorizer(CountVectorizer()).fit_transform(TEXTS)
WORDS = X.feature_names


def prior_of(model, X=X):
    return model.fit(X).posterior_.prior_rows(np.arange(X.shape[1], dtype=np.int32)).T


def bps(**parameters):
    return rules.BPSLDA(2, batch_size=20, random_state=0).set_params(**parameters)


def raw(model):
    return Pipeline([("count", NamedVectorizer(CountVectorizer())), ("lda", model)])


@dataclass(frozen=True)
class Twice:
    """A record of a user."""

    value: float

    def resolve(self, columns):
        return np.full((columns.n_components, columns.X.shape[1]), 2 * self.value)


def first_letters(names, X):
    return np.array([1.0 + name.startswith("s") for name in names]) * X.max()


ENGLISH = ["the", "a", "sea"]
RECORDS = [
    (SeedWords(SEEDS, 5), seed_prior(SEEDS, WORDS, 5, n_components=2)),
    (SeedWords(list(SEEDS.values()), 5), seed_prior(SEEDS, WORDS, 5, n_components=2)),
    (SeedWords({1: ["sea"]}, 5), seed_prior({1: ["sea"]}, WORDS, 5, n_components=2)),
    (
        SeedWords({"a": ["sea", "gnu"]}, 5, base=0.1, elsewhere=0.01, missing="ignore"),
        seed_prior({"a": ["sea"]}, WORDS, 5, n_components=2, base=0.1, elsewhere=0.01),
    ),
    (ZipfPrior(mass=3.0), zipf_prior(counts=X.sum(axis=0).A1, mass=3.0)),
    (ZipfPrior(ENGLISH, exponent=2.0), zipf_prior(word_ranks(ENGLISH, WORDS), exponent=2.0)),
    (first_letters, first_letters(WORDS, X)),
    (Twice(0.5), np.ones((2, len(WORDS)))),
]


@pytest.mark.parametrize(("record", "array"), RECORDS)
def test_a_record_stands_for_the_array(record, array):
    expected = np.broadcast_to(array, (2, len(WORDS)))
    assert_array_equal(prior_of(rules.SVBLDA(2, topic_word_prior=record)), expected)
    sampled = rules.GibbsOnlineEM(2, random_state=0)
    for model, name in ((bps(), "boosted_prior"), (sampled, "topic_word_prior")):
        by_record = clone(model).set_params(**{name: record}).fit(X)
        by_array = clone(model).set_params(**{name: array}).fit(X)
        assert_array_equal(by_record.components_, by_array.components_)


@pytest.mark.parametrize("record", [record for record, _ in RECORDS])
def test_records_travel(record):
    model = bps(topic_word_prior=record)
    assert clone(model).topic_word_prior == record
    assert len(repr(model)) < 800
    assert_array_equal(
        pickle.loads(pickle.dumps(raw(model))).fit(TEXTS)[-1].components_, model.fit(X).components_
    )


def test_names_come_with_a_data_frame_or_the_record():
    expected = seed_prior(SEEDS, WORDS, 5)
    frame = pd.DataFrame(X.toarray(), columns=WORDS)
    seeds = SeedWords(SEEDS, 5)
    assert_array_equal(prior_of(rules.SVBLDA(2, topic_word_prior=seeds), frame), expected)
    vectorizer = CountVectorizer().fit(TEXTS)
    for vocabulary in (vectorizer.vocabulary_, vectorizer.get_feature_names_out()):
        named = SeedWords(SEEDS, 5, vocabulary=vocabulary)
        plain = vectorizer.transform(TEXTS)
        assert_array_equal(prior_of(rules.SVBLDA(2, topic_word_prior=named), plain), expected)
    fixed = make_pipeline(
        CountVectorizer(vocabulary=list(WORDS)),
        rules.SVBLDA(2, topic_word_prior=SeedWords(SEEDS, 5, vocabulary=list(WORDS))),
    )
    assert_array_equal(clone(fixed).fit(TEXTS)[-1].posterior_.eta.T, expected)


def test_what_was_resolved_at_the_start_is_kept():
    batches = list(iter_minibatches(X, batch_size=40))
    model = bps(topic_word_prior=ZipfPrior())
    same = bps(topic_word_prior=zipf_prior(counts=batches[0].sum(axis=0).A1))
    for batch in batches:
        model.partial_fit(batch)
        same.partial_fit(batch)
    assert_array_equal(model.components_, same.components_)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_search_on_raw_text(n_jobs):
    grid = {
        "lda__boosting_scale": [0.0, 0.5],
        "lda__topic_word_prior__strength": [0.01, 10.0],
        "count__vectorizer__max_df": [0.5, 1.0],
    }
    model = raw(bps(topic_word_prior=SeedWords(SEEDS, 1.0)))
    search = GridSearchCV(model, grid, cv=2, n_jobs=n_jobs, error_score="raise").fit(TEXTS)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(np.unique(scores.round(6))) == 8
    best = search.best_params_["lda__topic_word_prior__strength"]
    assert search.best_estimator_[-1].topic_word_prior == SeedWords(SEEDS, best)
    words = search.best_estimator_[-1].top_words(n_words=3)
    assert "sea" in words[0]
    assert "sky" in words[1]


def test_priors_of_classes():
    model = st.MultiViewLDA(1, 1, class_word_prior=ClassWords(n_seeds=3), random_state=0)
    array = class_words_prior(X, LABELS, n_seeds=3)
    same = clone(model).set_params(class_word_prior=array).fit(X, LABELS)
    assert_array_equal(model.fit(X, LABELS).components_, same.components_)
    grid = {"lda__class_word_prior__n_seeds": [1, 3]}
    search = GridSearchCV(raw(model), grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("name", ["class_word_prior", "boosted_prior"])
def test_seeds_of_classes_go_by_their_names(name):
    seeds = SeedWords({"sea": ["ship"], "air": ["sky"]}, 5)
    array = seed_prior({1: ["ship"], 0: ["sky"]}, WORDS, 5)
    model = st.MultiViewLDA(1, 1, update=BPS(0.5), random_state=0)
    by_name = clone(model).set_params(**{name: seeds}).fit(X, LABELS)
    by_place = clone(model).set_params(**{name: array}).fit(X, LABELS)
    assert_array_equal(by_name.components_, by_place.components_)
    model.set_params(**{name: SeedWords({"water": ["sea"]}, 1)})
    with pytest.raises(ValueError, match=r"\['water'\], not among the classes \['air'"):
        model.fit(X, LABELS)


@pytest.mark.parametrize("name", ["RatingLDA", "SupervisedLDA", "HiddenFactorsTopics"])
def test_models_of_ratings(name):
    ratings = np.tile([1.0, 2.0, 4.0, 5.0], 30)
    model = getattr(st, name)(2, topic_word_prior=ZipfPrior(mass=3.0), random_state=0)
    given = {"items": np.tile(np.arange(6), 20), "users": np.repeat(np.arange(12), 10)}
    model.fit(X, ratings, **given if name != "SupervisedLDA" else {})
    assert_allclose(model.topic_word_prior_, zipf_prior(counts=X.sum(axis=0).A1, mass=3.0))
    assert model.get_params()["topic_word_prior__mass"] == 3.0
