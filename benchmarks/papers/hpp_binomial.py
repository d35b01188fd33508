# SPDX-License-Identifier: BSD-3-Clause
"""The binomial stream of the HPP paper: a coin whose probability jumps twice.

Section 6.1 of Masegosa et al. (2020), Figures 5 and 6: a hundred minibatches of a hundred or a
thousand flips, with probability 0.2, then 0.5 from the 31st and 0.8 from the 61st, and a uniform
prior. Fresh streams, with rules that the paper leaves out: starting anew with every minibatch,
a fixed rate of a half, and others. The path of the first is kept, and of all the mean absolute
error, mean rate and last effective sample size in parts of the stream. And the authors' own
stream: the largest differences from what their program reports for it (STREAMTOPICS_DATA).

    STREAMTOPICS_DATA=... python -m benchmarks.papers hpp_binomial
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.models import BetaBinomial
from streamtopics.updates import (
    SVB,
    BudgetedPowerPrior,
    Decay,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    PopulationVB,
    PowerPrior,
    StochasticVI,
)
from streamtopics.updates.rates import NEAR_UNIFORM, Normal
from streamtopics.updates.rule import Rule

PROBABILITY = np.repeat([0.2, 0.5, 0.8], [30, 30, 40])
FLIPS, SPLITS = 100, 20
SIZES = (FLIPS, 1000)
PRIOR_RATE = float(NEAR_UNIFORM.posterior(np.zeros(1)).kept[0])
HPP = HierarchicalPowerPrior(rate_starts=(PRIOR_RATE,), tol=1e-8)
RULES = {
    "SVB": SVB(),
    "SVB-PP, rho = 0.9": PowerPrior(0.9),
    "SVB-PP, rho = 0.99": PowerPrior(0.99),
    "PVB, M = 1000, nu = 0.1": PopulationVB(1000, 0.1),
    "PVB, M = 1000, nu = 0.01": PopulationVB(1000, 0.01),
    "PVB, M = 100, nu = 0.1": PopulationVB(100, 0.1),
    "PVB, M = 100, nu = 0.01": PopulationVB(100, 0.01),
    "SVI, N = 10000, kappa = 0.6": StochasticVI(Decay(0.6), 10_000),
    "SVB-HPP": HPP,
    "SVB-MHPP": HierarchicalPowerPrior("topic", rate_starts=(PRIOR_RATE,), tol=1e-8),
    "SVB-HPP, normal, precision 1": HierarchicalPowerPrior(rate_prior=Normal(0.5, 1.0)),
    "SVB-HPP, normal, precision 100": HierarchicalPowerPrior(rate_prior=Normal(0.5, 100.0)),
    "point estimate of rho": EmpiricalPowerPrior(),
    "SVB-PP, rho = 0.5": PowerPrior(0.5),
    "restart, rho = 0": PowerPrior(0.0),
    "SVB-PP, KL <= 0.1": BudgetedPowerPrior(0.1),
}
COLUMNS = {
    "SVB": "svb",
    "SVB-PP, rho = 0.9": "pp_0.9",
    "SVB-PP, rho = 0.99": "pp_0.99",
    "PVB, M = 1000, nu = 0.1": "pvb_1000_0.1",
    "PVB, M = 1000, nu = 0.01": "pvb_1000_0.01",
    "PVB, M = 100, nu = 0.1": "pvb_100_0.1",
    "PVB, M = 100, nu = 0.01": "pvb_100_0.01",
    "SVB-HPP": "hpp",
}


STEPS = np.arange(1, len(PROBABILITY) + 1)
PARTS = {
    "1-30": STEPS <= 30,
    "31-60": (STEPS > 30) & (STEPS <= 60),
    "61-100": STEPS > 60,
    "all": STEPS > 0,
    "five after a jump": np.isin(STEPS, (*range(31, 36), *range(61, 66))),
    "stable": np.isin(STEPS, (*range(6, 31), *range(41, 61), *range(71, 101))),
    "at the jumps": np.isin(STEPS, (31, 61)),
}
AUTHORS = "largest difference from the authors'"


class Trajectory(NamedTuple):
    """E[beta], the effective sample size and E[rho] after each minibatch."""

    mean: np.ndarray
    sample_size: np.ndarray
    retention: np.ndarray


def path(rule: Rule, successes: np.ndarray, flips: int = FLIPS) -> Trajectory:
    """A stream of minibatches with so many successes each."""
    model = BetaBinomial(heads=1.0, tails=1.0)
    posterior = model.posterior(np.zeros((0, 1)))
    out, state = [], rule.init(posterior)
    for n in successes:
        batch = np.repeat([1.0, 0.0], [n, flips - n])[:, None]
        blend, state = rule.step(posterior, model.learner(posterior, batch), state)
        posterior.blend(blend)
        out.append((model.mean(posterior)[0], posterior.mass[0], np.ravel(blend.retain)[0]))
    return Trajectory(*np.transpose(out))


def against_the_authors(file: Path) -> Iterator[Row]:
    """Largest differences from their figures, on their stream.

    Their program prints (lam_1 + 1) / (lam_1 + lam_2 + 2) for E[beta], and its power priors
    leave out the prior's share (1 - rho) eta.
    """
    with file.open(encoding="utf-8") as lines:
        read = list(csv.DictReader(lines))
    successes = np.array([int(row["successes_of_100"]) for row in read])
    for name, column in COLUMNS.items():
        theirs = np.array([float(row[column]) for row in read])
        mine = path(RULES[name], successes)
        printed = (mine.mean * mine.sample_size + 1) / (mine.sample_size + 2)
        error = float(np.abs(printed - theirs).max())
        yield row({"rule": name, "part": AUTHORS, "error": error})
    rho = np.array([float(row["hpp_rho"]) for row in read[1:]])
    error = float(np.abs(path(HPP, successes).retention[1:] - rho).max())
    yield row({"rule": "SVB-HPP, E[rho]", "part": AUTHORS, "error": error})


def row(found: Row) -> Row:
    """A row, of which what was not found is empty."""
    return dict.fromkeys(("step", "part", *VALUES), "") | found


def rows(rule: str, found: Trajectory, *, drawn: bool) -> Iterator[Row]:
    """The path, if it is to be drawn, and the parts of a stream."""
    if drawn:
        for step, mean, size, rho in zip(STEPS, *found, strict=True):
            kept = "" if step == 1 else float(rho)
            at = {"mean": float(mean), "ess": float(size), "rho": kept}
            yield row({"rule": rule, "step": int(step)} | at)
    error = np.abs(found.mean - PROBABILITY)
    for part, of in PARTS.items():
        kept = float(found.retention[of].mean())
        means = {
            "error": float(error[of].mean()),
            "mean_rho": kept,
            "stable_rho": kept if part == "stable" else "",
            "last_ess": float(found.sample_size[of][-1]),
        }
        yield row({"rule": rule, "part": part} | means)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All rules on a stream; of large minibatches the paper has HPP alone."""
    flips, split = cell["flips"], cell["split"]
    if split == "authors":
        yield from against_the_authors(corpora.folder() / "hpp_binomial_authors.csv")
        return
    successes = np.random.default_rng(split).binomial(flips, PROBABILITY)
    if split == 0:
        for step, probability in zip(STEPS, PROBABILITY, strict=True):
            yield row({"rule": "truth", "step": int(step), "mean": float(probability)})
    for name, rule in RULES.items() if flips == FLIPS else [("SVB-HPP", HPP)]:
        yield from rows(name, path(rule, successes, flips), drawn=split == 0)


def cells(quick: bool) -> list[Cell]:
    """Sizes of minibatches and streams."""
    splits = [0] if quick else [*range(SPLITS)]
    found: list[Cell] = [{"flips": flips, "split": split} for flips in SIZES for split in splits]
    return found if quick else [{"flips": FLIPS, "split": "authors"}, *found]


VALUES = ("mean", "ess", "rho", "error", "mean_rho", "stable_rho", "last_ess")
EXPERIMENT = Experiment(
    "hpp_binomial", ("flips", "rule", "split", "step", "part"), VALUES, cells, run
)
