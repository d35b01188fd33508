# SPDX-License-Identifier: BSD-3-Clause
"""The likelihood of observed sets against dense kernels, and its derivatives."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime

from streamtopics.dpp.arrays import solve_positive
from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.learning import theta_steps
from streamtopics.dpp.likelihood import (
    Parameters,
    check_possible,
    log_density,
    log_likelihood,
    slopes,
)
from streamtopics.dpp.marginal import marginals
from streamtopics.dpp.measures import (
    Bernoulli,
    Fourier,
    Gaussian,
    Items,
    LengthMultinomial,
    Poisson,
    Weighted,
)
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sampling import sample, size_probabilities
from streamtopics.dpp.sets import PointSets
from streamtopics.utils.parallel import workers
from tests.dpp import cases
from tests.dpp.cases import net
from tests.processes import ENVIRONMENT
from tests.reference import dpp as reference

SMALL = {"bernoulli": cases.bernoulli(2), "items": cases.items(4), "weighted": cases.weighted(2)}
SETTINGS = [(0.0, Counting(0.0)), (0.4, Counting(0.0)), (0.3, Counting(0.15))]
NOISES = [Counting(0.15), Background(0.6)]


def parameters_of(process):
    kernel = process.kernel
    return Parameters(kernel.U, kernel.theta, kernel.gamma, process.noise)


def some_sets(case, seed=0, n=12, most=6):
    """With empty sets, repeated points and more points than columns."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, most, n)
    sizes[:2] = 0, most
    places = rng.integers(0, len(case.p), sizes.sum())
    return PointSets(case.points[places], np.cumsum([0, *sizes]))


def multisets(name, gamma):
    """A process with noise, all multisets of at most 12 of its 4 points, and log P of each."""
    case, lists = SMALL[name], cases.multisets(4, 12)
    process = cases.process(case, gamma, Background(0.6 / case.measure.mass))
    data = batch_sets(case.measure, cases.as_sets(case.points, lists))
    return case, process, lists, log_likelihood(data, parameters_of(process))


@pytest.mark.parametrize("name", ["bernoulli", "items", "weighted"])
@pytest.mark.parametrize(("gamma", "noise"), SETTINGS)
def test_all_sets_have_the_dense_probabilities(name, gamma, noise):
    case = cases.LISTED[name]
    process = cases.process(case, gamma, noise)
    every = cases.as_sets(case.points, reference.subsets(len(case.p)))
    data = batch_sets(case.measure, every)
    found = log_likelihood(data, parameters_of(process))
    law = reference.probabilities(cases.dense_of(case, process))
    assert_allclose(np.exp(found), law, atol=1e-12)
    assert_allclose(np.exp(found).sum(), 1, rtol=1e-11)
    assert_array_equal(np.isneginf(found), law < 1e-15)


@pytest.mark.parametrize("name", sorted(SMALL))
@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_all_multisets_have_their_probabilities(name, gamma):
    case, process, lists, log_p = multisets(name, gamma)
    law = np.exp(log_p)
    A, level = process.kernel.matrix, process.noise.level
    expected = [reference.background_multiset(case.p, case.Phi, A, level, X) for X in lists]
    assert_allclose(law, expected, rtol=1e-9, atol=1e-15)
    assert_allclose(law.sum(), 1, atol=1e-6)
    by_size = np.bincount([len(X) for X in lists], law)
    assert_allclose(size_probabilities(process, len(by_size) - 1), by_size, atol=1e-12)
    times = np.array([np.bincount(X, minlength=4) for X in lists])
    assert_allclose(marginals(process, case.points), law @ times, atol=1e-5)


def test_multisets_are_as_frequent_among_draws():
    case, process, lists, log_p = multisets("bernoulli", 0.4)
    drawn = sample(process, 20_000, np.random.default_rng(0))
    places = case.measure.places(drawn.points)
    found = Counter(tuple(sorted(places[a:b])) for a, b in pairwise(drawn.indptr))
    counts = np.array([found.pop(tuple(X), 0) for X in lists])
    assert not found
    assert cases.chi_square_p(counts, np.exp(log_p)) > 1e-4


def test_only_the_same_point_is_a_repeat():
    """Equal features, or columns that a measure reads as one, are not, or are, enough."""
    two = sparse.csr_matrix([[2.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    stored = sparse.csr_matrix(([2.0, 2.0, 0.0, 1.0, 1.0], [0, 0, 1, 0, 0], [0, 1, 3, 5]), (3, 2))
    for measure, points, orders in (
        (Bernoulli([0.3, 0.4]), two, 24),
        (Weighted(Bernoulli([0.3, 0.4]), [1.0, 0.0]), two, 24),
        (Weighted(Poisson([1.0, 1.0]), [0.0, 0.0]), two, 6),
        (LengthMultinomial([0.2, 0.4, 0.4], [0.5, 0.5]), two, 6),
        (Poisson([1.0, 1.0]), stored, 6),
        (Items.of(4), np.array([3, 0, 3, 0, 1]), 4),
        (Gaussian([0.0, 0.0], [1.0, 1.0]), np.eye(2), 1),
    ):
        assert_allclose(log_repeats(measure, points), np.log(orders), rtol=1e-6)


def log_repeats(measure, points):
    """Of one set between two others that have its first and its last point."""
    n = points.shape[0]
    three = points[[0, *range(n), n - 1]]
    before, found, after = batch_sets(measure, PointSets(three, [0, 1, n + 1, n + 2])).log_repeats
    assert before == after == 0
    alone = batch_sets(measure, PointSets(points, [0, n])).log_repeats
    assert_array_equal(alone, found)
    return found


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("gamma", [0.0, 0.3])
@pytest.mark.parametrize("name", ["bernoulli", "items", "weighted"])
def test_slopes_equal_finite_differences(name, gamma, noise, own):
    case = cases.LISTED[name]
    data = batch_sets(case.measure, some_sets(case))
    at = parameters_of(cases.process(case, gamma, noise))
    if own:
        theta = np.random.default_rng(1).exponential(size=(data.n_sets, 2))
        theta[0, 1] = 0.0
        at = replace(at, theta=theta)

    def value(**changes):
        return log_density(data, replace(at, **changes)).sum()

    found, shape = slopes(data, at), at.theta.shape
    assert_allclose(found.log_density, value(), rtol=1e-12)
    by_U = approx_fprime(at.U.ravel(), lambda x: value(U=x.reshape(at.U.shape)), 1e-7)
    by_theta = approx_fprime(at.theta.ravel(), lambda x: value(theta=x.reshape(shape)), 1e-7)
    by_gamma = (value(gamma=gamma + 1e-7) - value()) / 1e-7
    by_level = (value(noise=noise.at(noise.level + 1e-7)) - value()) / 1e-7
    of_theta = net(found.theta) if own else net(found.theta).sum(axis=0)
    ours = [found.U.ravel(), of_theta.ravel(), net(found.gamma), net(found.level)]
    for one, numeric in zip(ours, (by_U, by_theta, by_gamma, by_level), strict=True):
        assert_allclose(one, numeric, rtol=1e-4, atol=1e-4)
    for halves in (found.theta, found.gamma, found.level):
        assert np.min(halves.up) >= 0
        assert np.min(halves.down) >= 0


def test_parts_do_not_matter(monkeypatch):
    case = cases.bernoulli()
    at = parameters_of(cases.process(case, 0.3, Background(0.6)))
    sets = some_sets(case, n=40, most=9)
    whole = batch_sets(case.measure, sets)
    one = slopes(whole, at)
    monkeypatch.setattr("streamtopics.dpp.batches.MOST_ENTRIES", 600)
    data = batch_sets(case.measure, sets)
    assert len(data.parts) > 5 > len(whole.parts)
    assert max(len(batch.places) for part in data for batch in part.batches) == 2
    assert sorted(i for part in data for i in part.places) == list(range(40))
    two = slopes(data, at)
    assert_allclose(two.log_density, one.log_density, rtol=1e-13)
    assert_allclose(two.U, one.U, rtol=1e-11, atol=1e-12)
    assert_array_equal(two.theta.up, one.theta.up)
    assert_array_equal(two.theta.down, one.theta.down)
    for own in (at, replace(at, theta=np.random.default_rng(1).exponential(size=(40, 2)))):
        with workers(2) as two_threads:
            three = slopes(replace(data, workers=two_threads), own)
        serial = slopes(data, own)
        assert_array_equal(three.U, serial.U)
        assert_array_equal(net(three.theta), net(serial.theta))
        assert (net(three.gamma), net(three.level)) == (net(serial.gamma), net(serial.level))


class Columnwise(Gaussian):
    """Its features lie in memory a column after another."""

    def features(self, points):
        return np.asfortranarray(super().features(points))


@pytest.mark.parametrize("r", [1, 3, 4])
@pytest.mark.parametrize(
    "measure",
    [
        Bernoulli(np.linspace(0.02, 0.4, 25)),
        Weighted(Bernoulli(np.linspace(0.02, 0.4, 25)), np.linspace(0.1, 3.0, 25)),
        LengthMultinomial([0.1, 0.5, 0.4], np.full(25, 0.04)),
        Gaussian(np.linspace(-1, 1, 25), np.ones(25)),
        Columnwise(np.linspace(-1, 1, 25), np.ones(25)),
        Fourier(2, 2),
    ],
    ids=lambda measure: type(measure).__name__,
)
def test_a_set_alone_has_the_bits_that_it_has_among_others(measure, r):
    rng = np.random.default_rng(0)
    # Sizes 0, 1, 2, ..., equal and different, in no order.
    sizes = np.concatenate([rng.integers(0, 13, 30), [0, 1, 40, 1, 5]])
    sets = PointSets(measure.sample(sizes.sum(), rng), np.cumsum([0, *sizes]))
    n, data = len(sets), batch_sets(measure, sets)
    at = Parameters(rng.standard_normal((25, r)), rng.exponential(size=(n, r)), 0.01,
                    Background(0.5))  # fmt: skip
    together = log_likelihood(data, at)
    theta = theta_steps(data, at, penalty=0.01)
    found = slopes(data, at).theta
    for i in range(n):
        alone = batch_sets(measure, PointSets(sets[i], [0, sets.sizes[i]]))
        own = replace(at, theta=at.theta[i : i + 1])
        assert log_likelihood(alone, own)[0] == together[i]
        assert_array_equal(theta_steps(alone, own, penalty=0.01)[0], theta[i])
        assert_array_equal(net(slopes(alone, own).theta)[0], net(found)[i])
    if isinstance(sets.points, np.ndarray):
        # Points that lie in memory a coordinate after another.
        columns = batch_sets(measure, PointSets(np.asfortranarray(sets.points), sets.indptr))
        assert_array_equal(log_likelihood(columns, at), together)
        assert_array_equal(theta_steps(columns, at, penalty=0.01), theta)


@pytest.mark.slow
def test_so_it_has_where_blas_has_no_wide_vectors():
    """OpenBLAS is as without AVX on a processor that it does not know."""
    named = "a_set_alone_has_the_bits_that_it_has_among_others"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", __file__, "-k", named]
    around = ENVIRONMENT | {"OPENBLAS_CORETYPE": "Prescott"}
    done = subprocess.run(command, env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_an_impossible_set_does_not_change_the_others():
    """One matrix that rounding makes indefinite, in the same batch as a possible one."""
    rng = np.random.default_rng(0)
    rows = (rng.random((20, 30)) < 0.3).astype(float)
    rows[10:], measure = np.abs(rows[10]), Bernoulli(np.full(30, 0.3))
    at = Parameters(rng.standard_normal((30, 12)), np.ones(12), 0.0, Background(0.0))
    both = log_likelihood(batch_sets(measure, PointSets(rows, [0, 10, 20])), at)
    alone = log_likelihood(batch_sets(measure, PointSets(rows[:10], [0, 10])), at)
    assert both.tolist() == [alone[0], -np.inf]


def test_order_and_scale_do_not_matter():
    case, sets = cases.bernoulli(), some_sets(cases.bernoulli())
    at = parameters_of(cases.process(case, 0.3, Background(0.6)))
    data = batch_sets(case.measure, sets)
    found = log_likelihood(data, at)
    backwards = PointSets(sets.points[::-1], np.cumsum([0, *sets.sizes[::-1]]))
    other = log_likelihood(batch_sets(case.measure, backwards), at)
    assert_allclose(other[::-1], found, rtol=1e-11)
    scaled = replace(at, U=at.U * [10.0, 0.1], theta=at.theta / [100.0, 0.01])
    assert_allclose(log_likelihood(data, scaled), found, rtol=1e-11)
    assert_allclose(log_likelihood(data, replace(at, U=-at.U)), found)


def test_dense_features():
    """On the circle, where features are dense, det L_X as it is written."""
    measure, rng = Fourier(1, 2), np.random.default_rng(0)
    sets = PointSets(rng.random((7, 1)), [0, 3, 3, 7])
    at = Parameters(rng.standard_normal((5, 3)), rng.exponential(size=3), 0.2, Background(0.4))
    A = reference.parameter(at.U, at.theta, 0.2)
    for i, value in enumerate(log_likelihood(batch_sets(measure, sets), at)):
        Phi = measure.features(sets[i])
        L = 0.4 * np.eye(len(Phi)) + Phi @ A @ Phi.T
        expected = np.linalg.slogdet(L)[1] - np.linalg.slogdet(np.eye(5) + A)[1] - 0.4
        assert_allclose(value, expected, rtol=1e-11)


@pytest.mark.parametrize("gamma", [0.0, 0.01])
@pytest.mark.parametrize("own", [False, True])
def test_everything_is_finite_on_odd_documents(gamma, own):
    """Empty sentences, repeated ones, one sentence, more of them than columns, no document."""
    V, rng = 50, np.random.default_rng(0)
    empty, one, many = np.zeros((2, V)), rng.random((1, V)) < 0.1, rng.random((30, V)) < 0.1
    rows = np.concatenate([empty, one, one, one, many, empty[:1], np.ones((1, V))])
    sets = PointSets(rows, [0, 2, 5, 35, 36, 37, 37])
    data, theta = batch_sets(Bernoulli(np.full(V, 0.1)), sets), np.ones((6, 3) if own else 3)
    at = Parameters(rng.standard_normal((V, 3)), theta, gamma, Background(1e-3))
    found = slopes(data, at)
    assert np.isfinite(log_likelihood(data, at)).all()
    for x in (found.U, net(found.theta), net(found.gamma), net(found.level), found.log_density):
        assert np.isfinite(x).all()


def test_singular_matrices_are_solved_by_least_squares_and_leave_others_their_bits():
    L = np.array([[[1.0, 1.0], [1.0, 1.0]], [[2.0, 0.3], [0.3, 0.7]]])
    B = np.array([[[3.0], [3.0]], [[1.0], [0.1]]])
    found = solve_positive(L, B)
    assert_allclose(found[0], np.linalg.lstsq(L[0], B[0], rcond=None)[0], rtol=1e-13)
    assert_array_equal(found[1], np.linalg.solve(L[1], B[1]))
    assert_array_equal(solve_positive(L[0], B[0]), found[0])


def test_sets_that_are_impossible():
    case = cases.bernoulli()
    at = parameters_of(cases.process(case, 0.0, Counting(0.0)))
    lists = [[3], [0], [5, 5], [1, 2, 4], [3, 5], []]
    data = batch_sets(case.measure, cases.as_sets(case.points, lists))
    found = log_likelihood(data, at)
    assert np.isneginf(found).tolist() == [False, True, True, True, False, False]
    with pytest.raises(ValueError, match=r"3 of 6 sets, the first of them set 1.*positive level"):
        check_possible(data, at)
    check_possible(data, replace(at, noise=Background(1e-6)))


def test_log_p_is_never_exponentiated_with_background():
    """Sentences of 400 words of probability e^-3000."""
    measure = Bernoulli(np.full(500, 5e-4))
    rows = np.zeros((2, 500))
    rows[0, :400] = rows[1, 100:] = 1
    data = batch_sets(measure, PointSets(rows, [0, 2]))
    at = Parameters(np.ones((500, 1)), np.ones(1), 0.1, Background(0.5))
    assert measure.log_p(rows).max() < -3000
    assert np.isfinite(log_likelihood(data, at)).all()
    assert np.isfinite(slopes(data, at).U).all()


def test_the_projection_is_computed_once_for_each_measure():
    measure, other = Bernoulli([0.2, 0.5, 0.7]), Bernoulli([0.3, 0.1, 0.6])
    parameters = Parameters(np.ones((3, 2)), np.ones(2), 0.1, Background(1.0))
    known = parameters.projected(measure)
    assert parameters.projected(measure) is known
    moved = parameters.projected(other)
    assert_array_equal(moved.d, 1 + 0.1 * other.v)
    assert_array_equal(parameters.projected(measure).P, known.P)
    assert_array_equal(replace(parameters, gamma=0.2).projected(measure).d, 1 + 0.2 * measure.v)
