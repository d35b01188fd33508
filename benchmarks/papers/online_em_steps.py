# SPDX-License-Identifier: BSD-3-Clause
"""G-OEM by its step size t^-kappa, the last iterate and the average of all: figures 13 and 16."""

from collections.abc import Iterator

import numpy as np

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import (
    BATCH,
    Setting,
    by_split,
    data,
    g_oem,
    perplexity,
    perplexity_of,
)

COMPONENTS = {"synthetic": (5, 10, 20), "imdb": (8, 32, 128)}
KAPPAS = (0.0, 0.25, 0.5, 0.75, 1.0)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each kappa, with and without averaging."""
    found = data(cell["corpus"], cell["split"], quick)
    train = found.train
    for kappa in KAPPAS:
        setting = Setting(cell["K"], train.shape[0], cell["split"], kappa=kappa)
        model = g_oem(setting)
        topics, alpha, n_batches = np.zeros((cell["K"], train.shape[1])), np.zeros(cell["K"]), 0
        for start in range(0, train.shape[0], BATCH):
            model.partial_fit(train[start : start + BATCH])
            topics += model.topic_word_
            alpha += model.doc_topic_prior_
            n_batches += 1
        of = {"kappa": kappa}
        yield of | {"averaging": "last iterate", "perplexity": perplexity(model, found.test)}
        mean = perplexity_of(topics / n_batches, alpha / n_batches, found.test)
        yield of | {"averaging": "average", "perplexity": mean}


EXPERIMENT = Experiment(
    "online_em_steps",
    ("corpus", "K", "split", "kappa", "averaging"),
    ("perplexity",),
    by_split(COMPONENTS, few=(5,)),
    run,
)
