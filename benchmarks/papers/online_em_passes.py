# SPDX-License-Identifier: BSD-3-Clause
"""OLDA and SVB with four passes and P = 200 beside one pass and P = 20: table 8 and figure 17."""

from collections.abc import Iterator

from benchmarks.papers.evidence import evidence_lower_bound
from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import (
    BOUNDED,
    METHODS,
    SWEEPS,
    Setting,
    by_split,
    data,
    perplexity,
    through,
)

COMPONENTS = {"synthetic": (10, 64), "imdb": (8, 128)}
# P and the numbers of passes after which is measured.
SETTINGS = {"P = 200, 4 passes": (200, (0.2, 0.5, 1, 2, 4)), "P = 20, 1 pass": (SWEEPS, (1,))}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method, setting and number of passes."""
    found = data(cell["corpus"], cell["split"], quick)
    train = found.train
    n_documents = train.shape[0]
    for method in BOUNDED:
        of = {"method": method, "curve": f"{method}, {cell['K']} topics"}
        for name, (n_sweeps, passes) in SETTINGS.items():
            setting = Setting(cell["K"], n_documents, cell["split"], n_sweeps)
            model = METHODS[method](setting)
            marks = [int(share * n_documents) for share in passes]
            for share, _ in zip(passes, through(model, train, marks), strict=True):
                value = perplexity(model, found.test)
                yield of | {
                    "setting": name,
                    "passes": share,
                    "perplexity": value,
                    "at_end": value if share == passes[-1] else "",
                    "elbo": evidence_lower_bound(model, found.test),
                }


EXPERIMENT = Experiment(
    "online_em_passes",
    ("corpus", "K", "split", "method", "curve", "setting", "passes"),
    ("perplexity", "at_end", "elbo"),
    by_split(COMPONENTS, few=(3, 5)),
    run,
)
