# SPDX-License-Identifier: BSD-3-Clause
"""Classes that are mixtures, against the mixtures alone and quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from streamtopics import StreamingBayes
from streamtopics.families import dirichlet
from streamtopics.models import GaussianMixture, NaiveBayesMixture
from streamtopics.posteriors import Blend
from streamtopics.updates import SVB, PowerPrior
from tests.models.learning import learnt
from tests.updates.given import take

MODEL = NaiveBayesMixture(3, GaussianMixture(2, mean_mass=0.1), class_concentration=0.5)


def data(n=120, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + 3.0 * np.column_stack([y, rng.integers(2, size=n)])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_it_is_a_mixture_for_each_class_and_a_count_of_the_classes(missing):
    (X, y), (X2, y2) = data(missing=missing), data(30, 1, missing)
    mine, mixtures = learnt(MODEL, X, y, size=120), []
    for c in range(3):
        one = MODEL.mixture.posterior(X)
        begun = {name: (mine[name] - mine.blocks[name].prior)[[c]] for name in one.blocks}
        one.blend(Blend(1.0, 1.0, 0.0, one.statistics(begun, 0, 0.0)))
        mixtures.append(one)
    learn = MODEL.learner(mine, X2, y2)
    bound = learn(mine).local_bound - dirichlet.expected_statistics(mine["classes"])[y2].sum()
    take(SVB(), mine, learn)
    for c, one in enumerate(mixtures):
        learn = MODEL.mixture.learner(one, X2[y2 == c])
        bound -= learn(one).local_bound
        take(SVB(), one, learn)
        for name in one.blocks:
            assert_allclose(mine[name][c], one[name][0], rtol=1e-12)
    assert_allclose(bound, 0.0, atol=1e-9)
    counts = 0.5 + np.bincount(y) + np.bincount(y2)
    assert_array_equal(mine["classes"], counts)
    expected = np.stack([MODEL.mixture.log_predictive(one, X2) for one in mixtures])
    expected = expected[y2, np.arange(30)] + np.log(counts / counts.sum())[y2]
    assert_allclose(MODEL.log_predictive(mine, X2, y2), expected)


def test_probabilities_of_classes_are_those_of_the_joint_density():
    X, y = data()
    posterior = learnt(MODEL, X, y, size=40)
    joint = np.stack(
        [np.exp(MODEL.log_predictive(posterior, X, np.full(len(y), c))) for c in range(3)], axis=1
    )
    assert_allclose(MODEL.log_predictive(posterior, X, None), np.log(joint.sum(axis=1)))
    found = MODEL.predict_proba(posterior, X)
    assert_allclose(found, joint / joint.sum(axis=1, keepdims=True))
    assert_array_equal(MODEL.predict(posterior, X), found.argmax(axis=1))
    assert (MODEL.predict(posterior, X) == y).mean() > 0.85


def test_the_joint_density_sums_and_integrates_to_one():
    X, y = data()
    posterior = learnt(MODEL, X[:, :1], y, size=40)

    def density(value, c):
        x = np.array([[value]])
        return float(np.exp(MODEL.log_predictive(posterior, x, np.array([c]))[0]))

    parts = ((-np.inf, -3), (-3, 3), (3, 9), (9, np.inf))
    total = sum(quad(density, *part, args=(c,))[0] for c in range(3) for part in parts)
    assert_allclose(total, 1.0, rtol=1e-6)


def test_as_an_estimator():
    X, y = data(300, missing=0.1)
    model = StreamingBayes(MODEL, PowerPrior(0.9), batch_size=50, random_state=0)
    model.set_params(model__mixture__n_components=1).fit(X, y)
    assert model.posterior_["weights"].shape == (3, 1)
    assert (model.predict(X) == y).mean() > 0.75
    assert model.predict_proba(X).shape == (300, 3)
    assert np.isfinite(model.score(X, y))
    before = model.posterior_["classes"]
    with pytest.raises(ValueError, match="classes y of NaiveBayesMixture must be whole numbers"):
        model.partial_fit(X, y + 1)
    assert_array_equal(model.posterior_["classes"], before)
