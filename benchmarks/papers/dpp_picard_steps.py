# SPDX-License-Identifier: BSD-3-Clause
"""Figure 27 of Dupuy (2017): Picard iteration on items, the objective through the iterations.

The items of `dpp_items`, one theta: 100 of them, r* = 5, 5,000 sets. The mean log-likelihood in
training, in nats per set, less that of the truth, beside L-BFGS on U with ten columns.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from benchmarks.papers.dpp_picard import by_size, log_likelihood, picard, wishart
from benchmarks.papers.dpp_recovery import draw
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.dpp import likelihood
from streamtopics.dpp.learning import Settings, fit, start

N_SETS, N_SPLITS, R = 5000, 10, 10
STEPS = (0, 1, 3, 10, 30, 100, 300, 1000, 4000)
QUICK_SETS, QUICK_STEPS = 200, (0, 1, 3, 10, 30)
MOST_OF_LBFGS = 1000


def cells(quick: bool) -> Iterator[Cell]:
    """Splits."""
    for split in range(2 if quick else N_SPLITS):
        yield {"split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """Both methods through their steps."""
    split, steps = cell["split"], QUICK_STEPS if quick else STEPS
    n_sets = QUICK_SETS if quick else N_SETS
    truth, measure, (train, _) = draw(n_sets, 1, "items", random_state=split)
    best, sets = likelihood.log_likelihood(train, truth).mean(), by_size(train)
    L = wishart(len(truth.U), train.mean_size, np.random.default_rng(split))
    yield row("Picard", 0, log_likelihood(sets, L).mean() - best, steps)
    for done, n_steps in pairwise(steps):
        L = picard(sets, L, n_steps - done)
        yield row("Picard", n_steps, log_likelihood(sets, L).mean() - best, steps)
    at = start(measure, R, train.mean_size, truth.noise, np.random.default_rng(split))
    value = likelihood.log_likelihood(train, at).mean() - best
    yield row("L-BFGS on U", 0, value, steps)
    for done, n_steps in pairwise(steps):
        if n_steps <= MOST_OF_LBFGS:
            own = Settings(
                penalty=0.0, max_iter=1, n_embedding=n_steps - done, n_theta=0, n_joint=0,
                learn_gamma=False, learn_level=False,
            )  # fmt: skip
            at = fit(train, at, own).parameters
            value = likelihood.log_likelihood(train, at).mean() - best
        yield row("L-BFGS on U", n_steps, value, steps)


def row(method: str, n_steps: int, objective: float, steps: tuple[int, ...]) -> Row:
    """The objective, also in columns of its own at the start and at the end."""
    at_end = objective if n_steps == steps[-1] else ""
    late = n_steps in (steps[-2], steps[-1])
    return {
        "method": method,
        "step": n_steps,
        "objective": objective,
        "at_end": at_end,
        "late": objective if late and method == "Picard" else "",
    }


EXPERIMENT = Experiment(
    "dpp_picard_steps", ("split", "method", "step"), ("objective", "at_end", "late"), cells, run
)
