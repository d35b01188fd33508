# SPDX-License-Identifier: BSD-3-Clause
"""G-OEM with 20, 50 and 100 sweeps in a document, of which section 3.5.2 of the thesis speaks."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import Setting, by_split, data, g_oem, perplexity, through

CELLS = by_split({"imdb": (32,)}, n_splits=5)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each number of sweeps."""
    train, test, *_ = data(cell["corpus"], cell["split"], quick)
    setting = Setting(cell["K"], train.shape[0], cell["split"])
    for sweeps in (20, 50, 100):
        model = g_oem(replace(setting, n_sweeps=sweeps))
        for _ in through(model, train, [train.shape[0]]):
            yield {"method": f"G-OEM, P = {sweeps}", "perplexity": perplexity(model, test)}


EXPERIMENT = Experiment(
    "online_em_sweeps", ("corpus", "K", "split", "method"), ("perplexity",), CELLS, run
)
