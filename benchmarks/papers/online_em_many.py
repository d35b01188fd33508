# SPDX-License-Identifier: BSD-3-Clause
"""LDS and G-OEM with 512 topics: the thesis finds LDS competitive from 500 on (section 3.5.3)."""

from collections.abc import Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import Setting, by_split, data, perplexity, runs

CELLS = by_split({"newsgroups": (512,), "imdb": (512,)}, n_splits=5)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method."""
    found = data(cell["corpus"], cell["split"], quick)
    setting = Setting(cell["K"], found.train.shape[0], cell["split"])
    for one in runs(("G-OEM", "LDS"), setting, found.train):
        yield {"method": one.method, "perplexity": perplexity(one.model, found.test)}


EXPERIMENT = Experiment(
    "online_em_many", ("corpus", "K", "split", "method"), ("perplexity",), CELLS, run
)
