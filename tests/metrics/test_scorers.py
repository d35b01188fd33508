# SPDX-License-Identifier: BSD-3-Clause
"""The scorers in scikit-learn's model selection, and on their own."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA
from streamtopics.estimators import Schedule
from streamtopics.metrics import (
    CoherenceScorer,
    DiversityScorer,
    OpenVocabularyScorer,
    PredictiveScorer,
    log_predictive_probability,
    topic_coherence,
    topic_diversity,
)

SCORERS = [PredictiveScorer(), CoherenceScorer(n_words=4), DiversityScorer(n_words=4)]
MODEL = SVBLDA(n_components=2, schedule=Schedule(n_rounds=10), random_state=0)
WORDS = np.array(["sea", "ship", "sail", "wind", "wave", "law", "tax", "court", "judge", "vote"])


@pytest.fixture(scope="module", name="X")
def counts_of_two_topics():
    """Two topics that share no word, 40 documents of about 50 tokens."""
    rng = np.random.default_rng(0)
    rates = np.kron(np.eye(2), np.full((20, 5), 10.0))
    return rng.poisson(rates[rng.permutation(40)])


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search(scorer, n_jobs, X):
    search = GridSearchCV(MODEL, {"n_components": [1, 2]}, scoring=scorer, cv=2, n_jobs=n_jobs)
    search.fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.score(X) == scorer(search.best_estimator_, X)
    if isinstance(scorer, PredictiveScorer):
        assert search.best_params_ == {"n_components": 2}


@pytest.mark.parametrize("model", [MODEL, LatentDirichletAllocation(2, random_state=0)])
def test_each_is_its_metric(model, X):
    model.fit(X)
    top = np.argsort(-model.components_, axis=1)[:, :4]
    assert PredictiveScorer(3)(model, X) == log_predictive_probability(model, X, random_state=3)
    for measure in ("npmi", "c_v", "umass"):
        expected = topic_coherence(top, X, measure=measure).mean()
        assert CoherenceScorer(measure, 4)(model, X) == pytest.approx(expected)
    assert DiversityScorer(4)(model) == DiversityScorer(4)(model, X) == topic_diversity(top)


def test_the_default_seed_is_that_of_the_score_method(X):
    model = MODEL.fit(X)
    assert PredictiveScorer()(model, X) == pytest.approx(model.score(X), rel=1e-12)


def test_the_most_probable_words_are_taken():
    model = SimpleNamespace(components_=[[9, 5, 1], [9, 1, 5]], transform=None)
    assert DiversityScorer(1)(model) == 0.5
    assert DiversityScorer(2)(model) == 0.75


def test_at_most_all_words_are_taken(X):
    model = MODEL.fit(X)
    everything = np.argsort(-model.components_, axis=1)
    expected = topic_coherence(everything, X).mean()
    assert CoherenceScorer(n_words=99)(model, X) == pytest.approx(expected)
    assert DiversityScorer(n_words=99)(model) == 0.5


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_pipelines(scorer, X):
    texts = [" ".join(np.repeat(WORDS, counts)) for counts in X]
    pipeline = make_pipeline(CountVectorizer(), MODEL).fit(texts)
    counts = pipeline[0].transform(texts)
    assert scorer(pipeline, texts) == pytest.approx(scorer(pipeline[-1], counts), rel=1e-12)
    assert scorer(make_pipeline(pipeline[-1]), counts) == scorer(pipeline[-1], counts)


OF_TEXTS = [*SCORERS, OpenVocabularyScorer()]
TEXTS = ["sea ship sail wind wave " * 3, "law tax court judge vote " * 3] * 6


def searched(estimator, name):
    return GridSearchCV(estimator, {name: [1, 2]}, scoring=PredictiveScorer(), cv=2)


@pytest.mark.parametrize("scorer", OF_TEXTS, ids=repr)
def test_searches_frozen_pipelines_and_pipelines_within_are_scored_as_pipelines(scorer):
    search = searched(make_pipeline(CountVectorizer(), MODEL), "svblda__n_components").fit(TEXTS)
    plain = search.best_estimator_
    (words, model), wanted = plain, scorer(plain, TEXTS)
    last = searched(MODEL, "n_components").fit(words.transform(TEXTS))
    alike = make_pipeline(words, last.best_estimator_)
    for same in (
        search, FrozenEstimator(search), FrozenEstimator(plain),
        make_pipeline(words, FrozenEstimator(model)),
        make_pipeline(FrozenEstimator(words), make_pipeline(None, model)),
        make_pipeline(make_pipeline(words, None), model),
    ):  # fmt: skip
        assert scorer(same, TEXTS) == wanted
    assert scorer(make_pipeline(words, last), TEXTS) == scorer(alike, TEXTS)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_are_values(scorer, X):
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy == scorer
    assert hash(copy) == hash(scorer)
    assert repr(scorer).startswith(type(scorer).__name__ + "(")
    with pytest.raises(AttributeError):
        scorer.seed = 1
    model = MODEL.fit(X)
    assert copy(model, X) == scorer(model, X)
