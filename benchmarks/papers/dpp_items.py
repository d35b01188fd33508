# SPDX-License-Identifier: BSD-3-Clause
"""Figure 24 of Dupuy (2017) in small: items, the fit and the subspace by the rank.

100 items, r* = 5, noise 1e-5, sets drawn exactly; the scale of U*, the number of sets and the
penalty are not told. One theta for all sets: the gap L* - L in log-likelihood on test sets, in
nats per set, and the distance of the columns from U*, raw and with the signs of the rows
aligned, which no likelihood can tell (`dpp_recovery`). Beside them the chance levels of as many
random columns: the printed 1 - c / V, the root of it, and that of the aligned distance. Picard
iteration over full matrices is the rival; its space is that of the five leading eigenvectors.
Then a U* without negative entries, from a start without them and from a Gaussian one; then a
theta for each set, where the gain is that in training over the truth.

    python benchmarks/papers/dpp_items.py --output FOLDER
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from dpp_picard import by_size, log_likelihood, picard, wishart
from dpp_recovery import (
    aligned_chance,
    aligned_distance,
    distance,
    draw,
    learn,
    learn_from,
    spread,
)
from matplotlib.figure import Figure

from streamtopics.dpp import likelihood
from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.learning import start
from streamtopics.dpp.likelihood import Parameters
from streamtopics.dpp.measures import Items
from streamtopics.dpp.noise import Counting
from streamtopics.dpp.sampling import sample

V, TRUE_RANK, N_TEST = 100, 5, 5000


class Result(NamedTuple):
    """What is measured of a fit; `columns` are those that did not vanish."""

    columns: int
    gap: float
    raw: float
    aligned: float


def result(scaled: np.ndarray, gap: float, truth: np.ndarray) -> Result:
    """Both distances."""
    return Result(scaled.shape[1], gap, distance(scaled, truth), aligned_distance(scaled, truth))


def scaled(parameters: Parameters) -> np.ndarray:
    """U times the root of the mean theta."""
    return parameters.U * np.sqrt(np.atleast_2d(parameters.theta).mean(axis=0))


def one_theta(n_sets: int, seed: int, options: argparse.Namespace) -> dict[tuple, Result]:
    """Low-rank fits and Picard iteration, on the same sets."""
    truth, measure, (train, test) = draw(n_sets, N_TEST, "items", random_state=seed)
    best = likelihood.log_likelihood(test, truth).mean()
    results = {}
    for r in options.ranks:
        for penalty in options.penalties:
            found = learn_from(measure, train, truth, r, penalty, seed)
            gap = best - likelihood.log_likelihood(test, found).mean()
            results[n_sets, r, penalty] = result(scaled(found), gap, truth.U)
    L, done = wishart(V, train.mean_size, np.random.default_rng(seed)), 0
    for n_steps in options.picard:
        L, done = picard(by_size(train), L, n_steps - done), n_steps
        gap = best - log_likelihood(by_size(test), L).mean()
        values, vectors = np.linalg.eigh(L)
        top = (vectors * np.sqrt(values))[:, -TRUE_RANK:]
        results[n_sets, f"Picard {n_steps}", ""] = result(top, gap, truth.U)
    return results


def not_negative(seed: int, options: argparse.Namespace) -> dict[tuple, Result]:
    """A U* with uniform entries, from two kinds of start."""
    rng = np.random.default_rng(seed)
    U = rng.random((V, TRUE_RANK)) * np.sqrt(5.0 * 3 / V)
    truth, measure = Parameters(U, np.ones(TRUE_RANK), 0.0, Counting(1e-5)), Items.of(V)
    process = Process(measure, Kernel(U, truth.theta), truth.noise)
    train, test = (batch_sets(measure, sample(process, n, rng)) for n in (options.sets[-1], N_TEST))
    best = likelihood.log_likelihood(test, truth).mean()
    results = {}
    for r in options.ranks:
        at = start(measure, r, train.mean_size, truth.noise, rng)
        for name, first in (("not negative", np.abs(at.U)), ("Gaussian", at.U)):
            found = learn(measure, train, replace(at, U=first), penalty=1e-3)
            gap = best - likelihood.log_likelihood(test, found).mean()
            results[name, r, 1e-3] = result(scaled(found), gap, truth.U)
    return results


def own_theta(seed: int, options: argparse.Namespace) -> dict[tuple, Result]:
    """A theta for each set; the gap is that in training, which overfitting makes negative."""
    n_sets = options.own_sets
    truth, measure, (train, _) = draw(n_sets, 1, "items", own_theta=True, random_state=seed)
    best = likelihood.log_likelihood(train, truth).mean()
    results = {}
    for r in options.own_ranks:
        for penalty in options.penalties:
            found = learn_from(measure, train, truth, r, penalty, seed)
            gap = best - likelihood.log_likelihood(train, found).mean()
            results[n_sets, r, penalty] = result(scaled(found), gap, truth.U)
    return results


def as_table(results: dict[tuple, list[Result]], first: str) -> str:
    """A row for each fit, with the chance levels of its columns."""
    lines = [
        f"| {first} | r | penalty | columns | gap | D | 1 - c/V | sqrt(1 - c/V) | D aligned "
        "| chance aligned |",
        "|---" * 10 + "|",
    ]
    U = np.random.default_rng(0).standard_normal((V, TRUE_RANK))
    chances = {}
    for key, values in results.items():
        columns, gap, raw, aligned = zip(*values, strict=True)
        c = round(np.mean(columns))
        chances.setdefault(c, aligned_chance(c, U))
        cells = [*map(str, key), f"{np.mean(columns):.1f}", spread(gap), spread(raw)]
        cells += [f"{1 - c / V:.2f}", f"{np.sqrt(1 - c / V):.3f}", spread(aligned)]
        lines.append(f"| {' | '.join(cells)} | {chances[c]:.3f} |")
    return "\n".join(lines) + "\n"


def plot(results: dict[tuple, list[Result]], options: argparse.Namespace, path: Path) -> None:
    """The gap and both distances by the rank, for the most sets."""
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.subplots(1, 3)
    n_sets, ranks = options.sets[-1], options.ranks
    for penalty in options.penalties:
        values = np.array([results[n_sets, r, penalty] for r in ranks])
        for ax, i in zip(axes, (1, 2, 3), strict=True):
            mean, deviation = values[:, :, i].mean(axis=1), values[:, :, i].std(axis=1)
            ax.errorbar(ranks, mean, deviation, fmt="o-", capsize=3, label=f"penalty {penalty}")
    last = np.array(results[n_sets, f"Picard {options.picard[-1]}", ""]).mean(axis=0)
    for ax, i in zip(axes, (1, 2, 3), strict=True):
        ax.axhline(last[i], color="black", linewidth=1, label=f"Picard, {options.picard[-1]} steps")
        ax.set_xlabel("r")
    r = np.array(ranks)
    axes[1].plot(r, 1 - r / V, "k:", label="1 - r / V")
    axes[1].plot(r, np.sqrt(1 - r / V), "k--", label="its root")
    U = np.random.default_rng(0).standard_normal((V, TRUE_RANK))
    axes[2].plot(r, [aligned_chance(c, U) for c in ranks], "k--", label="chance")
    axes[0].set_yscale("log")
    for ax, title in zip(axes, ("L* - L", "D", "D, signs aligned"), strict=True):
        ax.set_title(title)
        ax.legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=90)


def over_seeds(run: Callable[[int], dict], n_seeds: int) -> dict[tuple, list[Result]]:
    """Results of each fit, one for each seed."""
    results: dict[tuple, list[Result]] = {}
    for seed in range(n_seeds):
        for key, value in run(seed).items():
            results.setdefault(key, []).append(value)
            print(f"# seed {seed}, {key}: {value}", file=sys.stderr, flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--ranks", type=int, nargs="+", default=[3, 5, 7, 10, 30, 50])
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.0, 0.01])
    parser.add_argument("--picard", type=int, nargs="+", default=[300, 4000])
    parser.add_argument("--own-sets", type=int, default=5000)
    parser.add_argument("--own-ranks", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--own-seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    shared: dict[tuple, list[Result]] = {}
    for n_sets in options.sets:
        shared |= over_seeds(lambda seed, n=n_sets: one_theta(n, seed, options), options.seeds)
    plot(shared, options, options.output / "dpp_items.png")
    tables = [as_table(shared, "sets")]
    print(tables[0], flush=True)
    tables.append(as_table(over_seeds(lambda s: not_negative(s, options), options.seeds), "start"))
    print(tables[1], flush=True)
    tables.append(
        as_table(over_seeds(lambda s: own_theta(s, options), options.own_seeds), "sets, own")
    )
    print(tables[2], flush=True)
    (options.output / "dpp_items.md").write_text("\n".join(tables), encoding="utf-8")


if __name__ == "__main__":
    main()
