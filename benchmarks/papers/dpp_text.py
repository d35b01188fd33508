# SPDX-License-Identifier: BSD-3-Clause
"""Is a DPP of sentences right for text? Held-out log-likelihood, beside i.i.d. sentences.

The setting of section 4.5 of Dupuy (2017) on other texts: sentences as sets of the 500 most
frequent words without stop words, those without words left out; p makes words independent, with
the shares of the training sentences. In nats per test document, the gain over a Poisson number
of independent sentences from p, of a low-rank DPP with one theta

    thesis      gamma = 1 / V, 0.001 points of noise from p
    learnt      both learnt, from 1 / V and half of the mean size
    without U   both learnt, U = 0

"own" is the same U with a theta fitted to each test document itself, which is optimistic.
The attraction of sentences stands beside: the mean cosine of two of the same document, and of
two of different ones, and the variance of the number of sentences over its mean, 1 for Poisson.

    STREAMTOPICS_DATA=... python benchmarks/papers/dpp_text.py [CORPUS ...] --output FOLDER
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from dpp_recovery import learn, spread
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.learning import start
from streamtopics.dpp.likelihood import Parameters, log_likelihood
from streamtopics.dpp.measures import Bernoulli
from streamtopics.dpp.multiplicative import theta_steps
from streamtopics.dpp.noise import Background
from streamtopics.dpp.sets import PointSets
from streamtopics.text import SentenceVectorizer

V, THESIS_LEVEL, LEAST_GAIN = 500, 1e-3, 0.01


def documents(name: str, n_train: int, n_test: int, seed: int) -> tuple[PointSets, PointSets]:
    """Training and test documents as sets of sentences; those without words are left out."""
    texts = corpora.texts(name)
    order = np.random.default_rng(seed).permutation(len(texts))
    counter = CountVectorizer(
        stop_words="english", token_pattern=corpora.PROSE_WORD, max_features=V, binary=True
    )
    vectorizer = SentenceVectorizer(counter)
    train = vectorizer.fit_transform([texts[i] for i in order[:n_train]])
    test = vectorizer.transform([texts[i] for i in order[n_train : n_train + n_test]])
    return as_sets(train), as_sets(test)


def as_sets(matrices: np.ndarray) -> PointSets:
    """Sets of the sentences with words, of the documents that have any."""
    kept = [X[X.getnnz(axis=1) > 0] for X in matrices]
    kept = [X for X in kept if X.shape[0]]
    ends = np.cumsum([X.shape[0] for X in kept])
    return PointSets(sparse.vstack(kept, format="csr"), np.concatenate([[0], ends]))


def attraction(sets: PointSets) -> tuple[float, float, float]:
    """Mean cosines within and across documents, and the variance of the size over its mean."""
    norms = np.sqrt(np.asarray(sets.points.sum(axis=1), dtype=np.float64).ravel())
    unit = sparse.diags_array(1 / norms) @ sets.points
    member = sparse.csr_matrix(
        (
            np.ones(len(norms)),
            np.repeat(np.arange(len(sets)), sets.sizes),
            np.arange(len(norms) + 1),
        )
    )
    own = np.asarray((member.T @ unit).power(2).sum(axis=1)).ravel()
    whole = float((np.asarray(unit.sum(axis=0)).ravel() ** 2).sum())
    pairs, n = (sets.sizes * (sets.sizes - 1)).sum(), len(norms)
    within = (own.sum() - n) / pairs
    return within, (whole - own.sum()) / (n * (n - 1) - pairs), sets.sizes.var() / sets.sizes.mean()


def run(name: str, seed: int, options: argparse.Namespace) -> dict[str, float]:
    """Gains per test document, and what tells whether sentences attract."""
    train, test = documents(name, options.train, options.test, seed)
    if train.sizes.max() == 1:
        sys.exit(f"{name} has no document of more than one sentence; give one with full stops")
    measure = Bernoulli.from_sentences(train.points)
    data, held = batch_sets(measure, train), batch_sets(measure, test)
    none = Parameters(np.zeros((V, 1)), np.ones(1), 1 / V, Background(data.mean_size))
    base = log_likelihood(held, replace(none, gamma=0.0))
    results = {"i.i.d. sentences": base.mean()}

    def gain(found: Parameters) -> float:
        return float((log_likelihood(held, found) - base).mean())

    def fitted(at: Parameters, free: bool) -> Parameters:
        return learn(
            measure, data, at, penalty=options.penalty * (at is not none), learn_gamma=free,
            learn_level=free, least_gain=LEAST_GAIN,
        )  # fmt: skip

    def note(key: str, found: Parameters) -> None:
        results[key] = gain(found)
        results[f"{key}, noise"] = found.noise.level
        found = replace(found, theta=np.maximum(found.theta, 1e-8))
        own = theta_steps(held, found, penalty=options.penalty, n_steps=100)
        results[f"{key}, own"] = gain(replace(found, theta=own))
        said = f"{results[key]:.2f}, own {results[f'{key}, own']:.2f}, gamma {found.gamma:.4f}"
        print(f"# {name}, seed {seed}, {key}: {said}", file=sys.stderr, flush=True)

    half = replace(none, noise=Background(data.mean_size / 2))
    note("without U", fitted(half, True))
    for r in options.ranks:
        rng = np.random.default_rng(seed)
        at = start(measure, r, data.mean_size, Background(THESIS_LEVEL), rng, gamma=1 / V)
        note(f"thesis, r = {r}", fitted(at, False))
        note(f"learnt, r = {r}", fitted(replace(at, noise=half.noise), True))
    within, across, dispersion = attraction(train)
    return results | {
        "mean size": data.mean_size,
        "cosine within": within,
        "cosine across": across,
        "variance / mean of the size": dispersion,
    }


def as_table(runs: dict[str, list[dict[str, float]]]) -> str:
    """A row for each figure, a column for each corpus."""
    lines = [f"| nats per document | {' | '.join(runs)} |\n{'|---' * (1 + len(runs))}|"]
    for key in next(iter(runs.values()))[0]:
        digits = 3 if "cosine" in key or "noise" in key else 2
        cells = [spread([result[key] for result in results], digits) for results in runs.values()]
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "corpora", nargs="*", default=["nips_abstracts", "reuters21578", "imdb_train"]
    )
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--test", type=int, default=400)
    parser.add_argument("--ranks", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--penalty", type=float, default=1e-3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    runs = {
        name: [run(name, seed, options) for seed in range(options.seeds)]
        for name in options.corpora
    }
    table = as_table(runs)
    (options.output / "dpp_text.md").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
