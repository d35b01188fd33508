# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2 to 4 of the HPP paper: priors of the rate rho, and what evidence makes of them.

Figure 2 draws truncated exponential and normal densities on [0, 1], Figure 3 the mean of rho by
the evidence omega under either prior, and Figure 4 the Gaussian posteriors of yesterday and
of today with the vague prior: without a drift, omega = KL(today || prior) - KL(today || yesterday)
is above 0, with one below. The paper's 0.1, "close to uniform", is -0.1 with the sign of its
Equation 28 (density proportional to exp(gamma rho)).

    python -m benchmarks.papers hpp_densities
"""

from collections.abc import Iterator
from math import expm1, log, pi, sqrt

import numpy as np
from scipy.special import ndtr

from benchmarks.papers.experiment import Experiment, Row
from streamtopics.updates.rates import Exponential, Normal, RatePrior

GAMMAS = (-10.0, -1.0, -0.1, 1.0, 10.0)
DEVIATIONS = (0.1, 0.2, 0.5, 1.0)
PRECISIONS = (1.0, 10.0, 100.0)
RHO = np.linspace(0.0, 1.0, 41)
OMEGA = np.linspace(-40.0, 40.0, 41)
VALUES = np.linspace(-6.0, 6.0, 61)
# Mean and deviation of the vague prior, of yesterday and of today.
PRIOR, YESTERDAY = (0.0, 3.0), (1.0, 0.4)
TODAY = {"no drift": (1.1, 0.4), "drift": (-1.5, 0.6)}


def exponential(rho: np.ndarray, gamma: float) -> np.ndarray:
    """The density of the truncated exponential distribution, proportional to exp(gamma rho)."""
    return gamma * np.exp(gamma * rho) / expm1(gamma)


def normal(rho: np.ndarray, mean: float, deviation: float) -> np.ndarray:
    """The density of the normal distribution that is truncated to [0, 1]."""
    z = (rho - mean) / deviation
    mass = ndtr((1.0 - mean) / deviation) - ndtr(-mean / deviation)
    return np.exp(-0.5 * z * z) / (deviation * sqrt(2.0 * pi) * mass)


def divergence(q: tuple[float, float], p: tuple[float, float]) -> float:
    """KL(q || p) of normal distributions, each a mean and a deviation."""
    ratio = (q[1] / p[1]) ** 2
    return 0.5 * (ratio - 1.0 - log(ratio) + ((q[0] - p[0]) / p[1]) ** 2)


def evidence(today: tuple[float, float]) -> float:
    """What speaks for keeping yesterday, in nats."""
    return divergence(today, PRIOR) - divergence(today, YESTERDAY)


def densities() -> Iterator[Row]:
    """Figure 2."""
    for gamma in GAMMAS:
        yield from curve("truncated exponential", f"{gamma:g}", RHO, exponential(RHO, gamma))
    for deviation in DEVIATIONS:
        name = f"mean 0.5, deviation {deviation:g}"
        yield from curve("truncated normal", name, RHO, normal(RHO, 0.5, deviation))


def means() -> Iterator[Row]:
    """Figure 3."""
    priors: dict[str, RatePrior] = {"exponential, uniform": Exponential(0.0)}
    priors |= {f"normal, precision {one:g}": Normal(0.5, one) for one in PRECISIONS}
    for name, prior in priors.items():
        panel = name.partition(",")[0]
        yield from curve(panel, name, OMEGA, prior.posterior(OMEGA).kept)


def gaussians() -> Iterator[Row]:
    """Figure 4; the evidence and the mean of rho stand in the panel's name."""
    for what, today in TODAY.items():
        omega = evidence(today)
        kept = float(Exponential(0.0).posterior(np.array(omega)).kept)
        panel = f"{what}: omega = {omega:.2f}, E[rho] = {kept:.2f}"
        for name, (mean, deviation) in {
            "prior": PRIOR, "yesterday": YESTERDAY, "today": today,
        }.items():  # fmt: skip
            z = (VALUES - mean) / deviation
            density = np.exp(-0.5 * z * z) / (deviation * sqrt(2 * pi))
            yield from curve(panel, name, VALUES, density)


def curve(panel: str, series: str, x: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """A row of each place of a curve."""
    for place, value in zip(x, y, strict=True):
        yield {"panel": panel, "series": series, "x": float(place), "y": float(value)}


FIGURES = {2: densities, 3: means, 4: gaussians}
EXPERIMENT = Experiment(
    "hpp_densities",
    ("figure", "panel", "series", "x"),
    ("y",),
    lambda quick: [{"figure": figure} for figure in FIGURES],
    lambda cell, quick: FIGURES[cell["figure"]](),
)
