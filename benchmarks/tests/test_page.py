# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of the ledger's pages."""

import re
from pathlib import Path

from benchmarks.papers.__main__ import main
from benchmarks.papers.ledger import Picture, called, items
from benchmarks.papers.page import MOST_PLACES, table, words

LINES = Picture("lines", x="seen", y="score")


def rows(method, places):
    return [{"method": method, "seen": str(x), "score": str(x * x), "split": "0"} for x in places]


def test_tables_show_some_of_many_places_and_the_last():
    for n in (1, MOST_PLACES, MOST_PLACES + 1, 100):
        text = table(LINES, rows("one", range(1, n + 1)))
        head = text.partition("- method")[2].partition("* -")[0].split()
        shown = [int(word) for word in head if word != "-"]
        assert shown[-1] == n
        assert len(shown) == n if n <= MOST_PLACES else MOST_PLACES / 2 <= len(shown) <= MOST_PLACES


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


def test_tables_of_items_on_file_are_printed(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["papers", "hpp_binomial"])
    main()
    printed = capsys.readouterr().out
    assert "hpp-figure-5: A coin that jumps twice" in printed
    assert "in absolute error, above 0 as claimed: +0.039 of 0.05728, from +0.038 (" in printed
    assert len({*re.findall("picture: (.*png)", printed)}) == 3
    assert all(Path(one).exists() for one in re.findall("picture: (.*)", printed))
    head, *lines = printed.partition("their own stream:\n\n")[2].partition("\n\n")[0].splitlines()
    assert head.rsplit("  ", 1)[1] == "largest difference from the authors'"
    assert {len(line.rsplit("  ", 1)[0]) for line in lines} == {len(head.rsplit("  ", 1)[0])}
    authors = {line.rsplit("  ", 1)[0].strip(): float(line.rsplit("  ", 1)[1]) for line in lines}
    assert authors["SVB"] < 1e-15 < authors["SVB-HPP"] < 2e-5
