# SPDX-License-Identifier: BSD-3-Clause
"""The methods of chapter 3 of Dupuy's thesis on their way through a stream: figures 8, 9, 20."""

from collections.abc import Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import (
    N_TRUE,
    THESIS,
    Setting,
    bound,
    by_split,
    data,
    marks_of,
    perplexity,
    runs,
)

COMPONENTS = {"synthetic": (N_TRUE,), "newsgroups": (128,), "imdb": (128,)}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method and number of documents seen."""
    found = data(cell["corpus"], cell["split"], quick)
    n_documents = found.train.shape[0]
    setting = Setting(cell["K"], n_documents, cell["split"])
    for one in runs(THESIS, setting, found.train, marks_of(n_documents, quick)):
        yield {
            "method": one.method,
            "documents": one.documents,
            "stage": "end" if one.documents == n_documents else "on the way",
            "perplexity": perplexity(one.model, found.test),
            "seconds": one.seconds,
            "elbo": bound(one.method, one.model, found.test),
        }


EXPERIMENT = Experiment(
    "online_em_curves",
    ("corpus", "K", "split", "method", "documents", "stage"),
    ("perplexity", "seconds", "elbo"),
    by_split(COMPONENTS),
    run,
)
