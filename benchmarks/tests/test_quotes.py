# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the ledger that README, documentation and docstrings tell are those of its rows."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.papers.quotes import Number, quotes

ROOT = Path(__file__).parents[2]


def plain(text):
    return " ".join(text.split())


@pytest.mark.parametrize("quote", quotes(), ids=lambda one: f"{one.file}-{one.says[:30]}")
def test_a_sentence_has_the_numbers_of_the_rows(quote):
    assert plain(quote.written()) in plain((ROOT / quote.file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("quote", quotes(), ids=lambda one: f"{one.file}-{one.says[:30]}")
def test_values_that_a_sentence_has_side_by_side_are_of_the_same_splits(quote):
    """So that their means differ by the mean of paired differences; medians would not."""
    rows = {}
    for number in quote.numbers:
        corpus = number.where.get("corpus", number.where.get("part"))
        splits = rows.setdefault((number.experiment, number.column, corpus), number.splits())
        assert number.splits() == splits
    if rows and not all(number.less or number.mean for number in quote.numbers):
        assert "median" not in quote.says.partition("{}")[0]


@pytest.fixture
def folder(tmp_path):
    head = "figure,rule,setting,method,split,flips,mean,error\n"
    rows = [
        f"noise,{rule},0.1,{rule},{split},300,{mean},"
        for rule, means in {"SVB": (0.1, 0.2, 0.6), "BPS": (0.4, 0.3, 0.5)}.items()
        for split, mean in enumerate(means)
    ]
    (tmp_path / "bps_case_1.csv").write_text(head + "\n".join(rows) + "\n")
    return tmp_path


def test_a_number_is_a_mean_of_the_rows(folder):
    number = Number("bps_case_1", "mean", {"rule": "SVB", "flips": 300})
    assert number.value(folder) == pytest.approx(0.3)
    assert number.written(folder) == "0.300"
    assert number.splits(folder) == {("0",), ("1",), ("2",)}


def test_or_a_median_of_differences_on_the_same_split(folder):
    number = Number("bps_case_1", "mean", {"rule": "BPS"}, less={"rule": "SVB"}, format="+.2f")
    assert number.written(folder) == "+0.10"


def test_or_their_mean_with_its_standard_error(folder):
    difference = Number("bps_case_1", "mean", {"rule": "BPS"}, less={"rule": "SVB"}, mean=True)
    # Of .3, .1 and -.1, whose standard deviation is .2.
    assert difference.value(folder) == pytest.approx(0.1)
    assert difference.written(folder) == "0.100 ± 0.115"
    signed = replace(difference, format="+.2f", zero=False)
    assert signed.written(folder) == "+.10 ± .12"


def test_a_number_of_no_rows_is_an_error(folder):
    with pytest.raises(LookupError, match="no rows"):
        Number("bps_case_1", "mean", {"rule": "PVB"}).value(folder)
