# SPDX-License-Identifier: BSD-3-Clause
"""Figures 25 and 28 of Dupuy (2017) in small: all sentences, the fit and the subspace by the rank.

Sentences of 10 words, {0, 1}^10, r* = 2, gamma = 1 / V, exact draws of 1,000 sets; the noise is
0.01 points from p, as many as the 1e-5 of each of 2^10 sentences in the thesis, which does not
tell the number of sets, the scale of U* and the probabilities of the words (here uniform in
[0.1, 0.5]). Features tie the signs of the rows, so that the raw distance is right here. Figure 28
a and b: one theta for all sets, with the gap L* - L on test sets in nats per set; figures 25 and
28 c: a theta for each set, with the gap in training, which overfitting makes negative. Columns
are those that did not vanish, c of them; the top two are the leading eigenvectors of the mean
kernel, of which the chance level is sqrt(1 - 2 / V). Picard iteration on A, full, is the rival.

With --words more of them: r* = 5, one theta, 0.05 points of noise.

    python benchmarks/papers/dpp_exponential.py --output FOLDER
    python benchmarks/papers/dpp_exponential.py --words 200 --sets 2000 --ranks 5 10
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from dpp_picard import picard_features, wishart
from dpp_recovery import distance, draw, leading, learn_from, spread
from matplotlib.figure import Figure

from streamtopics.dpp.batches import SetBatches
from streamtopics.dpp.likelihood import Parameters, log_likelihood
from streamtopics.dpp.measures import BaseMeasure

FEW = {"n_features": 10, "n_components": 2, "noise": 0.01}
MANY = {"n_components": 5, "noise": 0.05}
N_TEST = 5000


class Result(NamedTuple):
    """What is measured of a fit; `error` is |A - A*| / |A*|, at the mean theta."""

    columns: int
    gap: float
    raw: float
    top: float
    error: float


def result(found: Parameters, gap: float, truth: Parameters) -> Result:
    """Distances and the error of A, at the mean theta."""
    mean, true_mean = (np.atleast_2d(x.theta).mean(axis=0) for x in (found, truth))
    scaled = found.U * np.sqrt(mean)
    A = found.gamma * np.eye(len(scaled)) + scaled @ scaled.T
    true_A = truth.gamma * np.eye(len(scaled)) + truth.U * true_mean @ truth.U.T
    return Result(
        scaled.shape[1],
        gap,
        distance(scaled, truth.U),
        distance(leading(scaled, truth.U.shape[1]), truth.U),
        float(np.linalg.norm(A - true_A) / np.linalg.norm(true_A)),
    )


def run(seed: int, own_theta: bool, options: argparse.Namespace) -> dict[tuple, Result]:
    """All fits to the same sets."""
    how = FEW if options.words == FEW["n_features"] else MANY | {"n_features": options.words}
    truth, measure, (train, test) = draw(
        options.sets, N_TEST, "exponential", own_theta=own_theta, random_state=seed, **how
    )
    held = train if own_theta else test
    best = log_likelihood(held, truth).mean()
    results = {}
    for r in options.ranks:
        for penalty in options.penalties:
            found = learn_from(measure, train, truth, r, penalty, seed)
            gap = best - log_likelihood(held, found).mean()
            results[r, penalty] = result(found, gap, truth)
    if not own_theta:
        for n_steps, found in picards(measure, train, truth, seed, options.picard):
            gap = best - log_likelihood(held, found).mean()
            results[f"Picard {n_steps}", ""] = result(found, gap, truth)
        iid = Parameters(truth.U, 0 * truth.theta, 0.0, truth.noise.at(train.mean_size))
        gap = best - log_likelihood(held, iid).mean()
        results["i.i.d. sentences", ""] = Result(0, gap, 1.0, 1.0, 1.0)
    return results


def picards(
    measure: BaseMeasure, data: SetBatches, truth: Parameters, seed: int, steps: list[int]
) -> Iterator[tuple[int, Parameters]]:
    """Picard iteration after so many steps, from a Wishart draw."""
    V = len(truth.U)
    A = V * wishart(V, min(data.mean_size, V / 2), np.random.default_rng(seed))
    at = Parameters(np.linalg.cholesky(A), np.ones(V), 0.0, truth.noise)
    for done, n_steps in pairwise([0, *steps]):
        at, values = picard_features(measure, data, at, n_steps - done)
        lost = max(0.0, -np.diff(values).min())
        print(f"# Picard: a step lost at most {lost:.1e} nats", file=sys.stderr)
        yield n_steps, at


def as_table(results: dict[tuple, list[Result]], V: int) -> str:
    """A row for each fit, with the chance levels of its columns."""
    lines = [
        "| r | penalty | columns | gap | D | 1 - c/V | sqrt(1 - c/V) | D of the top "
        "| median error of A |",
        "|---" * 9 + "|",
    ]
    for key, values in results.items():
        columns, gap, raw, top, error = zip(*values, strict=True)
        c = np.mean(columns)
        cells = [*map(str, key), f"{c:.1f}", spread(gap), spread(raw), f"{1 - c / V:.2f}"]
        cells += [f"{np.sqrt(1 - c / V):.3f}", spread(top), f"{np.median(error):.3g}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def over_seeds(once: Callable[[int], dict], n_seeds: int) -> dict[tuple, list[Result]]:
    """Results of each fit, one for each seed."""
    results: dict[tuple, list[Result]] = {}
    for seed in range(n_seeds):
        for key, value in once(seed).items():
            results.setdefault(key, []).append(value)
            print(f"# seed {seed}, {key}: {value}", file=sys.stderr, flush=True)
    return results


def plot(tables: list[dict], options: argparse.Namespace, path: Path) -> None:
    """The gap by the rank, and the distances for one theta and for one of each set."""
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.subplots(1, 3)
    r, V = np.array(options.ranks), options.words
    for penalty in options.penalties:
        shared, own = (np.array([t[k, penalty] for k in options.ranks]) for t in tables)
        for ax, values in zip(axes, (shared[:, :, 1], shared[:, :, 2], own[:, :, 3]), strict=True):
            mean, deviation = values.mean(axis=1), values.std(axis=1)
            ax.errorbar(r, mean, deviation, fmt="o-", capsize=3, label=f"penalty {penalty}")
    axes[1].plot(r, np.maximum(1 - r / V, 0), "k:", label="1 - r / V")
    axes[1].plot(r, np.sqrt(np.maximum(1 - r / V, 0)), "k--", label="its root")
    axes[2].axhline(np.sqrt(1 - FEW["n_components"] / V), color="black", ls="--", label="chance")
    titles = "L* - L, one theta", "D, one theta", "D of the top two, own theta"
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
        ax.set_xlabel("r")
        ax.legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=FEW["n_features"])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4, 6, 10])
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.0, 0.001, 0.01, 0.1])
    parser.add_argument("--picard", type=int, nargs="+", default=[300, 3000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    tables = [over_seeds(lambda seed: run(seed, False, options), options.seeds)]
    print("one theta\n" + as_table(tables[0], options.words), flush=True)
    if options.words == FEW["n_features"]:
        tables.append(over_seeds(lambda seed: run(seed, True, options), options.seeds))
        print("a theta for each set\n" + as_table(tables[1], options.words))
        plot(tables, options, options.output / "dpp_exponential.png")
    text = "\n".join(as_table(table, options.words) for table in tables)
    name = f"dpp_exponential_{options.words}.md"
    (options.output / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
