# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of the corpora that stand in for those of chapter 3 of Dupuy's thesis: table 5."""

from collections.abc import Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import CORPORA, data


def cells(quick: bool) -> Iterator[Cell]:
    """Corpora."""
    yield from ({"corpus": corpus} for corpus in (CORPORA[:1] if quick else CORPORA))


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each number."""
    found = data(cell["corpus"], 0, quick)
    train, test = found.train, found.test
    yield {"measure": "documents", "value": train.shape[0]}
    yield {"measure": "held-out documents", "value": test.shape[0]}
    yield {"measure": "mean length", "value": float(train.sum()) / train.shape[0]}
    yield {"measure": "words", "value": train.shape[1]}


EXPERIMENT = Experiment("online_em_data", ("corpus", "measure"), ("value",), cells, run)
