# SPDX-License-Identifier: BSD-3-Clause
"""Tables 3 to 5 of the BPS paper: the sizes of the corpora that stand in for its own.

STREAMTOPICS_DATA=... python -m benchmarks.papers bps_sizes
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.papers import bps_case_2, bps_case_3, bps_case_4
from benchmarks.papers.experiment import Cell, Experiment, Row


def reviews(data: bps_case_2.Reviews) -> dict[str, float]:
    """Of Table 3."""
    sentences = sum(x.shape[0] for x in data.X)
    tokens = float(sum(x.sum() for x in data.X))
    positive = int(np.sum(data.y))
    return {
        "reviews": len(data.y),
        "positive": positive,
        "negative": len(data.y) - positive,
        "words a review": tokens / len(data.y),
        "words a sentence": tokens / sentences,
    }


def texts(name: str, *, quick: bool) -> dict[str, float]:
    """Of Table 4."""
    split = bps_case_3.split_of(name, 0, quick=quick)
    return {
        "vocabulary": len(split.words),
        "training": split.train.shape[0],
        "testing": split.test.shape[0],
        "words a document": float(split.train.sum(dtype=np.float64)) / split.train.shape[0],
    }


def labelled(data: bps_case_4.Labelled) -> dict[str, float]:
    """Of Table 5."""
    return {
        "classes": len(np.unique(data.y)),
        "vocabulary": data.X.shape[1],
        "training": data.X.shape[0],
        "testing": data.test.shape[0],
    }


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """The sizes of a corpus."""
    table, name = cell["table"], cell["corpus"]
    if table == 3:
        found = reviews(bps_case_2.few() if quick else bps_case_2.reviews(name))
    elif table == 4:
        found = texts(name, quick=quick)
    else:
        found = labelled(bps_case_4.few() if quick else bps_case_4.load(name))
    for what, value in found.items():
        yield {"what": what, "value": value}


def cells(quick: bool) -> list[Cell]:
    """The corpora of each table."""
    sets = {3: bps_case_2.SETS, 4: bps_case_3.SETS, 5: bps_case_4.SETS}
    made = (bps_case_3.QUICK_SET,)
    return [{"table": t, "corpus": c} for t, of in sets.items() for c in (made if quick else of)]


EXPERIMENT = Experiment("bps_sizes", ("table", "corpus", "what"), ("value",), cells, run)
