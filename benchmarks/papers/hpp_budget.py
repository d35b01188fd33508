# SPDX-License-Identifier: BSD-3-Clause
"""Theorem 1 of the HPP paper: what a rate by a budget spends, on the coin and the market."""

from collections.abc import Iterator

import numpy as np

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.hpp_binomial import FLIPS, PROBABILITY
from benchmarks.papers.hpp_electricity import INPUTS, MODEL, NAME, PASSES, of_split, ordered
from streamtopics.models import BetaBinomial
from streamtopics.posteriors import Blend
from streamtopics.updates import BudgetedPowerPrior, Rounds

BUDGETS = {"coin": (0.01, 0.1, 1.0), "electricity": (1.0, 10.0)}


def cells(quick: bool) -> Iterator[Cell]:
    """A cell for each stream and budget."""
    for data, budgets in BUDGETS.items():
        yield from ({"data": data, "budget": budget} for budget in budgets[: 1 if quick else 3])


def minibatches(data: str, quick: bool) -> Iterator[tuple[np.ndarray, ...]]:
    """Those of figure 5's first stream, or the months of the authors' split by name."""
    if data == "coin":
        successes = np.random.default_rng(0).binomial(FLIPS, PROBABILITY)
        yield from ((np.repeat([1.0, 0.0], [n, FLIPS - n])[:, None],) for n in successes)
    else:
        months = ordered(of_split(0, quick=quick), NAME)
        yield from ((month.X, month.y) for month in months.values())


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """What each minibatch but the first forgets: the divergence from the posterior before it."""
    coin = cell["data"] == "coin"
    model = BetaBinomial(1.0, 1.0) if coin else MODEL
    posterior = model.posterior(np.zeros((0, 1 if coin else len(INPUTS))))
    rule = Rounds(BudgetedPowerPrior(cell["budget"]), 1 if coin else PASSES)
    for step, batch in enumerate(minibatches(cell["data"], quick), 1):
        blend = rule.step(posterior, model.learner(posterior, *batch), None)[0]
        forgotten = Blend(blend.retain, 0.0, blend.prior, blend.statistics)
        if step > 1:
            spent = float(np.sum(posterior.divergences(forgotten)[0]))
            share = spent / cell["budget"]
            yield {"step": step, "spent": spent, "share": share, "rho": float(blend.retain)}
        posterior.blend(blend)


EXPERIMENT = Experiment(
    "hpp_budget", ("data", "budget", "step"), ("spent", "share", "rho"), cells, run
)
