# SPDX-License-Identifier: BSD-3-Clause
"""Figure 6 of the BPS paper: a Dirichlet distribution at several boosting rates.

The paper draws the density of Dir(r eta), eta = (4, 5, 6), on the simplex. Shown here is the
density of each of its three components, Beta(r eta_i, r (15 - eta_i)), and its deviation.

    python -m benchmarks.papers bps_dirichlets
"""

from collections.abc import Iterator
from math import sqrt

import numpy as np
from scipy.special import betaln

from benchmarks.papers.experiment import Cell, Experiment, Row

ETA = (4.0, 5.0, 6.0)
RATES = (0.5, 1, 1.5)
PLACES = np.linspace(0.02, 0.98, 49)


def density(x: np.ndarray, a: float, b: float) -> np.ndarray:
    """The density of Beta(a, b)."""
    return np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - betaln(a, b))


def deviation(a: float, b: float) -> float:
    """The standard deviation of Beta(a, b)."""
    return sqrt(a * b / (a + b + 1)) / (a + b)


def mode(a: float, b: float, n: int) -> float:
    """The component's place in the mode of a Dirichlet distribution of n components."""
    return (a - 1) / (a + b - n)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """Densities of the components at a rate."""
    rate = cell["rate"]
    for i, eta in enumerate(ETA):
        a, b = rate * eta, rate * (sum(ETA) - eta)
        of_all = {"component": f"x{i + 1}", "mean": a / (a + b)}
        of_all |= {"mode": mode(a, b, len(ETA)), "deviation": deviation(a, b)}
        for x, value in zip(PLACES, density(PLACES, a, b), strict=True):
            yield {**of_all, "x": float(x), "density": float(value)}


EXPERIMENT = Experiment(
    "bps_dirichlets",
    ("rate", "component", "x"),
    ("density", "mean", "mode", "deviation"),
    lambda quick: [{"rate": rate} for rate in RATES],
    run,
)
