# SPDX-License-Identifier: BSD-3-Clause
"""What the models of reviews with ratings share."""

import pickle
from itertools import product

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import StackingRegressor, VotingRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from streamtopics import HiddenFactorsTopics, RatingLDA, SupervisedLDA
from streamtopics.datasets import make_rated_reviews
from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.reviews.base import Step, moved
from tests.reference.unrated import log_likelihood

DATA = make_rated_reviews(120, n_items=10, n_users=8, n_features=40, n_components=3, random_state=0)
X, Y = DATA.X.astype(np.float64), DATA.ratings
WHOSE = {"items": DATA.item, "users": DATA.user}
SETTINGS = {"n_components": 3, "max_iter": 3, "random_state": 0}
each = pytest.mark.parametrize("name", ["RatingLDA", "HiddenFactorsTopics", "SupervisedLDA"])
each_with_items = pytest.mark.parametrize("name", ["RatingLDA", "HiddenFactorsTopics"])
STREAMS = {
    "documents": RatingLDA(learn_priors=True, **SETTINGS),
    "items": RatingLDA(profile="item", learn_priors=True, **SETTINGS),
    "users, plain": RatingLDA(profile="user", qualitative=False, **SETTINGS),
    "supervised": SupervisedLDA(learn_priors=True, **SETTINGS),
    "factors": HiddenFactorsTopics(**SETTINGS),
    "factors, nobody": HiddenFactorsTopics(**SETTINGS),
}
each_stream = pytest.mark.parametrize("name", STREAMS)
RATING = {
    f"{profile}, {qualitative}": RatingLDA(profile=profile, qualitative=qualitative, **SETTINGS)
    for profile, qualitative in product(["document", "item", "user"], [False, True])
}
MODELS = STREAMS | RATING | {
    "RatingLDA": RatingLDA(profile="item", **SETTINGS),
    "HiddenFactorsTopics": HiddenFactorsTopics(**SETTINGS),
    "SupervisedLDA": SupervisedLDA(**SETTINGS),
}  # fmt: skip


def new(name, **settings):
    return sklearn.clone(MODELS[name]).set_params(**settings)


def asked(name, rows=slice(None), X=X):
    has_none = name in ("supervised", "SupervisedLDA", "factors, nobody")
    labels = {} if has_none else {key: values[rows] for key, values in WHOSE.items()}
    return {"X": X[rows]} | labels


def batch(name, rows=slice(None), X=X):
    return asked(name, rows, X) | {"y": Y[rows]}


def inferred(model, name, rows=slice(None)):
    given = asked(name, rows)
    return model.transform(**given), model.score_samples(**given)


@each
@pytest.mark.parametrize("n", [0, 5])
def test_a_stream_may_begin_without_words(name, n):
    """Topics that are all alike would stay so, if the first words only made a step."""
    found = new(name).partial_fit(**batch(name, slice(n), np.zeros((n, 40))))
    assert (found.n_batch_iter_, found.n_documents_seen_) == (int(n > 0), n)
    found.partial_fit(**batch(name))
    assert_array_equal(found.components_, new(name).fit(**batch(name)).components_)
    assert found.n_documents_seen_ == 120
    assert found.partial_fit(**batch(name, slice(20))).n_documents_seen_ == 140
    with pytest.raises(ValueError, match="features"):
        found.partial_fit(**batch(name, X=X[:, :9]))


@each_stream
def test_a_pickled_stream_goes_on_bit_for_bit_in_threads_too(name):
    whole, resumed = new(name), new(name, n_jobs=3)
    for rows in np.array_split(np.arange(120), 3):
        whole.partial_fit(**batch(name, rows))
        resumed = pickle.loads(pickle.dumps(resumed)).partial_fit(**batch(name, rows))
    assert_array_equal(whole.components_, resumed.components_)
    for one, other in zip(inferred(whole, name), inferred(resumed, name), strict=True):
        assert_array_equal(one, other)
    assert (whole.n_batch_iter_, whole.n_documents_seen_) == (3, 120)
    assert_allclose(whole.n_tokens_seen_, X.sum())


@each_stream
def test_inference_is_pure_and_row_by_row(name):
    found = new(name).fit(**batch(name))
    before = pickle.dumps(found)
    whole = inferred(found, name)
    for d in (0, 3, 17):
        for alone, together in zip(inferred(found, name, [d]), whole, strict=True):
            assert_array_equal(alone[0], together[d])
    assert pickle.dumps(found) == before


@pytest.mark.parametrize("name", MODELS)
def test_empty_documents(name):
    rows = sparse.vstack([X[:40], sparse.csr_matrix((3, 40))], format="csr")
    given = asked(name, slice(43), rows)
    found = new(name).fit(**given, y=Y[:43])
    for part in (rows, rows[40:], rows[:0]):
        found.partial_fit(**batch(name, slice(part.shape[0]), part))
    assert_allclose(found.transform(**given).sum(axis=1), 1)
    assert_array_equal(found.score_samples(rows[40:]), 0)
    assert found.score_samples(rows[40:]).dtype == np.float64
    assert_array_equal(log_likelihood(found, rows[40:]), 0)
    prior = found.doc_topic_prior_
    if isinstance(found, RatingLDA):
        assert found.transform(np.zeros((1, 40)))[0, :3].argmax() == prior.argmax()
    elif isinstance(found, SupervisedLDA):
        assert_allclose(found.predict(rows)[40:], prior @ found.coef_ / prior.sum())
    else:
        assert np.isfinite(found.predict(**given)).all()
    if not isinstance(found, RatingLDA):
        nothing = sklearn.clone(found).fit(np.zeros((2, 5)), [1.0, 2.0])
        assert np.isfinite(nothing.components_).all()
        assert_allclose(nothing.predict(np.zeros((1, 5))), 1.5)


WRONG = {
    "requires y to be passed": {"y": None},
    "items must be integers or strings.*of shape": {"items": DATA.item[:9]},
    "items must be integers or strings": {"items": [np.nan, *"abcdefghi"]},
    "items were int64 before": {"items": DATA.item[:10].astype(str)},
    "rescale it": {"y": Y[:10] * 1e150},
}


@pytest.mark.parametrize("message", WRONG)
@pytest.mark.parametrize("name", ["items", "factors"])
def test_wrong_input_changes_nothing(name, message):
    found = new(name).partial_fit(**batch(name, slice(0, 60)))
    before = pickle.dumps(found)
    with pytest.raises(ValueError, match=message):
        found.partial_fit(**(batch(name, slice(0, 10)) | WRONG[message]))
    assert pickle.dumps(found) == before
    with pytest.raises(ValueError, match="n_components is 4 now"):
        found.set_params(n_components=4).partial_fit(**batch(name, slice(0, 10)))


def test_profiles_need_labels():
    with pytest.raises(ValueError, match="profile='item' needs items="):
        new("items").fit(X, Y)


@each_with_items
def test_fit_transform_knows_the_items(name):
    found = new(name)
    together = found.fit_transform(X, Y, **WHOSE)
    assert_array_equal(together, found.transform(X, **WHOSE))
    assert np.abs(together - found.transform(X)).max() > 0.1


@each_with_items
def test_words_are_predicted_of_items(name):
    found = new(name).fit(X, Y, **WHOSE)
    for items in ([1, 2, 999], np.array([1, 2, 999], np.uint16), []):
        assert found.predict_words(items=items).shape == (len(items), 40)
    with pytest.raises(ValueError, match="predict_words needs items"):
        found.predict_words(items=None)


@each
@pytest.mark.parametrize("scale", [1e-70, 1e98])
def test_ratings_of_any_scale(name, scale):
    found = new(name).fit(**asked(name), y=Y * scale)
    assert np.isfinite(found.components_).all()
    if name == "SupervisedLDA":
        assert_allclose(found.predict(X) / scale, new(name).fit(X, Y).predict(X), rtol=1e-6)
    with pytest.raises(ValueError, match="rescale it"):
        found.partial_fit(**asked(name), y=Y * 1e150)


# For scikit-learn

PREDICTING = pytest.mark.parametrize("name", ["SupervisedLDA", "HiddenFactorsTopics"])


@PREDICTING
def test_what_predicts_ratings_is_a_regressor(name):
    model = new(name)
    assert is_regressor(model)
    assert is_regressor(make_pipeline(model))
    found = model.fit(X, Y).predict(X)
    both = VotingRegressor([("topics", model), ("ridge", Ridge())]).fit(X, Y)
    assert_allclose(both.predict(X), (found + Ridge().fit(X, Y).predict(X)) / 2)
    stacked = StackingRegressor([("topics", model)], Ridge(), cv=3).fit(X, Y)
    assert_array_equal(stacked.transform(X).ravel(), found)
    dense = X.toarray()
    curve = partial_dependence(model, dense, [0], grid_resolution=3)
    dense[:, 0] = curve["grid_values"][0][0]
    assert_allclose(curve["average"][0, 0], model.predict(dense).mean())


@PREDICTING
def test_a_regressor_is_still_judged_by_its_words(name):
    model, cv = new(name), KFold(3)
    folds = [model.fit(X[train], Y[train]).score(X[test]) for train, test in cv.split(X)]
    assert_array_equal(cross_val_score(model, X, Y, cv=3), folds)
    search = GridSearchCV(model, {"n_components": [3]}, cv=3).fit(X, Y)
    assert search.best_score_ == pytest.approx(np.mean(folds))
    doubled = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp).fit(X, Y)
    assert_array_equal(doubled.predict(X), np.exp(new(name).fit(X, np.log(Y)).predict(X)))


@pytest.mark.parametrize("kappa", [0.6, 1.0])
def test_counts_are_a_weighted_mean_of_documents_times_their_number(kappa):
    """The number that a mean with the weights w stands for is (sum w)^2 / sum w^2."""
    rng, sizes = np.random.default_rng(0), [7, 2, 12, 5]
    posterior = TopicPosterior(np.full((1, 1), 0.5), (4, 2), np.ones(2))
    weights, sums, seen, remembered = np.empty(0), [], 0, 0.0
    for n in sizes:
        rate = (n / (seen + n)) ** kappa
        weights = np.append(weights * (1 - rate), rate)
        sums.append(rng.gamma(1.0, 1.0, (4, 2)))
        statistics = Statistics(np.arange(4, dtype=np.int32), sums[-1], np.ones(n))
        first = Step(1.0, 0.0, 1.0, n)
        step = Step.by_documents(seen, remembered, n, kappa) if seen else first
        posterior.blend(step.blend(statistics, np.ones(2)))
        seen, remembered = seen + n, step.remembered
    per_document = np.repeat(weights / sizes, sizes)
    mean = sum(w * s / n for w, s, n in zip(weights, sums, sizes, strict=True))
    assert_allclose(remembered, 1 / (per_document**2).sum())
    assert_allclose(posterior.dense(), 0.5 + mean / (per_document**2).sum())


def test_a_running_mean_starts_with_what_is_observed_first():
    observed = np.array([-1.0, -2.0])
    assert moved(None, observed, 0.25) is observed
    assert_allclose(moved(np.array([-3.0, -2.0]), observed, 0.25), [-2.5, -2.0])
    assert moved(observed, None, 0.25) is observed
    assert moved(None, None, 0.25) is None
