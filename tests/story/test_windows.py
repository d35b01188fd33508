# SPDX-License-Identifier: BSD-3-Clause
"""Stretches of time against plain loops, exact tails and the rate of false findings."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from streamtopics.story import windows


def ends_of(n):
    """First and last period of each stretch."""
    first, last = windows.stretches(np.array(n, float))
    return [*zip(first.tolist(), last.tolist(), strict=True)]


@pytest.mark.parametrize("n", [[5, 5], [1, 9, 9], [2, 3, 4, 5], [1] * 9, [9, 1, 1, 1, 1, 1, 1, 1]])
def test_a_stretch_or_its_complement_is_there_once(n):
    """Half of the time at most, or all up to the end, or a short one from the beginning."""
    found = ends_of(n)
    every = {*range(len(n))}
    inside = [frozenset(range(i, j + 1)) for i, j in found]
    assert not {*inside} & {frozenset(every - one) for one in inside}
    for i in range(len(n)):
        for j in range(i, len(n) - (i == 0)):
            one, from_here = frozenset(range(i, j + 1)), i > 0
            is_short = 2 * len(one) <= len(n) if from_here else False
            if is_short or (from_here and j == len(n) - 1):
                assert one in inside or frozenset(every - one) in inside
    begin = [j + 1 for i, j in found if i == 0]
    assert all(4 * j <= len(n) and 4 * sum(n[:j]) <= sum(n) for j in begin)


def of_one(function, *given):
    """What a function of arrays finds for one row."""
    return function(*(np.array([value]) for value in given))[0]


def plain_ratio(s, total, q):
    value = 0.0
    for part, share in ((s, q), (total - s, 1 - q)):
        value += part * np.log(part / (total * share)) if part > 0 else 0.0
    return value


def plain_scan(sums, n, spread):
    """The stretch of one row, by loops."""
    best = None
    total = sum(sums) / spread
    for first, last in ends_of(n):
        q = sum(n[first : last + 1]) / sum(n)
        if q == 1 or not n[first] or not n[last]:
            continue
        s = sum(sums[first : last + 1]) / spread
        value = plain_ratio(s, total, q)
        if best is None or value > best[0] + 1e-12:
            best = value, first, last, s, total, q
    return best


@pytest.mark.parametrize("spread", [1.0, 0.3])
def test_the_stretch_is_that_of_plain_loops(spread):
    rng = np.random.default_rng(0)
    n = rng.integers(0, 40, 9).astype(float)
    sums = rng.binomial(n.astype(int), 0.2, (30, 9)) * spread
    found = windows.scan(sums, n, np.full(30, spread))
    n_tests = len(ends_of(n))
    for row, own in enumerate(sums):
        value, first, last, s, total, q = plain_scan(own, n, spread)
        assert (found.first[row], found.last[row]) == (first, last)
        up = s > total * q
        ends = np.array([first]), np.array([last])
        dispersion = windows.dispersion_of(own[None], n, np.array([spread]), *ends)[0]
        z = np.sqrt(2 * value / dispersion) * (1 if up else -1)
        assert found.z[row] == pytest.approx(z)
        p = max(of_one(windows.tail, s, total, q, up), stats.norm.sf(abs(z)))
        at_most = min(1.0, 2 * n_tests * p)
        if windows.SURE < at_most <= windows.UNSURE:
            assert found.p[row] <= at_most
        else:
            assert found.p[row] == pytest.approx(at_most)


@pytest.mark.parametrize("least", [0.8, 2.0, 3.5, 6.0])
@pytest.mark.parametrize("total", [1, 5, 8])
def test_the_probability_of_all_stretches_is_that_of_all_cases(total, least):
    """All ways in which so many documents with a word fall into five periods."""
    n = np.array([4.0, 9.0, 3.0, 6.0, 8.0])
    first, last = windows.stretches(n)
    least, exact = min(least, 0.9 * total * np.log(30 / n.min())), 0.0
    for case in product(range(total + 1), repeat=5):
        if sum(case) == total:
            inside = [(sum(case[i : j + 1]), sum(n[i : j + 1]) / 30) for i, j in ends_of(n)]
            if any(plain_ratio(s, total, q) >= least for s, q in inside):
                exact += stats.multinomial.pmf(case, total, n / 30)
    found = windows.chance(least, float(total), n, first, last)
    assert found == pytest.approx(exact, rel=0.12, abs=1e-15)
    assert found == windows.chance(least, float(total), n, first, last)


@pytest.mark.statistical
def test_the_probability_is_that_of_permuted_times():
    """It is neither too small nor, as a bound for all stretches would be, ten times too large."""
    rng = np.random.default_rng(0)
    n = rng.integers(200, 400, 30)
    periods = np.repeat(np.arange(30), n)
    for total in (6, 20, 150):
        counts = [np.bincount(rng.choice(periods, total, False), minlength=30) for _ in range(3000)]
        p = windows.scan(np.array(counts, float), n.astype(float), np.ones(3000)).p
        for level in (0.002, 0.01):
            n_found = int((p <= level).sum())
            assert stats.binomtest(n_found, 3000, level, alternative="greater").pvalue > 1e-3
            assert n_found / 3000 >= 0.4 * level


def test_the_tail_is_the_binomial_one_and_no_lighter_than_that_of_a_finite_population():
    total, q = 12, 0.3
    for s in range(13):
        given = float(s), float(total), q
        assert of_one(windows.tail, *given, True) == pytest.approx(stats.binom.sf(s - 1, total, q))
        assert of_one(windows.tail, *given, False) == pytest.approx(stats.binom.cdf(s, total, q))
    # Documents of a stretch are drawn without replacement.
    N, n_in, S = 200, 30, 25
    for s in range(6, 20):
        exact = stats.hypergeom.sf(s - 1, N, S, n_in)
        assert of_one(windows.tail, float(s), float(S), n_in / N, True) >= exact


def test_the_ratio_is_zero_where_the_share_is_as_expected():
    found = [of_one(windows.ratio, s, n, 0.3) for s, n in ((3.0, 10.0), (0.0, 0.0), (5.0, 5.0))]
    assert found == pytest.approx([0.0, 0.0, 5 * np.log(1 / 0.3)])


def test_the_dispersion_of_chance_is_one_and_of_swings_more():
    rng = np.random.default_rng(0)
    n, one = np.full(40, 500.0), np.ones(1)
    first, last = np.array([30]), np.array([39])
    calm = rng.binomial(500, 0.1, (1, 40)).astype(float)
    wild = rng.binomial(500, rng.choice([0.02, 0.18], 40))[None].astype(float)
    assert windows.dispersion_of(calm, n, one, first, last)[0] < 1.6
    assert windows.dispersion_of(wild, n, one, first, last)[0] > 20


def test_what_is_significant_is_as_scipy_has_it():
    rng = np.random.default_rng(0)
    for size in (1, 5, 60):
        p = rng.uniform(size=size) ** 3
        assert (windows.significant(p, 0.1) == (stats.false_discovery_control(p) <= 0.1)).all()
    assert windows.significant(np.zeros(0), 0.1).size == 0


@pytest.mark.statistical
def test_chance_alone_is_rarely_found():
    """Of 400 streams in which nothing happens, at most 5 % have a finding, but for chance."""
    rng = np.random.default_rng(0)
    n = rng.integers(20, 80, 24).astype(float)
    n_found = 0
    for _ in range(400):
        counts = np.array([rng.binomial(n.astype(int), p) for p in rng.uniform(0.002, 0.2, 50)])
        n_found += windows.significant(windows.scan(counts, n, np.ones(50)).p, 0.05).any()
    assert stats.binomtest(int(n_found), 400, 0.05, alternative="greater").pvalue > 0.001
