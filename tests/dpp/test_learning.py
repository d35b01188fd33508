# SPDX-License-Identifier: BSD-3-Clause
"""Learning: monotone steps, penalty, recovery of known kernels."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize

from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.learning import (
    Online,
    Settings,
    balance,
    balance_online,
    column_norms,
    fit,
    fit_embedding,
    joint_step,
    learn_minibatch,
    objective,
    smooth_penalty,
    start,
    theta_steps,
)
from streamtopics.dpp.likelihood import Parameters, log_likelihood, slopes
from streamtopics.dpp.measures import Bernoulli, Items
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sets import PointSets
from tests.dpp import cases
from tests.dpp.cases import net
from tests.dpp.test_likelihood import parameters_of, some_sets
from tests.reference.dpp_sets import make_dpp_sets

NOISES = [Counting(0.15), Background(0.6)]


def per_set(data, at, penalty):
    return log_likelihood(data, at) - penalty * np.atleast_2d(at.theta).sum(axis=1)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("gamma", [0.0, 0.3])
@pytest.mark.parametrize("penalty", [0.0, 0.1])
@pytest.mark.parametrize("name", ["bernoulli", "items", "weighted"])
def test_theta_steps_are_monotone_for_each_set(name, gamma, noise, penalty):
    case = cases.LISTED[name]
    data = batch_sets(case.measure, some_sets(case))
    at = parameters_of(cases.process(case, gamma, noise, r=3))
    values = [per_set(data, at, penalty)]
    for _ in range(15):
        at = replace(at, theta=theta_steps(data, at, penalty=penalty, n_steps=1))
        values.append(per_set(data, at, penalty))
    assert (np.diff(values, axis=0) >= -1e-11).all()
    assert (at.theta >= 0).all()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", ["bernoulli", "items"])
def test_joint_steps_are_monotone(name, noise, own):
    case = cases.LISTED[name]
    data = batch_sets(case.measure, some_sets(case, seed=1))
    at = parameters_of(cases.process(case, 0.3, noise, r=3))
    if own:
        at = replace(at, theta=np.tile(at.theta, (data.n_sets, 1)))
    values = [per_set(data, at, 0.05).mean()]
    for _ in range(30):
        at = joint_step(at, slopes(data, at), Settings(penalty=0.05))
        values.append(per_set(data, at, 0.05).mean())
    assert (np.diff(values) > -1e-11).all()
    assert values[-1] > values[0] + 0.1


def test_joint_steps_end_where_the_derivatives_vanish():
    case, free = cases.bernoulli(), Settings(penalty=0.0)
    data = batch_sets(case.measure, some_sets(case, seed=1, n=60))
    at = parameters_of(cases.process(case, 0.3, Background(0.6)))

    def there():
        found, least = slopes(data, at), 1e-3 * data.n_sets
        value = np.array([*at.theta, at.gamma, at.noise.level])
        slope = np.array([*net(found.theta).sum(axis=0), net(found.gamma), net(found.level)])
        by_value = np.abs(value * slope) < least
        return (by_value & ((np.abs(slope) < least) | (value < 1e-6))).all()

    for n_steps in range(3001):
        if n_steps % 100 == 0 and there():
            break
        at = joint_step(at, slopes(data, at), free)
    assert there()


def test_many_theta_steps_are_as_good_as_another_optimiser():
    case = cases.bernoulli(6)
    data = batch_sets(case.measure, some_sets(case, seed=2, n=8))
    at = parameters_of(cases.process(case, 0.1, Background(0.3), r=3))
    theta = theta_steps(data, at, penalty=0.05, n_steps=2000)
    ours = per_set(data, replace(at, theta=theta), 0.05)
    for i in range(8):

        def loss(x, i=i):
            rows = np.tile(x, (8, 1))
            return -per_set(data, replace(at, theta=rows), 0.05)[i]

        theirs = minimize(loss, at.theta, method="L-BFGS-B", bounds=[(0, None)] * 3)
        assert ours[i] > -theirs.fun - 0.02


def test_theta_without_noise():
    """Exact DPPs of at most r points, whose matrix is singular without theta."""
    measure = Items.of(8)
    at = Parameters(np.random.default_rng(0).standard_normal((8, 4)), np.ones(4), 0.0,
                    Counting(0.0))  # fmt: skip
    data = batch_sets(measure, PointSets(np.array([0, 1, 2, 3, 4, 5]), [0, 1, 4, 6]))
    thetas = [at.theta, *(theta_steps(data, at, penalty=0.1, n_steps=n) for n in (1, 5, 20))]
    values = [per_set(data, replace(at, theta=theta), 0.1) for theta in thetas]
    assert (np.diff(values, axis=0) >= -1e-10).all()


def test_smooth_penalty_slope():
    rng = np.random.default_rng(0)
    U, theta = rng.standard_normal((5, 3)), rng.exponential(size=(4, 3))
    value, slope = smooth_penalty(U, theta)
    norms = np.linalg.norm(U, axis=0).sum()
    assert_allclose(value, theta.sum(axis=1).mean() + norms**2, rtol=1e-12)
    numeric = approx_fprime(U.ravel(), lambda x: smooth_penalty(x.reshape(5, 3), theta)[0], 1e-7)
    assert_allclose(slope.ravel(), numeric, rtol=1e-5, atol=1e-5)
    assert np.isfinite(smooth_penalty(np.zeros((2, 2)), np.zeros(2))[1]).all()


@pytest.mark.parametrize("own", [False, True])
def test_balance_is_the_least_penalty_of_the_kernel(own):
    rng = np.random.default_rng(0)
    U = rng.standard_normal((5, 3)) * [10, 1, 0.1]
    theta = rng.exponential(size=(4, 3) if own else 3)
    V, eta, scales = balance(U, theta)
    assert_allclose(V, U * scales)
    for t, e in zip(np.atleast_2d(theta), np.atleast_2d(eta), strict=True):
        assert_allclose((V * e) @ V.T, (U * t) @ U.T, rtol=1e-11)
    b, value = column_norms(U, theta), smooth_penalty(V, eta)[0]
    assert_allclose(value, 2 * (b ** (2 / 3)).sum() ** 1.5, rtol=1e-10)

    def penalty(log_scales):
        s = np.exp(log_scales)
        return smooth_penalty(U * s, theta / s**2)[0]

    assert minimize(penalty, np.zeros(3), tol=1e-10).fun >= value - 1e-6


@pytest.mark.parametrize("size", [1e-60, 1e-80, 1e-120, 1e-150, 1e-170])
def test_balance_of_dying_columns(size):
    U, theta, scales = balance(np.array([[1.0, size]]), np.array([[4.0, size], [4.0, size]]))
    for x in (U, theta, scales):
        assert np.isfinite(x).all()
    assert_allclose(U**2 * theta, [[4.0, size**3 if size > 1e-66 else 0.0]] * 2, rtol=1e-12)


def test_balance_of_dead_columns():
    U, theta, scales = balance(np.array([[1.0, 0.0, 2.0]]), np.array([4.0, 3.0, 0.0]))
    assert_array_equal(scales[1:], 0)
    assert_array_equal(U[0, 1:], 0)
    assert_array_equal(theta[1:], 0)
    assert_allclose(U[0, 0] ** 2 * theta[0], 4)
    for x in balance(np.zeros((2, 2)), np.zeros((3, 2))):
        assert_array_equal(x, 0)


def test_start_is_at_the_scale_of_the_data():
    measure, sizes = Bernoulli(np.full(300, 0.02)), []
    for seed in range(20):
        at = start(measure, 8, 10.0, Background(1.0), np.random.default_rng(seed))
        sizes.append(np.trace(at.U.T @ cases.sigma(measure) @ at.U))
    assert abs(np.mean(sizes) - 10) < 1


@pytest.mark.parametrize("own", [False, True])
def test_fit_never_grows(own):
    _, _, data = drawn(300, "exponential", noise=0.1, random_state=0)
    at = begun(data, 4, Background(0.3), gamma=0.05)
    if own:
        at = replace(at, theta=np.ones((300, 4)))
    fitted = fit(data, at, Settings(penalty=0.01, max_iter=5, tol=1e-6))
    assert (np.diff(fitted.objective) < 1e-9).all()
    assert len(fitted.objective) > 3
    value = objective(data, fitted.parameters, 0.01)
    assert_allclose(value, fitted.objective[-1], rtol=1e-12)
    assert fitted.parameters.theta.shape == at.theta.shape


def drawn(n, *args, **given):
    """Sets of a known process, its parameters, and the batches of the sets."""
    truth = make_dpp_sets(n, *args, **given)
    true = Parameters(truth.U, truth.theta, truth.gamma, truth.noise)
    return truth, true, batch_sets(truth.measure, truth.sets)


def begun(data, rank, noise, gamma=0.0):
    """Parameters to start from."""
    rng, size = np.random.default_rng(0), data.sets.sizes.mean()
    return start(data.measure, rank, size, noise, rng, gamma=gamma)


def test_fit_finds_the_kernel_of_sentences():
    truth, true, data = drawn(3000, "exponential", random_state=1)
    at = begun(data, 4, Background(0.1), gamma=0.1)
    found = fit(data, at, Settings(penalty=1e-3, max_iter=10)).parameters
    gain = log_likelihood(data, found).mean() - log_likelihood(data, true).mean()
    assert abs(gain) < 0.03
    # |P U* - U*| / |U*| with the two strongest directions of U.
    strongest = np.linalg.svd(found.U * np.sqrt(found.theta), full_matrices=False)[0]
    Q = strongest[:, : truth.U.shape[1]]
    assert np.linalg.norm(Q @ (Q.T @ truth.U) - truth.U) < 0.15 * np.linalg.norm(truth.U)


def test_fit_finds_the_kernel_of_items():
    """Up to the signs of rows: K_ij^2 is identified."""
    _, true, data = drawn(5000, n_features=15, n_components=2, random_state=2)
    at = begun(data, 5, Counting(1e-3))
    found = fit(data, at, Settings(penalty=1e-3, max_iter=15, tol=1e-4)).parameters
    gain = log_likelihood(data, found).mean() - log_likelihood(data, true).mean()
    assert -0.02 < gain < 0.05
    ours, exact = (np.abs((p.U * p.theta) @ p.U.T) for p in (found, true))
    assert np.linalg.norm(ours - exact) < 0.2 * np.linalg.norm(exact)


def test_minibatches_approach_what_fit_finds():
    truth, true, whole = drawn(2000, "exponential", random_state=1)
    at = begun(whole, 4, Background(0.3), gamma=0.1)
    batches = [batch_sets(truth.measure, part) for part in truth.sets.cut(200)]
    state = Online.of(at)
    for _ in range(6):
        for batch in batches:
            state = learn_minibatch(batch, state, Settings(penalty=1e-3, own_theta=False))
        state = balance_online(state)
    assert state.n_batches == 60
    best, first, last = (log_likelihood(whole, p).mean() for p in (true, at, state.parameters))
    assert best - last < 0.1 * (best - first)


def test_balance_takes_the_squares_of_the_derivatives_along():
    case = cases.bernoulli()
    data = batch_sets(case.measure, some_sets(case))
    at = parameters_of(cases.process(case, 0.1, Background(0.3), r=3))
    squares = slopes(data, at).U ** 2
    state = balance_online(Online(at, squares, 1.0, 4))
    assert_allclose(state.squares, slopes(data, state.parameters).U ** 2, rtol=1e-8)
    assert state.n_batches == 4


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("rows", [np.zeros((0, 6)), np.zeros((3, 6))])
def test_a_first_minibatch_of_empty_sets_does_not_end_learning(rows, own):
    measure = Bernoulli(np.full(6, 0.2))
    at = start(measure, 3, 2.0, Background(1.0), np.random.default_rng(0), gamma=0.1)
    data = batch_sets(measure, PointSets(rows, [0, 0, len(rows)]))
    found = learn_minibatch(data, Online.of(at), Settings(own_theta=own)).parameters
    for x, before in ((found.theta, at.theta), (found.gamma, at.gamma)):
        assert_allclose(x, before * (1 - 2**-0.5))
    assert found.noise.level > 0.25


def test_a_share_of_the_way_is_monotone():
    case, free = cases.bernoulli(), Settings(penalty=0.0)
    data = batch_sets(case.measure, some_sets(case, seed=1))
    at = parameters_of(cases.process(case, 0.3, Background(0.6), r=3))
    found, shares = slopes(data, at), (0.0, 0.3, 0.7, 1.0)

    def numbers(parameters):
        return np.array([*parameters.theta, parameters.gamma, parameters.noise.level])

    steps, full = [joint_step(at, found, free, s) for s in shares], joint_step(at, found, free)
    for share, to in zip(shares, steps, strict=True):
        expected = (1 - share) * numbers(at) + share * numbers(full)
        assert_allclose(numbers(to), expected, rtol=1e-12)
    assert (np.diff([per_set(data, to, 0.0).sum() for to in steps]) > 0).all()


def test_a_step_of_the_embedding_into_impossible_sets_is_taken_back():
    """Repeated points, whose background drowns in rounding where U is large."""
    case = cases.bernoulli()
    points = case.points[[3, 3, 5, 5]]
    data = batch_sets(case.measure, PointSets(points, [0, 2, 4]))
    at = parameters_of(cases.process(case, 0.0, Background(1e-9)))
    far = replace(at, U=1e6 * at.U)
    assert np.isneginf(slopes(data, far).log_density)
    assert np.isfinite(slopes(data, far).U).all()
    found = fit_embedding(data, at)
    assert objective(data, found, 0.01) < objective(data, at, 0.01)


def test_impossible_sets_are_refused():
    measure = Items.of(4)
    data = batch_sets(measure, PointSets(np.array([0, 1, 2]), [0, 3]))
    at = start(measure, 2, 3.0, Counting(0.0), np.random.default_rng(0))
    for learn in (lambda: fit(data, at), lambda: learn_minibatch(data, Online.of(at))):
        with pytest.raises(ValueError, match=r"1 of 1 sets.*positive\s*level"):
            learn()


def test_the_embedding_ends_where_its_derivative_vanishes():
    """On words from rare to frequent, whose rows L-BFGS sees in different units."""
    measure, rng = Bernoulli([0.01, 0.1, 0.3, 0.6]), np.random.default_rng(0)
    data = batch_sets(measure, PointSets(measure.sample(300, rng), np.arange(0, 301, 3)))
    at = start(measure, 2, 3.0, Background(0.5), rng)
    found = fit_embedding(data, at, penalty=0.01, max_iter=1000)

    def slope(p):
        return 0.01 * smooth_penalty(p.U, p.theta)[1] - slopes(data, p).U / data.n_sets

    unit = np.sqrt(measure.v + measure.w0[:, 0] ** 2)[:, None]
    assert np.abs(slope(found) / unit).max() < 1e-3 * np.abs(slope(at) / unit).max()
