# SPDX-License-Identifier: BSD-3-Clause
"""Baskets of baby registries: held-out log-likelihood and the rank of an item left out.

100 items; baskets split at random into those to learn from, to choose settings with and to
test, anew for each seed. The log-likelihood is in nats per basket. For the mean percentile rank
of Gartrell et al. (2017) an item j drawn at random is left out of each test basket of two or
more; items outside of the rest J are ranked by the probability of the basket J with the item,

    P(J + i) ~ det L_{J + i} / det L_J = L_ii - L_iJ L_JJ^-1 L_Ji,

and the percentile rank of j is the share of these items i, itself among them, that are no more
probable, in percent: 100 is the best, about 50 chance.

    low rank         L = level I + U U'; level learnt, with a penalty or without, or 0.001
    on popularity    L = P^{1/2} (gamma I + U U') P^{1/2}, P the odds of each item, gamma learnt;
                     without U it is independent items, which are a saddle point
    Picard           full L, from a Wishart draw or one within P, after some numbers of steps
    independent      each item by itself; its ranks are those of popularity
    pairs            ranks only: sum over J of the log of the smoothed share of baskets of an item
                     in which i is too

Of several settings of a model that with the best log-likelihood in validation counts.

    STREAMTOPICS_DATA=... python benchmarks/papers/dpp_baskets.py --output FOLDER
"""

import argparse
import gzip
import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from dpp_picard import by_size, log_likelihood, picard, submatrices, wishart
from dpp_recovery import learn

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics.dpp.batches import SetBatches, batch_sets
from streamtopics.dpp.learning import start
from streamtopics.dpp.likelihood import Parameters
from streamtopics.dpp.measures import Items
from streamtopics.dpp.noise import Counting
from streamtopics.dpp.sets import PointSets

SMOOTHING, LEAST_GAIN, PICARD_STEPS = 0.5, 5e-3, (0, 100, 300, 1000)
LEVELS_AND_PENALTIES = ((None, 0.0), (None, 1e-3), (1e-3, 0.0))


def load(name: str) -> tuple[list[np.ndarray], int]:
    """The baskets, and the number of items."""
    with gzip.open(corpora.folder() / f"baskets_{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [np.array(row["basket"]) for row in rows[1:]], len(rows[0]["items"])


def as_batches(baskets: list[np.ndarray], measure: Items) -> SetBatches:
    """Baskets, ready for learning."""
    indptr = np.concatenate([[0], np.cumsum([len(basket) for basket in baskets])])
    return batch_sets(measure, PointSets(np.concatenate(baskets), indptr))


def odds(baskets: list[np.ndarray], V: int) -> np.ndarray:
    """Of each item, from its smoothed share of the baskets."""
    n = np.bincount(np.concatenate(baskets), minlength=V) + SMOOTHING
    return n / (len(baskets) + 2 * SMOOTHING - n)


def dense(p: np.ndarray, found: Parameters) -> np.ndarray:
    """L of a fit."""
    scaled = np.sqrt(p)[:, None] * found.U * np.sqrt(found.theta)
    return scaled @ scaled.T + np.diag(found.noise.level + found.gamma * p)


def low_rank(
    train: list[np.ndarray], V: int, r: int, seed: int, level: float | None, penalty: float
) -> np.ndarray:
    """L with the level as given, or learnt from 0.01 if it is None."""
    measure, rng = Items.of(V), np.random.default_rng(seed)
    data = as_batches(train, measure)
    at = start(measure, r, data.mean_size, Counting(0.01 if level is None else level), rng)
    found = learn(
        measure, data, at, penalty=penalty, learn_level=level is None, least_gain=LEAST_GAIN
    )
    return dense(measure.p, found)


def on_popularity(train: list[np.ndarray], V: int, r: int, seed: int) -> np.ndarray:
    """L with the odds of the items as their weights."""
    measure, rng = Items(odds(train, V)), np.random.default_rng(seed)
    data = as_batches(train, measure)
    at = start(measure, r, data.mean_size, Counting(0.0), rng, gamma=0.5)
    return dense(
        measure.p, learn(measure, data, at, penalty=0.0, learn_gamma=True, least_gain=LEAST_GAIN)
    )


def by_picard(train: list[np.ndarray], V: int, seed: int) -> list[np.ndarray]:
    """L after each number of steps, from both starts."""
    data, rng = as_batches(train, Items.of(V)), np.random.default_rng(seed)
    W, found = wishart(V, data.mean_size, rng), []
    root = np.sqrt(odds(train, V))
    within = root[:, None] * (0.9 * np.eye(V) + 0.1 * W / np.diag(W).mean()) * root
    for L in (W, within):
        for done, n_steps in pairwise(PICARD_STEPS):
            L = picard(by_size(data), L, n_steps - done)
            found.append(L)
    return found


def models(
    train: list[np.ndarray], valid: list[np.ndarray], V: int, ranks: list[int], seed: int
) -> dict[str, np.ndarray]:
    """L of each model; settings are chosen on the validation baskets."""
    sets = by_size(as_batches(valid, Items.of(V)))

    def best(candidates: list[np.ndarray]) -> np.ndarray:
        scores = [log_likelihood(sets, L).mean() for L in candidates]
        print(f"# seed {seed}: candidates {np.round(scores, 4)}", file=sys.stderr, flush=True)
        return candidates[int(np.argmax(scores))]

    found = {"independent": np.diag(odds(train, V))}
    for r in ranks:
        found[f"low rank, r = {r}"] = best(
            [low_rank(train, V, r, seed, *setting) for setting in LEVELS_AND_PENALTIES]
        )
    for r in ranks[:-1]:
        found[f"on popularity, r = {r}"] = on_popularity(train, V, r, seed)
    return found | {"Picard": best(by_picard(train, V, seed))}


def left_out(baskets: list[np.ndarray], seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rests J of each size, of shape (m, n - 1), and the items left out."""
    rng = np.random.default_rng(seed)
    by_length: dict[int, list[np.ndarray]] = {}
    for basket in baskets:
        by_length.setdefault(len(basket), []).append(rng.permutation(basket))
    parts = [np.array(rows) for n, rows in by_length.items() if n > 1]
    return [(rows[:, 1:], rows[:, 0]) for rows in parts]


def next_item(L: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """det L_{J + i} / det L_J of each item, of shape (m, V)."""
    rows = L[rest]
    solved = np.linalg.inv(submatrices(L, rest)) @ rows
    return np.diag(L) - (rows * solved).sum(axis=1)


def by_pairs(train: list[np.ndarray], V: int, rest: np.ndarray) -> np.ndarray:
    """Scores of each item by how often it came with those of the rest."""
    together = np.zeros((V, V))
    for basket in train:
        together[np.ix_(basket, basket)] += 1
    share = (together + SMOOTHING * together.diagonal() / len(train)) / (
        together.diagonal()[:, None] + SMOOTHING
    )
    return np.log(share)[rest].sum(axis=1)


def percentile_ranks(scores: np.ndarray, rest: np.ndarray, item: np.ndarray) -> np.ndarray:
    """Of each item left out, in percent."""
    outside = np.ones(scores.shape, dtype=bool)
    np.put_along_axis(outside, rest, False, axis=1)
    beaten = np.take_along_axis(scores, item[:, None], axis=1) >= scores
    return 100 * (beaten & outside).sum(axis=1) / outside.sum(axis=1)


def run(name: str, seed: int, options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """Log-likelihood and mean percentile rank of each model."""
    baskets, V = load(name)
    order = np.random.default_rng(seed).permutation(len(baskets))
    ends = np.cumsum([0, options.train, options.valid, options.test])
    train, valid, test = ([baskets[i] for i in order[a:b]] for a, b in pairwise(ends))
    sets, asked = by_size(as_batches(test, Items.of(V))), left_out(test, seed)
    results = {}
    for model, L in models(train, valid, V, options.ranks, seed).items():
        ranks = [percentile_ranks(next_item(L, rest), rest, item) for rest, item in asked]
        results[model] = (log_likelihood(sets, L).mean(), np.concatenate(ranks).mean())
    ranks = [percentile_ranks(by_pairs(train, V, rest), rest, item) for rest, item in asked]
    results["pairs"] = (np.nan, np.concatenate(ranks).mean())
    for model, (value, rank) in results.items():
        print(
            f"# {name}, seed {seed}, {model}: {value:.4f} {rank:.2f}", file=sys.stderr, flush=True
        )
    return results


def with_error(values: np.ndarray, digits: int) -> str:
    """Mean and its standard error over the splits."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.{digits}f} ± {error:.{digits}f}"


def as_table(runs: list[dict[str, tuple[float, float]]]) -> str:
    """A row for each model; the gain over independent items is that on the same splits."""
    lines = ["| model | log-likelihood | over independent | percentile rank |", "|---" * 4 + "|"]
    base = np.array([run["independent"] for run in runs])
    for model in runs[0]:
        values = np.array([run[model] for run in runs])
        cells = [with_error(values[:, 0], 3), with_error((values - base)[:, 0], 3)]
        lines.append(f"| {model} | {' | '.join(cells)} | {with_error(values[:, 1], 2)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["apparel", "feeding", "diaper"])
    parser.add_argument("--train", type=int, default=4000)
    parser.add_argument("--valid", type=int, default=1000)
    parser.add_argument("--test", type=int, default=4000)
    parser.add_argument("--ranks", type=int, nargs="+", default=[10, 30, 100])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    parts = []
    for name in options.sets:
        runs = [run(name, seed, options) for seed in range(options.seeds)]
        parts.append(f"{name}\n{as_table(runs)}")
        print(parts[-1], flush=True)
    (options.output / "dpp_baskets.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
