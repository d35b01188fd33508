# SPDX-License-Identifier: BSD-3-Clause
"""The binomial stream of the HPP paper: a coin whose probability jumps twice.

Section 6.1 of Masegosa et al. (2020): a hundred minibatches of a hundred flips, with
probability 0.2, then 0.5 from the 31st and 0.8 from the 61st, and a uniform prior. First
their own stream, beside what their program reports for it (STREAMTOPICS_DATA); then twenty
fresh streams, with rules that the paper leaves out: starting anew with every minibatch,
and a fixed rate of a half.

    STREAMTOPICS_DATA=... python benchmarks/papers/hpp_binomial.py --output FOLDER
"""

import argparse
import csv
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics.models import BetaBinomial
from streamtopics.updates import (
    SVB,
    Decay,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    PopulationVB,
    PowerPrior,
    StochasticVI,
)
from streamtopics.updates.rates import NEARLY_UNIFORM, Normal
from streamtopics.updates.rule import Rule

PROBABILITY = np.repeat([0.2, 0.5, 0.8], [30, 30, 40])
FLIPS, SEEDS = 100, 20
PRIOR_RATE = float(NEARLY_UNIFORM.posterior(np.zeros(1)).kept[0])
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


class Trajectory(NamedTuple):
    """E[beta], the effective sample size and E[rho] after each minibatch."""

    mean: np.ndarray
    sample_size: np.ndarray
    retention: np.ndarray


def run(rule: Rule, successes: np.ndarray) -> Trajectory:
    """A stream of minibatches with so many successes each."""
    model = BetaBinomial(heads=1.0, tails=1.0)
    posterior = model.posterior(np.zeros((0, 1)))
    out, state = [], rule.init(posterior)
    for n in successes:
        flips = np.repeat([1.0, 0.0], [n, FLIPS - n])[:, None]
        blend, state = rule.step(posterior, model.learner(posterior, flips), state)
        posterior.blend(blend)
        out.append((model.mean(posterior)[0], posterior.mass[0], np.ravel(blend.retain)[0]))
    return Trajectory(*np.transpose(out))


def against_the_authors(path: Path) -> list[str]:
    """Largest differences from their figures, on their stream.

    Their program prints (lam_1 + 1) / (lam_1 + lam_2 + 2) for E[beta], and its power priors
    leave out the prior's share (1 - rho) eta.
    """
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    successes = np.array([int(row["successes_of_100"]) for row in rows])
    lines = ["| rule | largest difference of E[beta] |", "|---|---|"]
    for name, column in COLUMNS.items():
        theirs = np.array([float(row[column]) for row in rows])
        mine = run(RULES[name], successes)
        printed = (mine.mean * mine.sample_size + 1) / (mine.sample_size + 2)
        lines.append(f"| {name} | {np.abs(printed - theirs).max():.1e} |")
    rho = np.array([float(row["hpp_rho"]) for row in rows[1:]])
    difference = np.abs(run(HPP, successes).retention[1:] - rho).max()
    return [*lines, f"| SVB-HPP, E[rho] | {difference:.1e} |"]


def on_fresh_streams() -> tuple[list[str], dict[str, Trajectory]]:
    """Mean absolute errors over twenty streams, and the paths on the first of them."""
    streams = [np.random.default_rng(s).binomial(FLIPS, PROBABILITY) for s in range(SEEDS)]
    lines = [
        "| rule | 1-30 | 31-60 | 61-100 | all | 5 after a jump | ESS at 30 / 60 / 100 | "
        "E[rho] stable | t = 31 | t = 61 |",
        "|---" * 10 + "|",
    ]
    parts = [slice(0, 30), slice(30, 60), slice(60, 100), slice(0, 100)]
    after = np.r_[30:35, 60:65]
    stable = np.r_[5:30, 40:60, 70:100]
    first = {}
    for name, rule in RULES.items():
        paths = [run(rule, successes) for successes in streams]
        first[name] = paths[0]
        error = np.mean([np.abs(path.mean - PROBABILITY) for path in paths], axis=0)
        size = np.mean([path.sample_size for path in paths], axis=0)
        rho = np.mean([path.retention for path in paths], axis=0)
        cells = [f"{error[part].mean():.4f}" for part in [*parts, after]]
        cells.append(" / ".join(f"{size[t]:.0f}" for t in (29, 59, 99)))
        cells += [f"{value:.3f}" for value in (rho[stable].mean(), rho[30], rho[60])]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines, first


def draw(paths: dict[str, Trajectory], path: Path) -> None:
    """E[beta], ESS and E[rho] through one stream."""
    shown = ["SVB", "SVB-PP, rho = 0.9", "PVB, M = 1000, nu = 0.1", "SVB-HPP", "restart, rho = 0"]
    figure = Figure(figsize=(9, 7), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    batches = np.arange(1, len(PROBABILITY) + 1)
    axes[0].plot(batches, PROBABILITY, color="black", linewidth=1, linestyle=":", label="truth")
    for name in shown:
        for ax, values in zip(axes, paths[name], strict=True):
            ax.plot(batches, values, label=name)
    axes[1].set_yscale("log")
    for ax, label in zip(axes, ("E[beta]", "effective sample size", "E[rho]"), strict=True):
        ax.set_ylabel(label)
    axes[0].legend(frameon=False, fontsize=8, ncols=3)
    axes[2].set_xlabel("minibatch")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path())
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    lines = against_the_authors(corpora.folder() / "hpp_binomial_authors.csv")
    table, paths = on_fresh_streams()
    text = "\n".join([*lines, "", *table]) + "\n"
    (output / "hpp_binomial.md").write_text(text, encoding="utf-8")
    draw(paths, output / "hpp_binomial.png")
    print(text)


if __name__ == "__main__":
    main()
