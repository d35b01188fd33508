# SPDX-License-Identifier: BSD-3-Clause
"""Figures 23 and 26 of Dupuy (2017): points of a square, the fit through the iterations.

[0, 1]^2 with the 33^2 Fourier features and the diagonal A of the thesis, its entries falling as
1 / i^2 with the place i of the feature. It prints L without p^{1/2} = 1 / 33 and draws from a
grid; here sets are drawn exactly from the square, with p, where a set has 3 points, and with A a
hundred times as large, where it has 52. The gap L* - L on test sets, in nats per set, of

    Poisson         the best process without interaction, for the L = eta I of the thesis
    EM              a_i = w_i / (1 - w_i), w_i = a_i mean_X phi_i' L_X^-1 phi_i
    EM, tied        the same with w shared by all features of the same frequencies
    L-BFGS          on log a; also from the law with exponent 1, others start from a flat a
    two parameters  scale and decay of the true law, by L-BFGS

and after the last step the marginal kernel K(x, q) = sum_i a_i / (1 + a_i) phi_i(x) phi_i(q),
q the centre, along a line through it, with the root of its mean squared error on a grid over that
of the mean square of the true one.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.dpp.batches import SetBatches, batch_sets
from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.measures import Fourier
from streamtopics.dpp.noise import Background
from streamtopics.dpp.sampling import sample
from streamtopics.dpp.sets import PointSets

DEGREE, BETA, STEPS, N_SPLITS = 16, 2.0, (1, 3, 10, 30, 100), 10
MEASURE, NONE = Fourier(2, DEGREE), Background(0.0)
V = len(MEASURE.v)
LOG_A = (-14.0, 8.0)  # Around that of the truth; beyond, L_X is singular in double precision.
# Sets to learn from and to test with, by the scale of A.
N_SETS = {1: (1000, 2000), 100: (40, 200)}
QUICK_SETS, QUICK_STEPS = (20, 20), (1, 3)
N_PLACES, N_SIDE = 21, 33
TRUTH = "truth"


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


def by_em(
    data: Sets, a: np.ndarray, groups: np.ndarray, steps: tuple[int, ...]
) -> Iterator[tuple[int, np.ndarray]]:
    """a after so many steps; features of a group share their w."""
    for done, n_steps in pairwise((0, *steps)):
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
    steps: tuple[int, ...],
    bounds: tuple[float, float] | None = None,
) -> Iterator[tuple[int, np.ndarray]]:
    """spectrum(x) after so many iterations on x; `jacobian` takes derivatives by log a to x."""

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        a = spectrum(x)
        value, up = data.slope(a)
        return -value, -jacobian(x, a * up - a / (1 + a))

    path: list[np.ndarray] = []
    minimize(
        function, x, jac=True, method="L-BFGS-B", options={"maxiter": steps[-1]},
        bounds=bounds and [bounds] * len(x), callback=lambda x: path.append(x.copy()),
    )  # fmt: skip
    for n_steps in steps:
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


def draw(scale: float, n_sets: tuple[int, int], seed: int) -> list[Sets]:
    """Sets to learn from, and to test with."""
    rng = np.random.default_rng(seed)
    process = Process(MEASURE, Kernel(np.eye(V), law(scale, BETA)), NONE)
    drawn: list[PointSets] = [sample(process, n, rng) for n in n_sets]
    return [Sets.of(batch_sets(MEASURE, sets)) for sets in drawn]


def fits(
    train: Sets, scale: float, steps: tuple[int, ...]
) -> dict[str, Iterator[tuple[int, np.ndarray]]]:
    """a by each method after so many steps."""
    flat = np.full(V, train.mean_size / (V - train.mean_size))
    falling = np.log(law(scale, 1.0))
    places = MEASURE.frequencies @ [DEGREE + 1, 1]
    _, tied = np.unique(places, return_inverse=True)
    return {
        "start": iter([(n, flat) for n in steps]),
        "EM": by_em(train, flat, np.arange(V), steps),
        "EM, tied": by_em(train, flat, tied, steps),
        "L-BFGS": by_lbfgs(train, np.log(flat), np.exp, as_is, steps, LOG_A),
        "L-BFGS, start 1 / i": by_lbfgs(train, falling, np.exp, as_is, steps, LOG_A),
        "two parameters": by_lbfgs(train, np.array([0.0, 1.0]), two_parameters, by_two, steps),
    }


def marginal(a: np.ndarray, points: np.ndarray) -> np.ndarray:
    """K(x, q) of points x, q the centre."""
    phi, centre = MEASURE.features(points), MEASURE.features(np.full((1, 2), 0.5))[0]
    return phi @ (a / (1 + a) * centre)


def cells(quick: bool) -> Iterator[Cell]:
    """Splits at both scales."""
    for scale in N_SETS:
        for split in range(1 if quick else N_SPLITS):
            yield {"scale": scale, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """The gap of each method after so many steps, and its kernel after the last."""
    scale, steps = cell["scale"], QUICK_STEPS if quick else STEPS
    n_sets = QUICK_SETS if quick else N_SETS[scale]
    train, test = draw(scale, n_sets, cell["split"])
    true_a, level = law(scale, BETA), train.mean_size
    best, _ = test.slope(true_a)
    poisson = best - (test.mean_size * np.log(level) - level)
    for n in steps:
        yield gap_row("Poisson", n, poisson, n == steps[-1])
    last = {TRUTH: true_a}
    for name, path in fits(train, scale, steps).items():
        for n, a in path:
            last[name] = a
            if name != "start":
                yield gap_row(name, n, best - test.slope(a)[0], n == steps[-1])
    yield from kernel_rows(last, steps[-1])


def gap_row(name: str, n: int, gap: float, at_end: bool) -> Row:
    """The gap after some steps, also in a column of its own after the last of them."""
    found = {"part": "gap", "method": name, "steps": n, "x": "", "gap": gap, "K": "", "error": ""}
    return found | {"gap_at_end": gap if at_end else ""}


def kernel_rows(last: dict[str, np.ndarray], n_steps: int) -> Iterator[Row]:
    """K along a line through the centre, and its error on a grid, of each method."""
    x = np.linspace(0, 1, N_PLACES)
    line = np.stack([x, np.full(N_PLACES, 0.5)], axis=1)
    side = (np.arange(N_SIDE) + 0.5) / N_SIDE
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    true = marginal(last[TRUTH], grid)
    for name, a in last.items():
        error = np.sqrt(((marginal(a, grid) - true) ** 2).mean() / (true**2).mean())
        for place, K in zip(x, marginal(a, line), strict=True):
            own = error if place == x[0] and name != TRUTH else ""
            values = {"gap": "", "gap_at_end": "", "K": float(K), "error": own}
            yield {"part": "kernel", "method": name, "steps": n_steps, "x": float(place), **values}


EXPERIMENT = Experiment(
    "dpp_continuous",
    ("scale", "split", "part", "method", "steps", "x"),
    ("gap", "gap_at_end", "K", "error"),
    cells,
    run,
)
