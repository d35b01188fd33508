# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on what papers claim: tests of paired differences, and their correction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.papers.verdicts import (
    CONFIRMED,
    EXACT,
    IN_PART,
    LEVEL,
    MOSTLY,
    OPEN,
    REFUTED,
    SCALE,
    Claim,
    comparisons,
    findings,
    sign_test,
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


def rows(**means):
    rng = np.random.default_rng(0)
    levels = rng.normal(0.0, 5.0, 11)
    return [
        {"method": name, "split": str(i), "K": K, "value": str(level + mean + rng.normal(0, 0.1))}
        for K in ("8", "16")
        for i, level in enumerate(levels)
        for name, mean in means.items()
    ]


def judged(found, small=0.0, **claim):
    given = {"method": "a", "than": ("b", "c"), "value": "value", "by": ("K",)} | claim
    [one] = findings([Claim(**given)], found, {"value": small})
    return one


def word(found, small=0.0, **claim):
    return judged(found, small, **claim).word


def counts(one):
    return one.n_hold, one.n_opposite, len(one.every)


def test_the_mean_and_the_counts_decide():
    found = rows(a=0.0, b=1.0, c=1.0)
    one = judged(found)
    assert one.word == CONFIRMED
    assert counts(one) == (4, 0, 4)
    assert_allclose(one.effect, 1.0, atol=0.1)
    other = judged(found, lower=False)
    assert other.word == REFUTED
    assert counts(other) == (0, 4, 4)
    assert_allclose(other.effect, -one.effect)
    # Half of the comparisons are opposite, whatever the mean is.
    assert word(rows(a=0.0, b=2.0, c=-1.0)) == word(rows(a=0.0, b=1.0, c=-2.0)) == IN_PART
    few = {f"m{i}": 0.0 for i in range(4)}
    assert word(rows(a=0.0, b=1.0, **few), than=("b", *few)) == OPEN
    assert word(rows(a=0.0, b=2.0, c=-1.0, d=1.0), than=("b", "c", "d")) == MOSTLY
    assert word(rows(a=0.0, b=-2.0, c=-1.0, d=1.0), than=("b", "c", "d")) == REFUTED
    # One comparison of twenty that does not hold leaves the claim confirmed, two do not.
    many = {f"m{i}": 1.0 for i in range(20)}
    for n, wanted in ((1, CONFIRMED), (2, MOSTLY)):
        means = many | {f"m{i}": -1.0 for i in range(n)}
        assert word(rows(a=0.0, **means), than=tuple(means)) == wanted
    assert word(rows(a=0.0, b=2.0, c=-1.0, d=1.0), than=("b", "c", "d"), most=True) == CONFIRMED
    # Three splits can decide nothing.
    assert word([row for row in found if int(row["split"]) < 3]) == OPEN


def test_small_differences_are_level_for_a_claim_and_against_it_unless_they_are_the_claim():
    one = {"than": ("b",)}
    for mean, wanted in ((0.5, CONFIRMED), (-0.5, REFUTED)):
        found = rows(a=0.0, b=mean)
        assert word(found, 1.0, **one) == LEVEL
        assert word(found, 0.3, **one) == wanted
    assert word(found, 1.0, **one, alike=0.2, absolute=True) == REFUTED
    for margin, wanted in ((-1.0, CONFIRMED), (-0.2, REFUTED), (0.2, REFUTED)):
        assert word(found, 1.0, **one, margin=margin, absolute=True) == wanted


def test_a_short_stream_refutes_nothing_that_its_length_may_change():
    for means in ({"b": -1.0, "c": -1.0}, {"b": 1.0, "c": -2.0}):
        assert word(rows(a=0.0, **means), moves=True) == SCALE
    assert word(rows(a=0.0, b=1.0, c=1.0), moves=True) == CONFIRMED


def high(**means):
    """Values around a hundred."""
    return [row | {"value": str(100.0 + float(row["value"]))} for row in rows(**means)]


def test_a_margin_is_a_share_of_the_other():
    found = high(a=0.5, b=0.0)
    one = {"than": ("b",)}
    assert word(found, **one) == REFUTED
    assert word(found, margin=-0.01, **one) == CONFIRMED
    assert word(high(a=2.0, b=0.0), margin=-0.01, **one) == REFUTED
    assert word(high(a=-2.0, b=0.0), margin=0.01, **one) == CONFIRMED
    assert word(high(a=-0.5, b=0.0), margin=0.01, **one) == REFUTED


def test_alike_is_in_both_directions():
    for mean, wanted in ((0.5, CONFIRMED), (-0.5, CONFIRMED), (2.0, REFUTED), (-2.0, REFUTED)):
        found = high(a=mean, b=0.0)
        assert word(found, than=("b",), alike=0.01) == wanted
        assert word(found, than=("b",), alike=1.0, absolute=True) == wanted
        assert_allclose(judged(found, than=("b",), alike=1.0).effect, abs(mean), atol=0.1)


def test_each_statement_has_a_verdict():
    found = rows(a=0.0, b=1.0, c=-1.0)
    claims = [Claim("a", (name,), "value", by=("K",), of=name) for name in "bc"]
    assert [one.word for one in findings(claims, found, {})] == [CONFIRMED, REFUTED]
    [both] = findings([Claim("a", (name,), "value", by=("K",)) for name in "bc"], found, {})
    assert counts(both) == (2, 2, 4)


def test_what_is_missing_twice_or_not_finite_is_an_error():
    found = rows(a=0.0, b=1.0)
    one = Claim("a", ("b",), "value", by=("K",))
    assert len(comparisons(one, found)) == 2
    for claim in (Claim("a", ("c",), "value", by=("K",)), Claim("d", ("e",), "value")):
        with pytest.raises(ValueError, match=r"not of the same splits|compared with nothing|twice"):
            comparisons(claim, found)
    with pytest.raises(ValueError, match="not of the same splits"):
        comparisons(one, found[1:])
    with pytest.raises(ValueError, match="twice"):
        comparisons(one, [*found, found[0]])
    for text in ("nan", "inf"):
        with pytest.raises(ValueError, match=f"or {text}"):
            comparisons(one, [found[0] | {"value": text}])
