# SPDX-License-Identifier: BSD-3-Clause
"""The estimators as scikit-learn's own checks and tools see them.

Those at their defaults are in `tests/conventions/test_scikit_learn_checks.py`.
"""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamtopics import (
    BPSLDA,
    SVBHPP,
    SVBLDA,
    GibbsOnlineEM,
    StreamingLDA,
    StreamingMixture,
    VariationalOnlineEM,
)
from streamtopics.datasets import load_docstrings, make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs
from streamtopics.priors import SeedWords
from streamtopics.text import NamedVectorizer
from streamtopics.updates import (
    Boost,
    DampedNewton,
    IncrementalVB,
    PowerPrior,
    StochasticVI,
    Window,
)
from tests.estimators.table import rows
from tests.parsed import packages_parsed_once

VARIANTS = [
    BPSLDA(n_components=3, boosting_norm="topic", schedule=Schedule(n_rounds=2)),
    GibbsOnlineEM(
        update_each_sweep=True,
        schedule=Schedule(averaging="linear"),
        doc_topic_prior_update="gamma",
    ),
    VariationalOnlineEM(update_each_sweep=True, doc_topic_prior_update="fixed"),
    StreamingLDA.preset(
        "OnlineVBLDA", update__step_size__tau=10, doc_topic_prior_update=DampedNewton()
    ),
    SVBHPP(rate_estimate="point"),
    SVBHPP(rate="topic", rate_prior=1.0, rate_starts=[0.5], boosting_scale=0.1),
    StreamingLDA(
        3,
        update=PowerPrior(0.9, Boost(0.1)),
        inference=Gibbs(3),
        schedule=Schedule(averaging="uniform"),
    ),
    StreamingLDA(
        3,
        update="bps",
        schedule=Schedule(warm_rounds=True, n_rounds=2),
    ),
    StreamingLDA(3, update=Window(2), view="geometric_mean"),
    StreamingLDA(3, update=IncrementalVB(2), inference="gibbs", doc_topic_prior_update="gamma"),
    StreamingLDA(3, update="hpp", start="spectral"),
    StreamingMixture(3, start="spectral"),
]


@parametrize_with_checks([*rows(10), *VARIANTS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def docstrings():
    with packages_parsed_once():
        corpus = load_docstrings(packages=["numpy", "sklearn"])
    return corpus.data[:1200], corpus.target[:1200]


def test_grid_search_over_the_boosting_scale(docstrings):
    texts, _ = docstrings
    X = CountVectorizer(stop_words="english", min_df=5).fit_transform(texts)
    search = GridSearchCV(
        BPSLDA(n_components=8, batch_size=200, random_state=0),
        {"boosting_scale": [0, 0.05, 0.1, 0.2]},
        cv=3,
    ).fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(set(scores)) == 4
    refitted = clone(search.best_estimator_).fit(X)
    assert search.best_estimator_.score(X) == refitted.score(X)


SEARCHES = """
import warnings
from sklearn.model_selection import GridSearchCV
from streamtopics import BPSLDA, SVBLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule

warnings.filters[:] = [one for one in warnings.filters if one[0] != "error"]
X = make_lda_corpus(n_documents=90, n_features=20, random_state=0).X
for _ in range(2):
    own = {"start": "noise", "max_iter": 1, "random_state": 0}
    GridSearchCV(BPSLDA(2, **own), {"boosting_scale": [0.1, 0.2, 0.3]}, cv=3).fit(X)
known = BPSLDA(2, boosted_prior=[0.1] * 20, schedule=Schedule(n_rounds=10), random_state=0)
GridSearchCV(known, {"boosting_scale": [0.0, 0.1]}, cv=3).fit(X)
SVBLDA(2, start="noise", max_iter=1, random_state=0).fit(X)
"""


def test_a_search_says_the_same_once(python):
    """Scikit-learn's searches make what was shown be forgotten with each fit."""
    with python(["-c", SEARCHES]) as process:
        said = process.communicate()[1]
    assert process.returncode == 0, said
    shown = [line.split("Warning: ")[1] for line in said.splitlines() if "Warning: " in line]
    firsts = [line.split(",")[0] for line in shown]
    assert firsts == [
        "BPSLDA.fit makes fewer than 5 steps from a random start",
        "boosted_prior is given",
        "SVBLDA.fit makes fewer than 5 steps from a random start",
    ]


LINES = """
import warnings
from sklearn.model_selection import GridSearchCV
from streamtopics import SVBLDA
from streamtopics.datasets import make_lda_corpus

warnings.filters[:] = [one for one in warnings.filters if one[0] != "error"]
X = make_lda_corpus(n_documents=90, n_features=20, random_state=0).X
for _ in range(2):
    SVBLDA(2, start="noise", max_iter=1).fit(X)
SVBLDA(2, start="noise", max_iter=1).fit(X[:50])
GridSearchCV(SVBLDA(2, start="noise", max_iter=1), {"max_iter": [1, 2]}, cv=3).fit(X)
GridSearchCV(SVBLDA(2, start="noise", max_iter=1), {"max_iter": [1, 2]}, cv=3).fit(X)
"""


def test_a_warning_is_shown_once_for_each_line_of_a_script(python):
    """Also for each line that searches."""
    with python(["-c", LINES]) as process:
        said = process.communicate()[1]
    assert process.returncode == 0, said
    lines = [line.split(":")[1] for line in said.splitlines() if "Warning: " in line]
    assert lines == ["10", "11", "12", "13"]


def test_grid_search_over_the_boosting_scale_and_the_step_size_on_texts(docstrings):
    texts = docstrings[0][:400]
    model = make_pipeline(
        NamedVectorizer(CountVectorizer(stop_words="english", min_df=5)),
        StreamingLDA(
            4,
            boosted_prior=SeedWords({"data": ["array"], "model": ["estimator", "fit"]}, 5.0),
            update=StochasticVI(boost=Boost(0.1)),
            batch_size=50,
            random_state=0,
        ),
    )
    values = {
        "streaminglda__update__boost__scale": [0.1, 0.5],
        "streaminglda__update__step_size__kappa": [0.5, 0.9],
    }
    search = GridSearchCV(model, values, cv=2).fit(texts)
    for scored, (fold, held_out) in product([0, 3], enumerate(KFold(2).split(texts))):
        given = clone(model).set_params(**search.cv_results_["params"][scored])
        update = given[-1].update
        assert (update.boost.scale, update.step_size.kappa) == [(0.1, 0.5), (0.5, 0.9)][scored // 3]
        learnt = given.fit([texts[i] for i in held_out[0]])
        score = learnt.score([texts[i] for i in held_out[1]])
        assert_allclose(search.cv_results_[f"split{fold}_test_score"][scored], score, rtol=1e-12)
    assert len(set(search.cv_results_["mean_test_score"])) == 4


@pytest.mark.parametrize("seed", [0, 1])
def test_grid_search_finds_the_number_of_topics(seed):
    X = make_lda_corpus(
        3000, 20, 500, doc_topic_prior=0.08, topic_word_prior=0.05, random_state=seed
    ).X
    search = GridSearchCV(
        GibbsOnlineEM(random_state=0), {"kappa": [0.5, 0.7, 1.0], "n_components": [10, 20]}, cv=3
    ).fit(X)
    assert search.best_params_["n_components"] == 20
    scores = search.cv_results_["mean_test_score"].reshape(3, 2)
    assert (scores[:, 1] > scores[:, 0]).all()


def test_pipeline_from_texts_to_labels(docstrings):
    texts, labels = docstrings
    pipeline = make_pipeline(
        CountVectorizer(stop_words="english", min_df=5),
        BPSLDA(n_components=20, batch_size=200, random_state=0),
        LogisticRegression(max_iter=1000),
    )
    accuracy = cross_val_score(pipeline, texts, labels, cv=3).mean()
    majority = np.bincount(labels).max() / len(labels)
    assert accuracy > majority + 0.1


def test_names_and_set_output(docstrings):
    pytest.importorskip("pandas")
    texts, _ = docstrings
    X = CountVectorizer(max_features=50).fit_transform(texts[:100])
    model = SVBLDA(n_components=3, random_state=0).set_output(transform="pandas").fit(X)
    assert list(model.transform(X).columns) == ["svblda0", "svblda1", "svblda2"]
    assert list(model.get_feature_names_out()) == ["svblda0", "svblda1", "svblda2"]


def test_feature_names_of_a_dataframe_name_the_top_words():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[9, 0, 1], [8, 1, 0]], columns=["sea", "sky", "sun"])
    model = SVBLDA(n_components=1, random_state=0).fit(frame)
    assert model.top_words(n_words=1) == [["sea"]]
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"sea": "lake"}))
