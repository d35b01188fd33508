# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8 of the HPP paper: E[rho] of each node, minibatch by minibatch.

One rate for all, one for each node, and these under a normal prior of the rate (precision 1: the
paper's estimate of it always ends at the uniform prior). Of the electricity market (months in the
authors' order) and of abstracts of NIPS by year, with the paper's priors. Rates are kept of the
first split, and of all splits the lowest rate there is, and the share of the nodes whose rate is
below a half, of the minibatches in which one is; a half stands beside them.

    STREAMTOPICS_DATA=... python -m benchmarks.papers hpp_rates
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.papers import hpp_electricity, hpp_nips
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.models import MeanFieldRegression
from streamtopics.updates.rule import Rule

METHODS = ("HPP", "MHPP", "MHPP, normal")
DATA = ("electricity", "NIPS")
SPLITS, HALF = 11, 0.5
VALUES = ("rate", "lowest", "drifting")
NOTHING = dict.fromkeys(VALUES, "")


def of_months(rule: Rule, months: dict[str, hpp_electricity.Month]) -> list[np.ndarray]:
    """The rates of all nodes after each month."""
    model: MeanFieldRegression = hpp_electricity.MODEL
    first = next(iter(months.values()))
    posterior = model.posterior(first.X)
    state, rates = rule.init(posterior), []
    for month in months.values():
        learner = model.learner(posterior, month.X, month.y)
        blend, state = rule.step(posterior, learner, state)
        posterior.blend(blend)
        rates.append(np.broadcast_to(np.ravel(blend.reported_retention), posterior.n_nodes))
    return rates


def of_years(method: str, split: int, *, quick: bool) -> tuple[list[str], list[np.ndarray]]:
    """The years, and the rates of all topics after each."""
    names, batches = hpp_nips.batches_of(quick=quick)
    rng = np.random.default_rng(split)
    model = dict(hpp_nips.methods(split, hpp_nips.PRIORS[hpp_nips.PAPER]))[method]
    for X in batches:
        model.partial_fit(hpp_nips.split(X, rng).train)
    return names, list(model.retention_history_)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """The rates of a method, and what is measured of them; the first minibatch has none."""
    method, split = cell["method"], cell["split"]
    if cell["data"] == "electricity":
        months = hpp_electricity.of_split(split, quick=quick)
        ordered = hpp_electricity.ordered(months, hpp_electricity.NAME)
        names, rates = list(ordered), of_months(hpp_electricity.RULES[method], ordered)
    else:
        names, rates = of_years(method, split, quick=quick)
    table = np.array(rates[1:])[:, : 1 if method == "HPP" else None]
    for step, (name, of_nodes) in enumerate(zip(names[1:], table, strict=True), 2):
        for node, rate in enumerate(of_nodes if split == 0 else ()):
            yield NOTHING | {"step": step, "period": name, "node": node, "rate": float(rate)}
    of_all = {"step": "all", "period": "", "node": "all", "rate": ""}
    yield {"lowest": float(table.min()), "drifting": drifting(table)} | of_all
    if method == METHODS[0]:
        yield {"method": "a half", "lowest": HALF, "drifting": HALF} | of_all


def drifting(rates: np.ndarray) -> float:
    """Share of rates below a half, of the minibatches in which one is; 0 if there is none."""
    low = rates < HALF
    found = low.any(axis=1)
    return float(low[found].mean()) if found.any() else 0.0


def cells(quick: bool) -> list[Cell]:
    """Splits, data sets and methods."""
    splits = range(1 if quick else SPLITS)
    return [
        {"data": data, "method": method, "split": split}
        for split in splits
        for data in DATA
        for method in METHODS
    ]


EXPERIMENT = Experiment(
    "hpp_rates", ("data", "method", "split", "step", "period", "node"), VALUES, cells, run
)
