# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on what papers claim: tests of paired differences, and their correction."""

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
    in_most,
    largest_test,
    sign_test,
    verdict,
    weigh,
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


@pytest.mark.parametrize("n", [3, 8, 30])
def test_the_largest_of_several_is_found_by_chance_as_seldom_as_it_says(n):
    """Means that go together, as those of methods on the same splits do."""
    rng = np.random.default_rng(n)
    p = []
    for _ in range(600):
        shared = rng.normal(size=(n, 1))
        p.append(largest_test(shared + rng.normal(0.0, (0.5, 1.0, 20.0), (n, 3))))
    assert (np.array(p) <= 0.05).mean() < 0.07
    assert (np.array(p) <= 0.3).mean() < 0.36


def test_the_largest_of_several_by_hand():
    """All four signs of two splits; each column is told in units of its own."""
    d = np.array([[3.0, -100.0], [1.0, 100.0]])
    # Sums: 4 and 0 by chance of (+, +) alone; 2 of (+, -); and the second column's are
    # 0, -200, 200 and 0, of which 200 is further out than 4 is in its own units.
    assert largest_test(d) == 0.5
    assert largest_test(d[:, :1]) == 0.25
    # A split in which there is no pair counts for the other columns alone.
    assert largest_test(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])) == 0.125
    assert largest_test(np.zeros((4, 2))) == largest_test(np.empty((0, 2))) == 1.0


def test_p_values_of_several():
    p = [0.03, 0.01, 0.5, 0.02]
    assert in_most(p, 4) == 0.5
    assert in_most(p, 1) == 4 * 0.01
    assert_allclose(in_most(p, 3), 2 * 0.03)
    assert in_most([0.9, 0.8], 1) == 1.0


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
    one = Claim(**given)
    return verdict([weigh(one, comparisons(one, found))])


def test_verdicts():
    found = rows(a=0.0, b=1.0, c=1.0)
    word, p = judged(found)
    assert word == CONFIRMED
    assert_allclose(p, 2.0**-11)
    word, p = judged(found, lower=False)
    assert word == REFUTED
    assert_allclose(p, 2.0**-11)
    assert judged(rows(a=0.0, b=1.0, c=0.0))[0] == OPEN
    assert judged(rows(a=0.0, b=1.0, c=-1.0))[0] == REFUTED
    # Three splits can decide nothing.
    assert judged([row for row in found if int(row["split"]) < 3])[0] == OPEN
    assert judged([]) == (OPEN, 1.0)


def high(**means):
    """Values around a hundred."""
    return [row | {"value": str(100.0 + float(row["value"]))} for row in rows(**means)]


def test_a_margin_is_a_share_of_the_other():
    found = high(a=0.5, b=0.0)
    one = {"than": ("b",)}
    assert judged(found, **one)[0] == REFUTED
    assert judged(found, margin=-0.01, **one)[0] == CONFIRMED
    assert judged(high(a=2.0, b=0.0), margin=-0.01, **one)[0] == REFUTED
    assert judged(high(a=-2.0, b=0.0), margin=0.01, **one)[0] == CONFIRMED
    assert judged(high(a=-0.5, b=0.0), margin=0.01, **one)[0] == REFUTED


def test_alike_is_in_both_directions():
    for mean, word in ((0.5, CONFIRMED), (-0.5, CONFIRMED), (2.0, REFUTED), (-2.0, REFUTED)):
        assert judged(high(a=mean, b=0.0), than=("b",), alike=0.01)[0] == word
        assert judged(high(a=mean, b=0.0), than=("b",), alike=1.0, absolute=True)[0] == word


def test_one_of_several_claims_that_is_refuted_is_enough_and_counts_them():
    found = rows(a=0.0, b=1.0, c=-1.0)
    claims = [Claim("a", (name,), "value", by=("K",)) for name in "bc"]
    word, p = verdict([weigh(one, comparisons(one, found)) for one in claims])
    assert word == REFUTED
    assert_allclose(p, 2 * 2.0**-11)
    assert verdict([weigh(claims[0], comparisons(claims[0], found))])[0] == CONFIRMED


def test_what_is_missing_twice_or_not_finite_is_an_error():
    found = rows(a=0.0, b=1.0)
    one = Claim("a", ("b",), "value", by=("K",))
    assert len(comparisons(one, found, complete=True)) == 2
    for claim in (Claim("a", ("c",), "value", by=("K",)), Claim("d", ("e",), "value")):
        with pytest.raises(ValueError, match=r"not of the same splits|compared with nothing|twice"):
            comparisons(claim, found, complete=True)
    with pytest.raises(ValueError, match="not of the same splits"):
        comparisons(one, found[1:], complete=True)
    with pytest.raises(ValueError, match="twice"):
        comparisons(one, [*found, found[0]])
    for text in ("nan", "inf"):
        with pytest.raises(ValueError, match=f"or {text}"):
            comparisons(one, [found[0] | {"value": text}])
