# SPDX-License-Identifier: BSD-3-Clause
"""Case study 1 of the BPS paper: a coin with a good, a bad and a noisy life.

Figures 7 and 8 of Nguyen et al. (2020) with the Beta-Bernoulli model: 300 flips of a coin with
theta = 0.2 in batches of 20, a prior of mass 1, s = 0.3. Figure 7 varies the prior mean, Figure 8
the share of flips that noise turns over; there stands beside them SVB on the same flips before
the noise. The error is |E[theta] - theta| after the last batch.

    python -m benchmarks.papers bps_case_1
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics.models import BetaBinomial
from streamtopics.updates import BPS, SVB

THETA, SCALE, FLIPS, BATCH = 0.2, 0.3, 300, 20
# Streams, and those whose paths are kept.
SPLITS, DRAWN = 30, 5
PRIOR_MEANS = (0.5, 0.4, 0.3, 0.2, 0.1)
NOISES = (0.01, 0.05, 0.1, 0.2, 0.3)
PRIOR, NOISE, CLEAN = "prior mean", "noise", "SVB, without noise"


def trajectory(rule: SVB | BPS, prior_mean: float, flips: np.ndarray) -> np.ndarray:
    """E[theta] before the first batch and after each."""
    model = BetaBinomial(heads=prior_mean, tails=1 - prior_mean)
    batches = flips.reshape(-1, BATCH, 1)
    posterior = model.posterior(batches[0])
    path = [model.mean(posterior)[0]]
    for batch in batches:
        blend, _ = rule.step(posterior, model.learner(posterior, batch), None)
        posterior.blend(blend)
        path.append(model.mean(posterior)[0])
    return np.array(path)


def limit(scale: float, prior_mean: float, noise: float) -> float:
    """What E[theta] tends to on an endless stream."""
    theta_data = THETA + noise - 2 * THETA * noise
    return (theta_data + scale * prior_mean) / (1 + scale)


def flipped(split: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """The flips of a split, with the noise and without."""
    rng = np.random.default_rng(split)
    flips = rng.random(FLIPS) < THETA
    return flips ^ (rng.random(FLIPS) < noise), flips


def rows(path: np.ndarray, rule: str, setting: float, *, drawn: bool) -> Iterator[Row]:
    """A row of each place of a path, or of the last, which has the error."""
    for t, mean in enumerate(path):
        last = t == len(path) - 1
        if not (drawn or last):
            continue
        yield {
            "rule": rule,
            "setting": setting,
            "method": f"{rule}, {setting:g}",
            "flips": t * BATCH,
            "mean": float(mean) if drawn else "",
            "error": float(abs(mean - THETA)) if last else "",
        }


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All settings of a figure on the flips of a split."""
    figure, split = cell["figure"], cell["split"]
    for setting in PRIOR_MEANS if figure == PRIOR else NOISES:
        prior_mean, noise = (setting, 0.0) if figure == PRIOR else (THETA, setting)
        noisy, clean = flipped(split, noise)
        runs = [("SVB", SVB(), noisy), ("BPS", BPS(SCALE), noisy)]
        runs += [(CLEAN, SVB(), clean)] if figure == NOISE else []
        for name, rule, flips in runs:
            path = trajectory(rule, prior_mean, flips)
            yield from rows(path, name, setting, drawn=split < DRAWN)


def cells(quick: bool) -> list[Cell]:
    """Figures by split."""
    n = 2 if quick else SPLITS
    return [{"figure": figure, "split": split} for figure in (PRIOR, NOISE) for split in range(n)]


EXPERIMENT = Experiment(
    "bps_case_1",
    ("figure", "rule", "setting", "method", "split", "flips"),
    ("mean", "error"),
    cells,
    run,
)
