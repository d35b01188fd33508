# SPDX-License-Identifier: BSD-3-Clause
"""Sums by time and group against a table of all documents."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binomtest

from streamtopics.inspection.periods import MOST_PERIODS
from streamtopics.saving.checks import check_held
from streamtopics.story.cells import (
    MOST_GROUPS,
    OTHERS,
    Cells,
    interval_of,
    labels_of,
    spread_each,
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
    cells = Cells.empty(K, V)
    for start in range(0, len(shares), step):
        own = slice(start, start + step)
        when, part = (None if given is None else given[own] for given in (times, groups))
        labels = labels_of(len(shares[own]), when, part, cells.kind, start)
        cells = cells.add(labels, shares[own], counts[own])
    return cells


@pytest.mark.parametrize("step", [7, 50, 400])
def test_totals_are_those_of_a_table(step):
    n = 400
    shares, counts = documents(n)
    rng = np.random.default_rng(1)
    days = np.sort(rng.integers(0, 300, n))
    times = [datetime(2024, 1, 1) + timedelta(days=int(day)) for day in days]
    groups = rng.choice(["a", "b", "c"], n)
    totals = added(times, groups.tolist(), shares, counts, step).totals(least=10)
    months = np.array([time.strftime("%Y-%m") for time in times])
    main, has = np.eye(K)[shares.argmax(axis=1)], counts.toarray() > 0
    shares, main = (of_topics * has.any(axis=1)[:, None] for of_topics in (shares, main))
    assert [period.label for period in totals.periods] == sorted({*months})
    for t, period in enumerate(totals.periods):
        for g, group in enumerate(totals.groups):
            own = (months == period.label) & (groups == group)
            assert totals.n[t, g] == own.sum()
            assert totals.sums[t, g] == pytest.approx(shares[own].sum(axis=0))
            assert totals.squares[t, g] == pytest.approx((shares[own] ** 2).sum(axis=0))
            assert totals.main[t, g].tolist() == main[own].sum(axis=0).tolist()
        assert totals.holders[t].tolist() == has[months == period.label].sum(axis=0).tolist()
    for g, group in enumerate(totals.groups):
        assert totals.of_groups[g].tolist() == has[groups == group].sum(axis=0).tolist()


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
    assert (one.of_groups == other.of_groups).all()
    np.testing.assert_allclose(one.n, other.n)
    np.testing.assert_allclose(one.sums, other.sums)


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
    cells = added(times, None, *documents(4), 2)
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
    known = counts.getnnz(axis=1) > 0
    assert totals.sums.sum(axis=(0, 1)) == pytest.approx(shares[known].sum(axis=0))
    assert (cells.without_words(np.array([2]), np.array([50.0])).holders.toarray() <= cells.n).all()
    cells = added(np.arange(n) * 1e6, None, shares, counts, 100)
    assert len(cells.spans) <= 400
    assert cells.totals().n.sum() == n


@pytest.mark.parametrize(
    "minibatches",
    [
        [[0.5] * 2, [1.5] * 2],
        [[1e-3, 2e-3], [1e14, 1e15]],
        [[0.25, 0.5], [7.0, 9007199254740000.0]],
        [[-1e-300, 1e-300], [0.5, 3.0]],
        [[20240517120000] * 2, [20240517120040] * 2],
        [[1e7] * 2, [10000000.00004] * 2],
    ],
)
def test_numbers_of_any_size_are_times(minibatches):
    totals = added([*minibatches[0], *minibatches[1]], None, *documents(4), 2).totals(least=0)
    assert totals.n.sum() == 4
    assert totals.periods[0].start <= min(minibatches[0])
    assert len({period.label for period in totals.periods}) == len(totals.periods)


def test_decimal_times_are_in_the_period_that_they_begin():
    times = np.round(np.arange(1, 800) / 100, 2)
    for step in (1, 20, len(times)):
        totals = added(times, None, *documents(len(times)), step).totals(least=90)
        assert [period.label for period in totals.periods][:2] == ["0 to 1", "1 to 2"]
        assert totals.n[:, 0].tolist() == [99.0, *[100.0] * 7]


@pytest.mark.parametrize("first", [datetime(2024, 1, 1), datetime(2023, 12, 31, 5)])
def test_a_stream_of_days_may_begin_with_a_year(first):
    days = [first + timedelta(days=i) for i in range(60)]
    totals = added(days, None, *documents(60), 1).totals(least=1)
    assert [period.unit for period in totals.periods] == ["day"] * 60
    one = added(["2024"], None, *documents(1), 1)
    assert [period.label for period in one.totals().periods] == ["2024"]


def test_groups_are_the_same_in_columns_with_missing_ones():
    given = [1, 1.0, np.float32(1), "1", np.int64(1), None, np.nan, pd.NA, True, 1.5]
    names = ["1"] * 5 + [""] * 3 + ["True", "1.5"]
    assert labels_of(10, None, given, "", 0).groups == names
    assert labels_of(2, None, pd.Categorical(["a", None]), "", 0).groups == ["a", ""]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "century"), ("level", 99), ("groups", ("a",)), ("groups", ("a", "a", "a")),
        ("spans", np.zeros(3, np.int64)), ("n", np.full((3, 3), -1.0)),
        ("holders", -sparse.csr_matrix(np.ones((3, V)))), ("sums", np.zeros((3, 2, K))),
        ("of_groups", np.zeros((2, V))), ("of_groups", -np.ones((3, V))),
    ],
)  # fmt: skip
def test_sums_that_cannot_be_are_refused(name, value):
    days = ["2024-05-17", "2024-06-17", "2024-07-17"]
    cells = added(days, ["a", "b", "c"], *documents(3), 3)
    check_held(cells)
    with pytest.raises(ValueError, match=r"must be|cannot be"):
        check_held(replace(cells, **{name: value}))


def test_groups_after_the_hundredth_are_one():
    n = 250
    shares, counts = documents(n)
    cells = added(None, [f"g{i}" for i in range(n)], shares, counts, 50)
    assert len(cells.groups) == MOST_GROUPS
    assert cells.groups[-1] == OTHERS
    assert cells.n.sum() == n
    assert cells.n.sum(axis=0)[-1] == n - MOST_GROUPS + 1
    assert (cells.of_groups.sum(axis=0) == (counts > 0).sum(axis=0)).all()
    assert (cells.of_groups[:99] == (counts[:99] > 0).toarray()).all()


def test_a_column_that_changed_hands_begins_anew():
    cells = added(None, None, *documents(40), 20)
    after = cells.without_words(np.array([1, 3]), np.array([4.0, 0.0]))
    own = after.holders.toarray()
    # Each span is one document: the four are in the middle of a quarter each.
    assert np.flatnonzero(own[:, 1]).tolist() == [4, 14, 24, 34]
    assert own[:, 1].sum() == 4
    assert not own[:, 3].any()
    assert (own[:, [0, 2, 4]] == cells.holders.toarray()[:, [0, 2, 4]]).all()
    assert after.of_groups[0].tolist() == own.sum(axis=0).tolist()
    assert Cells.empty(K, V).without_words(np.array([1]), np.zeros(1)).holders.shape == (0, V)


@pytest.mark.parametrize("earlier", [3, 7.25, 24, 40, 50])
def test_earlier_documents_of_a_word_make_no_change(earlier):
    times, groups = np.repeat([2001, 2002, 2003], [10, 25, 5]), ["a", "b", "b", "b"] * 10
    cells = added(times, groups, *documents(40), 8)
    after = cells.without_words(np.array([2]), np.array([float(earlier)]))
    own, n = after.holders.toarray()[:, 2], cells.n.sum(axis=1)
    assert own.sum() == pytest.approx(min(earlier, 40))
    assert (np.abs(own - n * min(earlier, 40) / 40) <= 1).all()
    assert (own <= n).all()
    assert after.of_groups[:, 2] == pytest.approx((cells.n / n[:, None]).T @ own)


def test_topics_can_be_joined():
    cells = added(None, None, *documents(40), 20)
    joined = cells.with_topics(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    assert joined.sums[..., 0] == pytest.approx(cells.sums[..., 0] + cells.sums[..., 2])
    assert joined.sums[..., 1] == pytest.approx(cells.sums[..., 1])
    assert joined.squares[..., 1] == pytest.approx(cells.squares[..., 1])


def test_the_spread_of_joined_topics_is_no_less_than_it_is():
    """Two topics that always go together would else seem not to differ between documents."""
    rng = np.random.default_rng(0)
    one = rng.beta(1, 3, 200) / 2
    shares = np.stack([one, one, 1 - 2 * one], axis=1)
    cells = added(None, None, shares, documents(200)[1], 20)
    joined = cells.with_topics(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).totals(200)
    of = joined.n[:, 0], joined.sums[:, 0], joined.squares[:, 0]
    found = spread_of(*(values.sum(axis=0, keepdims=True) for values in of))
    m = 2 * one.mean()
    assert found[0] >= (2 * one).var() / (m * (1 - m)) * 0.999
    assert (joined.squares <= joined.sums).all()


@pytest.mark.parametrize(
    ("times", "groups", "kind", "match"),
    [
        ([2001], None, "", "times must have an entry for each of the 2"),
        (None, ["a"], "", "groups must have an entry for each of the 2"),
        (None, "ab", "", "groups must have an entry for each"),
        (None, np.ones((2, 2)), "", "groups must have an entry for each"),
        ([1e300, 1.0], None, "", "times must be less than"),
        ([3.5, 4.5], None, "date", r"times are numbers, but .* came with dates"),
        (["2024-05-17"] * 2, None, "order", "times are dates, but .* before came without"),
    ],
)
def test_labels_that_do_not_fit_are_refused(times, groups, kind, match):
    with pytest.raises((TypeError, ValueError), match=match):
        labels_of(2, times, groups, kind, 0)


def test_the_interval_is_wilsons_where_each_document_has_one_topic():
    for k, n in ((0, 10), (3, 10), (17, 400)):
        low, high = interval_of(np.array(float(n)), np.array(k / n), np.array(1.0))
        exact = binomtest(k, n).proportion_ci(method="wilson")
        assert (float(low), float(high)) == pytest.approx((exact.low, exact.high))


def test_the_spread_has_no_bias_in_small_cells():
    """Of one topic a document it is 1, and of mixtures the same in any cells."""
    rng = np.random.default_rng(0)
    shares = np.eye(K)[rng.integers(0, K, 3000)].reshape(1500, 2, K)
    n, squares = np.full(1500, 2.0), (shares**2).sum(axis=1)
    assert spread_of(n, shares.sum(axis=1), squares) == pytest.approx(np.ones(K))
    mixed = rng.dirichlet(np.full(K, 0.5), (4000, 2))
    found = spread_of(np.full(4000, 2.0), mixed.sum(axis=1), (mixed**2).sum(axis=1))
    assert found == pytest.approx(np.full(K, 1 / 2.5), rel=0.05)


@pytest.mark.statistical
@pytest.mark.parametrize("n", [10, 20, 60])
def test_the_interval_of_a_burst_has_its_own_spread(n):
    """All documents have a little of a topic, and in one period some have nothing else."""
    rng, inside = np.random.default_rng(0), 0
    for _ in range(400):
        calm = rng.beta(6, 14, (40, 60))
        burst = np.where(rng.random(n) < 0.2, 1.0, rng.beta(6, 14, n))
        sizes = np.append(np.full(40, 60.0), n)
        sums, squares = (
            np.append((calm**power).sum(axis=1), (burst**power).sum())[:, None] for power in (1, 2)
        )
        spread = spread_each(sizes, sums, squares, spread_of(sizes, sums, squares))
        low, high = interval_of(sizes[:, None], sums / sizes[:, None], spread)
        inside += low[-1, 0] <= 0.44 <= high[-1, 0]
    assert inside / 400 >= 0.93


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
