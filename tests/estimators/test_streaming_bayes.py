# SPDX-License-Identifier: BSD-3-Clause
"""The estimator of any model and any rule."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import trapezoid
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamtopics import StreamingBayes
from streamtopics.models import (
    BetaBinomial,
    GaussianMixture,
    LinearRegression,
    MeanFieldRegression,
    NaiveBayesMixture,
)
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    Decay,
    HierarchicalPowerPrior,
    PopulationVB,
    PowerPrior,
    Rounds,
    Rule,
    StochasticVI,
)
from streamtopics.updates.rates import Exponential

# Checks whose classes are not those that the model knows from the start, and why.
OF_OTHER_CLASSES = {
    "check_classifiers_classes": "labels are strings; the model's are numbers from 0 on",
    "check_classifiers_regression_target": "refused in other words than it asks for",
    "check_classifiers_train": "two classes; the model has a probability of a third one, too",
    "check_dtype_object": "four classes; the model has three",
}


@parametrize_with_checks(
    [
        StreamingBayes(LinearRegression()),
        StreamingBayes(LinearRegression(), HierarchicalPowerPrior(), batch_size=7),
        StreamingBayes(MeanFieldRegression(), Rounds(SVB(), 2)),
        StreamingBayes(GaussianMixture()),
        StreamingBayes(GaussianMixture(3), PowerPrior(0.9), batch_size=7),
        StreamingBayes(NaiveBayesMixture(3)),
    ]
)
def test_scikit_learn_checks(estimator, check):
    name = getattr(check, "func", check).__name__
    if isinstance(estimator.model, NaiveBayesMixture) and name in OF_OTHER_CLASSES:
        # Also what cannot make sense is known to be so.
        with pytest.raises((AssertionError, ValueError)):
            check(estimator)
    else:
        check(estimator)


def samples(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 3.0 * rng.integers(2, size=(n, 1))
    return X, X @ [1.0, -0.5] + 0.3 * rng.normal(size=n)


REGRESSION, MIXTURE = LinearRegression(), GaussianMixture(3)
RULES = [
    None,
    Rounds(SVB(), 3),
    BPS(0.1),
    PowerPrior(0.8, Boost(0.1)),
    HierarchicalPowerPrior("topic"),
    HierarchicalPowerPrior(rate_starts=(0.05, 0.95), boost=Boost(0.1, "topic")),
    PopulationVB(100.0, 0.2),
    StochasticVI(Decay(0.7, 1.0), 500),
]


@pytest.fixture(params=RULES, ids=repr)
def rule(request):
    return request.param


@pytest.fixture(params=[REGRESSION, MIXTURE], ids=lambda model: type(model).__name__)
def estimator(request, rule):
    return StreamingBayes(request.param, rule, batch_size=40, random_state=3)


def bits(model):
    posterior = model.posterior_
    arrays = [posterior[name].tobytes() for name in posterior.blocks]
    history = model.retention_history_.tobytes()
    weights = posterior.c.tobytes(), posterior.b.tobytes()
    counters = posterior.n_batches, posterior.n_documents, posterior.n_tokens
    return arrays, weights, posterior.alpha.tobytes(), counters, history, model.n_features_in_


# A stream


def test_fit_is_partial_fit_over_minibatches_in_order(estimator):
    X, y = samples()
    whole = clone(estimator).set_params(max_iter=2).fit(X, y)
    for _ in range(2):
        for start in range(0, 200, 40):
            estimator.partial_fit(X[start : start + 40], y[start : start + 40])
    assert bits(estimator) == bits(whole)
    assert (whole.n_batch_iter_, whole.n_samples_seen_, whole.n_iter_) == (10, 400, 2)


def test_fit_forgets_what_was_learnt_before(estimator):
    X, y = samples()
    once = bits(clone(estimator).fit(X, y))
    assert bits(estimator.partial_fit(X[50:], y[50:]).fit(X, y)) == once


def test_a_pickle_goes_on_where_the_stream_was_cut(estimator):
    X, y = samples()
    for start in range(0, 120, 40):
        estimator.partial_fit(X[start : start + 40], y[start : start + 40])
    resumed = pickle.loads(pickle.dumps(estimator))
    for model in (estimator, resumed):
        for start in range(120, 200, 40):
            model.partial_fit(X[start : start + 40], y[start : start + 40])
    assert bits(resumed) == bits(estimator)
    assert_array_equal(resumed.score_samples(X, y), estimator.score_samples(X, y))


def test_scoring_and_predicting_change_nothing(estimator):
    X, y = samples()
    estimator.fit(X, y)
    before = bits(estimator)
    assert_allclose(estimator.score(X, y), estimator.score_samples(X, y).mean())
    estimator.predict(X)
    assert bits(estimator) == before


def test_learning_helps(estimator):
    X, y = samples()
    test = samples(seed=1)
    few = clone(estimator).partial_fit(X[:5], y[:5]).score(*test)
    assert estimator.fit(X, y).score(*test) > few


def test_a_minibatch_without_rows_teaches_nothing(estimator):
    X, y = samples()
    estimator.partial_fit(X[:0], y[:0])
    assert estimator.n_batch_iter_ == 0
    assert_array_equal(estimator.retention_, 1.0)
    assert estimator.retention_history_.shape == (0, estimator.posterior_.n_nodes)
    estimator.partial_fit(X, y)
    before = bits(estimator)
    assert bits(estimator.partial_fit(X[:0], y[:0])) == before


@pytest.mark.parametrize("at", ["step", "blend", "learn"])
def test_a_failure_changes_nothing(estimator, at, monkeypatch):
    X, y = samples()

    class Stop(BaseException):
        pass

    def stop(*args, **kwargs):
        raise Stop

    for n_before in (0, 2):
        model = clone(estimator)
        for _ in range(n_before):
            model.partial_fit(X[:50], y[:50])
        before = bits(model) if n_before else vars(model).copy()
        with monkeypatch.context() as patch:
            if at == "blend":
                patch.setattr("streamtopics.posteriors.DensePosterior.blend", stop)
            elif at == "step":
                patch.setattr(type(model.update or SVB()), "step", stop)
            else:
                patch.setattr(type(model.model), "learner", stop)
            for method in (model.partial_fit, model.fit):
                with pytest.raises(Stop):
                    method(X, y)
        assert (bits(model) if n_before else vars(model)) == before


# What is boosted


def test_a_boosted_prior_holds_against_a_stream_that_forgets_to_another():
    """The limit of E[theta]: (1 - rho + n theta + s n xi / |xi|) over its mass, with rho 0.5."""
    rule = PowerPrior(0.5, Boost(0.25))
    model = StreamingBayes(BetaBinomial(), rule, boosted_prior=BetaBinomial(9.0, 1.0))
    flips = np.repeat([[1.0], [0.0]], [20, 80], axis=0)
    for _ in range(60):
        model.partial_fit(flips)
    heads, tails = model.posterior_["coins"][0]
    assert_allclose(heads, 1.0 + (20 + 25 * 0.9) / 0.5)
    assert_allclose(tails, 1.0 + (80 + 25 * 0.1) / 0.5)
    assert_allclose(model.get_params()["boosted_prior__heads"], 9.0)
    with pytest.raises(ValueError, match="boosted_prior is None now"):
        clone_with_state(model).set_params(boosted_prior=None).partial_fit(flips)


def clone_with_state(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (0.1, TypeError, "boosted_prior must be a record"),
        (GaussianMixture(2), ValueError, "boosted_prior must be a BetaBinomial like model"),
    ],
)
def test_a_boosted_prior_is_one_of_the_same_model(wrong, error, message):
    model = StreamingBayes(BetaBinomial(), BPS(0.1), boosted_prior=wrong)
    with pytest.raises(error, match=message):
        model.partial_fit([[1.0], [0.0]])
    assert not model.__sklearn_is_fitted__()


# What was kept


def test_retention_of_a_fixed_rate_and_effective_sample_size():
    X, y = samples()
    model = StreamingBayes(REGRESSION, PowerPrior(0.5), batch_size=50).fit(X, y)
    assert_array_equal(model.retention_, [0.5])
    assert_array_equal(model.retention_history_, np.full((4, 1), 0.5))
    assert_allclose(model.effective_sample_size_, [2.0 + 50 * (1 + 0.5 + 0.25 + 0.125)])


def test_retention_is_learnt_for_each_node():
    rng = np.random.default_rng(0)
    rule = HierarchicalPowerPrior("topic", rate_starts=(0.05, 0.95))
    model = StreamingBayes(BetaBinomial(), rule)
    for theta in ([0.2, 0.7], [0.2, 0.7], [0.2, 0.7], [0.9, 0.7]):
        model.partial_fit(rng.random((200, 2)) < theta)
    history = model.retention_history_
    assert history.shape == (4, 2)
    assert_array_equal(history[0], 1.0)
    assert_array_equal(history[-1], model.retention_)
    assert model.retention_[0] < 0.1
    assert model.retention_[1] > 0.5
    assert_allclose(model.effective_sample_size_[0], 202, atol=60)


def test_the_history_is_bounded(monkeypatch):
    monkeypatch.setattr("streamtopics.estimators.streaming_bayes.KEPT_MINIBATCHES", 3)
    X, y = samples(50)
    model = StreamingBayes(REGRESSION, PowerPrior(0.9), batch_size=5).fit(X, y)
    assert len(model.retention_history_) == 3
    assert model.n_batch_iter_ == 10


# Parameters


def test_fields_of_the_model_and_the_rule_are_parameters():
    model = StreamingBayes(MIXTURE, HierarchicalPowerPrior())
    params = model.get_params()
    assert params["model__n_components"] == 3
    assert params["update__rate_prior__gamma"] == -0.1
    assert params["update__boost__scale"] == 0.0
    assert set(model.get_params(deep=False)) == {
        "model", "update", "boosted_prior", "batch_size", "max_iter", "random_state", "verbose",
    }  # fmt: skip
    model.set_params(
        model__n_components=5,
        update__rate="topic",
        update__boost__scale=0.2,
        update__rate_prior__gamma=1.0,
        batch_size=9,
    )
    assert model.model == GaussianMixture(5)
    expected = HierarchicalPowerPrior("topic", Exponential(1.0), boost=Boost(0.2))
    assert model.update == expected
    assert model.batch_size == 9
    assert MIXTURE.n_components == 3


def test_a_record_and_its_fields_are_set_in_that_order():
    model = StreamingBayes(REGRESSION, PowerPrior(0.9))
    model.set_params(update__boost__scale=0.3, update__rho=0.4, update=PowerPrior(0.1))
    assert model.update == PowerPrior(0.4, Boost(0.3))
    model.set_params(update__boost__scale=0.5, update__boost=Boost(0.1, "topic"))
    assert model.update.boost == Boost(0.5, "topic")


def test_setting_all_that_was_got_changes_nothing():
    model = StreamingBayes(MIXTURE, PowerPrior(0.9, Boost(0.1)), batch_size=7)
    other = StreamingBayes(REGRESSION).set_params(**model.get_params())
    assert other.get_params() == model.get_params() == clone(model).get_params()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"update__kappa": 0.5}, "update, PowerPrior.*has no parameter 'kappa'; it has .'rho'"),
        ({"update__boost__size": 0.5}, "update__boost, Boost.*has no parameter 'size'"),
        ({"update__rho__x": 0.5}, "update__rho, 0.9, has no parameter 'x'; it has none"),
        ({"model__n_topics": 5}, "model, GaussianMixture.*has no parameter 'n_topics'"),
        ({"model__n_components": 0}, "n_components of GaussianMixture"),
        ({"size": 3}, "Invalid parameter 'size'"),
        ({"size__of": 3}, "Invalid parameter 'size'"),
    ],
    ids=str,
)
def test_unknown_parameters_are_named_and_nothing_is_set(wrong, message):
    model = StreamingBayes(MIXTURE, PowerPrior(0.9))
    before = model.get_params()
    with pytest.raises(ValueError, match=message):
        model.set_params(**wrong)
    assert model.get_params() == before


def test_fields_of_the_default_rule_have_to_be_set_on_a_rule():
    with pytest.raises(ValueError, match="update, None, has no parameter 'rho'"):
        StreamingBayes(MIXTURE).set_params(update__rho=0.5)


def test_the_default_rule_is_svb():
    X, y = samples()
    assert bits(StreamingBayes(REGRESSION).fit(X, y)) == bits(
        StreamingBayes(REGRESSION, SVB()).fit(X, y)
    )


def test_grid_search_over_the_retention():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1))
    slopes = np.repeat([3.0, -3.0, 1.0], 200)
    y = slopes * X[:, 0] + 0.1 * rng.normal(size=600)
    train = np.arange(500)
    search = GridSearchCV(
        StreamingBayes(REGRESSION, PowerPrior(1.0), batch_size=25),
        {"update__rho": [0.5, 1.0], "model__precision": [0.1, 1.0]},
        cv=[(train, np.arange(500, 600))],
    ).fit(X, y)
    assert search.best_params_["update__rho"] == 0.5
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) == 4
    assert search.best_estimator_.update == PowerPrior(0.5)


def test_pipelines_and_cross_validation():
    X, _ = samples()
    model = make_pipeline(StandardScaler(), StreamingBayes(GaussianMixture(2), random_state=0))
    assert np.isfinite(cross_val_score(model, X)).all()
    assert model.fit(X).transform(X).shape == (200, 2)
    assert_array_equal(model.fit_transform(X), model.transform(X))
    assert is_regressor(StreamingBayes(REGRESSION))
    assert not is_regressor(StreamingBayes(MIXTURE))


# Classes

CLASSES = NaiveBayesMixture(3)


def classified(n=90):
    """Samples of three classes."""
    y = np.arange(n) % 3
    return np.random.default_rng(0).normal(size=(n, 2)) + y[:, None], y


def test_a_model_of_classes_is_a_classifier():
    X, y = classified()
    model = StreamingBayes(CLASSES, random_state=0)
    assert is_classifier(model)
    assert not hasattr(model, "classes_")
    assert_array_equal(model.fit(X, y).classes_, [0, 1, 2])
    assert_array_equal(clone(model).fit(X[y < 2], y[y < 2]).classes_, [0, 1, 2])
    for other in (REGRESSION, MIXTURE):
        assert not is_classifier(StreamingBayes(other))
        with pytest.raises(AttributeError, match=f"'classes_' with {type(other).__name__}"):
            _ = StreamingBayes(other).fit(X, y).classes_


def test_what_takes_classifiers_takes_it():
    X, y = classified()
    model = StreamingBayes(CLASSES, random_state=0)
    folds = StratifiedKFold(3)
    expected = np.empty((90, 3))
    for train, test in folds.split(X, y):
        expected[test] = model.fit(X[train], y[train]).predict_proba(X[test])
    found = cross_val_predict(model, X, y, cv=3, method="predict_proba")
    assert_array_equal(found, expected)
    scores = cross_val_score(model, X, y, cv=3, scoring="neg_log_loss")
    assert_allclose(-scores.mean(), log_loss(y, expected))
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    assert_array_equal(calibrated.classes_, [0, 1, 2])
    assert calibrated.score(X, y) > 0.5
    model.fit(X, y)
    voted = VotingClassifier([("bayes", model)], voting="soft").fit(X, y)
    assert_allclose(voted.predict_proba(X), model.predict_proba(X))
    curve = partial_dependence(model, X, [0], grid_resolution=4)
    assert_allclose(curve["average"].sum(axis=0), 1.0)


def test_the_score_of_classes_is_a_density_as_before():
    X, y = classified()
    model = StreamingBayes(CLASSES, random_state=0)
    folds = [model.fit(X[a], y[a]).score(X[b], y[b]) for a, b in StratifiedKFold(3).split(X, y)]
    assert_array_equal(cross_val_score(model, X, y, cv=3), folds)


def test_classes_of_a_stream_are_those_of_the_model():
    X, y = classified()
    model = StreamingBayes(CLASSES, random_state=0).partial_fit(X, y, classes=[0, 1])
    assert bits(model) == bits(StreamingBayes(CLASSES, random_state=0).partial_fit(X, y))
    # It tells classifiers their classes.
    learning_curve(model, X, y, cv=3, exploit_incremental_learning=True, error_score="raise")
    before = bits(model)
    for wrong in ([0, 1, 2, 3], [0.5], [-1], [np.inf]):
        with pytest.raises(ValueError, match=r"classes, passed to .* whole numbers from 0 to 2"):
            model.partial_fit(X, y, classes=wrong)
    for wrong in (["a", "b"], [np.nan], [None], 1j, [0, 1 + 0j]):
        with pytest.raises(ValueError, match="classes must hold numbers"):
            model.partial_fit(X, y, classes=wrong)
    with pytest.raises(ValueError, match=r"classes, passed to .* is a masked array"):
        model.partial_fit(X, y, classes=np.ma.masked_equal([0, 1], 1))
    assert bits(model) == before
    with pytest.raises(ValueError, match="LinearRegression has no classes; leave it out"):
        StreamingBayes(REGRESSION).partial_fit(X, y, classes=[0, 1])


# What a model can do


TRANSFORMS = {"transform", "fit_transform", "set_output", "get_feature_names_out"}


def test_methods_are_those_of_the_model():
    for model, methods in (
        (BetaBinomial(), set()),
        (REGRESSION, {"predict"}),
        (MIXTURE, {"predict", "predict_proba", *TRANSFORMS}),
    ):
        estimator = StreamingBayes(model)
        every = {"predict", "predict_proba", *TRANSFORMS}
        assert {name for name in every if hasattr(estimator, name)} == methods
        assert (get_tags(estimator).transformer_tags is not None) == ("transform" in methods)


def test_memberships_may_be_a_frame():
    frames = pytest.importorskip("pandas")
    X = frames.DataFrame(samples()[0]).add_prefix("x")
    plain = StreamingBayes(MIXTURE, random_state=0).fit(X)
    model = StreamingBayes(MIXTURE, random_state=0).set_output(transform="pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.fit_transform(X)
    assert list(found.columns) == [f"streamingbayes{k}" for k in range(3)]
    assert_array_equal(found.to_numpy(), plain.transform(X))
    assert_array_equal(found.index, X.index)


def test_predictions_are_those_of_the_model():
    X, y = samples()
    model = StreamingBayes(REGRESSION).fit(X, y)
    assert_array_equal(model.predict(X), REGRESSION.predict(model.posterior_, X))
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.95
    mixture = StreamingBayes(MIXTURE, random_state=0).fit(X)
    assert_array_equal(mixture.predict(X), mixture.predict_proba(X).argmax(axis=1))
    assert_allclose(mixture.transform(X).sum(axis=1), 1.0)


ATTRIBUTES = ["retention_", "retention_history_", "effective_sample_size_", "n_batch_iter_"]


@pytest.mark.parametrize("method", ["predict", "transform", "score", "score_samples"])
def test_nothing_is_known_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(StreamingBayes(MIXTURE), method)([[1.0, 2.0]])


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_nothing_is_kept_before_fit(name):
    with pytest.raises(NotFittedError):
        getattr(StreamingBayes(MIXTURE), name)


# Wrong input


def test_missing_values_where_the_model_has_no_way_to_leave_them_out():
    X, y = samples()
    model = StreamingBayes(REGRESSION).fit(X, y)
    before = bits(model)
    hole = X.copy()
    hole[3, 1] = np.nan
    for method in (model.fit, model.partial_fit, model.score):
        with pytest.raises(ValueError, match="X contains NaN, but LinearRegression cannot"):
            method(hole, y)
    with pytest.raises(ValueError, match="X contains NaN, but LinearRegression cannot"):
        model.predict(hole)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model.partial_fit(X, np.where(y > 0, y, np.nan))
    assert bits(model) == before
    mixture = StreamingBayes(MIXTURE, random_state=0).fit(hole)
    assert np.isfinite(mixture.score(hole))
    with pytest.raises(ValueError, match="infinity"):
        mixture.partial_fit(np.where(np.isnan(hole), np.inf, hole))


def test_what_would_overflow_is_refused():
    X, y = samples()
    for model in (REGRESSION, MIXTURE):
        estimator = StreamingBayes(model).fit(X, y)
        before = bits(estimator)
        with pytest.raises(ValueError, match="X has values beyond 1e"):
            estimator.partial_fit(X * 1e200, y)
        assert bits(estimator) == before
    with pytest.raises(ValueError, match="y has values beyond 1e"):
        StreamingBayes(REGRESSION).fit(X, y * 1e200)


class Extreme(Boost):
    """A boost that no scale would make."""

    def weight(self, posterior, statistics):
        return 1e300


def test_an_update_that_is_too_extreme_is_refused_whole():
    X, y = samples()
    model = StreamingBayes(REGRESSION, PowerPrior(0.9)).fit(X, y)
    before = bits(model)
    model.set_params(update=HierarchicalPowerPrior(boost=Extreme(1.0)))
    with pytest.raises(ValueError, match="infinite or undefined"):
        model.partial_fit(X, y)
    assert bits(model) == before


@pytest.mark.parametrize("offset", [1e10, 1e40])
@pytest.mark.parametrize("model", [REGRESSION, MeanFieldRegression()], ids=str)
def test_what_floating_point_cannot_tell_apart_is_an_error_that_says_so(offset, model):
    X, y = samples()
    for rule in (SVB(), HierarchicalPowerPrior()):
        estimator = StreamingBayes(model, rule).partial_fit(X, y)
        before = bits(estimator)
        with pytest.raises(ValueError, match="far from 0 for their spread"):
            estimator.partial_fit(X + offset, y)
        assert bits(estimator) == before


def test_targets_are_asked_for():
    X, y = samples()
    model = StreamingBayes(REGRESSION)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X, y).score(X)


@pytest.mark.parametrize("model", [REGRESSION, MeanFieldRegression()], ids=str)
def test_targets_that_are_not_given_are_integrated_out(model):
    X, y = samples()
    estimator = StreamingBayes(model).fit(X, y)
    grid = np.linspace(-60, 60, 6001)
    for x, of_inputs in zip(X[:3], estimator.score_samples(X[:3]), strict=True):
        density = np.exp(estimator.score_samples(np.tile(x, (len(grid), 1)), grid))
        assert_allclose(np.log(trapezoid(density, grid)), of_inputs, atol=2e-3)


def test_columns_stay_the_same():
    X, y = samples()
    model = StreamingBayes(REGRESSION).fit(X, y)
    with pytest.raises(ValueError, match="X has 1 features, but StreamingBayes is expecting 2"):
        model.partial_fit(X[:, :1], y)


def test_another_model_in_mid_stream_is_refused():
    X, _ = samples()
    model = StreamingBayes(MIXTURE, random_state=0).fit(X)
    before = bits(model)
    model.set_params(model__n_components=5)
    with pytest.raises(ValueError, match="the stream was started with GaussianMixture"):
        model.partial_fit(X)
    assert bits(model) == before
    assert model.predict_proba(X).shape[1] == 3
    assert model.fit(X).predict_proba(X).shape[1] == 5
    model.set_params(update=PowerPrior(0.5)).partial_fit(X)
    assert_array_equal(model.retention_, 0.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": "mixture"}, "model must be a record with the method 'log_predictive'"),
        ({"model": PowerPrior(0.5)}, "model must be a record"),
        ({"model": GaussianMixture}, "model must be a record"),
        ({"update": 0.5}, "update must be a rule .* derives from Rule"),
        ({"update": PowerPrior}, "update must be a rule"),
        ({"batch_size": 0}, "batch_size"),
        ({"max_iter": 0.5}, "max_iter"),
        ({"random_state": "seed"}, "random_state"),
    ],
    ids=str,
)
def test_wrong_parameters(wrong, message):
    X, y = samples()
    model = StreamingBayes(MIXTURE).set_params(**wrong)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
    assert not hasattr(model, "posterior_")


def test_verbose_shows_progress_and_changes_nothing(capsys):
    X, y = samples()
    quiet = StreamingBayes(REGRESSION).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = StreamingBayes(REGRESSION, verbose=1).fit(X, y)
    err = capsys.readouterr().err
    assert "StreamingBayes" in err
    assert "200/200" in err
    assert "values/s" in err
    assert bits(shown) == bits(quiet)


# A model and a rule of one's own


def test_a_rule_of_ones_own_is_a_record_with_a_step():
    @dataclass(frozen=True)
    class Halved(Rule):
        share: float = 0.5

        def step(self, posterior, learn, state):
            return PowerPrior(self.share).step(posterior, learn, state)

    X, y = samples()
    mine = StreamingBayes(REGRESSION, Halved()).set_params(update__share=0.25).fit(X, y)
    assert bits(mine) == bits(StreamingBayes(REGRESSION, PowerPrior(0.25)).fit(X, y))


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (NaiveBayesMixture(2, GaussianMixture(2)), [[1.0], [2.0], [3.0]], [0, 1, 2]),
        (BetaBinomial(), [[0.0], [1.0], [2.0]], None),
        (NaiveBayesMixture(2, GaussianMixture(2)), [[1.0], [2.0], [3.0]], [0, 1, 1e20]),
        (GaussianMixture(2, group_column=0, n_groups=2), [[0.0, 1.0], [1.0, 2.0], [2, 3]], None),
    ],
)
def test_a_corpus_that_is_wrong_at_its_end_is_refused_as_a_whole(model, X, y):
    right = X[:2] * 2, None if y is None else y[:2] * 2
    estimator = StreamingBayes(model, batch_size=1, random_state=0).fit(*right)
    before = pickle.dumps(estimator)
    with pytest.raises(ValueError, match=r"whole numbers from 0 to 1|zeros and ones only"):
        estimator.fit(X, y)
    assert pickle.dumps(estimator) == before
