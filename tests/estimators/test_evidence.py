# SPDX-License-Identifier: BSD-3-Clause
"""The bound on the log probability of documents, beside its twin and beside enumeration."""

import doctest
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import digamma

from streamtopics import GuidedTopics, HDPGibbsOnlineEM, StreamingLDA, StreamingMixture
from streamtopics.datasets import make_lda_corpus
from streamtopics.local import OneTopic
from tests.plain import BPSLDA, SVBLDA, GibbsOnlineEM, VariationalOnlineEM
from tests.reference import lda, variational

CORPUS = make_lda_corpus(300, n_components=3, n_features=40, mean_length=20, random_state=0)
TRAIN, TEST = CORPUS.X[:270], CORPUS.X[270:]
BAYESIAN = [
    SVBLDA(3, batch_size=30, random_state=0),
    BPSLDA(3, batch_size=30, random_state=0),
    StreamingLDA(3, inference="gibbs", view="geometric_mean", batch_size=30, random_state=0),
]
OF_POINTS = [
    VariationalOnlineEM(3, batch_size=30, random_state=0),
    GibbsOnlineEM(3, batch_size=30, random_state=0),
    GibbsOnlineEM(3, batch_size=30, averaging="uniform", random_state=0),
    StreamingLDA(3, inference="variational", batch_size=30, random_state=0),
    HDPGibbsOnlineEM(3, batch_size=30, random_state=0),
]
ALL = [*((model, True) for model in BAYESIAN), *((model, False) for model in OF_POINTS)]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def seen_topics(model, bayesian):
    """b, of shape (V, K), from what is public."""
    lam = model.components_.T
    return np.exp(digamma(lam) - digamma(lam.sum(axis=0))) if bayesian else lam / lam.sum(axis=0)


def twin(model, bayesian, X, tol, max_iter):
    """The bound of each document, by plain sweeps."""
    weights, alpha, found = seen_topics(model, bayesian), model.doc_topic_prior_, []
    for counts in X.toarray().astype(np.float64):
        used = np.flatnonzero(counts)
        given = counts[used], weights[used], alpha
        gamma, _ = variational.plain_fixed_point(*given, tol, max_iter)
        found.append(variational.bound(*given, gamma))
    return np.array(found)


@pytest.mark.parametrize(("model", "bayesian"), ALL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_that_of_the_definition(model, bayesian, dtype):
    model.fit(TRAIN)
    expected = twin(model, bayesian, TEST, 1e-10, 5000).sum() / TEST.sum()
    found = model.evidence_lower_bound(TEST.astype(dtype), local_tol=1e-9, max_local_iter=5000)
    assert_allclose(found, expected, rtol=1e-8)
    # The defaults are near enough, and never ahead.
    near = model.evidence_lower_bound(TEST)
    assert expected - 1e-4 < near <= expected + 1e-10


@pytest.mark.parametrize(("model", "bayesian"), ALL)
def test_it_is_never_above_the_probability(model, bayesian):
    model.fit(TRAIN)
    documents = [[0], [1, 1], [0, 3, 7], [2, 2, 2, 9, 11], [30, 31, 0, 30]]
    rows = [np.bincount(words, minlength=40) for words in documents]
    bounds = [model.evidence_lower_bound([row]) * row.sum() for row in rows]
    alpha, topics = model.doc_topic_prior_, model.topic_word_
    exact = [lda.log_likelihood(words, alpha, topics) for words in documents]
    assert (np.array(bounds) <= np.array(exact) + 1e-12).all()
    if not bayesian:
        # exp(E[log beta]) of a word that was hardly seen is far below its probability.
        assert (np.array(exact) - bounds < 3).all()


def test_with_one_topic_of_a_point_it_is_the_probability():
    model = VariationalOnlineEM(1, batch_size=30, random_state=0).fit(TRAIN)
    exact = TEST.sum(axis=0) @ np.log(model.topic_word_[0]) / TEST.sum()
    assert_allclose(model.evidence_lower_bound(TEST), exact, rtol=1e-12)


def test_more_sweeps_never_lower_it():
    model = SVBLDA(3, batch_size=30, random_state=0).fit(TRAIN)
    bounds = [
        model.evidence_lower_bound(TEST, local_tol=0, max_local_iter=n)
        for n in (1, 2, 3, 5, 10, 50)
    ]
    assert all(before < after + 1e-13 for before, after in pairwise(bounds))
    assert bounds[-1] - bounds[0] > 1e-3
    expected = twin(model, True, TEST, 0, 2).sum() / TEST.sum()
    assert_allclose(bounds[1], expected, rtol=1e-10)


def test_documents_count_by_their_tokens_and_empty_ones_not_at_all():
    model = SVBLDA(3, batch_size=30, random_state=0).fit(TRAIN)
    each = [model.evidence_lower_bound(TEST[d]) * TEST[d].sum() for d in range(TEST.shape[0])]
    assert_allclose(model.evidence_lower_bound(TEST), sum(each) / TEST.sum(), rtol=1e-12)
    more = sparse.vstack([TEST, sparse.csr_matrix((3, 40))])
    assert_allclose(model.evidence_lower_bound(more), sum(each) / TEST.sum(), rtol=1e-12)
    assert np.isnan(model.evidence_lower_bound(more[-2:]))
    assert np.isnan(model.evidence_lower_bound(TEST[:0]))


@pytest.mark.parametrize("model", [BAYESIAN[0], OF_POINTS[1]])
def test_threads_find_the_same_bits_and_change_nothing(model):
    model.fit(TRAIN)
    before = model.components_.copy(), model.n_batch_iter_
    one = model.evidence_lower_bound(CORPUS.X)
    two = model.set_params(n_jobs=2).evidence_lower_bound(CORPUS.X)
    assert one == two
    model.set_params(n_jobs=None)
    assert (before[0] == model.components_).all()
    assert before[1] == model.n_batch_iter_


@pytest.mark.parametrize(
    "model",
    [
        StreamingMixture(3),
        StreamingLDA(3, inference=OneTopic(1.0)),
        StreamingLDA(3, inference="one_topic"),
        GuidedTopics({"one": ["a"]}, 3, vocabulary=[*"abcdef"]),
    ],
)
def test_documents_of_other_models_have_none(model):
    assert not hasattr(model, "evidence_lower_bound")
    with pytest.raises(AttributeError, match="use score, or StreamingLDA"):
        model.evidence_lower_bound  # noqa: B018


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"local_tol": -1.0}, "local_tol must be a finite number of at least 0; got -1.0"),
        ({"local_tol": "small"}, "local_tol must be a finite"),
        ({"max_local_iter": 0}, "max_local_iter must be a whole number of at least 1; got 0"),
        ({"max_local_iter": 2.5}, "max_local_iter must be a whole"),
    ],
)
def test_wrong_settings(settings, message):
    model = SVBLDA(3, batch_size=30, random_state=0).fit(TRAIN)
    with pytest.raises(ValueError, match=message):
        model.evidence_lower_bound(TEST, **settings)


def test_its_example():
    method = StreamingLDA.evidence_lower_bound
    [found] = doctest.DocTestFinder().find(method, "evidence_lower_bound", globs={})
    assert doctest.DocTestRunner().run(found).failed == 0


def test_wrong_documents():
    model = SVBLDA(3, batch_size=30, random_state=0)
    with pytest.raises(ValueError, match="not fitted"):
        model.evidence_lower_bound(TEST)
    model.fit(TRAIN)
    with pytest.raises(ValueError, match="X has 5 features"):
        model.evidence_lower_bound(TEST[:, :5])
    with pytest.raises(ValueError, match="Negative"):
        model.evidence_lower_bound(-TEST)
