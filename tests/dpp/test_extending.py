# SPDX-License-Identifier: BSD-3-Clause
"""Measures and noises of a user's own: the files of the guide, and small ones."""

import importlib
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from streamtopics import LowRankDPP
from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.kernel import Process, condition
from streamtopics.dpp.likelihood import Parameters, log_likelihood, slopes
from streamtopics.dpp.marginal import expected_size, marginals
from streamtopics.dpp.measures import Bernoulli, Gaussian, Items, Weighted
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sampling import sample, size_probabilities
from streamtopics.dpp.sets import PointSets
from tests.dpp import cases
from tests.dpp.cases import net
from tests.reference import dpp as reference

GUIDE = Path(__file__).parent.parent.parent / "doc" / "extend"


@pytest.fixture(autouse=True)
def guide(monkeypatch):
    monkeypatch.syspath_prepend(GUIDE)


def corners(V=3):
    measure = importlib.import_module("corners").Corners(V)
    X = measure.ground_set()
    return cases.Listed(measure, X, np.full(2**V, 0.5**V), X)


def uniform(level):
    return importlib.import_module("uniform").Uniform(level)


class My(Gaussian):
    pass


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("wrap", [lambda measure: measure, lambda m: Weighted(m, np.ones(3))])
def test_a_subclass_reads_sets_as_its_parent(positive, wrap):
    vectors = np.random.default_rng(0).standard_normal((4, 3))
    X = [np.abs(vectors) if positive else vectors] * 20
    mine = LowRankDPP(wrap(My(np.zeros(3), np.ones(3))), 2, random_state=0).fit(X)
    plain = LowRankDPP(Gaussian(np.zeros(3), np.ones(3)), 2, random_state=0).fit(X)
    assert_array_equal(mine.components_, plain.components_)
    assert mine.sample(2, random_state=0)[0].shape[1] == 3


@pytest.mark.parametrize("ground_set", [My(np.zeros(3), np.ones(3)), Bernoulli(np.full(17, 0.5))])
@pytest.mark.parametrize("noise", ["counting", Counting(0.1)])
def test_noise_that_needs_a_list_is_refused_at_fit(ground_set, noise):
    X = [np.ones((2, len(ground_set.v)))] * 20
    name = type(ground_set).__name__
    match = f"Counting noise needs a list of the ground set, but {name} has none"
    estimator = LowRankDPP(ground_set, 2, noise=noise)
    for learn in (estimator.fit, estimator.partial_fit):
        with pytest.raises(ValueError, match=match):
            learn(X)
        assert not estimator.__sklearn_is_fitted__()


def test_corners_have_their_moments_and_places():
    case = corners()
    measure = case.measure
    assert_allclose(cases.sigma(measure), reference.moment(case.p, case.Phi), atol=1e-14)
    assert_allclose(np.exp(measure.log_p(case.points)), case.p)
    assert_array_equal(measure.places(case.points), np.arange(8))
    assert measure.log_p(np.array([[0.5, 1, 1]])) == -np.inf


@pytest.mark.parametrize("seed", [0, 1])
def test_draws_of_corners(seed):
    case, rng = corners(), np.random.default_rng(seed)
    h = rng.standard_normal(3)
    plain = case.measure.sample(40_000, rng)
    tilted = case.measure.sample_tilted(np.tile(h, (40_000, 1)), rng)
    cases.assert_law(case.measure.places(plain), case.p)
    cases.assert_law(case.measure.places(tilted), reference.tilted(case.p, case.Phi, h))


def test_a_whole_life_of_corners():
    case = corners(4)
    process = cases.process(case, 0.0, Background(0.5))
    drawn = sample(process, 120, np.random.default_rng(0))
    X = [drawn[i] for i in range(120)]
    estimator = LowRankDPP(case.measure, 3, max_iter=3, random_state=0)
    model = clone(estimator).fit(X)
    assert model.objective_[-1] < model.objective_[0]
    assert np.isfinite(model.score_samples(X)).all()
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[:10])
    assert again.n_documents_seen_ == 130
    assert model.transform(X).shape == (120, 3)
    assert not model.__sklearn_tags__().input_tags.positive_only
    found = np.concatenate(list(model.sample(50, random_state=0)))
    assert set(found.ravel()) <= {-1.0, 1.0}
    assert model.sample(2, k=3, given=X[0][:1], random_state=0)[0].shape == (3, 4)
    with pytest.raises(ValueError, match="probability 0"):
        clone(estimator).fit([[[0.5, 1.0, 1.0, 1.0]]])
    counting = LowRankDPP(case.measure, 3, noise="counting", max_iter=2, random_state=0).fit(X)
    assert counting.sample(3, random_state=0)[0].shape[1] == 4
    with pytest.raises(NotImplementedError, match="Corners has no without"):
        counting.sample(given=X[0][:1])


@pytest.mark.parametrize("name", ["bernoulli", "items"])
def test_the_law_of_multisets_with_uniform_noise(name):
    """Over multisets of at most 12 points: sum to one, size, and inclusion."""
    case = {"bernoulli": cases.bernoulli(2), "items": cases.items(4)}[name]
    case = case._replace(measure=Weighted(case.measure, [1.0, 1.5, 1.0, 0.5][: len(case.Phi[0])]))
    process = cases.process(case, 0.2, uniform(0.15))
    kernel, lists = process.kernel, cases.multisets(4, 12)
    sets = cases.as_sets(case.points, lists)
    at = Parameters(kernel.U, kernel.theta, kernel.gamma, process.noise)
    law = np.exp(log_likelihood(batch_sets(case.measure, sets), at))
    times = np.array([np.bincount(s, minlength=4) for s in lists])
    assert_allclose(law.sum(), 1, atol=1e-6)
    assert_allclose(expected_size(process), law @ times.sum(axis=1), atol=1e-5)
    assert_allclose(marginals(process, case.points), law @ times, atol=1e-5)
    sizes = np.bincount(times.sum(axis=1), law)
    assert_allclose(size_probabilities(process, 6), sizes[:7], atol=1e-6)


def test_slopes_of_uniform_noise():
    case = cases.bernoulli()
    kernel = cases.kernel(3)
    data = batch_sets(case.measure, PointSets(case.points[[0, 3, 3, 5]], [0, 1, 4]))

    def at(level):
        return Parameters(kernel.U, kernel.theta, 0.3, uniform(level))

    above, below = (log_likelihood(data, at(level)).sum() for level in (0.4 + 1e-5, 0.4 - 1e-5))
    assert_allclose(net(slopes(data, at(0.4)).level), (above - below) / 2e-5, rtol=1e-6)


def test_draws_with_uniform_noise():
    case = cases.bernoulli()
    process = cases.process(case, 0.0, uniform(0.2))
    drawn = sample(process, 20_000, np.random.default_rng(0))
    cases.assert_law(drawn.sizes, size_probabilities(process, 40))
    found = np.bincount(case.measure.places(drawn.points), minlength=8) / 20_000
    assert_allclose(found, marginals(process, case.points), atol=0.015)
    assert (sample(process, 9, np.random.default_rng(0), k=4).sizes == 4).all()
    rest = condition(process, case.points[[3]])
    assert isinstance(rest, Process)
    assert rest.measure is process.measure


@pytest.mark.parametrize("ground_set", ["items", Items.of(5), Bernoulli(np.full(5, 0.3))])
def test_a_whole_life_of_uniform_noise(ground_set):
    rows = (np.random.default_rng(0).random((90, 5)) < 0.4).astype(float)
    X = [rows[i : i + 3] for i in range(0, 90, 3)]
    X = sparse.csr_matrix(rows) if getattr(ground_set, "mass", 5.0) == 5 else X
    estimator = LowRankDPP(ground_set, 2, noise=uniform(0.05), max_iter=3, random_state=0)
    model = clone(estimator).fit(X)
    assert model.noise_level_ not in (0.0, 0.05)
    assert np.isfinite(model.score(X))
    assert model.transform(X).shape[1] == 2
    again = pickle.loads(pickle.dumps(model)).partial_fit(X)
    assert again.n_batch_iter_ == 2
    assert again.sample(3, random_state=0)[0].shape[1] == 5
    fixed = clone(estimator).set_params(noise_level=0.3).fit(X)
    assert fixed.noise_level_ == 0.3
    with pytest.raises(ValueError, match="noise 'background' now"):
        fixed.set_params(noise="background").partial_fit(X)
