# SPDX-License-Identifier: BSD-3-Clause
"""What the models of reviews with ratings share."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import StackingRegressor, VotingRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from streamtopics import HiddenFactorsTopics, RatingLDA, SupervisedLDA
from streamtopics.datasets import make_rated_reviews

DATA = make_rated_reviews(120, n_items=10, n_users=8, n_features=40, n_components=3, random_state=0)
X, Y = DATA.X.astype(np.float64), DATA.ratings
WHOSE = {"items": DATA.item, "users": DATA.user}
SETTINGS = {"n_components": 3, "max_iter": 3, "random_state": 0}
WITH_ITEMS = {
    "RatingLDA": RatingLDA(profile="item", **SETTINGS),
    "HiddenFactorsTopics": HiddenFactorsTopics(**SETTINGS),
}
MODELS = WITH_ITEMS | {"SupervisedLDA": SupervisedLDA(**SETTINGS)}
each = pytest.mark.parametrize("name", MODELS)
each_with_items = pytest.mark.parametrize("name", WITH_ITEMS)


def new(name, **settings):
    return sklearn.clone(MODELS[name]).set_params(**settings)


def whose(name, rows=slice(None)):
    return {key: labels[rows] for key, labels in WHOSE.items()} if name in WITH_ITEMS else {}


@each
@pytest.mark.parametrize("n", [0, 5])
def test_a_stream_may_begin_without_words(name, n):
    """Topics that are all alike would stay so, if the first words only made a step."""
    found = new(name).partial_fit(np.zeros((n, 40)), Y[:n], **whose(name, slice(n)))
    assert (found.n_batch_iter_, found.n_documents_seen_) == (int(n > 0), n)
    found.partial_fit(X, Y, **whose(name))
    assert_array_equal(found.components_, new(name).fit(X, Y, **whose(name)).components_)
    assert found.n_documents_seen_ == 120
    found.partial_fit(X[:20], Y[:20], **whose(name, slice(20)))
    assert found.n_documents_seen_ == 140
    with pytest.raises(ValueError, match="features"):
        found.partial_fit(X[:, :9], Y, **whose(name))


@each_with_items
def test_fit_transform_knows_the_items(name):
    found = new(name)
    together = found.fit_transform(X, Y, **WHOSE)
    assert_array_equal(together, found.transform(X, **WHOSE))
    assert np.abs(together - found.transform(X)).max() > 0.1


@each_with_items
def test_the_step_after_in_a_pipeline_learns_from_profiles(name):
    with sklearn.config_context(enable_metadata_routing=True):
        routed = new(name).set_fit_request(items=True, users=True)
        routed.set_transform_request(items=True, users=True)
        pipeline = make_pipeline(routed, Ridge()).fit(X, Y, **WHOSE)
        shares = pipeline[0].transform(X, **WHOSE)
        assert_allclose(pipeline[-1].coef_, Ridge().fit(shares, Y).coef_)
        assert_allclose(pipeline.predict(X, **WHOSE), pipeline[-1].predict(shares))


@each_with_items
def test_words_are_predicted_of_items(name):
    found = new(name).fit(X, Y, **WHOSE)
    for items in ([1, 2, 999], np.array([1, 2, 999], np.uint16), []):
        assert found.predict_words(items=items).shape == (len(items), 40)
    with pytest.raises(ValueError, match="items must have one entry"):
        found.predict_words(items=5)
    with pytest.raises(ValueError, match="predict_words needs items"):
        found.predict_words(items=None)


@each
@pytest.mark.parametrize("scale", [1e-70, 1e98])
def test_ratings_of_any_scale(name, scale):
    found = new(name).fit(X, Y * scale, **whose(name))
    assert np.isfinite(found.components_).all()
    if name == "SupervisedLDA":
        assert_allclose(found.predict(X) / scale, new(name).fit(X, Y).predict(X), rtol=1e-6)
    with pytest.raises(ValueError, match="rescale it"):
        found.partial_fit(X, Y * 1e150, **whose(name))


@each
def test_ratings_that_are_no_numbers_are_named(name):
    with pytest.raises(ValueError, match=rf"y, passed to {name}.fit, must be ratings"):
        new(name).fit(X, np.full(120, "good"), **whose(name))


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


def test_what_predicts_no_ratings_is_no_regressor():
    assert not is_regressor(new("RatingLDA"))
