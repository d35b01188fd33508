# SPDX-License-Identifier: BSD-3-Clause
"""The ledger of the papers: its items, their experiments, verdicts and pages."""

import re

import pytest
from matplotlib.figure import Figure

from benchmarks.papers import page
from benchmarks.papers.experiment import Experiment
from benchmarks.papers.ledger import experiment, items
from benchmarks.papers.page import PAPERS
from benchmarks.papers.verdicts import CONFIRMED, OPEN, REFUTED

ITEMS = items()
each = pytest.mark.parametrize("item", ITEMS, ids=[one.name for one in ITEMS])
tested = [one for one in ITEMS if one.claims]
SEVERITY = [REFUTED, OPEN, CONFIRMED]


def test_names_are_unique():
    assert len({one.name for one in ITEMS}) == len(ITEMS)


@each
def test_an_item_says_what_it_is(item):
    assert item.paper in PAPERS
    assert re.fullmatch(r"[a-z0-9-]+", item.name)
    assert re.match(r"(Figure|Table|Section|Figures|Tables) ", item.number)
    assert item.title
    # It has an experiment, or cannot be had.
    assert bool(item.experiment) != bool(item.missing)
    assert item.verdict in ("", *SEVERITY)
    # None waits for its runs.
    assert bool(item.verdict) == bool(item.claims or item.remark)


@pytest.mark.parametrize("item", [one for one in ITEMS if one.experiment], ids=lambda one: one.name)
def test_its_columns_are_those_of_its_experiment(item):
    columns = {*experiment(item.experiment).keys, *experiment(item.experiment).values}
    used = {*item.where}
    for shown in filter(None, (item.picture, *item.more)):
        used |= {shown.x, shown.y, shown.series} | ({shown.panels} - {""})
    for claim in item.claims:
        used |= {claim.value, claim.series, *claim.by, *claim.pairs, *claim.where}
    assert used <= columns


@pytest.mark.parametrize("item", tested, ids=lambda one: one.name)
def test_its_verdict_is_what_the_rows_say(item):
    """Before all of its cells are run it has none."""
    assert item.verdict == item.found()


def test_a_second_run_is_compared_with_the_first_but_for_its_seconds(tmp_path):
    values = iter([(0.5, 1.0), (0.25, 2.0), (0.5, 3.0), (0.125, 4.0)])

    def run(cell, quick):
        value, seconds = next(values)
        return [{"value": value, "seconds": seconds}]

    one = Experiment("some", ("split",), ("value", "seconds"), lambda quick: [], run)
    for folder in ("kept", "new"):
        for split in range(2):
            one.carry_out({"split": split}, False, tmp_path / folder)
    found = one.compare(tmp_path / "new", tmp_path / "kept")
    assert (found.same, found.other) == (1, 1)


def test_the_pages_show_every_item(tmp_path, monkeypatch):
    # One picture of each kind; the documentation, when it is built, draws all of them.
    draw, kinds, blank = page.draw, set(), Figure(figsize=(1, 1))

    def some(picture, rows):
        new = picture.kind not in kinds
        kinds.add(picture.kind)
        return draw(picture, rows) if new else blank

    monkeypatch.setattr(page, "draw", some)
    page.write(ITEMS, tmp_path)
    pages = {paper: (tmp_path / f"{paper}.rst").read_text(encoding="utf-8") for paper in PAPERS}
    index = (tmp_path / "index.rst").read_text(encoding="utf-8")
    for one in ITEMS:
        assert f".. _{one.name}:" in pages[one.paper]
        assert f"<{one.name}>`" in index
    for name in re.findall(r"image:: (\S+)", "".join(pages.values())):
        assert (tmp_path / name).exists()
