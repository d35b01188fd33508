# SPDX-License-Identifier: BSD-3-Clause
"""The estimators of the HDP: topics that come and go in a stream that may break."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from streamtopics import HDPGibbsOnlineEM, HDPVarGibbs
from streamtopics.datasets import make_lda_corpus
from tests.saving.state import parts_of

ESTIMATORS = [HDPGibbsOnlineEM(n_sweeps=8, random_state=3), HDPVarGibbs(n_sweeps=8, random_state=3)]


@pytest.fixture(params=ESTIMATORS, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


X = make_lda_corpus(700, 6, 80, mean_length=25, random_state=0).X.astype(np.float64)


def test_topics_are_born(estimator):
    sizes = [estimator.partial_fit(X[i : i + 100]).n_topics_ for i in range(0, 700, 100)]
    assert sizes[0] > estimator.n_components
    assert 4 <= estimator.n_active_topics_ <= estimator.n_topics_
    assert estimator.components_.shape == (sizes[-1], 80)
    assert_allclose(estimator.topic_word_.sum(axis=1), 1.0)
    assert estimator.doc_topic_prior_.shape == (sizes[-1],)
    assert 0 < estimator.doc_topic_prior_.sum() <= estimator.doc_concentration
    assert len(estimator.get_feature_names_out()) == sizes[-1]


def test_topics_that_nobody_needs_are_dropped():
    model = HDPVarGibbs(n_components=60, n_sweeps=8, concentration=0.1, random_state=0)
    assert model.partial_fit(X[:100]).n_topics_ < 20


@pytest.mark.parametrize("n_known", [1, 3])
def test_a_topic_that_has_less_than_a_word_is_dropped(estimator, n_known):
    posterior = estimator.set_params(concentration=1e-3).fit(X).posterior_
    tables = np.repeat(estimator._commit.state[0], 3)
    posterior = posterior.with_topics(np.zeros(3, int), np.array([2.0, 1e-9, 1e-9]))
    if n_known == 3:
        posterior.alpha[:] = 2 / 3
    else:
        posterior._state.S.counts[:, 1:] *= 1e-9
        posterior.learnt_mass[1:] *= 1e-9
        tables[1:] *= 1e-9
    lives = replace(estimator._commit.lifetimes, silence=np.zeros(3), ids=np.arange(3), alive=())
    estimator._commit = replace(
        estimator._commit, posterior=posterior, state=tables, lifetimes=lives
    )
    first = posterior.S[:, 0].copy()
    estimator.partial_fit(X[:50])
    assert estimator.n_topics_ == n_known
    assert estimator._commit.state.shape == (n_known,)
    assert np.corrcoef(estimator.posterior_.S[:, 0], first)[0, 1] > 0.8


def test_one_topic(estimator):
    X = make_lda_corpus(3000, n_components=1, n_features=50, random_state=0).X
    estimator.set_params(n_components=1, n_sweeps=20, concentration=0.1)
    estimator.set_params(topic_word_prior=0.1).fit(X)
    assert estimator.n_active_topics_ == 1
    assert_allclose(estimator.transform(X).sum(axis=1), 1.0, rtol=1e-6)


def test_nothing_is_born_where_concentration_forbids_it(estimator):
    estimator.set_params(n_components=3, concentration=1e-3).fit(X)
    assert estimator.n_topics_ <= 4


def test_the_running_mean_keeps_the_tokens_of_a_document():
    model = HDPGibbsOnlineEM(n_sweeps=4, random_state=0, kappa=1.0)
    for stop in range(100, 701, 100):
        model.partial_fit(X[stop - 100 : stop])
        assert_allclose(model.posterior_.learnt_part.sum(), X[:stop].sum() / stop, rtol=0.01)


def test_tables_are_no_more_than_tokens(estimator):
    posterior = estimator.fit(X).posterior_
    tables = estimator._commit.state
    assert tables.shape == posterior.alpha.shape
    assert (tables >= 0).all()
    assert (tables <= posterior.learnt_part + 1e-9).all()


def test_transform_is_pure_and_rows_do_not_depend_on_each_other(estimator):
    before = parts_of(estimator.fit(X))
    whole = estimator.transform(X)
    assert_array_equal(estimator.transform(X[5]), whole[[5]])
    assert_allclose(whole.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(estimator.score(X))
    assert parts_of(estimator) == before


def test_empty_documents_and_minibatches(estimator):
    before = parts_of(estimator.partial_fit(X[:100]))
    assert parts_of(estimator.partial_fit(X[:0])) == before
    n_topics = estimator.n_topics_
    estimator.partial_fit(sparse.csr_matrix((5, 80)))
    assert estimator.n_topics_ == n_topics
    assert estimator.n_documents_seen_ == 105
    prior = estimator.doc_topic_prior_ / estimator.doc_topic_prior_.sum()
    assert_allclose(estimator.transform(sparse.csr_matrix((1, 80)))[0], prior)


def test_a_prior_by_word():
    prior = np.full(80, 0.02)
    prior[:3] = 5.0
    model = HDPGibbsOnlineEM(topic_word_prior=prior, n_sweeps=4, random_state=0).fit(X[:300])
    flat = clone(model).set_params(topic_word_prior=0.02).fit(X[:300])
    assert (model.topic_word_[:, :3].min() > flat.topic_word_[:, :3].min()).all()


def test_many_topics_of_an_hdp_are_not_kept_in_lists():
    X = make_lda_corpus(n_documents=60, n_features=50, random_state=0).X
    assert HDPGibbsOnlineEM(2000, random_state=0).fit(X).n_topics_ > 1
