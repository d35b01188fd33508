# SPDX-License-Identifier: BSD-3-Clause
"""Figures 25 and 28 of Dupuy (2017): all sentences, the fit and the subspace by the rank.

Sentences of 10 words, {0, 1}^10, r* = 2, gamma = 1 / V, exact draws of 1,000 sets; the noise is
0.01 points from p, as many as the 1e-5 of each of 2^10 sentences in the thesis, which does not
tell the number of sets, the scale of U* and the probabilities of the words (here uniform in
[0.1, 0.5]). Features tie the signs of the rows, so that the raw distance is right here. With one
theta for all sets the gap L* - L is on test sets, in nats per set; with a theta for each set it is
in training, which overfitting makes negative. Columns are those that did not vanish; the top ones
are the leading eigenvectors of the mean kernel, as many as U* has. Picard iteration on A, full, is
the rival. Beside them 200 words: r* = 5, one theta, 2,000 sets, 0.05 points of noise.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.papers.dpp_picard import picard_features, wishart
from benchmarks.papers.dpp_recovery import distance, draw, leading, learn_from, random_columns
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.dpp.batches import SetBatches
from streamtopics.dpp.likelihood import Parameters, log_likelihood
from streamtopics.dpp.measures import BaseMeasure

ONE, OWN, N_SPLITS = "one theta", "a theta for each set", 10
FEW: dict[str, Any] = {"n_features": 10, "n_components": 2, "noise": 0.01}
MANY: dict[str, Any] = {"n_features": 200, "n_components": 5, "noise": 0.05}


class Sizes(NamedTuple):
    """What is run."""

    n_sets: int = 1000
    n_test: int = 5000
    ranks: tuple[int, ...] = (1, 2, 3, 4, 6, 10)
    penalties: tuple[float, ...] = (0.0, 0.001, 0.01, 0.1)
    picard: tuple[int, ...] = (300, 3000)


SIZES = {
    FEW["n_features"]: Sizes(),
    MANY["n_features"]: Sizes(2000, 5000, (5, 10), (0.0, 0.001, 0.01), (300,)),
}
QUICK = Sizes(100, 200, (2, 3), (0.0, 0.01), (10, 30))


def cells(quick: bool) -> Iterator[Cell]:
    """Splits of few words, and two of many."""
    for part in (ONE, OWN):
        for split in range(1 if quick else N_SPLITS):
            yield {"part": part, "words": FEW["n_features"], "split": split}
    if not quick:
        for split in range(2):
            yield {"part": ONE, "words": MANY["n_features"], "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All fits to the same sets."""
    words, split, own_theta = cell["words"], cell["split"], cell["part"] == OWN
    how = QUICK if quick else SIZES[words]
    law = FEW if words == FEW["n_features"] else MANY
    truth, measure, (train, test) = draw(
        how.n_sets, how.n_test, "exponential", own_theta=own_theta, random_state=split, **law
    )
    held = train if own_theta else test
    best = log_likelihood(held, truth).mean()
    for r in how.ranks:
        for penalty in how.penalties:
            found = learn_from(measure, train, truth, r, penalty, split)
            gap = best - log_likelihood(held, found).mean()
            yield row(f"penalty {penalty:g}", r, gap, found, truth)
        columns = random_columns(words, r, split)
        drawn = Parameters(columns, np.ones(r), truth.gamma, truth.noise)
        yield row("random columns", r, "", drawn, truth)
    if not own_theta:
        for n_steps, found in picards(measure, train, truth, split, how.picard):
            gap = best - log_likelihood(held, found).mean()
            # The same at each rank, of which it has none.
            for r in how.ranks:
                yield row(f"Picard, {n_steps} steps", r, gap, found, truth)
        iid = Parameters(truth.U, 0 * truth.theta, 0.0, truth.noise.at(train.mean_size))
        gap = best - log_likelihood(held, iid).mean()
        none = dict.fromkeys(("columns", "raw", "top", "error"), "")
        for r in how.ranks:
            name = "independent sentences"
            yield {"method": name, "fit": f"{name}, r = {r}", "r": r, "gap": gap, **none}


def row(method: str, r: int, gap: float | str, found: Parameters, truth: Parameters) -> Row:
    """Distances and |A - A*| / |A*|, at the mean theta."""
    mean, true_mean = (np.atleast_2d(x.theta).mean(axis=0) for x in (found, truth))
    scaled = found.U * np.sqrt(mean)
    A = found.gamma * np.eye(len(scaled)) + scaled @ scaled.T
    true_A = truth.gamma * np.eye(len(scaled)) + truth.U * true_mean @ truth.U.T
    return {
        "method": method,
        "fit": f"{method}, r = {r}",
        "r": r,
        "columns": scaled.shape[1],
        "gap": gap,
        "raw": distance(scaled, truth.U),
        "top": distance(leading(scaled, truth.U.shape[1]), truth.U),
        "error": float(np.linalg.norm(A - true_A) / np.linalg.norm(true_A)),
    }


def picards(
    measure: BaseMeasure, data: SetBatches, truth: Parameters, seed: int, steps: tuple[int, ...]
) -> Iterator[tuple[int, Parameters]]:
    """Picard iteration after so many steps, from a Wishart draw."""
    V = len(truth.U)
    A = V * wishart(V, min(data.mean_size, V / 2), np.random.default_rng(seed))
    at = Parameters(np.linalg.cholesky(A), np.ones(V), 0.0, truth.noise)
    for done, n_steps in pairwise([0, *steps]):
        at, _ = picard_features(measure, data, at, n_steps - done)
        yield n_steps, at


EXPERIMENT = Experiment(
    "dpp_exponential",
    ("part", "words", "split", "method", "fit", "r"),
    ("columns", "gap", "raw", "top", "error"),
    cells,
    run,
)
