# SPDX-License-Identifier: BSD-3-Clause
"""The Dirichlet's divergence: digits, layouts, blocks."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln, psi

from streamtopics.families import dirichlet


def as_in_textbooks(alpha, beta):
    a, b = alpha.sum(axis=-1), beta.sum(axis=-1)
    mean = psi(alpha) - psi(a)[..., None]
    cells = gammaln(beta) - gammaln(alpha) + (alpha - beta) * mean
    return cells.sum(axis=-1) + gammaln(a) - gammaln(b)


def exact(alpha, beta):
    with mp.workdps(80):
        alpha, beta = ([mp.mpf(float(x)) for x in row] for row in (alpha, beta))

        def part(a, b):
            return mp.loggamma(b) - mp.loggamma(a) - (b - a) * mp.digamma(a)

        cells = (part(a, b) for a, b in zip(alpha, beta, strict=True))
        return float(sum(cells) - part(sum(alpha), sum(beta)))


RANGES = [(-6, -5), (-2, 2), (6, 6.5), (11, 12), (-6, 12)]
CHANGES = {
    "rescaled": lambda a, rng: a * 10 ** rng.uniform(-3, 3),
    "forgotten a little": lambda a, rng: 0.99 * a + 0.01 * 0.05,
    "close": lambda a, rng: a * (1 + 1e-8 * rng.standard_normal(len(a))),
    "as close as can be": lambda a, rng: np.nextafter(a, np.inf),
    "unrelated": lambda a, rng: 10 ** rng.uniform(-6, 12, len(a)),
    "a vague prior": lambda a, rng: np.full(len(a), 0.01),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("n", [2, 30])
def test_kl_against_80_digits(n, low, high, change):
    rng = np.random.default_rng(n)
    for _ in range(4):
        alpha = 10 ** rng.uniform(low, high, n)
        beta = CHANGES[change](alpha, rng)
        expected, ours = exact(alpha, beta), dirichlet.kl(alpha, beta)
        assert ours >= 0
        # Of rounding, and of a change of alpha and beta in their last place.
        log_ratio = np.log(beta / beta.sum() / (alpha / alpha.sum()))
        last_place = np.abs(beta * log_ratio).sum() + np.abs(alpha * np.expm1(log_ratio)).sum()
        assert abs(ours - expected) <= 2e-15 * n + 2e-14 * expected + 1e-15 * last_place


def test_the_textbook_formula_is_far_off_where_this_one_is_not():
    alpha = np.array([1e12, 2e12, 3e12])
    beta = 0.9 * alpha
    expected = exact(alpha, beta)
    assert_allclose(expected, -0.1 - np.log(0.9), rtol=1e-6)  # Times (V - 1) / 2 = 1.
    assert abs(as_in_textbooks(alpha, beta) - expected) > 1e-5
    assert abs(dirichlet.kl(alpha, beta) - expected) < 1e-14


@pytest.mark.parametrize("mass", [1e3, 1e9])
def test_many_words(mass):
    rng = np.random.default_rng(0)
    alpha = 0.01 + mass * rng.dirichlet(np.full(500, 0.1))
    beta = 0.01 + mass * rng.dirichlet(np.full(500, 0.1))
    assert_allclose(dirichlet.kl(alpha, beta), exact(alpha, beta), rtol=1e-13)
    assert_allclose(dirichlet.kl(alpha, 0.97 * alpha), exact(alpha, 0.97 * alpha), rtol=1e-10)


positive = st.floats(-6, 10).map(lambda x: 10.0**x)


@settings(max_examples=200, deadline=None)
@given(arrays(np.float64, (2, 3, 4), elements=positive))
def test_kl_is_not_negative_and_zero_for_equals(both):
    alpha, beta = both
    kl = dirichlet.kl(alpha, beta)
    assert np.isfinite(kl).all()
    assert (kl >= 0).all()
    assert_array_equal(dirichlet.kl(alpha, alpha), 0.0)
    # A permutation of the words changes nothing.
    turned = dirichlet.kl(alpha[:, ::-1], beta[:, ::-1])
    last_place = (alpha + beta).max() * 1e-14
    assert_allclose(turned, kl, rtol=1e-9, atol=last_place)


def test_any_axis_and_any_size_of_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    alpha, beta = rng.gamma(0.3, 40.0, (2, 1000, 7)) + 0.01
    by_word = dirichlet.kl(alpha, beta, axis=0)
    assert by_word.shape == (7,)
    expected = [as_in_textbooks(alpha[:, k], beta[:, k]) for k in range(7)]
    assert_allclose(by_word, expected, rtol=1e-11)
    assert_allclose(dirichlet.kl(alpha.T, beta.T), by_word, rtol=1e-13)
    assert_allclose(dirichlet.kl(alpha.T.copy(), beta.T.copy()), by_word, rtol=1e-13)
    cube = dirichlet.kl(alpha.reshape(10, 100, 7), beta.reshape(10, 100, 7), axis=1)
    assert cube.shape == (10, 7)
    assert_allclose(cube[3], dirichlet.kl(alpha[300:400], beta[300:400], axis=0), rtol=1e-13)
    for block in (1, 64, 7 * 333, 10**6):
        monkeypatch.setattr(dirichlet, "BLOCK", block)
        assert_allclose(dirichlet.kl(alpha, beta, axis=0), by_word, rtol=1e-13)


@pytest.mark.parametrize("alpha", [[1e12, 0.1], [0.1, 1e17, 0.2], [1e-20, 1.0, 3.0, 1e-30]])
def test_marginals_where_one_concentration_dominates(alpha):
    law = dirichlet.marginals(np.array([alpha, alpha[::-1]]))["probability"]
    alpha = [Fraction(a) for a in alpha]
    total = sum(alpha)
    variance = [a * (total - a) / (total**2 * (total + 1)) for a in alpha]
    assert_allclose(law.mean()[0], [float(a / total) for a in alpha], rtol=1e-14)
    assert_allclose(law.std()[0], np.sqrt([float(v) for v in variance]), rtol=1e-12)
    assert_allclose(law.std()[1], law.std()[0, ::-1], rtol=1e-14)
