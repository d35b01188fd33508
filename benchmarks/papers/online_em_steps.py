# SPDX-License-Identifier: BSD-3-Clause
"""G-OEM by its step size t^-kappa, the last iterate and the average of all: figures 13 and 16."""

from collections.abc import Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import N_SPLITS, Setting, data, g_oem, perplexity

COMPONENTS = {"synthetic": (5, 10, 20), "imdb": (8, 32, 128)}
KAPPAS = (0.0, 0.25, 0.5, 0.75, 1.0)
AVERAGED = {"last iterate": None, "average": "uniform"}


def cells(quick: bool) -> Iterator[Cell]:
    """Corpora, numbers of topics and splits; all of a split before the next."""
    for split in range(1 if quick else N_SPLITS):
        for corpus in ("synthetic",) if quick else COMPONENTS:
            for K in (5,) if quick else COMPONENTS[corpus]:
                yield {"corpus": corpus, "K": K, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each kappa, with and without averaging."""
    found = data(cell["corpus"], cell["split"], quick)
    train = found.train
    for kappa in KAPPAS:
        for name, averaging in AVERAGED.items():
            setting = Setting(cell["K"], train.shape[0], cell["split"], kappa=kappa)
            model = g_oem(setting, averaging=averaging).fit(train)
            value = perplexity(model, found.test)
            yield {"kappa": kappa, "averaging": name, "perplexity": value}


EXPERIMENT = Experiment(
    "online_em_steps",
    ("corpus", "K", "split", "kappa", "averaging"),
    ("perplexity",),
    cells,
    run,
)
