# SPDX-License-Identifier: BSD-3-Clause
"""Figure 22 of Dupuy (2017): points of a process on the square, beside independent ones.

The process of `dpp_continuous`, of 3 or of 52 points. Of each set the mean distance of a point to
the nearest other one, beside that of as many uniform points: 1 / (2 sqrt(n)) or so.
"""

from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.papers.dpp_continuous import BETA, MEASURE, NONE, V, law
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.sampling import sample

N_SPLITS, N_SETS = 11, {1: 200, 100: 10}


def to_the_nearest(points: np.ndarray) -> float:
    """Mean distance to the nearest other point, times twice the root of their number."""
    distances, _ = cKDTree(points).query(points, k=2)
    return float(2 * np.sqrt(len(points)) * distances[:, 1].mean())


def cells(quick: bool) -> Iterator[Cell]:
    """Splits at both scales."""
    for scale in N_SETS:
        for split in range(1 if quick else N_SPLITS):
            yield {"scale": scale, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """The mean over sets of two points and more."""
    rng = np.random.default_rng(cell["split"])
    process = Process(MEASURE, Kernel(np.eye(V), law(cell["scale"], BETA)), NONE)
    n_sets = 2 if quick and cell["scale"] > 1 else N_SETS[cell["scale"]]
    sets = sample(process, n_sets, rng)
    drawn = [sets[i] for i in range(len(sets)) if len(sets[i]) > 1]
    uniform = [rng.random(points.shape) for points in drawn]
    for method, all_points in (("DPP", drawn), ("uniform", uniform)):
        nearest = float(np.mean([to_the_nearest(points) for points in all_points]))
        yield {"method": method, "points": sets.sizes.mean(), "nearest": nearest}


EXPERIMENT = Experiment(
    "dpp_points", ("scale", "split", "method"), ("points", "nearest"), cells, run
)
