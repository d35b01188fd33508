# SPDX-License-Identifier: BSD-3-Clause
"""Figure 23 of Dupuy (2017) in small: points of a square, the fit through the iterations.

[0, 1]^2 with the 33^2 Fourier features and the diagonal A of the thesis, its entries falling as
1 / i^2 with the place i of the feature. It prints L without p^{1/2} = 1 / 33 and draws from a
grid; here sets are drawn exactly from the square, with p, where a set has 3 points, and with A a
hundred times as large, where it has 52. The gap L* - L on test sets, in nats per set, of

    Poisson         the best process without interaction, for the L = eta I of the thesis
    EM              a_i = w_i / (1 - w_i), w_i = a_i mean_X phi_i' L_X^-1 phi_i
    EM, tied        the same with w shared by all features of the same frequencies
    L-BFGS          on log a; also from the law with exponent 1, others start from a flat a
    two parameters  scale and decay of the true law, by L-BFGS

    python benchmarks/papers/dpp_continuous.py --output FOLDER
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from dpp_recovery import spread
from matplotlib.figure import Figure
from scipy.optimize import minimize

from streamtopics.dpp.batches import SetBatches, batch_sets
from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.likelihood import Parameters, log_likelihood
from streamtopics.dpp.measures import Fourier
from streamtopics.dpp.noise import Background
from streamtopics.dpp.sampling import sample
from streamtopics.dpp.sets import PointSets

DEGREE, BETA, STEPS = 16, 2.0, (1, 3, 10, 30, 100)
MEASURE, NONE = Fourier(2, DEGREE), Background(0.0)
V = len(MEASURE.v)
LOG_A = (-14.0, 8.0)  # Around that of the truth; beyond, L_X is singular in double precision.


class Sets(NamedTuple):
    """Features of the points, of shape (m, n, V) for each size n."""

    by_size: list[np.ndarray]
    n_sets: int
    mean_size: float

    @classmethod
    def of(cls, data: SetBatches) -> "Sets":
        """The sets of the batches."""
        rows: dict[int, list[np.ndarray]] = {}
        for part in data:
            for batch in part.batches:
                Phi = batch.of(part.Phi)
                rows.setdefault(Phi.shape[1], []).extend(Phi)
        return cls([np.array(sets) for n, sets in rows.items() if n], data.n_sets, data.mean_size)

    def slope(self, a: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean log-likelihood with A = Diag(a), in nats, and the means of phi_i'L_X^-1 phi_i."""
        total, up = -self.n_sets * np.log1p(a).sum(), np.zeros(V)
        for Phi in self.by_size:
            L = (Phi * a) @ Phi.transpose(0, 2, 1)
            total += np.linalg.slogdet(L)[1].sum()
            up += (Phi * (np.linalg.inv(L) @ Phi)).sum(axis=(0, 1))
        return total / self.n_sets, up / self.n_sets


def law(scale: float, beta: float) -> np.ndarray:
    """The diagonal of A: scale C_i C_j / (i j)^beta, C_0 = 1 and otherwise the root of 1/2."""
    each = np.concatenate([[1.0], np.arange(1, 2 * DEGREE + 1) ** -beta / np.sqrt(2)])
    return scale * np.outer(each, each).ravel()


def by_em(data: Sets, a: np.ndarray, groups: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """a after so many steps; features of a group share their w."""
    for done, n_steps in pairwise((0, *STEPS)):
        for _ in range(n_steps - done):
            w = a * data.slope(a)[1]
            w = (np.bincount(groups, w) / np.bincount(groups))[groups]
            a = w / np.maximum(1 - w, 1e-12)
        yield n_steps, a


def by_lbfgs(
    data: Sets,
    x: np.ndarray,
    spectrum: Callable[[np.ndarray], np.ndarray],
    jacobian: Callable[[np.ndarray, np.ndarray], np.ndarray],
    bounds: tuple[float, float] | None = None,
) -> Iterator[tuple[int, np.ndarray]]:
    """spectrum(x) after so many iterations on x; `jacobian` takes derivatives by log a to x."""

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        a = spectrum(x)
        value, up = data.slope(a)
        return -value, -jacobian(x, a * up - a / (1 + a))

    path: list[np.ndarray] = []
    minimize(
        function, x, jac=True, method="L-BFGS-B", options={"maxiter": STEPS[-1]},
        bounds=bounds and [bounds] * len(x), callback=lambda x: path.append(x.copy()),
    )  # fmt: skip
    for n_steps in STEPS:
        yield n_steps, spectrum(path[min(n_steps, len(path)) - 1])


def as_is(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Derivatives by log a itself."""
    return slope


def two_parameters(x: np.ndarray) -> np.ndarray:
    """The law, at exp(x_0) and x_1."""
    return law(np.exp(x[0]), x[1])


def by_two(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Derivatives by x of a function of that law."""
    places = np.log(np.maximum(np.arange(2 * DEGREE + 1), 1))
    return np.array([slope.sum(), -slope @ np.add.outer(places, places).ravel()])


def run(seed: int, scale: float, n_sets: int, n_test: int) -> dict[tuple[str, int], float]:
    """The gap of each method after so many steps."""
    rng = np.random.default_rng(seed)
    process = Process(MEASURE, Kernel(np.eye(V), law(scale, BETA)), NONE)
    drawn: list[PointSets] = [sample(process, n, rng) for n in (n_sets, n_test)]
    parts = [batch_sets(MEASURE, sets) for sets in drawn]
    train, test = map(Sets.of, parts)
    best, _ = test.slope(law(scale, BETA))
    truth = Parameters(np.eye(V), law(scale, BETA), 0.0, NONE)
    package = log_likelihood(parts[1], truth).mean()
    print(
        f"# {train.mean_size:.1f} points; beside the package {best - package:.1e}", file=sys.stderr
    )
    level = train.mean_size
    poisson = test.mean_size * np.log(level) - level
    flat = np.full(V, level / (V - level))
    falling = np.log(law(scale, 1.0))
    places = MEASURE.frequencies @ [DEGREE + 1, 1]
    _, tied = np.unique(places, return_inverse=True)
    methods = {
        "EM": by_em(train, flat, np.arange(V)),
        "EM, tied": by_em(train, flat, tied),
        "L-BFGS": by_lbfgs(train, np.log(flat), np.exp, as_is, LOG_A),
        "L-BFGS, start 1 / i": by_lbfgs(train, falling, np.exp, as_is, LOG_A),
        "two parameters": by_lbfgs(train, np.array([0.0, 1.0]), two_parameters, by_two),
    }
    gaps = {("Poisson", n): best - poisson for n in STEPS}
    for name, steps in methods.items():
        for n, a in steps:
            gaps[name, n] = best - test.slope(a)[0]
            over = train.slope(a)[0] - train.slope(law(scale, BETA))[0]
            print(f"# {name}, {n}: gap {gaps[name, n]:.3f}, train over truth {over:.3f}",
                  file=sys.stderr, flush=True)  # fmt: skip
    return gaps


def as_table(gaps: dict[tuple[str, int], list[float]]) -> str:
    """A row for each method, a column for each number of steps."""
    lines = [f"| steps | {' | '.join(map(str, STEPS))} |\n{'|---' * (1 + len(STEPS))}|"]
    for name in dict.fromkeys(name for name, _ in gaps):
        cells = [spread(gaps[name, n]) for n in STEPS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plot(tables: dict[str, dict[tuple[str, int], list[float]]], path: Path) -> None:
    """The gap by the number of steps."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for ax, (title, gaps) in zip(figure.subplots(1, 2), tables.items(), strict=True):
        for name in dict.fromkeys(name for name, _ in gaps):
            values = np.array([gaps[name, n] for n in STEPS])
            ax.errorbar(STEPS, values.mean(axis=1), values.std(axis=1), capsize=3, label=name)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("steps")
        ax.set_title(f"L* - L, {title}")
        ax.legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=float, nargs=2, default=[1.0, 100.0])
    parser.add_argument("--sets", type=int, nargs=2, default=[1000, 40])
    parser.add_argument("--tests", type=int, nargs=2, default=[2000, 200])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    tables = {}
    for scale, n_sets, n_test in zip(options.scales, options.sets, options.tests, strict=True):
        runs = [run(seed, scale, n_sets, n_test) for seed in range(options.seeds)]
        name = f"scale {scale:g}, {n_sets} sets"
        tables[name] = {key: [gaps[key] for gaps in runs] for key in runs[0]}
        print(f"{name}\n{as_table(tables[name])}", flush=True)
    text = "\n".join(f"{name}\n{as_table(gaps)}" for name, gaps in tables.items())
    (options.output / "dpp_continuous.md").write_text(text, encoding="utf-8")
    plot(tables, options.output / "dpp_continuous.png")


if __name__ == "__main__":
    main()
