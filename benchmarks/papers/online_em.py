# SPDX-License-Identifier: BSD-3-Clause
"""The methods of chapter 3 of Dupuy's thesis by the number of topics: figures 6, 7, 8, 11, 12.

Left-to-right log-perplexity of held-out documents, in nats per document, after one pass.
"""

from collections.abc import Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import (
    METHODS,
    Setting,
    bound,
    by_split,
    data,
    perplexity,
    perplexity_of,
    runs,
)

COMPONENTS = {
    "synthetic": (5, 8, 10, 16, 20, 32, 64),
    "newsgroups": (8, 16, 32, 64, 128),
    "imdb": (8, 16, 32, 64, 128),
}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method."""
    found = data(cell["corpus"], cell["split"], quick)
    setting = Setting(cell["K"], found.train.shape[0], cell["split"])
    for one in runs(tuple(METHODS), setting, found.train):
        yield {
            "method": one.method,
            "perplexity": perplexity(one.model, found.test),
            "seconds": one.seconds,
            "elbo": bound(one.method, one.model, found.test),
        }
    if found.topic_word is not None and found.alpha is not None:
        truth = perplexity_of(found.topic_word, found.alpha, found.test)
        yield {"method": "truth", "perplexity": truth, "seconds": "", "elbo": ""}


EXPERIMENT = Experiment(
    "online_em",
    ("corpus", "K", "split", "method"),
    ("perplexity", "seconds", "elbo"),
    by_split(COMPONENTS, few=(3, 10)),
    run,
)
