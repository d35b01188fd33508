# SPDX-License-Identifier: BSD-3-Clause
"""Chapter 3 of Dupuy's thesis by the length of the stream, of reviews of films and of commits."""

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

# Five are the fewest splits that can tell a difference from chance.
SPLITS = {"imdb": 5, "commits": 2, "synthetic": 1}
COMPONENTS = {"imdb": (8, 32, 128), "commits": (32,)}
LENGTHS = {"imdb": (10_000, 25_000), "commits": (10_000, 50_000), "synthetic": (200, 600)}
COMPARED = (
    "G-OEM", "V-OEM++", "OLDA", "SVB", "SPLDA", "V-OEM", "G-OEM++", "OLDA, P = 10", "OLDA, P = 100",
)  # fmt: skip
STEP = "1 / t^1"
# Left out of commits: it takes longest, and its lag does not change along the reviews.
LONGEST = "G-OEM++"


def cells(quick: bool) -> Iterator[Cell]:
    """Cells of the first splits."""
    every = by_split(COMPONENTS)(quick)
    return (cell for cell in every if int(cell["split"]) < SPLITS[cell["corpus"]])


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method and number of documents; of the bound alone where K is not 32."""
    found = data(cell["corpus"], cell["split"], quick, whole=True)
    n_documents = found.train.shape[0]
    marks = [*LENGTHS[cell["corpus"]], n_documents]
    setting = Setting(cell["K"], n_documents, cell["split"])
    middle = cell["K"] in (32, N_TRUE)
    compared = [one for one in COMPARED if cell["corpus"] != "commits" or one != LONGEST]
    for one in runs(compared if middle else BOUNDED, setting, found.train, marks):
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
