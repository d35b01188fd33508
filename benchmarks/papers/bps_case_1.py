# SPDX-License-Identifier: BSD-3-Clause
"""Case study 1 of the BPS paper: a coin with a good, a bad and a noisy life.

Regenerates Figures 7 and 8 of Nguyen et al. (2020) with the Beta-Bernoulli model:
300 flips of a coin with theta = 0.2 in batches of 20, a prior of mass 1, s = 0.3,
the mean over 100 seeds. Figure 7 varies the prior mean, Figure 8 the share of
flips that noise turns over. Beside the last E[theta] stands what theory says it
tends to, (theta_data + s theta_prior) / (1 + s).

    python benchmarks/papers/bps_case_1.py --output FOLDER
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from streamtopics.models import BetaBinomial
from streamtopics.updates import BPS, SVB

THETA, SCALE, FLIPS, BATCH, SEEDS = 0.2, 0.3, 300, 20, 100
PRIOR_MEANS = (0.5, 0.4, 0.3, 0.2, 0.1)
NOISES = (0.01, 0.05, 0.1, 0.2, 0.3)
RULES = {"SVB": SVB(), "BPS": BPS(SCALE)}


def trajectory(rule: SVB | BPS, prior_mean: float, noise: float) -> np.ndarray:
    """E[theta] after each batch, the mean over the seeds."""
    model = BetaBinomial(heads=prior_mean, tails=1 - prior_mean)
    runs = np.empty((SEEDS, FLIPS // BATCH + 1))
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        flips = (rng.random(FLIPS) < THETA) ^ (rng.random(FLIPS) < noise)
        batches = flips.reshape(-1, BATCH, 1)
        posterior = model.posterior(batches[0])
        runs[seed, 0] = model.mean(posterior)[0]
        for t, batch in enumerate(batches, start=1):
            blend, _ = rule.step(posterior, model.learner(posterior, batch), None)
            posterior.blend(blend)
            runs[seed, t] = model.mean(posterior)[0]
    return runs.mean(axis=0)


def limit(rule: SVB | BPS, prior_mean: float, noise: float) -> float:
    """What E[theta] tends to on an endless stream."""
    theta_data = THETA + noise - 2 * THETA * noise
    scale = rule.scale if isinstance(rule, BPS) else 0.0
    return (theta_data + scale * prior_mean) / (1 + scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path())
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    figures = {
        "Figure 7, prior mean": [(f"{mean}", mean, 0.0) for mean in PRIOR_MEANS],
        "Figure 8, noise": [(f"{noise}", THETA, noise) for noise in NOISES],
    }
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey="row")
    lines = ["| figure | value | rule | E[theta] after 15 batches | limit |"]
    lines.append("|---|---|---|---|---|")
    for row, (title, settings) in zip(axes, figures.items(), strict=True):
        for ax, (name, rule) in zip(row, RULES.items(), strict=True):
            for label, prior_mean, noise in settings:
                path = trajectory(rule, prior_mean, noise)
                ax.plot(np.arange(len(path)) * BATCH, path, label=label)
                end = limit(rule, prior_mean, noise)
                lines.append(f"| {title} | {label} | {name} | {path[-1]:.3f} | {end:.3f} |")
            ax.axhline(THETA, color="black", linewidth=1, linestyle=":")
            ax.set_title(f"{title}: {name}")
            ax.legend(frameon=False, fontsize=8, ncols=5, loc="upper right")
    for ax in axes[1]:
        ax.set_xlabel("flips")
    for ax in axes[:, 0]:
        ax.set_ylabel("E[theta]")
        ax.margins(y=0.15)
    figure.savefig(output / "bps_case_1.png", dpi=120)
    table = "\n".join(lines) + "\n"
    (output / "bps_case_1.md").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
