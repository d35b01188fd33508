# SPDX-License-Identifier: BSD-3-Clause
"""The ledger: every table and figure of the four papers, and what came of it here."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.papers.experiment import RESULTS, Experiment
from benchmarks.papers.verdicts import Claim, Finding, findings, has

LEDGER = Path(__file__).with_name("items")
COLUMNS = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
MARGINS: Mapping[str, float] = COLUMNS.pop("margins")


@dataclass(frozen=True)
class Picture:
    """How rows are shown.

    Attributes
    ----------
    kind : str
        "lines", "points", "table", or "words", a table of texts.
    x, y, series, panels : str
        Columns: along the axis, of the values, of the lines, and of the pictures side by side.
    log : str
        Axes that are logarithmic: "x", "y" or "xy".
    experiment : str
        Whose columns they are.
    names : mapping
        What columns are called here that other items show too.
    where : mapping or None
        Values of columns that its rows have; None for those of its item.
    title : str
        What stands above it, in the place of what its columns are called.
    within : str
        A column, such as "split", of whose values the levels differ by more than the series do:
        bands are of what is left without them.
    pairs : tuple of tuple of str
        Series that are shown less others, on the same split, in the place of all series.
    mark : float
        Where on the x axis the paper is, if it is marked; 0 if not.
    """

    kind: str
    x: str
    y: str
    series: str = "method"
    panels: str = ""
    log: str = ""
    experiment: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, Any] | None = None
    title: str = ""
    within: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    mark: float = 0.0

    def called(self, column: str) -> str:
        """What a column is called, with its unit."""
        return self.names[column] if column in self.names else called(self.experiment, column)


def less(picture: Picture, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return rows of the differences between series that are pairs, on the same split."""
    own = [picture.x, "split", *filter(None, [picture.panels])]
    known = {
        (row[picture.series], *(row[name] for name in own)): float(row[picture.y])
        for row in rows
        if row[picture.y]
    }
    return [
        dict(zip(own, key, strict=True))
        | {picture.series: f"{one} less {other}", picture.y: str(value - known[other, *key])}
        for one, other in picture.pairs
        for (name, *key), value in known.items()
        if name == one and (other, *key) in known
    ]


def called(experiment: str, column: str) -> str:
    """What a column of an experiment is called, with its unit."""
    own = COLUMNS.get(f"{experiment}.{column}")
    return str(COLUMNS[column] if own is None else own)


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        Such as "thesis-figure-6".
    paper, number, title : str
    says : str
        What the paper says of it, in words.
    experiment : str
        Module of `benchmarks.papers` that has its `EXPERIMENT`; empty if there is none.
    where : mapping
        Values of columns that its rows have.
    data : str
        What was learnt from, and how that differs from the paper's.
    verdict : str
        Of what is computed, with no claims; empty for others.
    claims : tuple of Claim
        What the verdicts of the others rest on.
    once : str
        A verdict that was given before the comparisons were counted, if it was a harsh one.
    learnt, papers : int
        Documents of the stream here and in the paper, where that matters; 0 elsewhere.
    why : str
        What shows how the differences change with the length of the stream.
    picture : Picture or None
    more : tuple of Picture
        Tables that stand below it: texts that the paper shows, rivals that it leaves out.
    missing : str
        Why it is not at hand; empty if it is.
    remark : str
    """

    name: str
    paper: str
    number: str
    title: str
    says: str = ""
    experiment: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    verdict: str = ""
    claims: tuple[Claim, ...] = ()
    once: str = ""
    learnt: int = 0
    papers: int = 0
    why: str = ""
    picture: Picture | None = None
    more: tuple[Picture, ...] = ()
    missing: str = ""
    remark: str = ""

    def rows(
        self, folder: Path = RESULTS, where: Mapping[str, Any] | None = None
    ) -> list[dict[str, str]]:
        """Its rows, or others of its experiment."""
        if not self.experiment:
            return []
        rows = experiment(self.experiment).rows(folder)
        return [row for row in rows if has(row, self.where if where is None else where)]

    def shown(self, picture: Picture, folder: Path = RESULTS) -> list[dict[str, str]]:
        """The rows of one of its pictures: its own or others, or their paired differences."""
        rows = self.rows(folder, picture.where)
        return less(picture, rows) if picture.pairs else rows

    def findings(self, folder: Path = RESULTS) -> list[Finding]:
        """What came of each of its statements."""
        return findings(self.claims, self.rows(folder), MARGINS) if self.claims else []


def experiment(name: str) -> Experiment:
    """The experiment of a module of this package."""
    found: Experiment = import_module(f"benchmarks.papers.{name}").EXPERIMENT
    return found


def items(folder: Path = LEDGER) -> list[Item]:
    """All items, those of a file together."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))]
    return [_item(one) for text in texts for one in tomllib.loads(text)["item"]]


def _item(read: dict[str, Any]) -> Item:
    claims = tuple(
        Claim(**{k: tuple(v) if isinstance(v, list) else v for k, v in one.items()})
        for one in read.pop("claims", [])
    )
    own = read.get("experiment", "")
    more = tuple(Picture(**one, experiment=own) for one in read.pop("more", []))
    first = read.pop("picture", None)
    picture = None if first is None else Picture(**first, experiment=own)
    return Item(**read, claims=claims, picture=picture, more=more)
