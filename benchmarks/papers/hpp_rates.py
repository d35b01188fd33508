# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8 of the HPP paper: E[rho] of each node, minibatch by minibatch.

One rate for all, one for each node, and these under a normal prior of the rate (precision 1: the
paper's estimate of it always ends at the uniform prior). Of the electricity market (months in the
authors' order) and of abstracts of NIPS by year, with the paper's priors and the first split.

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


def of_years(method: str, *, quick: bool) -> tuple[list[str], list[np.ndarray]]:
    """The years, and the rates of all topics after each."""
    names, batches = hpp_nips.batches_of(quick=quick)
    rng = np.random.default_rng(0)
    model = dict(hpp_nips.methods(0, hpp_nips.PRIORS[hpp_nips.PAPER]))[method]
    for X in batches:
        model.partial_fit(hpp_nips.split(X, rng).train)
    return names, list(model.retention_history_)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """The rates of a method; the first minibatch has none."""
    method = cell["method"]
    if cell["data"] == "electricity":
        months = hpp_electricity.of_split(0, quick=quick)
        ordered = hpp_electricity.ordered(months, hpp_electricity.NAME)
        names, rates = list(ordered), of_months(hpp_electricity.RULES[method], ordered)
    else:
        names, rates = of_years(method, quick=quick)
    for step, (name, of_nodes) in enumerate(zip(names, rates, strict=True), 1):
        if step > 1:
            for node, rate in enumerate(of_nodes[:1] if method == "HPP" else of_nodes):
                yield {"step": step, "period": name, "node": node, "rate": float(rate)}


def cells(quick: bool) -> list[Cell]:
    """Data sets and methods."""
    return [{"data": data, "method": method} for data in DATA for method in METHODS]


EXPERIMENT = Experiment(
    "hpp_rates", ("data", "method", "step", "period", "node"), ("rate",), cells, run
)
