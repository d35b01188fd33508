# SPDX-License-Identifier: BSD-3-Clause
"""Chapter 3 of Dupuy's thesis by the length of the stream: all unlabelled reviews of imdb."""

from collections.abc import Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import (
    BOUNDED,
    N_TRUE,
    Setting,
    bound,
    by_split,
    data,
    perplexity,
    runs,
    through,
)
from benchmarks.papers.online_em_tau import stepping
from streamtopics.updates import ScaledDecay

# The fewest splits that can tell a difference from chance.
N_SPLITS, COMPONENTS, LENGTHS = 5, (8, 32, 128), (10_000, 25_000)
COMPARED = (
    "G-OEM", "V-OEM++", "OLDA", "SVB", "SPLDA", "V-OEM", "G-OEM++", "OLDA, P = 10", "OLDA, P = 100",
)  # fmt: skip
STEP = "OLDA, 1 / t"


def cells(quick: bool) -> Iterator[Cell]:
    """Cells of the first splits."""
    every = by_split({"imdb": COMPONENTS})(quick)
    return (cell for cell in every if int(cell["split"]) < N_SPLITS)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method and number of documents; of the bound alone where K is not 32."""
    found = data(cell["corpus"], cell["split"], quick, whole=True)
    n_documents = found.train.shape[0]
    marks = [*((200, 600) if quick else LENGTHS), n_documents]
    setting = Setting(cell["K"], n_documents, cell["split"])
    middle = cell["K"] in (32, N_TRUE)
    for one in runs(COMPARED if middle else BOUNDED, setting, found.train, marks):
        yield {
            "method": one.method,
            "documents": one.documents,
            "perplexity": perplexity(one.model, found.test) if middle else "",
            "elbo": bound(one.method, one.model, found.test),
        }
    if middle:
        model = stepping(setting, ScaledDecay(1.0, 1.0))
        for documents, _ in through(model, found.train, marks):
            value = perplexity(model, found.test)
            yield {"method": STEP, "documents": documents, "perplexity": value, "elbo": ""}


EXPERIMENT = Experiment(
    "online_em_length",
    ("corpus", "K", "split", "method", "documents"),
    ("perplexity", "elbo"),
    cells,
    run,
)
