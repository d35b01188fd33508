# SPDX-License-Identifier: BSD-3-Clause
"""The ledger of the papers: its items, their experiments, verdicts and pages."""

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from benchmarks.papers import page
from benchmarks.papers.ledger import experiment, items
from benchmarks.papers.page import PAPERS
from benchmarks.papers.verdicts import CONFIRMED, IN_PART, SCALE

ITEMS = items()
each = pytest.mark.parametrize("item", ITEMS, ids=[one.name for one in ITEMS])


def test_names_are_unique():
    assert len({one.name for one in ITEMS}) == len(ITEMS)


@each
def test_an_item_says_what_it_is(item):
    assert item.paper in PAPERS
    assert re.fullmatch(r"[a-z0-9-]+", item.name)
    assert re.match(r"(Figure|Table|Section|Figures|Tables) ", item.number)
    assert item.title
    # It has an experiment, or is not at hand.
    assert bool(item.experiment) != bool(item.missing)
    # What is computed has a verdict, and no claims that are tested.
    assert item.verdict in ("", CONFIRMED, IN_PART)
    assert not (item.verdict and item.claims)
    # Only a stream that is much shorter than the paper's may be one whose length decides.
    assert bool(item.papers) == bool(item.why) >= any(one.moves for one in item.claims)
    assert 10 * item.learnt <= item.papers


@pytest.mark.parametrize("item", [one for one in ITEMS if one.experiment], ids=lambda one: one.name)
def test_its_columns_are_those_of_its_experiment(item):
    columns = {*experiment(item.experiment).keys, *experiment(item.experiment).values}
    used = {*item.where}
    for shown in filter(None, (item.picture, *item.more)):
        used |= {shown.x, shown.y, shown.series} | ({shown.panels} - {""})
    for claim in item.claims:
        used |= {claim.value, claim.series, "split", *claim.by, *claim.where}
    assert used <= columns


@pytest.mark.parametrize("name", dict.fromkeys(one.experiment for one in ITEMS if one.experiment))
def test_all_of_its_cells_are_run(name):
    assert next(iter(experiment(name).left(False)), None) is None


def test_the_tally_of_the_documentation_is_that_of_the_rows():
    every = {one.name: one.findings() for one in ITEMS}
    kept = (Path(page.__file__).parents[2] / "doc" / "measured" / "tally.inc").read_text("utf-8")
    assert kept == page.tally(ITEMS, every)
    assert page.tally(ITEMS, every) in page.index(ITEMS, every)
    found = [one for own in every.values() for one in own]
    n, n_hold, n_opposite, n_open = page.counts(found)
    assert n == n_hold + n_opposite + n_open == sum(len(one.every) for one in found)
    assert page.distinct(found + found) == page.distinct(found) < n


def test_all_that_was_refuted_once_stands_in_its_table():
    every = {one.name: one.findings() for one in ITEMS}
    table = page.once(ITEMS, every)
    assert sum(bool(one.once) for one in ITEMS) == 40
    for one in ITEMS:
        assert (f"<{one.name}>`" in table) == bool(one.once)
        for _, word, counts in page.statements(one, every[one.name]) if one.once else ():
            assert f"- {word}\n" in table
            assert f"- {counts}\n" in table
            assert (word == SCALE) <= bool(one.papers)


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
