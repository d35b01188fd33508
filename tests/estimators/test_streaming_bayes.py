# SPDX-License-Identifier: BSD-3-Clause
"""The estimator of any model and any rule."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import trapezoid
from sklearn.base import clone, is_classifier
from sklearn.model_selection import learning_curve

from streamtopics import StreamingBayes, updates
from streamtopics.models import (
    BetaBinomial,
    GaussianMixture,
    LinearRegression,
    MeanFieldRegression,
    NaiveBayesMixture,
)
from streamtopics.updates import BPS, Boost, HierarchicalPowerPrior, PowerPrior, Window
from streamtopics.updates.rates import Exponential
from tests.saving.state import parts_of


def samples(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 3.0 * rng.integers(2, size=(n, 1))
    return X, X @ [1.0, -0.5] + 0.3 * rng.normal(size=n)


REGRESSION, MIXTURE = LinearRegression(), GaussianMixture(3)
RULES = [
    None,
    updates.Rounds(updates.SVB(), 3),
    BPS(0.1),
    PowerPrior(0.8, Boost(0.1)),
    HierarchicalPowerPrior("topic"),
    HierarchicalPowerPrior(rate_starts=(0.05, 0.95), boost=Boost(0.1, "topic")),
    updates.PopulationVB(100.0, 0.2),
    updates.StochasticVI(updates.Decay(0.7, 1.0), 500),
]


X, Y = samples()


def bits(model):
    return parts_of([model.posterior_, model.retention_history_, model.n_features_in_])


@pytest.fixture(params=product([REGRESSION, MIXTURE], RULES), ids=str)
def estimator(request):
    return StreamingBayes(*request.param, batch_size=40, random_state=3)


def test_fit_is_partial_fit_over_minibatches_in_order(estimator):
    whole = clone(estimator).set_params(max_iter=2).fit(X, Y)
    for start in [*range(0, 200, 40)] * 2:
        estimator.partial_fit(X[start : start + 40], Y[start : start + 40])
    assert bits(estimator) == bits(whole)
    assert (whole.n_batch_iter_, whole.n_samples_seen_, whole.n_iter_) == (10, 400, 2)


def test_learning_helps(estimator):
    test = samples(seed=1)
    few = clone(estimator).partial_fit(X[:5], Y[:5]).score(*test)
    assert estimator.fit(X, Y).score(*test) > few


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
        deepcopy(model).set_params(boosted_prior=None).partial_fit(flips)


@pytest.mark.parametrize("wrong", [0.1, GaussianMixture(2)])
def test_a_boosted_prior_is_one_of_the_same_model(wrong):
    model = StreamingBayes(BetaBinomial(), BPS(0.1), boosted_prior=wrong)
    with pytest.raises(ValueError, match="boosted_prior must be a BetaBinomial like model"):
        model.partial_fit([[1.0], [0.0]])
    assert not model.__sklearn_is_fitted__()


def test_retention_of_a_fixed_rate_and_effective_sample_size():
    model = StreamingBayes(REGRESSION, PowerPrior(0.5), batch_size=50).fit(X, Y)
    assert_array_equal(model.retention_, [0.5])
    assert_array_equal(model.retention_history_, np.full((4, 1), 0.5))
    assert_allclose(model.effective_sample_size_, [2.0 + 50 * (1 + 0.5 + 0.25 + 0.125)])
    for regression in (REGRESSION, MeanFieldRegression()):
        model = StreamingBayes(regression, Window(2), batch_size=50).fit(X, Y)
        assert_array_equal(model.retention_history_[:, 0], [1.0, 1.0, 0.5, 0.5])


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
        model__n_components=5, update__rate="topic", update__boost__scale=0.2,
        update__rate_prior__gamma=1.0, batch_size=9,
    )  # fmt: skip
    assert model.model == GaussianMixture(5)
    expected = HierarchicalPowerPrior("topic", Exponential(1.0), boost=Boost(0.2))
    assert model.update == expected
    assert model.batch_size == 9
    assert MIXTURE.n_components == 3


# Classes

CLASSES = NaiveBayesMixture(3)
CODES = np.arange(90) % 3
CLASSIFIED = np.random.default_rng(0).normal(size=(90, 2)) + CODES[:, None], CODES


def test_a_model_of_classes_is_a_classifier():
    X, y = CLASSIFIED
    model = StreamingBayes(CLASSES, random_state=0)
    assert is_classifier(model)
    assert not hasattr(model, "classes_")
    assert_array_equal(model.fit(X, y).classes_, [0, 1, 2])
    assert_array_equal(clone(model).fit(X[y < 2], y[y < 2]).classes_, [0, 1, 2])
    for other in (REGRESSION, MIXTURE):
        assert not is_classifier(StreamingBayes(other))
        with pytest.raises(AttributeError, match=f"{type(other).__name__}.* has no classes"):
            _ = StreamingBayes(other).fit(X, y).classes_


def test_classes_of_a_stream_are_those_of_the_model():
    X, y = CLASSIFIED
    model = StreamingBayes(CLASSES, random_state=0).partial_fit(X, y, classes=[0, 1])
    assert bits(model) == bits(StreamingBayes(CLASSES, random_state=0).partial_fit(X, y))
    # It tells classifiers their classes.
    learning_curve(model, X, y, cv=3, exploit_incremental_learning=True, error_score="raise")


def test_predictions_are_those_of_the_model():
    model = StreamingBayes(REGRESSION).fit(X, Y)
    assert_array_equal(model.predict(X), REGRESSION.predict(model.posterior_, X))
    assert np.corrcoef(model.predict(X), Y)[0, 1] > 0.95
    mixture = StreamingBayes(MIXTURE, random_state=0).fit(X)
    assert_array_equal(mixture.predict(X), mixture.predict_proba(X).argmax(axis=1))
    assert_allclose(mixture.transform(X).sum(axis=1), 1.0)


@pytest.mark.usefixtures("switching_often")
def test_reads_beside_a_learner_are_of_states_that_existed():
    X, y = CLASSIFIED
    parts = [(X, y), (-X[:60], y[:60])] * 200
    model = StreamingBayes(NaiveBayesMixture(3, GaussianMixture(1)), PowerPrior(0.0))
    reads = lambda: model.predict_proba(X[:2]), lambda: model.effective_sample_size_
    known = [{str(read()) for part in parts[:4] if model.partial_fit(*part)} for read in reads]
    with ThreadPoolExecutor() as pool:
        learning = pool.submit(lambda: [model.partial_fit(*part) for part in parts])
        while not learning.done():
            assert all(str(read()) in states for read, states in zip(reads, known, strict=True))


def test_missing_values_where_the_model_has_no_way_to_leave_them_out():
    model = StreamingBayes(REGRESSION).fit(X, Y)
    before = bits(model)
    hole = X.copy()
    hole[3, 1] = np.nan
    for method in (model.fit, model.partial_fit, model.score, lambda X, y: model.predict(X)):
        with pytest.raises(ValueError, match="X contains NaN, but LinearRegression cannot"):
            method(hole, Y)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model.partial_fit(X, np.where(Y > 0, Y, np.nan))
    assert bits(model) == before
    mixture = StreamingBayes(MIXTURE, random_state=0).fit(hole)
    assert np.isfinite(mixture.score(hole))
    with pytest.raises(ValueError, match="infinity"):
        mixture.partial_fit(np.where(np.isnan(hole), np.inf, hole))


@pytest.mark.parametrize("model", [REGRESSION, MeanFieldRegression()], ids=str)
def test_targets_that_are_not_given_are_integrated_out(model):
    estimator = StreamingBayes(model).fit(X, Y)
    grid = np.linspace(-60, 60, 6001)
    for x, of_inputs in zip(X[:3], estimator.score_samples(X[:3]), strict=True):
        density = np.exp(estimator.score_samples(np.tile(x, (len(grid), 1)), grid))
        assert_allclose(np.log(trapezoid(density, grid)), of_inputs, atol=2e-3)


def test_another_model_in_mid_stream_is_refused():
    model = StreamingBayes(MIXTURE, random_state=0).fit(X)
    before = bits(model)
    model.set_params(model__n_components=5)
    with pytest.raises(ValueError, match="the model was started with GaussianMixture"):
        model.partial_fit(X)
    assert bits(model) == before
    assert model.predict_proba(X).shape[1] == 3
    assert model.fit(X).predict_proba(X).shape[1] == 5
    model.set_params(update=PowerPrior(0.5)).partial_fit(X)
    assert_array_equal(model.retention_, 0.5)


@pytest.mark.parametrize(("model", "X", "y"), [
    (NaiveBayesMixture(2, GaussianMixture(2)), [[1.0], [2.0], [3.0]], [0, 1, 2]),
    (BetaBinomial(), [[0.0], [1.0], [2.0]], None),
    (NaiveBayesMixture(2, GaussianMixture(2)), [[1.0], [2.0], [3.0]], [0, 1, 1e20]),
])  # fmt: skip
def test_a_corpus_that_is_wrong_at_its_end_is_refused_as_a_whole(model, X, y):
    right = X[:2] * 2, None if y is None else y[:2] * 2
    estimator = StreamingBayes(model, batch_size=1, random_state=0).fit(*right)
    before = pickle.dumps(estimator)
    with pytest.raises(ValueError, match=r"whole numbers from 0 to 1|zeros and ones only"):
        estimator.fit(X, y)
    assert pickle.dumps(estimator) == before
