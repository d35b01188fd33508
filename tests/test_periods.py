# SPDX-License-Identifier: BSD-3-Clause
"""Times fall into few periods that people know."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamtopics.periods import MOST_PERIODS, periods_of

START = datetime(2003, 5, 17, 12, 30)


@pytest.mark.parametrize(
    ("span", "unit", "first"),
    [
        (timedelta(hours=30), "hour", "2003-05-17 12h"),
        (timedelta(days=40), "day", "2003-05-17"),
        (timedelta(days=300), "week", "week of 2003-05-12"),
        (timedelta(days=1200), "month", "2003-05"),
        (timedelta(days=4000), "quarter", "2003 Q2"),
        (timedelta(days=20_000), "year", "2003"),
        (timedelta(days=100_000), "5 years", "2000 to 2004"),
        (timedelta(days=250_000), "10 years", "2000 to 2009"),
    ],
)
def test_dates_fall_into_the_finest_periods_that_are_few(span, unit, first):
    times = [START + i * span / 1000 for i in range(1001)]
    found = periods_of(times)
    assert (found.unit, found.labels[0]) == (unit, first)
    assert len(found.labels) <= MOST_PERIODS
    seconds = np.array(times, dtype="datetime64[s]").astype(float)
    ends = np.append(found.starts[1:], np.inf)
    assert (found.starts[found.of] <= seconds).all()
    assert (seconds < ends[found.of]).all()
    assert set(found.of) <= set(range(len(found.labels)))


def test_texts_of_arrow_are_dates():
    arrow = pytest.importorskip("pyarrow")
    found = periods_of(arrow.array(["2003-05-17", None, "2003-05-19"]))
    assert (found.unit, found.of.tolist()) == ("hour", [0, -1, 48])


def test_weeks_begin_on_mondays():
    found = periods_of([date(2024, 1, 1) + timedelta(days=i) for i in range(200)])
    assert found.labels[:2] == ("week of 2024-01-01", "week of 2024-01-08")
    assert_array_equal(found.of[:8], [0] * 7 + [1])


@pytest.mark.parametrize(
    "times",
    [
        ["2003-05-17", "2004-01-02T10:00"],
        [date(2003, 5, 17), datetime(2004, 1, 2, 10)],
        np.array(["2003-05-17", "2004-01-02T10:00"], dtype="datetime64[s]"),
        np.array(["2003-05-17", "2004-01-02"], dtype="datetime64[D]"),
        ["2003-05-17T02:00+02:00", datetime(2004, 1, 2, 10, tzinfo=UTC)],
        [datetime(2003, 5, 17, 1, tzinfo=timezone(timedelta(hours=1))), "2004-01-02T10:00Z"],
        [np.datetime64("2003-05-17"), None, np.datetime64("2004-01-02"), np.datetime64("NaT")],
    ],
)
def test_dates_come_in_many_forms(times):
    found = periods_of(times)
    assert found.unit == "week"
    known = found.of[found.of >= 0]
    assert_array_equal(known, [0, len(found.labels) - 1])
    assert found.labels[0] == "week of 2003-05-12"


def test_whole_numbers_have_a_period_each_also_where_none_is():
    found = periods_of([1987, 1990, 1988, None])
    assert found.labels == ("1987", "1988", "1989", "1990")
    assert found.unit == "year"
    assert periods_of([12, 15]).unit == "value"
    assert periods_of([1987.5, 1990]).unit == "value"
    assert_array_equal(found.of, [0, 3, 1, -1])


def test_few_numbers_stand_for_themselves_and_many_are_cut():
    assert periods_of([0.5, 0.25, 0.5]).labels == ("0.25", "0.5")
    values = np.random.default_rng(0).random(1000)
    found = periods_of(values)
    assert MOST_PERIODS / 3 < len(found.labels) <= MOST_PERIODS
    offset = values - found.starts[found.of]
    assert (offset >= 0).all()
    assert (offset < 0.02).all()
    assert found.labels[1] == "0.02 to 0.04"


def test_many_years_are_cut_into_spans_of_years():
    found = periods_of(np.arange(1790, 2025))
    assert found.unit == "5 years"
    assert (found.labels[0], found.labels[-1]) == ("1790 to 1794", "2020 to 2024")
    assert_array_equal(np.bincount(found.of), 5)


def test_a_time_has_its_place():
    found = periods_of([START + timedelta(days=i) for i in range(40)])
    assert found.place(START + timedelta(days=3)) == 3
    assert found.place("2003-05-18") == 1
    assert found.place(date(2000, 1, 1)) is None
    assert found.place("no date") is None
    assert found.place(None) is None
    assert found.place(7) is None
    assert periods_of([1, 2, 3]).place(2) == 1


def test_a_time_is_told_as_it_was_given():
    found = periods_of([START, date(2004, 1, 1), None])
    assert [found.when(row) for row in range(3)] == ["2003-05-17 12:30:00", "2004-01-01", ""]
    assert periods_of([1787, 1788.5]).when(1) == "1788.5"


@pytest.mark.parametrize(
    ("times", "error", "message"),
    [
        (["soon"], ValueError, "times holds text that is no date"),
        ([True, False], TypeError, "times must be numbers or dates; got True"),
        ([1, "2003-05-17"], TypeError, "times must be numbers or dates; got 1"),
        ([[1], [2]], ValueError, "times must be a sequence"),
        ([np.inf, 1.0], TypeError, "times must be numbers or dates"),
        ([None, None], ValueError, "times must hold at least one that is known"),
        ([10**400, 1], ValueError, "times must be numbers that floating point can hold"),
    ],
)
def test_other_times_are_refused(times, error, message):
    with pytest.raises(error, match=message):
        periods_of(times)


def test_zones_at_both_ends_of_the_calendar():
    found = periods_of(["0001-01-01T00:00+14:00", "9999-12-31T23:00-12:00"])
    assert [found.when(0), found.when(1)] == ["0000-12-31 10:00:00", "10000-01-01 11:00:00"]
    assert found.place("0001-01-01T00:00+14:00") == 0


def test_dates_of_any_age_have_few_periods():
    found = periods_of(np.array([2**62, 0, 5, -(2**62)], "M8[s]"))
    assert (found.unit, len(found.labels)) == ("10000000000 years", 30)
    assert_array_equal(found.of, [29, 15, 15, 0])
    assert len(periods_of(np.array([2**62, 0], "M8[s]")).labels) <= MOST_PERIODS
    with pytest.raises(ValueError, match="times must be dates within"):
        periods_of(np.array([2**63 - 1, 0], "M8[s]"))
