# SPDX-License-Identifier: BSD-3-Clause
"""The electricity market of the HPP paper, month by month, as its Table 1 counts it.

Section 6.2 of Masegosa et al. (2020): six inputs (time of day, prices and demands of two
states, the transfer between them) and whether the price rises, a mean-field regression with
the priors of their appendix B.1, 32 months from May 1996 to December 1998. Of each month
two thirds are learnt, and the rest is tested on straight after by the bound on the log
density of a sample, E_q[ln p(x, z | beta)] - E_q[ln q(z)]. A figure is the sum of it over
all test samples, divided by their number. Of the second state nothing is known before May
1997.

Two things are in the authors' repository and not in the text: the split, a shuffle by
java.util.Random that leaves out one sample of each month, and the order of the months, that
of file names such as 96_10, 96_11, 96_12, 96_5. Both orders are run, and beside the bound stands
the log predictive density, which is the score of `StreamingBayes`. The split 0 is theirs. Ascents
of the rate go on until no rate changes by 1e-8, or for 50 passes. Restarts, a rate of a half, two
starts and point estimates of the rate are not in the paper.

    STREAMTOPICS_DATA=... python -m benchmarks.papers hpp_electricity
"""

import csv
import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics import StreamingBayes
from streamtopics.models import MeanFieldRegression
from streamtopics.posteriors import Blend, DensePosterior, Learn
from streamtopics.updates import (
    SVB,
    BudgetedPowerPrior,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    PopulationVB,
    PowerPrior,
    Rounds,
)
from streamtopics.updates.rates import NEAR_UNIFORM, Normal
from streamtopics.updates.rule import Rule

DATE, NAME = "by date", "by name"
SPLITS = 11
# The months that are learnt before drift is found, by the paper.
CALM = 9
INPUTS = ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")
MODEL = MeanFieldRegression(precision=1e-10, input_mean_mass=1e-10)
PASSES = 10
ASCENT = {"max_rounds": 50, "tol": 1e-8}
HPP = ASCENT | {"rate_starts": (float(NEAR_UNIFORM.posterior(np.zeros(1)).kept[0]),)}
TWO_STARTS = ASCENT | {"rate_starts": (0.05, 0.95)}


@dataclass(frozen=True)
class PopulationOfMonth(Rule):
    """Population VB for as many samples as the month has."""

    rate: float

    def step(self, posterior: DensePosterior, learn: Learn, state: None) -> tuple[Blend, None]:
        """One step for a population of the size of the minibatch."""
        statistics = learn(posterior)
        rule = PopulationVB(statistics.n_documents, self.rate)
        return rule.step(posterior, lambda view, *, warm=False: statistics, state)


RULES: dict[str, Rule] = {
    "SVB": Rounds(SVB(), PASSES),
    "PVB, M = 10000, nu = 0.1": PopulationVB(10_000, 0.1),
    "PVB, M = 10000, nu = 0.01": PopulationVB(10_000, 0.01),
    "PVB, M of the month, nu = 0.1": PopulationOfMonth(0.1),
    "PVB, M of the month, nu = 0.01": PopulationOfMonth(0.01),
    "PP 0.99": Rounds(PowerPrior(0.99), PASSES),
    "PP 0.9": Rounds(PowerPrior(0.9), PASSES),
    "PP 0.5": Rounds(PowerPrior(0.5), PASSES),
    "restart": Rounds(PowerPrior(0.0), PASSES),
    "HPP": HierarchicalPowerPrior(**HPP),
    "MHPP": HierarchicalPowerPrior("topic", **HPP),
    "MHPP, normal": HierarchicalPowerPrior("topic", rate_prior=Normal(0.5, 1.0), **HPP),
    "HPP, two starts": HierarchicalPowerPrior(**TWO_STARTS),
    "MHPP, two starts": HierarchicalPowerPrior("topic", **TWO_STARTS),
    "point estimate": EmpiricalPowerPrior(**ASCENT),
    "point, by node": EmpiricalPowerPrior("topic", **ASCENT),
    "PP, KL <= 10": Rounds(BudgetedPowerPrior(10.0), PASSES),
}

# What the paper leaves out, but for the restart; run on the first split.
MORE = (
    "PP 0.5", "HPP, two starts", "MHPP, two starts", "point estimate", "point, by node",
    "PP, KL <= 10",
)  # fmt: skip


def java_shuffle(n: int, seed: int) -> np.ndarray:
    """0 .. n - 1 as `Collections.shuffle(list, new Random(seed))` of Java orders them.

    A linear congruential generator of 48 bits, of which the first 31 are used: their
    remainder, or for a power of two their first bits. Numbers that would favour
    small remainders are drawn again.
    """
    multiplier, mask = 0x5DEECE66D, (1 << 48) - 1
    state = (seed ^ multiplier) & mask
    order = np.arange(n)
    for bound in range(n, 1, -1):
        while True:
            state = (state * multiplier + 0xB) & mask
            bits = state >> 17
            place = bits % bound
            if bits - place + bound <= 1 << 31:
                break
        if bound & (bound - 1) == 0:
            place = bits * bound >> 31
        order[[bound - 1, place]] = order[[place, bound - 1]]
    return order


class Month(NamedTuple):
    """Samples of a month, learnt and tested on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def read_months(path: Path, seed: int) -> dict[tuple[int, int], Month]:
    """By year and month. Dates of a thirteenth month or later are left out."""
    rows: dict[tuple[int, int], list[list[float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, skipinitialspace=True):
            year, month = 1900 + int(row["date"][:2]), int(row["date"][2:4])
            if month <= 12:
                values = [np.nan if row[name] == "?" else float(row[name]) for name in INPUTS]
                rows.setdefault((year, month), []).append([*values, row["class"] == "UP"])
    return {date: split(np.array(rows[date]), seed) for date in sorted(rows)}


def split(samples: np.ndarray, seed: int) -> Month:
    """Two thirds for learning; the sample after them is in neither part."""
    order, n = java_shuffle(len(samples), seed), int(2 * len(samples) / 3)
    train, test = samples[order[:n]], samples[order[n + 1 :]]
    return Month(train[:, :-1], train[:, -1], test[:, :-1], test[:, -1])


class Scores(NamedTuple):
    """Sums over the test samples of a month, in nats, and their number."""

    bound: float
    predictive: float
    n: int


def tested(rule: Rule, months: Iterable[Month]) -> list[Scores]:
    """What each month scores after it was learnt."""
    model, scores = StreamingBayes(MODEL, rule), []
    for month in months:
        model.partial_fit(month.X, month.y)
        test = month.X_test, month.y_test
        learn = MODEL.learner(model.posterior_, *test)
        bound = learn(model.posterior_).local_bound
        predictive = model.score_samples(*test).sum()
        scores.append(Scores(bound, float(predictive), len(month.y_test)))
    return scores


def mean(scores: list[Scores], field: str = "bound") -> float:
    """Nats per test sample."""
    return sum(getattr(score, field) for score in scores) / sum(score.n for score in scores)


def made_up(seed: int) -> dict[tuple[int, int], Month]:
    """Ten months of a market whose prices jump after the sixth."""
    rng = np.random.default_rng(seed)
    found = {}
    for month in range(1, 11):
        X = rng.normal(2.0 if month > 6 else 0.0, 1.0, (30, len(INPUTS)))
        y = X[:, 0] > X[:, 1] + rng.normal(size=30)
        found[1996, month] = split(np.column_stack([X, y]), seed)
    return found


def ordered(months: dict[tuple[int, int], Month], order: str) -> dict[str, Month]:
    """Months by their names, in an order."""
    named = {f"{date[0]}_{date[1]}": months[date] for date in sorted(months)}
    return named if order == DATE else {name: named[name] for name in sorted(named)}


def of_split(split: int, *, quick: bool) -> dict[tuple[int, int], Month]:
    """The months; the split 0 is the authors', whose seed is 1."""
    if quick:
        return made_up(1 + split)
    return read_months(corpora.folder() / "electricity_raw.csv.gz", 1 + split)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All rules on the months of a split in an order, or those of the paper and the restart."""
    months = ordered(of_split(cell["split"], quick=quick), cell["order"])
    of_svb: list[Scores] = []
    for name in RULES if cell["split"] == 0 else [name for name in RULES if name not in MORE]:
        scores = tested(RULES[name], months.values())
        of_svb = of_svb or scores
        for step, month in enumerate(months, 1):
            one, other, last = scores[step - 1], of_svb[step - 1], step == len(months)
            yield {
                "method": name,
                "step": step,
                "month": month,
                "n": one.n,
                "bound": one.bound / one.n,
                "gain": (one.bound - other.bound) / one.n,
                "total": mean(scores) if last else "",
                "late": mean(scores[CALM:]) if last else "",
                "predictive": mean(scores, "predictive") if last else "",
            }


def cells(quick: bool) -> list[Cell]:
    """Orders and splits, those of the paper first."""
    if quick:
        return [{"order": NAME, "split": 0}]
    return [{"order": order, "split": split} for split in range(SPLITS) for order in (NAME, DATE)]


EXPERIMENT = Experiment(
    "hpp_electricity",
    ("order", "method", "split", "step", "month"),
    ("n", "bound", "gain", "total", "late", "predictive"),
    cells,
    run,
)
