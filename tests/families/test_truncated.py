# SPDX-License-Identifier: BSD-3-Clause
"""The families on [0, 1], against 60 digits and more."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.families import truncated_exponential, truncated_normal

EXTREME = [1e-12, 1e-6, 0.01, 0.1, 0.2499999, 0.25, 0.2500001, 0.5, 1.0, 3.0, 36.0, 700.0, 710.0]
EXTREME += [1e3, 1e6, 1e9, 1e12]
W = np.array([0.0, *EXTREME, *(-w for w in EXTREME)])


@pytest.fixture(autouse=True)
def _precision():
    with mp.workdps(90):
        yield


def exact_log_normalizer(w):
    return mp.log(mp.expm1(w) / w) if w else mp.mpf(0)


def exact_mean(w):
    return 1 + 1 / mp.expm1(w) - 1 / w if w else mp.mpf(1) / 2


def test_the_exact_mean_is_an_integral():
    for w in (mp.mpf(-7), mp.mpf(2)):
        total = mp.quad(lambda x, w=w: mp.exp(w * x), [0, 1])
        assert abs(mp.log(total) - exact_log_normalizer(w)) < 1e-50
        mean = mp.quad(lambda x, w=w: x * mp.exp(w * x), [0, 1]) / total
        assert abs(mean - exact_mean(w)) < 1e-50


def test_exponential_mean_and_complement_keep_their_digits():
    mean, complement = truncated_exponential.mean_and_complement(W)
    exact = [exact_mean(mp.mpf(w)) for w in W]
    assert_allclose(mean, [float(m) for m in exact], rtol=2e-15)
    assert_allclose(complement, [float(1 - m) for m in exact], rtol=2e-15)
    assert_allclose(mean + complement, 1.0, rtol=3e-16)
    assert_array_equal(truncated_exponential.mean_and_complement(-W), (complement, mean))


def test_exponential_log_normalizer():
    exact = [float(exact_log_normalizer(mp.mpf(w))) for w in W]
    assert_allclose(truncated_exponential.log_normalizer(W), exact, rtol=1e-15, atol=2e-16)


def test_exponential_kl():
    for w, g in itertools.product(W, repeat=2):
        v, u = mp.mpf(w), mp.mpf(g)
        exact = (v - u) * exact_mean(v) - exact_log_normalizer(v) + exact_log_normalizer(u)
        ours = truncated_exponential.kl(w, g)
        assert ours >= 0
        assert_allclose(ours, float(exact), rtol=1e-14, atol=2e-14)


def normal_moments(w, k):
    """ln of the integral of exp(w x - k x^2 / 2) over [0, 1], mean of x and of x^2; k > 0."""
    if w > k / 2:  # Mirrored: only the lower half of w has no tails that round to 1.
        log_total, mean, square = normal_moments(k - w, k)
        return log_total + w - k / 2, 1 - mean, 1 - 2 * mean + square
    root = mp.sqrt(2 * k)
    tails = mp.erfc(-w / root) - mp.erfc((k - w) / root)
    log_total = w**2 / (2 * k) + mp.log(mp.sqrt(mp.pi / (2 * k)) * tails)
    at_one = mp.exp(w - k / 2 - log_total)
    mean = (w - at_one + mp.exp(-log_total)) / k
    return log_total, mean, (w * mean + 1 - at_one) / k


WK = np.array(
    [
        (0, 1), (0.5, 1), (1, 1), (-3, 2), (20, 10), (50, 100), (99, 100), (101, 100), (-1, 100),
        (5e3, 1e4), (1, 1e4), (1e4 - 1, 1e4), (1e6, 1e4), (-1e6, 1e4), (1e6, 1), (-1e6, 1),
        (1e3, 1), (-1e4, 1), (1e12, 1), (-1e12, 100), (3e11, 1e12), (1e6, 1e12), (0, 1e12),
        (1e12, 1e12), (1e12 - 1e3, 1e12), (1, 1e-6), (-40, 1e-3), (1e5, 1e-3),
    ],
    dtype=np.float64,
)  # fmt: skip


@pytest.fixture(scope="module")
def exact_normal():
    with mp.workdps(90):
        return [normal_moments(mp.mpf(w), mp.mpf(k)) for w, k in WK]


def test_the_exact_moments_are_integrals():
    for w, k in [(-3, 2), (20, 10), (1, 4)]:
        log_total, *moments = normal_moments(mp.mpf(w), mp.mpf(k))
        for power, moment in enumerate([1, *moments]):
            value = mp.quad(
                lambda x, w=w, k=k, n=power: x**n * mp.exp(w * x - k * x * x / 2), [0, 0.5, 1]
            )
            assert abs(value / mp.exp(log_total) - moment) < 1e-40


def test_normal_mean_and_complement_keep_their_digits(exact_normal):
    mean, complement = truncated_normal.mean_and_complement(WK)
    assert_allclose(mean, [float(m) for _, m, _ in exact_normal], rtol=1e-13)
    assert_allclose(complement, [float(1 - m) for _, m, _ in exact_normal], rtol=1e-13)


def test_normal_log_normalizer(exact_normal):
    exact = [float(a) for a, _, _ in exact_normal]
    assert_allclose(truncated_normal.log_normalizer(WK), exact, rtol=1e-13, atol=1e-13)


def test_normal_kl(exact_normal):
    ours = truncated_normal.kl(WK[:, None], WK[None, :])
    assert (ours >= 0).all()
    assert_array_equal(np.diag(ours), 0.0)
    assert (truncated_normal.kl(WK, WK * (1 + 1e-11 * np.arange(20)[:, None, None])) >= 0).all()
    for i, j in itertools.product(range(len(WK)), repeat=2):
        (a, mean, square), (a0, _, _) = exact_normal[i], exact_normal[j]
        w, k = (mp.mpf(x) - mp.mpf(y) for x, y in zip(WK[i], WK[j], strict=True))
        exact = w * mean - k * square / 2 - a + a0
        assert_allclose(ours[i, j], float(exact), rtol=1e-11, atol=1e-12)


def test_normal_without_precision_is_the_exponential():
    eta = np.stack([W, np.zeros_like(W)], axis=-1)
    ours, theirs = truncated_normal, truncated_exponential
    assert_allclose(ours.mean_and_complement(eta), theirs.mean_and_complement(W), rtol=1e-13)
    assert_allclose(ours.log_normalizer(eta), theirs.log_normalizer(W), rtol=1e-14, atol=1e-15)
    expected = theirs.kl(W[:, None], W)
    assert_allclose(ours.kl(eta[:, None], eta), expected, rtol=1e-12, atol=1e-13)
