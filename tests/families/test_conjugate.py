# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every conjugate family: the definitions, and the digits."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from streamtopics.families import (
    beta,
    dirichlet,
    gamma,
    gaussian,
    normal_gamma,
    normal_gamma_regression,
)
from tests.families.conjugate import CASES, divergence, exactly, gradient, regression_eta

all_families = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture(autouse=True)
def _precision():
    with mp.workdps(150):
        yield


@all_families
def test_the_density_is_the_one_that_scipy_knows(case):
    """h(b) exp(<eta, t(b)> - A(eta)) at random places."""
    rng = np.random.default_rng(0)
    for eta in case.ordinary:
        draw, log_pdf, statistics, log_base = case.density(eta)
        for _ in range(5):
            b = draw(rng)
            ours = log_base(b) + eta @ statistics(b) - case.family.log_normalizer(eta)
            assert_allclose(ours, log_pdf(b), rtol=1e-11, atol=1e-11)


@all_families
def test_log_normalizer(case):
    for eta in case.ordinary + case.extreme:
        expected = float(case.log_normalizer(exactly(eta)))
        rounding = 1e-14 + 4e-16 * np.abs(eta).max()
        assert_allclose(case.family.log_normalizer(eta), expected, rtol=1e-13, atol=rounding)


@all_families
def test_expected_statistics_are_the_gradient_of_the_log_normalizer(case):
    for eta in case.ordinary + case.extreme:
        expected = list(map(float, gradient(case.log_normalizer, exactly(eta))))
        assert_allclose(case.family.expected_statistics(eta), expected, rtol=1e-12, atol=5e-15)


@all_families
def test_kl_is_the_divergence_of_the_log_normalizer(case):
    for eta, other in itertools.product(case.ordinary, repeat=2):
        expected = float(divergence(case.log_normalizer, exactly(eta), exactly(other)))
        assert_allclose(case.family.kl(eta, other), expected, rtol=1e-12, atol=1e-14)
        assert (expected > 1e-3) == (eta is not other)


@all_families
def test_kl_of_extreme_parameters(case):
    pairs = itertools.product(case.extreme, case.ordinary + case.extreme)
    for eta, other in [*pairs, *itertools.product(case.ordinary, case.extreme)]:
        expected = float(divergence(case.log_normalizer, exactly(eta), exactly(other)))
        assert_allclose(case.family.kl(eta, other), expected, rtol=1e-11, atol=1e-13)


@all_families
@pytest.mark.parametrize("change", [1e-3, 1e-6, 1e-9])
def test_kl_of_close_parameters_keeps_its_digits(case, change):
    """The power prior's: eta and its multiple, whose divergence is of the order change^2."""
    for eta in case.ordinary + case.extreme:
        other = eta * (1 + change)
        expected = float(divergence(case.log_normalizer, exactly(eta), exactly(other)))
        assert expected > 0
        ours = case.family.kl(eta, other)
        assert ours >= 0
        assert_allclose(ours, expected, rtol=1e-6, atol=1e-14)


@all_families
def test_leading_axes_are_a_loop(case):
    etas = np.array([[case.ordinary[0], case.ordinary[1]], [case.extreme[0], case.ordinary[2]]])
    other = case.ordinary[1]
    family = case.family
    for f in (
        family.expected_statistics, family.log_normalizer, family.mass, family.valid,
        lambda eta: family.kl(eta, other), lambda eta: family.kl(other, eta),
    ):  # fmt: skip
        together = f(etas)
        assert together.shape[:2] == (2, 2)
        for i in np.ndindex(2, 2):
            assert_allclose(together[i], f(etas[i]), rtol=1e-13, atol=1e-15)
    both = family.kl(etas[:, None], etas[None, :])
    assert both.shape == (2, 2, 2)
    assert_allclose(both[0, 1], family.kl(etas[0], etas[1]), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("case", CASES[1:], ids=str)  # The Dirichlet's is the usual one.
def test_parameters_and_back(case):
    for eta in case.ordinary + case.extreme:
        again = case.family.from_parameters(*case.family.parameters(eta))
        assert_allclose(again, eta, rtol=1e-13, atol=1e-15)
    etas = np.array(case.ordinary)
    assert_allclose(case.family.from_parameters(*case.family.parameters(etas)), etas, rtol=1e-13)


@all_families
def test_mass_is_linear(case):
    a, b = case.ordinary[:2]
    mass = case.family.mass
    assert mass(a) > 0
    assert_allclose(mass(2 * a + 3 * b), 2 * mass(a) + 3 * mass(b), rtol=1e-15)


@all_families
def test_valid(case):
    family = case.family
    assert family.valid(np.array(case.ordinary + case.extreme)).all()
    eta = case.ordinary[0]
    assert family.valid(eta.tolist())
    assert not family.valid(-eta)
    assert not family.valid(0 * eta)
    for i in range(len(eta)):
        for wrong in (np.nan, np.inf, -np.inf):
            broken = eta.copy()
            broken[i] = wrong
            assert_array_equal(family.valid(np.array([eta, broken])), [True, False])
    if str(case) != "dirichlet":
        assert_array_equal(family.valid(np.ones((2, 3, 5))), np.zeros((2, 3), bool), strict=True)


def test_valid_looks_at_all_of_the_precision_of_coefficients():
    valid, eta = normal_gamma_regression.valid, regression_eta(2, 0)
    indefinite, asymmetric = eta.copy(), eta.copy()
    indefinite[3:5] = 2 * np.sqrt(eta[2] * eta[5])
    asymmetric[3] *= 1 + 1e-3
    no_spread = eta.copy()
    no_spread[-2] -= 2 * normal_gamma_regression.parameters(eta)[3] * (1 + 1e-9)
    broken = np.array([eta, indefinite, asymmetric, no_spread])
    assert_array_equal(valid(broken), [True, False, False, False])


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_valid_does_not_hang_on_rounding_or_units(unit):
    """Two columns that differ by a part in 2^52, in one unit or in two, are one column."""
    family = normal_gamma_regression
    for spread, expected in ((2.0**-52, False), (2.0**-40, True)):
        L = np.array([[1.0, unit], [unit, unit**2 * (1 + spread)]])
        assert family.valid(family.from_parameters([0.0, 0.0], L, 1.0, 1.0)) == expected
    alone = np.diag([1.0, unit**2])
    assert family.valid(family.from_parameters([0.0, 0.0], alone, 1.0, 1.0))


def test_normal_gamma_data_add_their_moments():
    x = np.array([1.0, 4.0, 2.5])
    prior = normal_gamma.from_parameters(1.0, 2.0, 3.0, 4.0)
    posterior = prior + np.array([x.sum(), 3, (x * x).sum(), 3])
    mean, spread = x.mean(), ((x - x.mean()) ** 2).sum()
    b = 4.0 + spread / 2 + 2 * 3 * (mean - 1.0) ** 2 / (2 * 5)
    assert_allclose(normal_gamma.parameters(posterior), ((2.0 + 7.5) / 5, 5.0, 3.0 + 1.5, b))


def test_regression_data_add_their_products():
    """The posterior's mean solves the ridge regression, and b holds half its residual."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    prior = normal_gamma_regression.from_parameters(np.zeros(3), 0.7 * np.eye(3), 2.0, 1.5)
    data = np.concatenate([X.T @ y, (X.T @ X).ravel(), [y @ y, len(y)]])
    m, L, a, b = normal_gamma_regression.parameters(prior + data)
    padded = np.r_[X, np.sqrt(0.7) * np.eye(3)]
    ridge = np.linalg.lstsq(padded, np.r_[y, np.zeros(3)], rcond=None)[0]
    assert_allclose(m, ridge, rtol=1e-12)
    assert_allclose(L, X.T @ X + 0.7 * np.eye(3), rtol=1e-12)
    rest = ((y - X @ ridge) ** 2).sum() + 0.7 * ridge @ ridge
    assert_allclose([a, b], [22.0, 1.5 + rest / 2], rtol=1e-12)


@pytest.mark.parametrize("change", [0.3, 1e-2, 1e-6, -1e-8])
def test_close_precisions_of_coefficients_keep_their_digits(change):
    L = np.array([[4.0, 1.0], [1.0, 3.0]])
    q, p = (normal_gamma_regression.from_parameters(np.zeros(2), x, 2.0, 3.0)
            for x in (L, (1 + change) * L))  # fmt: skip
    change = mp.mpf(1 + change) - 1
    expected = float(change - mp.log1p(change))  # Once for each of 2 coefficients, halved.
    assert_allclose(normal_gamma_regression.kl(q, p), expected, rtol=1e-6)


@all_families
def test_marginals_of_several_are_those_of_each(case):
    several = case.family.marginals(np.array([case.ordinary, case.ordinary[::-1]]))
    for i, eta in enumerate(case.ordinary):
        for name, law in case.family.marginals(eta).items():
            for number in ("mean", "std"):
                of_all, of_one = (getattr(one, number)() for one in (several[name], law))
                assert_allclose(of_all[0, i], of_one, rtol=1e-12)
                assert_allclose(of_all[1, -1 - i], of_one, rtol=1e-12)


@all_families
def test_marginals_are_those_of_the_density(case):
    """By Kolmogorov and Smirnov, each true null hypothesis rejected once in ten thousand."""
    rng = np.random.default_rng(0)
    for eta in case.ordinary:
        draw, _, statistics, _ = case.density(eta)
        drawn = [draw(rng) for _ in range(300)]
        seen = numbers_of(case, np.array([statistics(b) for b in drawn]))
        laws = case.family.marginals(eta)
        assert set(laws) == set(seen)
        for name, law in laws.items():
            columns = np.reshape(seen[name], (300, -1)).T
            assert law.mean().size == len(columns)
            for column, cdf in zip(columns, columns_of(law.cdf, columns), strict=True):
                assert stats.kstest(cdf, "uniform").pvalue > 1e-4, (name, column[:3])


def columns_of(cdf, columns):
    """The distribution function of each number at what was drawn of it."""
    values = cdf(columns.T) if len(columns) > 1 or np.ndim(cdf(0.5)) else cdf(columns[0])[:, None]
    return np.reshape(values, (columns.shape[1], -1)).T


def numbers_of(case, statistics):
    """What the marginals are of, from the statistics of draws."""
    if case.family is dirichlet:
        return {"probability": np.exp(statistics)}
    if case.family is beta:
        return {"probability": np.exp(statistics[:, 0])}
    if case.family is gaussian:
        return {"value": statistics[:, 0]}
    if case.family is gamma:
        return {"value": -2 * statistics[:, 1]}
    g = -2 * statistics[:, -2]
    if case.family is normal_gamma:
        return {"mean": statistics[:, 0] / g, "precision": g}
    p = normal_gamma_regression.n_coefficients(statistics.shape[1])
    return {"coefficient": statistics[:, :p] / g[:, None], "precision": g}
