# SPDX-License-Identifier: BSD-3-Clause
"""Case study 3 of the BPS paper by the mass of the Zipf prior, which the paper leaves open."""

from collections.abc import Iterator

from benchmarks.papers.bps_case_3 import QUICK, QUICK_SET, SETS, paper, rows, split_of
from benchmarks.papers.experiment import Cell, Experiment, Row

# Tokens for each topic.
MASSES, N_SPLITS = (1, 10, 100, 1000), 5


def cells(quick: bool) -> Iterator[Cell]:
    """A cell for each mass, split and corpus."""
    for split in range(1 if quick else N_SPLITS):
        for name in (QUICK_SET,) if quick else SETS:
            yield from ({"corpus": name, "mass": mass, "split": split} for mass in MASSES)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """The score at the end of the stream of all that the paper compares."""
    of = QUICK if quick else SETS[cell["corpus"]]
    split = split_of(cell["corpus"], cell["split"], quick=quick)
    for method, size, model in paper(split, of, quick=quick, mass=float(cell["mass"])):
        if model is not None:
            model.set_params(doc_topic_prior=0.01, random_state=cell["split"], n_jobs=1)
        *_, last = rows(model, split, size)
        yield {"method": method, "size": size, "final": last["final"]}


EXPERIMENT = Experiment(
    "bps_masses", ("corpus", "mass", "method", "size", "split"), ("final",), cells, run
)
