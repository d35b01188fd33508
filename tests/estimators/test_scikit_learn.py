# SPDX-License-Identifier: BSD-3-Clause
"""The estimators as scikit-learn's own checks and tools see them.

Those at their defaults are in `tests/conventions/test_scikit_learn_checks.py`.
"""

from itertools import product

import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import streamtopics as st
from streamtopics.datasets import load_docstrings
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs
from streamtopics.priors import SeedWords
from streamtopics.text import NamedVectorizer
from streamtopics.updates import BPS, Boost, DampedNewton, PowerPrior, StochasticVI, Window
from tests.estimators.table import rows
from tests.parsed import packages_parsed_once

LINEAR, UNIFORM = Schedule(averaging="linear"), Schedule(averaging="uniform")
VARIANTS = [
    st.BPSLDA(n_components=3, boosting_norm="topic", schedule=Schedule(n_rounds=2)),
    st.GibbsOnlineEM(update_each_sweep=True, schedule=LINEAR, doc_topic_prior_update="gamma"),
    st.VariationalOnlineEM(update_each_sweep=True, doc_topic_prior_update="fixed"),
    st.StreamingLDA.preset(
        "OnlineVBLDA", update__step_size__tau=10, doc_topic_prior_update=DampedNewton()
    ),
    st.SVBHPP(rate_estimate="point"),
    st.SVBHPP(rate="topic", rate_prior=1.0, rate_starts=[0.5], boosting_scale=0.1),
    st.StreamingLDA(3, update=PowerPrior(0.9, Boost(0.1)), inference=Gibbs(3), schedule=UNIFORM),
    st.StreamingLDA(3, update="bps", schedule=Schedule(warm_rounds=True, n_rounds=2)),
    st.StreamingLDA(3, update=Window(2), view="geometric_mean"),
    st.StreamingLDA(3, update=Window(2), inference="gibbs", doc_topic_prior_update="gamma"),
    st.StreamingLDA(3, update="hpp", start="spectral"),
    st.StreamingMixture(3, start="spectral"),
    st.MultiViewLDA(2, 1, update=BPS(0.2), boosted_prior=0.1),
]


@parametrize_with_checks([*rows(10), *VARIANTS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def docstrings():
    with packages_parsed_once():
        corpus = load_docstrings(packages=["numpy", "sklearn"])
    return corpus.data[:1200], corpus.target[:1200]


def test_grid_search_over_the_boosting_scale_and_the_step_size_on_texts(docstrings):
    texts = docstrings[0][:400]
    model = make_pipeline(
        NamedVectorizer(CountVectorizer(stop_words="english", min_df=5)),
        st.StreamingLDA(
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
