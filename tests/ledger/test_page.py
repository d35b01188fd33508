# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of the ledger's pages."""

from benchmarks.papers.ledger import Picture
from benchmarks.papers.page import MOST_PLACES, draw, in_order, table

LINES = Picture("lines", x="seen", y="score")


def rows(method, places):
    return [{"method": method, "seen": str(x), "score": str(x * x), "split": "0"} for x in places]


def test_places_are_in_order_where_they_are_numbers():
    assert in_order(["20", "100", "3", "20"]) == ["3", "20", "100"]
    assert in_order(["b", "a", "b"]) == ["b", "a"]


def test_lines_go_from_left_to_right_whatever_comes_first():
    figure = draw(LINES, rows("one", (500, 1000)) + rows("other", (100, 500, 900, 1000)))
    for line in figure.axes[0].get_lines():
        x = list(line.get_xdata())
        assert x == sorted(x)


def test_tables_show_some_of_many_places_and_the_last():
    for n in (1, MOST_PLACES, MOST_PLACES + 1, 100):
        text = table(LINES, rows("one", range(1, n + 1)))
        head = text.partition("- method")[2].partition("* -")[0].split()
        shown = [int(word) for word in head if word != "-"]
        assert shown[-1] == n
        assert len(shown) == n if n <= MOST_PLACES else MOST_PLACES / 2 <= len(shown) <= MOST_PLACES
