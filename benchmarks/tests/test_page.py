# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of the ledger's pages."""

import numpy as np
import pytest

from benchmarks.papers.__main__ import main
from benchmarks.papers.ledger import COLUMNS, Picture, called, items
from benchmarks.papers.page import MOST_PLACES, draw, in_order, table, words

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


def test_a_series_has_one_colour_in_all_panels_and_one_place_in_the_legend():
    picture = Picture("lines", x="seen", y="score", panels="corpus")
    shown = [
        {**row, "corpus": corpus}
        for corpus, methods in {"a": ("one", "two"), "b": ("two", "three")}.items()
        for method in methods
        for row in rows(method, (1, 2))
    ]
    figure = draw(picture, shown)
    colors = {}
    for ax in figure.axes:
        for line in ax.get_lines():
            colors.setdefault(line.get_label(), set()).add(line.get_color())
    assert {name: len(found) for name, found in colors.items()} == {"one": 1, "two": 1, "three": 1}
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two", "three"]


@pytest.mark.parametrize("within", ["", "split"])
def test_bands_within_a_split_do_not_grow_with_its_level(within):
    levels, gains = (0.0, 700.0, 90.0), {"one": 0.0, "two": 5.0}
    shown = [
        {"method": method, "seen": seen, "score": str(level + gain), "split": str(split)}
        for split, level in enumerate(levels)
        for method, gain in gains.items()
        for seen in ("1", "2")
    ]
    (ax,) = draw(Picture("lines", x="seen", y="score", within=within), shown).axes
    assert [line.get_ydata().tolist() for line in ax.get_lines()] == [[90.0] * 2, [95.0] * 2]
    heights = [np.ptp(band.get_paths()[0].vertices[:, 1]) for band in ax.collections]
    assert (max(heights) < 1e-9) == bool(within)


def test_methods_that_are_places_themselves_have_a_column_for_each_panel():
    picture = Picture("points", x="method", y="score", series="method", panels="corpus")
    shown = [
        {"method": method, "score": str(score + place), "corpus": corpus}
        for corpus, place in (("a", 0), ("b", 20_000))
        for method, score in (("one", 1.5), ("two", 2.5))
    ]
    text = table(picture, shown)
    cells = [line.lstrip(" *-") for line in text.splitlines() if line.startswith("   ")]
    assert cells[-9:] == ["method", "a", "b", "one", "1.5", "20,002", "two", "2.5", "20,002"]
    alone = table(Picture("points", x="method", y="score", series="method"), shown)
    assert "- held-out score, nats a token" in alone
    figure = draw(picture, shown)
    assert not figure.legends
    first, second = (ax.containers[0][0].get_xdata() for ax in figure.axes)
    assert list(first) == list(second) == [0]


def test_texts_are_shown_as_they_are():
    picture = Picture("words", x="seen", y="text", series="method")
    text = words(picture, [{"method": "a", "seen": "1", "text": "a *b* `c` d_ |e| \\f"}])
    assert r"a \*b\* \`c\` d\_ \|e\| \\f" in text


def test_each_column_that_is_shown_has_words():
    for item in items():
        for picture in filter(None, (item.picture, *item.more)):
            for name in filter(None, (picture.x, picture.y, picture.series, picture.panels)):
                assert picture.called(name) or name in ("panel", "series", "what", "value")
        for claim in item.claims:
            assert called(item.experiment, claim.value)


def test_no_column_is_described_that_no_item_has():
    used = set()
    for item in items():
        names = [claim.value for claim in item.claims]
        for picture in filter(None, (item.picture, *item.more)):
            names += [getattr(picture, part) for part in ("x", "y", "series", "panels")]
        used |= {name for one in names for name in (one, f"{item.experiment}.{one}")}
    assert set(COLUMNS) <= used


def test_tables_of_items_on_file_are_printed(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["papers", "hpp_binomial"])
    main()
    printed = capsys.readouterr().out
    assert "hpp-figure-5: A coin that jumps twice" in printed
    head, *lines = printed.partition("their own stream:\n\n")[2].partition("\n\n")[0].splitlines()
    assert head.rsplit("  ", 1)[1] == "largest difference from the authors'"
    assert {len(line.rsplit("  ", 1)[0]) for line in lines} == {len(head.rsplit("  ", 1)[0])}
    authors = {line.rsplit("  ", 1)[0].strip(): float(line.rsplit("  ", 1)[1]) for line in lines}
    assert authors["SVB"] < 1e-15 < authors["SVB-HPP"] < 2e-5
