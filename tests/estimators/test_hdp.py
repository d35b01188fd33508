# SPDX-License-Identifier: BSD-3-Clause
"""The estimators of the HDP: topics that come and go in a stream that may break."""

import pickle
import signal
from dataclasses import replace
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamtopics import HDPGibbsOnlineEM, HDPVarGibbs
from streamtopics.datasets import make_lda_corpus
from streamtopics.models import hdp as model_module
from streamtopics.posteriors import TopicPosterior
from tests.interrupts import alarm_after

ESTIMATORS = [
    HDPGibbsOnlineEM(n_sweeps=8, random_state=3),
    HDPVarGibbs(n_sweeps=8, random_state=3),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(params=ESTIMATORS, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


@pytest.fixture(scope="module", name="X")
def counts():
    corpus = make_lda_corpus(700, n_components=6, n_features=80, mean_length=25, random_state=0)
    return sparse.csr_matrix(corpus.X, dtype=np.float64)


def bits(model):
    """A hash of all of the fitted state."""
    names = [name for name in vars(model) if name[-1] == "_" or name == "_commit"]
    return joblib.hash({name: getattr(model, name) for name in names})


def test_topics_are_born(estimator, X):
    sizes = [estimator.partial_fit(X[i : i + 100]).n_topics_ for i in range(0, 700, 100)]
    assert sizes[0] > estimator.n_components
    assert 4 <= estimator.n_active_topics_ <= estimator.n_topics_
    assert estimator.components_.shape == (sizes[-1], 80)
    assert_allclose(estimator.topic_word_.sum(axis=1), 1.0)
    assert estimator.doc_topic_prior_.shape == (sizes[-1],)
    assert 0 < estimator.doc_topic_prior_.sum() <= estimator.doc_concentration
    assert len(estimator.get_feature_names_out()) == sizes[-1]


def test_topics_that_nobody_needs_are_dropped(X):
    model = HDPVarGibbs(n_components=60, n_sweeps=8, concentration=0.1, random_state=0)
    assert model.partial_fit(X[:100]).n_topics_ < 20


@pytest.mark.parametrize("n_known", [1, 3])
def test_a_topic_that_has_less_than_a_word_is_dropped(estimator, X, n_known):
    posterior = estimator.set_params(concentration=1e-3).fit(X).posterior_
    tables = np.repeat(estimator._commit.state[0], 3)
    posterior = posterior.with_topics(np.zeros(3, int), np.array([2.0, 1e-9, 1e-9]))
    if n_known == 3:
        posterior.alpha[:] = 2 / 3
    else:
        posterior._state.S.counts[:, 1:] *= 1e-9
        posterior.learnt_mass[1:] *= 1e-9
        tables[1:] *= 1e-9
    lives = replace(estimator._commit.lives, silence=np.zeros(3), ids=np.arange(3), alive=())
    estimator._commit = replace(estimator._commit, posterior=posterior, state=tables, lives=lives)
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


def test_nothing_is_born_where_concentration_forbids_it(estimator, X):
    estimator.set_params(n_components=3, concentration=1e-3).fit(X)
    assert estimator.n_topics_ <= 4


def test_the_running_mean_keeps_the_tokens_of_a_document(X):
    model = HDPGibbsOnlineEM(n_sweeps=4, random_state=0, kappa=1.0)
    for start in range(0, 700, 100):
        model.partial_fit(X[start : start + 100])
        seen = X[: start + 100]
        mean = seen.sum() / seen.shape[0]
        assert_allclose(model.posterior_.learnt_part.sum(), mean, rtol=0.01)


def test_tables_are_no_more_than_tokens(estimator, X):
    estimator.fit(X)
    posterior = estimator.posterior_
    tables = estimator._commit.state
    assert tables.shape == posterior.alpha.shape
    assert (tables >= 0).all()
    assert (tables <= posterior.learnt_part + 1e-9).all()


def test_fit_is_partial_fit_over_batches_in_order(estimator, X):
    whole = clone(estimator).set_params(batch_size=200, max_iter=2).fit(X)
    for _ in range(2):
        for start in range(0, 700, 200):
            estimator.partial_fit(X[start : start + 200])
    assert_array_equal(whole.components_, estimator.components_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_for_any_number_of_jobs(estimator, X, dtype):
    X = X.astype(dtype)
    models = [clone(estimator).set_params(n_jobs=n).fit(X) for n in (1, 2, 4)]
    for model in models[1:]:
        assert_array_equal(model.components_, models[0].components_)
        assert_array_equal(model.doc_topic_prior_, models[0].doc_topic_prior_)
        assert_array_equal(model.transform(X), models[0].transform(X))


def test_resumed_stream_equals_the_uncut_one(estimator, X):
    uncut = clone(estimator)
    for start in range(0, 700, 100):
        uncut.partial_fit(X[start : start + 100])
        estimator = pickle.loads(pickle.dumps(estimator.partial_fit(X[start : start + 100])))
    assert bits(estimator) == bits(uncut)


def test_transform_is_pure_and_rows_do_not_depend_on_each_other(estimator, X):
    before = bits(estimator.fit(X))
    whole = estimator.transform(X)
    assert_array_equal(estimator.transform(X[5]), whole[[5]])
    assert_allclose(whole.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(estimator.score(X))
    assert bits(estimator) == before


def failing(monkeypatch, n_calls, error):
    """Make the sampler fail after some jobs."""
    kernel, calls = model_module.kernel, []

    class Failing:
        def __init__(self, *arguments):
            self.sampler = kernel.Sampler(*arguments)
            self.results = self.sampler.results

        def sample(self, *arguments):
            calls.append(1)
            if len(calls) > n_calls:
                raise error
            self.sampler.sample(*arguments)

    monkeypatch.setattr(model_module, "kernel", SimpleNamespace(Sampler=Failing))


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("n_calls", [0, 2])
def test_interrupt_between_documents_changes_nothing(estimator, X, monkeypatch, error, n_calls):
    before = bits(estimator.partial_fit(X[:100]))
    with monkeypatch.context() as patch:
        failing(patch, n_calls, error)
        with pytest.raises(error):
            estimator.partial_fit(X[100:])
    assert bits(estimator) == before
    uncut = clone(estimator).partial_fit(X[:100]).partial_fit(X[100:])
    assert_array_equal(estimator.partial_fit(X[100:]).components_, uncut.components_)


def test_a_blend_that_raises_changes_nothing(estimator, X, monkeypatch):
    before = bits(estimator.partial_fit(X[:100]))

    def blend(self, update, swaps=()):
        raise ValueError("no")

    with monkeypatch.context() as patch:
        patch.setattr(TopicPosterior, "blend", blend)
        with pytest.raises(ValueError, match="no"):
            estimator.partial_fit(X[100:])
    assert bits(estimator) == before


def test_interrupted_first_call_leaves_it_unfitted(estimator, X, monkeypatch):
    failing(monkeypatch, 1, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        estimator.partial_fit(X)
    assert not estimator.__sklearn_is_fitted__()
    assert not hasattr(estimator, "n_features_in_")


def test_interrupted_fit_keeps_whole_minibatches(estimator, X, monkeypatch):
    estimator.set_params(batch_size=50)
    expected = clone(estimator)
    for start in (0, 50, 100):
        expected.partial_fit(X[start : start + 50])
    failing(monkeypatch, 3, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X)
    assert_array_equal(estimator.components_, expected.components_)
    assert estimator.n_batch_iter_ == 3


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_signals_at_any_moment_leave_whole_minibatches(estimator, X):
    estimator.partial_fit(X[:50])
    interrupted = 0
    for trial in range(100):
        before, n_before = bits(estimator), estimator.n_batch_iter_
        try:
            with alarm_after(1e-4 + 5e-5 * trial):
                estimator.partial_fit(X[50:90])
        except KeyboardInterrupt:
            interrupted += 1
        if estimator.n_batch_iter_ == n_before:
            assert bits(estimator) == before
        posterior = estimator.posterior_
        assert_allclose(posterior.S.sum(axis=0), posterior.learnt_mass, rtol=1e-9)
    assert interrupted > 0


def test_failed_calls_change_nothing(estimator, X):
    wrong = clone(estimator).set_params(topic_word_prior=np.ones((2, 80)))
    with pytest.raises(ValueError, match=r"must have shape \(80,\) \(n_features,\); got \(2, 80\)"):
        wrong.partial_fit(X)
    assert not wrong.__sklearn_is_fitted__()
    before = bits(estimator.partial_fit(X[:100]))
    for bad, message in ((-X[:2], "Negative"), (X[:, :5], "5 features")):
        with pytest.raises(ValueError, match=message):
            estimator.partial_fit(bad)
    with pytest.raises(ValueError, match="concentration"):
        clone(estimator).set_params(concentration=0.0).partial_fit(X)
    assert bits(estimator) == before


def test_empty_documents_and_minibatches(estimator, X):
    estimator.partial_fit(X[:100])
    before = bits(estimator)
    estimator.partial_fit(X[:0])
    assert bits(estimator) == before
    n_topics = estimator.n_topics_
    estimator.partial_fit(sparse.csr_matrix((5, 80)))
    assert estimator.n_topics_ == n_topics
    assert estimator.n_documents_seen_ == 105
    prior = estimator.doc_topic_prior_ / estimator.doc_topic_prior_.sum()
    assert_allclose(estimator.transform(sparse.csr_matrix((1, 80)))[0], prior)


def test_only_empty_documents_first(estimator, X):
    estimator.partial_fit(sparse.csr_matrix((5, 80)))
    assert estimator.n_topics_ == 2
    assert_allclose(estimator.topic_word_, 1 / 80)
    estimator.partial_fit(X[:100])
    assert estimator.n_topics_ > 2


def test_fractional_and_huge_counts(estimator, X):
    assert np.isfinite(estimator.fit(0.3 * X).transform(X)).all()
    estimator.fit(1e12 * X[:20])
    assert np.isfinite(estimator.transform(X)).all()
    assert np.isfinite(estimator.doc_topic_prior_).all()


def test_a_prior_by_word(X):
    prior = np.full(80, 0.02)
    prior[:3] = 5.0
    model = HDPGibbsOnlineEM(topic_word_prior=prior, n_sweeps=4, random_state=0).fit(X[:300])
    flat = clone(model).set_params(topic_word_prior=0.02).fit(X[:300])
    assert (model.topic_word_[:, :3].min() > flat.topic_word_[:, :3].min()).all()
