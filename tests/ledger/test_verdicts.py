# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on what papers claim: tests of paired differences, and their correction."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.papers.verdicts import (
    CONFIRMED,
    EXACT,
    OPEN,
    REFUTED,
    Claim,
    comparisons,
    holm,
    sign_test,
    verdict,
)


def by_enumeration(d):
    """Share of all signs under which the sum is as large, one number after another."""
    sums = [0.0]
    for one in d:
        sums = [total + sign * one for total in sums for sign in (1, -1)]
    return np.mean(np.array(sums) >= sum(d) - 1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 11])
def test_the_exact_test_counts_signs(n):
    rng = np.random.default_rng(n)
    for shift in (-1.0, 0.0, 1.0):
        d = rng.normal(shift, 1.0, n)
        assert_allclose(sign_test(d), by_enumeration(d))


def test_its_limits():
    assert sign_test(np.ones(11)) == 2.0**-11
    assert sign_test(-np.ones(11)) == 1.0
    assert sign_test(np.zeros(11)) == sign_test(np.array([])) == 1.0
    d = np.random.default_rng(0).normal(0.4, 1.0, EXACT)
    # The normal limit, which begins with one more: a pair that says nothing.
    assert abs(sign_test(np.append(d, 1e-9)) - sign_test(d)) < 0.02


def test_under_no_difference_small_p_values_are_as_rare_as_they_say():
    rng = np.random.default_rng(0)
    for n in (8, 30):
        p = np.array([sign_test(rng.normal(size=n)) for _ in range(2000)])
        assert (p <= 0.05).mean() < 0.065
        assert 0.4 < p.mean() < 0.6


def test_holm_against_its_definition():
    for p in permutations([0.01, 0.02, 0.03, 0.5]):
        found = dict(zip(p, holm(p), strict=True))
        assert_allclose([found[one] for one in (0.01, 0.02, 0.03, 0.5)], [0.04, 0.06, 0.06, 0.5])


def rows(**means):
    rng = np.random.default_rng(0)
    levels = rng.normal(0.0, 5.0, 11)
    return [
        {"method": name, "split": str(i), "K": K, "value": str(level + mean + rng.normal(0, 0.1))}
        for K in ("8", "16")
        for i, level in enumerate(levels)
        for name, mean in means.items()
    ]


def judged(found, **claim):
    given = {"method": "a", "than": ("b", "c"), "value": "value", "by": ("K",)} | claim
    return verdict(comparisons(Claim(**given), found))


def test_verdicts():
    found = rows(a=0.0, b=1.0, c=1.0)
    word, p = judged(found)
    assert word == CONFIRMED
    assert_allclose(p, 4 * 2.0**-11)
    assert judged(found, lower=False)[0] == REFUTED
    assert judged(rows(a=0.0, b=1.0, c=0.0))[0] == OPEN
    assert judged(rows(a=0.0, b=1.0, c=-1.0))[0] == REFUTED
    # Three splits can decide nothing.
    assert judged([row for row in found if int(row["split"]) < 3])[0] == OPEN
    assert judged([]) == (OPEN, 1.0)


def test_comparisons_are_of_the_same_splits():
    found = rows(a=0.0, b=1.0, c=1.0)
    found = [row for row in found if (row["method"], row["split"]) != ("a", "3")]
    made = comparisons(Claim("a", ("b", "c"), "value", by=("K",)), found)
    assert [(one.other, one.where, one.n) for one in made] == [
        ("b", ("8",), 10),
        ("c", ("8",), 10),
        ("b", ("16",), 10),
        ("c", ("16",), 10),
    ]
    assert all(abs(one.gain - 1.0) < 0.2 for one in made)


def test_a_claim_may_be_on_some_of_the_rows():
    found = rows(a=0.0, b=1.0)
    made = comparisons(Claim("a", ("b",), "value", by=("K",), where={"K": 16}), found)
    assert [one.where for one in made] == [("16",)]
    made = comparisons(Claim("a", ("b",), "value", by=("K",), where={"K": [8, "16"]}), found)
    assert made == comparisons(Claim("a", ("b",), "value", by=("K",)), found)
    assert not comparisons(Claim("a", ("b",), "value", where={"K": 4}), found)
