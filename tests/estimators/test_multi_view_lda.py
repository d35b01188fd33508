# SPDX-License-Identifier: BSD-3-Clause
"""MultiViewLDA as a streaming classifier."""

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from streamtopics import MultiViewLDA
from streamtopics.priors import class_words_prior
from streamtopics.updates import BPS, Rounds
from tests.saving.state import parts_of

LABELS = np.array(["air", "land", "sea"])
ESTIMATORS = {
    "default": MultiViewLDA(random_state=3),
    "boosted": MultiViewLDA(2, 1, update=BPS(0.3), random_state=3),
    "passes": MultiViewLDA(
        3, 2, update=Rounds(BPS(0.2, "topic"), 3), boosted_prior=class_words_prior,
        class_word_prior=0.1, random_state=3,
    ),
    "many": MultiViewLDA(40, 50, random_state=3, doc_topic_prior=0.1),
}  # fmt: skip


def labelled_counts():
    """Counts over 200 words, of which each class prefers some, and labels; one row empty."""
    rng = np.random.default_rng(0)
    common, own = rng.gamma(0.3, 1.0, 200), rng.gamma(0.1, 1.0, (3, 200))
    codes = rng.choice(3, 500, p=[0.5, 0.3, 0.2])
    rates = 0.5 * common / common.sum() + 0.5 * (own / own.sum(axis=1, keepdims=True))[codes]
    dense = rng.poisson(rates * rng.integers(5, 40, (500, 1))).astype(np.float64)
    dense[7] = 0
    return sparse.csr_matrix(dense), LABELS[codes]


X, y = labelled_counts()


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def estimator(request):
    return clone(request.param)


def test_fit_is_partial_fit_over_batches_in_order(estimator):
    estimator.set_params(class_word_prior=class_words_prior(X, y))
    whole = clone(estimator).set_params(batch_size=200, max_iter=2).fit(X, y)
    for start in [*range(0, 500, 200)] * 2:
        estimator.partial_fit(X[start : start + 200], y[start : start + 200], LABELS)
    if estimator.boosted_prior is None:  # Made of all documents in one, of the first in the other.
        assert_array_equal(whole.components_, estimator.components_)
    assert whole.n_iter_ == 2


def test_each_token_is_learnt_once(estimator):
    estimator.set_params(update=None, boosted_prior=None).fit(X, y)
    assert_allclose(estimator.posterior_.learnt_part.sum(), X.sum(), rtol=1e-10)
    assert_allclose(estimator.topic_word_.sum(axis=1), 1.0)
    assert_allclose(estimator.topic_weights_.sum(), 1.0)


def test_words_of_a_class_are_learnt_by_its_topics_alone():
    only = np.flatnonzero(y == "land")
    model = MultiViewLDA(2, 1, class_word_prior=0.1, random_state=0)
    learnt = model.partial_fit(X[only], y[only], LABELS).posterior_.learnt_part
    assert_array_equal(learnt > 0, np.isin(model.topic_class_, [1, -1]))


@pytest.mark.parametrize("norm", ["whole", "topic"])
def test_only_the_topics_of_classes_are_boosted(norm):
    prior = class_words_prior(X, y)
    given = {"class_word_prior": prior, "topic_word_prior": 0.02}
    model = MultiViewLDA(2, 3, update=BPS(0.4, norm), random_state=0, **given)
    own = np.arange(9) < 6
    for start in range(0, 500, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100], LABELS)
    posterior = model.posterior_
    assert_allclose(posterior.prior_part[~own], 0.02 * 200)
    added = posterior.prior_part[own] - np.repeat(prior.sum(axis=1), 2)
    assert_allclose(added.sum(), 0.4 * posterior.learnt_part[own].sum())
    if norm == "whole":
        assert_allclose(added / added[0], np.repeat(prior.sum(axis=1), 2) / prior[0].sum())
    else:
        assert_allclose(added, 0.4 * posterior.learnt_part[own])


def test_boosted_prior_is_what_a_boost_adds():
    given = {"class_word_prior": 0.3, "boosted_prior": class_words_prior}
    model = MultiViewLDA(2, 1, update=BPS(0.5), random_state=0, **given).fit(X, y)
    assert_allclose(model.posterior_.parts[0].c, 1.0)
    assert (model.posterior_.parts[0].b > 0).all()
    mass = 6 * 200 * 0.3 + 1.5 * model.posterior_.learnt_part[:6].sum()
    assert_allclose(model.components_[:6].sum(), mass)
    with pytest.warns(UserWarning, match="nothing boosts it"):
        model.set_params(update__scale=0.0).fit(X, y)


def test_of_classes_that_were_never_seen_the_first_is_predicted():
    rng = np.random.default_rng(1)
    words = rng.dirichlet(np.full(400, 0.05), 11)
    y = rng.integers(11, size=1500)
    X = np.stack([rng.multinomial(rng.integers(0, 40), words[label]) for label in y])
    seen = np.flatnonzero(y[:800] < 4)
    model = MultiViewLDA(random_state=0).partial_fit(X[seen], y[seen], classes=np.arange(18))
    predicted = model.predict(X[800:])
    assert set(predicted) == {0, 1, 2, 3, 4}
    for method in (model.predict_proba, model.predict_log_proba):
        found = method(X[800:])
        assert_array_equal(found.argmax(axis=1), predicted)
        assert_array_equal(found[:, 5:], found[:, [4] * 13])


def test_what_is_predicted_fits_together(estimator):
    estimator.fit(X, y)
    probability = estimator.predict_proba(X)
    assert_allclose(probability.sum(axis=1), 1.0)
    assert_array_equal(estimator.predict(X), LABELS[probability.argmax(axis=1)])
    assert estimator.score(X, y) == (estimator.predict(X) == y).mean() > 0.8
    doc_topic = estimator.transform(X)
    assert doc_topic.shape == (500, estimator.components_.shape[0])
    assert_allclose(doc_topic.sum(axis=1), 1.0)
    for code in range(3):
        of_class = doc_topic[:, estimator.topic_class_ == code].sum(axis=1)
        assert (of_class <= probability[:, code] + 1e-9).all()
    assert estimator.transform(X.astype(np.float32)).dtype == np.float32
    # A document without words has the shares of the classes.
    shares = (estimator.class_count_ + 1) / (500 + 3)
    assert_allclose(estimator.predict_proba(np.zeros((1, 200)))[0], shares)
    assert estimator.partial_fit(np.zeros((2, 200)), ["sea", "air"]).n_documents_seen_ == 502


def test_a_document_without_words_has_the_share_prior_of_its_class():
    model = MultiViewLDA(2, 2, local_share_prior=(1, 3), random_state=0).fit(X, y)
    of_shared = model.transform(np.zeros((1, 200)))[0, model.topic_class_ == -1]
    assert_allclose(of_shared, 0.375)


def test_minibatches_without_rows(estimator):
    with pytest.raises(ValueError, match="at least 1 in the first minibatch, for"):
        estimator.partial_fit(X[:0], y[:0], LABELS)
    assert not estimator.__sklearn_is_fitted__()
    estimator.set_params(class_word_prior=0.1, boosted_prior=None)
    estimator.partial_fit(X[:0], y[:0], LABELS)
    assert estimator.n_batch_iter_ == 0
    assert_allclose(estimator.predict_proba(X[:2]), 1 / 3, atol=1e-6)
    assert estimator.predict(X[:0]).shape == (0,)
    assert estimator.predict_proba(X[:0]).shape == (0, 3)
    before = parts_of(estimator.partial_fit(X[:50], y[:50]))
    assert parts_of(estimator.partial_fit(X[:0], [])) == before


def test_a_class_may_come_late():
    model = MultiViewLDA(2, 1, class_word_prior=0.05, random_state=0)
    early = y != "sea"
    model.partial_fit(X[early], y[early], LABELS)
    assert model.class_count_[2] == 0
    assert (model.predict(X[early]) == "sea").mean() < 0.1
    for _ in range(3):
        model.partial_fit(X, y)
    assert (model.predict(X[~early]) == "sea").mean() > 0.7


def test_classes_are_necessary_in_the_first_call(estimator):
    with pytest.raises(ValueError, match=r"classes is None in the first call.*stream, classes="):
        estimator.partial_fit(X, y)
    assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("first", [True, False])
def test_unseen_labels_are_refused(estimator, first):
    strange = np.where(np.arange(500) == 3, "moon", y)
    if not first:
        estimator.partial_fit(X, y, LABELS)
    before = parts_of(estimator)
    with pytest.raises(ValueError, match=r"y has the labels \['moon'\].*start anew"):
        estimator.partial_fit(X, strange, LABELS if first else None)
    assert parts_of(estimator) == before


def test_other_classes_in_mid_stream_are_refused(estimator):
    estimator.partial_fit(X, y, LABELS[::-1])
    assert_array_equal(estimator.classes_, LABELS)
    before = parts_of(estimator)
    with pytest.raises(ValueError, match=r"classes is \['air', 'sea'\] now"):
        estimator.partial_fit(X, y, ["air", "sea"])
    assert parts_of(estimator) == before
    estimator.partial_fit(X, y, list(LABELS))


def test_the_numbers_of_topics_are_fixed_by_the_first_call():
    model = MultiViewLDA(2, 1, random_state=0).partial_fit(X, y, LABELS)
    for name in ("n_local_topics", "n_global_topics"):
        changed = deepcopy(model).set_params(**{name: 7})
        with pytest.raises(ValueError, match=f"{name} is 7 now, but the model was started with"):
            changed.partial_fit(X, y)
        assert parts_of(changed._commit) == parts_of(model._commit)
    model.set_params(n_local_topics=5).transform(X)


def test_a_boost_without_bounds_changes_nothing():
    model = MultiViewLDA(2, 1, class_word_prior=1e-10, random_state=0).partial_fit(X, y, LABELS)
    model.set_params(update__scale=1e10)
    for _ in range(2):
        model.partial_fit(X, y)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.predict_log_proba(X)).all()
