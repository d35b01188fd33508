# SPDX-License-Identifier: BSD-3-Clause
"""Figure 24 of Dupuy (2017): items, the fit and the subspace by the rank.

100 items, r* = 5, noise 1e-5, sets drawn exactly; the scale of U*, the number of sets and the
penalty are not told. One theta for all sets: the gap L* - L in log-likelihood on test sets, in
nats per set, and the distance of the columns from U*, raw and with the signs of the rows
aligned, which no likelihood can tell (`dpp_recovery`). Beside them as many random columns, and
Picard iteration over full matrices, whose space is that of the five leading eigenvectors. Then a
U* without negative entries, from a start without them and from a Gaussian one; then a theta for
each set, where the gap is that in training, which overfitting makes negative.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchmarks.papers.dpp_picard import by_size, log_likelihood, picard, wishart
from benchmarks.papers.dpp_recovery import (
    aligned_distance,
    distance,
    draw,
    learn,
    learn_from,
    random_columns,
)
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.dpp import likelihood
from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.learning import start
from streamtopics.dpp.likelihood import Parameters
from streamtopics.dpp.measures import Items
from streamtopics.dpp.noise import Counting
from streamtopics.dpp.sampling import sample

V, TRUE_RANK, N_SPLITS = 100, 5, 10
ONE, OWN, NOT_NEGATIVE = "one theta", "a theta for each set", "U* not negative"


class Sizes(NamedTuple):
    """What is run."""

    n_sets: tuple[int, ...] = (5000, 1000)
    n_test: int = 5000
    ranks: tuple[int, ...] = (3, 5, 7, 10, 30, 50)
    own_ranks: tuple[int, ...] = (5, 10, 30)
    penalties: tuple[float, ...] = (0.0, 0.01)
    picard: tuple[int, ...] = (300, 4000)
    n_splits: int = N_SPLITS


QUICK = Sizes((200,), 200, (5, 10), (5,), (0.0, 0.01), (10, 30), 1)


def sizes(quick: bool) -> Sizes:
    """The thesis' sizes, or small ones."""
    return QUICK if quick else Sizes()


def cells(quick: bool) -> Iterator[Cell]:
    """Splits of each part."""
    how = sizes(quick)
    most = how.n_sets[0]
    parts = [*((ONE, n) for n in how.n_sets), (NOT_NEGATIVE, most), (OWN, most)]
    for part, n_sets in parts:
        for split in range(how.n_splits):
            yield {"part": part, "n_sets": n_sets, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All fits of a part to the sets of a split."""
    run_part = {ONE: one_theta, OWN: own_theta, NOT_NEGATIVE: not_negative}[cell["part"]]
    return run_part(cell["n_sets"], cell["split"], sizes(quick))


def row(method: str, r: int, columns: np.ndarray, gap: float | str, truth: np.ndarray) -> Row:
    """What is measured of a fit, whose columns are those that did not vanish."""
    return {
        "method": method,
        "fit": f"{method}, r = {r}",
        "r": r,
        "columns": columns.shape[1],
        "gap": gap,
        "raw": distance(columns, truth),
        "aligned": aligned_distance(columns, truth),
    }


def scaled(parameters: Parameters) -> np.ndarray:
    """U times the root of the mean theta."""
    return parameters.U * np.sqrt(np.atleast_2d(parameters.theta).mean(axis=0))


def one_theta(n_sets: int, split: int, how: Sizes) -> Iterator[Row]:
    """Low-rank fits and Picard iteration, on the same sets."""
    truth, measure, (train, test) = draw(n_sets, how.n_test, "items", random_state=split)
    best = likelihood.log_likelihood(test, truth).mean()
    for r in how.ranks:
        for penalty in how.penalties:
            found = learn_from(measure, train, truth, r, penalty, split)
            gap = best - likelihood.log_likelihood(test, found).mean()
            yield row(f"penalty {penalty:g}", r, scaled(found), gap, truth.U)
        yield row("random columns", r, random_columns(V, r, split), "", truth.U)
    L, done = wishart(V, train.mean_size, np.random.default_rng(split)), 0
    for n_steps in how.picard:
        L, done = picard(by_size(train), L, n_steps - done), n_steps
        gap = best - log_likelihood(by_size(test), L).mean()
        values, vectors = np.linalg.eigh(L)
        top = (vectors * np.sqrt(values))[:, -TRUE_RANK:]
        # The same at each rank, of which it has none.
        for r in how.ranks:
            yield row(f"Picard, {n_steps} steps", r, top, gap, truth.U)


def not_negative(n_sets: int, split: int, how: Sizes) -> Iterator[Row]:
    """A U* with uniform entries, from two kinds of start."""
    rng = np.random.default_rng(split)
    U = rng.random((V, TRUE_RANK)) * np.sqrt(5.0 * 3 / V)
    truth, measure = Parameters(U, np.ones(TRUE_RANK), 0.0, Counting(1e-5)), Items.of(V)
    process = Process(measure, Kernel(U, truth.theta), truth.noise)
    train, test = (batch_sets(measure, sample(process, n, rng)) for n in (n_sets, how.n_test))
    best = likelihood.log_likelihood(test, truth).mean()
    for r in how.ranks:
        at = start(measure, r, train.mean_size, truth.noise, rng)
        for name, first in (("start not negative", np.abs(at.U)), ("Gaussian start", at.U)):
            found = learn(measure, train, replace(at, U=first), penalty=1e-3)
            gap = best - likelihood.log_likelihood(test, found).mean()
            yield row(name, r, scaled(found), gap, truth.U)
        columns = np.abs(random_columns(V, r, split))
        yield row("random columns, not negative", r, columns, "", truth.U)


def own_theta(n_sets: int, split: int, how: Sizes) -> Iterator[Row]:
    """A theta for each set."""
    truth, measure, (train, _) = draw(n_sets, 1, "items", own_theta=True, random_state=split)
    best = likelihood.log_likelihood(train, truth).mean()
    for r in how.own_ranks:
        for penalty in how.penalties:
            found = learn_from(measure, train, truth, r, penalty, split)
            gap = best - likelihood.log_likelihood(train, found).mean()
            yield row(f"penalty {penalty:g}", r, scaled(found), gap, truth.U)
        yield row("random columns", r, random_columns(V, r, split), "", truth.U)


EXPERIMENT = Experiment(
    "dpp_items",
    ("part", "n_sets", "split", "method", "fit", "r"),
    ("columns", "gap", "raw", "aligned"),
    cells,
    run,
)
