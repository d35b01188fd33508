# SPDX-License-Identifier: BSD-3-Clause
"""Times fall into few periods that people know."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from streamtopics.datasets import read_records
from streamtopics.inspection.periods import MOST_PERIODS, periods_of, time_texts
from streamtopics.utils.times import read_times

arrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
START = datetime(2003, 5, 17, 12, 30)


@pytest.mark.parametrize("text", ["200312", "1", "1e9", "2003", "1999.5", "20031231", "2003-05"])
def test_a_text_is_read_alike_in_a_file_and_in_python(text):
    (record,) = read_records([{"text": "a", "t": text}], time_key="t")
    assert read_times([text]).tolist() == read_times([record.time]).tolist()


def test_running_numbers_are_numbers_whatever_others_come_with_them():
    """Of 190001 to 190012 alone months were made, and of 190013 a number."""
    assert read_times(range(190001, 190013)).dtype == float


@pytest.mark.parametrize("freq", ["D", "M", "Q", "Y"])
def test_periods_of_pandas_are_dates(freq):
    given = pd.period_range("2024-01-01", periods=3, freq=freq)
    found = periods_of([*given, pd.NaT])
    assert_array_equal(read_times(given), given.start_time.to_numpy())
    assert found.of[3] == -1


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
    edges = found.edges.astype(float)
    assert (edges[found.of] <= seconds).all()
    assert (seconds < edges[found.of + 1]).all()
    assert set(found.of) <= set(range(len(found.labels)))


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
    assert (found.unit, found.labels[0]) == ("week", "week of 2003-05-12")
    assert_array_equal(found.of[found.of >= 0], [0, len(found.labels) - 1])


def test_a_time_is_told_as_it_was_given():
    found = read_times([START, date(2004, 1, 1), None])
    assert time_texts(found) == ["2003-05-17 12:30:00", "2004-01-01", ""]
    assert time_texts(np.array([1787, 1788.5])) == ["1787", "1788.5"]


@pytest.mark.parametrize(
    ("times", "error", "message"),
    [
        (["soon"], ValueError, "'soon' is neither a number nor a date"),
        ([True, False], TypeError, "times must be numbers or dates; got True"),
        ([1, None, "2003-05"], TypeError, "must be all numbers or all dates"),
        ([1, b""], TypeError, "times must be numbers or dates; got b''"),
        (["2024_01"], ValueError, "'2024_01' is neither a number nor a date"),
        (["17.05.2025"], ValueError, "'17.05.2025' is neither a number nor a date"),
        ([[1], [2]], TypeError, r"times must be numbers or dates; got \[1\]"),
        ([np.inf, 1.0], ValueError, "times must be dates, with"),
        ([None, None], ValueError, "times must be dates, with"),
        ([10**400, 1], OverflowError, "int too large"),
    ],
)
def test_other_times_are_refused(times, error, message):
    with pytest.raises(error, match=message):
        periods_of(times)


@pytest.mark.parametrize(
    ("times", "unit", "labels", "of"),
    [
        (["2024-01", "2024-03"], "month", ("2024-01", "2024-02", "2024-03"), [0, 2]),
        (["2024-W05", "2024-W06"], "week", ("week of 2024-01-29", "week of 2024-02-05"), [0, 1]),
        (["2024-01-01", "2024-01-02"], "day", ("2024-01-01", "2024-01-02"), [0, 1]),
        ([datetime(2024, 1, 1), datetime(2024, 1, 2)], "day", ("2024-01-01", "2024-01-02"), [0, 1]),
        (np.array(["2001", "2002"], "M8[Y]"), "year", ("2001", "2002"), [0, 1]),
        (np.array(["2001-02", "NaT"], "M8[M]"), "month", ("2001-02",), [0, -1]),
        ([np.datetime64("2001-02"), None], "month", ("2001-02",), [0, -1]),
    ],
)
def test_no_period_is_finer_than_the_dates(times, unit, labels, of):
    found = periods_of(times)
    assert (found.unit, found.labels, found.of.tolist()) == (unit, labels, of)


AT_MIDNIGHT = [datetime(2024, 4, 30, 23), datetime(2024, 5, 1)]


@pytest.mark.parametrize(
    "times",
    [
        ["2024-05-01T08:00:00+09:00", "2024-05-01T02:30+02:00"],
        ["2024-05-01T08:00:00+09:00", "2024-05-01T00:30", "2024-05-01"],
        [datetime(2024, 5, 1, hour, 30, tzinfo=ZoneInfo("Asia/Tokyo")) for hour in (8, 9)],
        pd.Series(pd.to_datetime(["2024-05-01 08:00+09:00", "2024-05-01 09:30+09:00"])),
        pd.to_datetime(["2024-04-30 23:00Z", "2024-05-01 00:30Z"]).tz_convert("Asia/Tokyo"),
        polars.Series(AT_MIDNIGHT).dt.replace_time_zone("UTC"),
        arrow.array(AT_MIDNIGHT, arrow.timestamp("us", "UTC")),
    ],
)
def test_dates_with_a_zone_are_in_universal_time(times):
    found = periods_of(times)
    assert (found.unit, found.labels) == ("hour", ("2024-04-30 23h", "2024-05-01 00h"))


JULY = datetime(2025, 7, 4, 12, tzinfo=UTC).timestamp()
TWO_DAYS = ("2025-06-05", "2025-07-17")
TWO_SECONDS = ("2025-07-04 12:00:00", "2025-07-04 12:00:01")


@pytest.mark.parametrize(
    ("times", "first", "last"),
    [
        ([20250605, 20250717], *TWO_DAYS),
        (["20250605", "20250717"], *TWO_DAYS),
        (["2025/6/5", "2025.07.17"], *TWO_DAYS),
        (["2024", "2025"], "2024", "2025"),
        *(([JULY * scale, (JULY + 1) * scale], *TWO_SECONDS) for scale in (1, 1e3, 1e6, 1e9)),
        ([f"{JULY:.0f}", f"{JULY + 1:.0f}"], *TWO_SECONDS),
    ],
)
def test_dates_in_other_ways_are_read(times, first, last):
    assert time_texts(read_times(times)) == [first, last]


def test_numbers_that_are_no_dates_stay_numbers():
    for times in ([20251301, 20250101], [202512, 202501], [150, 20_000_000], [1999, 2000]):
        assert read_times(times).dtype == float
