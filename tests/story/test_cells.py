# SPDX-License-Identifier: BSD-3-Clause
"""Sums by time and group against a table of all documents."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from streamtopics.inspection.periods import MOST_PERIODS
from streamtopics.story.cells import (
    MOST_GROUPS,
    OTHERS,
    Cells,
    interval_of,
    labels_of,
    spread_of,
)

K, V = 3, 5


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(K), n)
    counts = sparse.csr_matrix(rng.poisson(0.5, (n, V)).astype(float))
    return shares, counts


def added(times, groups, shares, counts, step):
    """All documents, so many at a time."""
    cells, n = Cells.empty(K, V), len(shares)
    for start in range(0, n, step):
        own = slice(start, start + step)
        part = None if groups is None else groups[own]
        when = None if times is None else times[own]
        labels = labels_of(len(shares[own]), when, part, cells.kind, start)
        cells = cells.add(labels, shares[own], counts[own])
    return cells


def same(one, other):
    return all(np.allclose(*(getattr(t, name) for t in (one, other))) for name in ("n", "sums"))


@pytest.mark.parametrize("step", [7, 50, 400])
def test_totals_are_those_of_a_table(step):
    n = 400
    shares, counts = documents(n)
    rng = np.random.default_rng(1)
    days = np.sort(rng.integers(0, 300, n))
    times = [datetime(2024, 1, 1) + timedelta(days=int(day)) for day in days]
    groups = rng.choice(["a", "b", "c"], n).tolist()
    totals = added(times, groups, shares, counts, step).totals(least=10)
    frame = pd.DataFrame(shares).assign(
        month=[time.strftime("%Y-%m") for time in times], group=groups, main=shares.argmax(axis=1)
    )
    assert [period.label for period in totals.periods] == sorted(set(frame.month))
    for t, period in enumerate(totals.periods):
        for g, group in enumerate(totals.groups):
            own = frame[(frame.month == period.label) & (frame.group == group)]
            assert totals.n[t, g] == len(own)
            assert totals.sums[t, g] == pytest.approx(own[[0, 1, 2]].sum().to_numpy())
            assert totals.squares[t, g] == pytest.approx((own[[0, 1, 2]] ** 2).sum().to_numpy())
            assert totals.main[t, g].tolist() == [int((own.main == k).sum()) for k in range(K)]
        rows = np.flatnonzero(frame.month == period.label)
        holders = (counts[rows] > 0).sum(axis=0)
        assert totals.holders[t].tolist() == np.asarray(holders).ravel().tolist()


def test_the_order_of_minibatches_makes_no_difference_to_whole_numbers():
    """Spans are aligned, so that a stream that was cut otherwise has the same counts."""
    n = 900
    shares, counts = documents(n)
    times = [datetime(2020, 1, 1) + timedelta(hours=7 * i) for i in range(n)]
    one, other = (added(times, None, shares, counts, step) for step in (900, 11))
    assert one.level == other.level
    assert (one.spans == other.spans).all()
    assert (one.main == other.main).all()
    assert (one.holders != other.holders).nnz == 0
    assert same(one, other)


@pytest.mark.parametrize(
    ("times", "first"),
    [
        ([2001, 2003, 2002, 2003], "2001"),
        ([0.25, 0.5, 1.5, 2.0], None),
        (["2024-05-17", "2024-05-18", None, "2024-06-01"], None),
        (None, "documents 1 to 1"),
        ([float("nan")] * 4, None),
    ],
)
def test_times_of_any_kind(times, first):
    shares, counts = documents(4)
    cells = added(times, None, shares, counts, 2)
    totals = cells.totals(least=0)
    known = 4 if times is None else sum(time is not None and time == time for time in times)
    assert totals.n.sum() == known
    assert cells.n.sum() == 4
    if first is not None:
        assert totals.periods[0].label == first


def test_a_long_stream_keeps_few_spans_and_loses_no_document():
    n = 3000
    shares, counts = documents(n)
    times = [datetime(1900, 1, 1) + timedelta(days=13 * i) for i in range(n)]
    cells = added(times, None, shares, counts, 100)
    totals = cells.totals()
    assert len(totals.periods) <= MOST_PERIODS
    assert len(cells.spans) <= 400
    assert totals.n.sum() == n
    assert totals.sums.sum(axis=(0, 1)) == pytest.approx(shares.sum(axis=0))
    cells = added(np.arange(n) * 1e6, None, shares, counts, 100)
    assert len(cells.spans) <= 400
    assert cells.totals().n.sum() == n


def test_groups_after_the_hundredth_are_one():
    n = 250
    shares, counts = documents(n)
    cells = added(None, [f"g{i}" for i in range(n)], shares, counts, 50)
    assert len(cells.groups) == MOST_GROUPS
    assert cells.groups[-1] == OTHERS
    assert cells.n.sum() == n
    assert cells.n.sum(axis=0)[-1] == n - MOST_GROUPS + 1


def test_a_column_that_changed_hands_begins_anew():
    shares, counts = documents(40)
    cells = added(None, None, shares, counts, 20)
    after = cells.without_words(np.array([1, 3]), np.array([2.0, 0.0]))
    own = after.holders.toarray()
    assert own[:-1, [1, 3]].sum() == 0
    assert own[-1, [1, 3]].tolist() == [2.0, 0.0]
    assert (own[:, [0, 2, 4]] == cells.holders.toarray()[:, [0, 2, 4]]).all()
    assert Cells.empty(K, V).without_words(np.array([1]), np.zeros(1)).holders.shape == (0, V)


def test_topics_can_be_joined():
    shares, counts = documents(40)
    cells = added(None, None, shares, counts, 20)
    joined = cells.with_topics(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    assert joined.sums[..., 0] == pytest.approx(cells.sums[..., 0] + cells.sums[..., 2])
    assert joined.sums[..., 1] == pytest.approx(cells.sums[..., 1])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"times": [2001]}, "times must have an entry for each of the 2"),
        ({"groups": ["a"]}, "groups must have an entry for each of the 2"),
        ({"groups": "ab"}, "groups must have an entry for each"),
        ({"times": [1e300, 1.0]}, "times must be less than"),
    ],
)
def test_labels_that_do_not_fit_are_refused(given, match):
    with pytest.raises((TypeError, ValueError), match=match):
        labels_of(2, given.get("times"), given.get("groups"), "", 0)


def test_times_of_another_kind_than_before_are_refused():
    with pytest.raises(ValueError, match=r"times are numbers, but .* came with dates"):
        labels_of(1, [3.5], None, "date", 1)
    with pytest.raises(ValueError, match="times are dates, but the documents before came without"):
        labels_of(1, ["2024-05-17"], None, "order", 1)


def test_the_interval_is_wilsons_where_each_document_has_one_topic():
    from scipy.stats import binomtest

    for k, n in ((0, 10), (3, 10), (17, 400)):
        low, high = interval_of(np.array(float(n)), np.array(k / n), np.array(1.0))
        exact = binomtest(k, n).proportion_ci(method="wilson")
        assert (float(low), float(high)) == pytest.approx((exact.low, exact.high))


def test_the_spread_is_one_for_one_topic_a_document_and_less_for_mixtures():
    rng = np.random.default_rng(0)
    main = np.eye(K)[rng.integers(0, K, 600)]
    for shares, expected in ((main, 1.0), (rng.dirichlet(np.full(K, 2.0), 600), 1 / 7)):
        sums, squares = shares.sum(axis=0)[None], (shares**2).sum(axis=0)[None]
        found = spread_of(np.array([600.0]), sums, squares)
        assert found == pytest.approx(np.full(K, expected), rel=0.1)


@pytest.mark.statistical
def test_intervals_hold_the_share_they_are_of():
    """Of mixed documents, 95 % of the intervals, but for chance."""
    rng = np.random.default_rng(0)
    inside, n = 0, 60
    for _ in range(400):
        alpha = rng.uniform(0.2, 2.0, K)
        shares = rng.dirichlet(alpha, (8, n))
        sums, squares = shares.sum(axis=1), (shares**2).sum(axis=1)
        spread = spread_of(np.full(8, float(n)), sums, squares)
        low, high = interval_of(np.full((8, 1), float(n)), sums / n, spread)
        truth = alpha / alpha.sum()
        inside += ((low <= truth) & (truth <= high)).mean()
    assert 0.93 <= inside / 400 <= 0.97
