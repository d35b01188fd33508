# SPDX-License-Identifier: BSD-3-Clause
"""The ledger: every table and figure of the four papers, and what came of it here."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.papers.experiment import RESULTS, Experiment
from benchmarks.papers.verdicts import Claim, Tested, comparisons, has, verdict, weigh

LEDGER = Path(__file__).with_name("items")
COLUMNS = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


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

    def called(self, column: str) -> str:
        """What a column is called, with its unit."""
        return self.names[column] if column in self.names else called(self.experiment, column)


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
        "confirmed", "refuted", "not decidable", or "" for what makes no claim.
    claims : tuple of Claim
        What the verdict rests on.
    picture : Picture or None
    more : tuple of Picture
        Tables that stand below it: texts that the paper shows, rivals that it leaves out.
    missing : str
        Why it cannot be had; empty if it can.
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

    def tested(self, folder: Path = RESULTS, *, complete: bool = False) -> list[Tested]:
        """Its claims, with their comparisons and p-values."""
        rows = self.rows(folder)
        return [weigh(one, comparisons(one, rows, complete=complete)) for one in self.claims]

    def found(self, folder: Path = RESULTS) -> str:
        """Return the verdict of the rows; "" before all cells are run."""
        if next(iter(experiment(self.experiment).left(False, folder)), None) is not None:
            return ""
        return verdict(self.tested(folder, complete=True))[0]


def record_verdicts(folder: Path = LEDGER) -> list[str]:
    """Write the verdicts that the rows give into the files of the items; return what changed."""
    changed = []
    wanted = {one.name: one for one in items(folder) if one.claims}
    for path in sorted(folder.glob("*.toml")):
        blocks = path.read_text(encoding="utf-8").split("[[item]]")
        for place, block in enumerate(blocks):
            one = next((i for i in wanted.values() if f'name = "{i.name}"\n' in block), None)
            if one is not None and one.found() != one.verdict:
                line = f'verdict = "{one.found()}"\n'
                blocks[place], n = re.subn(r'^verdict = ".*"\n', line, block, flags=re.MULTILINE)
                if n != 1:
                    raise ValueError(f"{one.name} has {n} lines that begin with 'verdict ='")
                changed.append(f"{one.name}: {one.found() or 'none yet'}")
        path.write_text("[[item]]".join(blocks), encoding="utf-8")
    return changed


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
