# SPDX-License-Identifier: BSD-3-Clause
"""The methods that have a name, at their defaults and as published, beside StreamingLDA.

    python -m benchmarks.named [CORPUS:K ...] [--seeds 0 1 2] [--models NAME ...] [--results FILE]
    python -m benchmarks.named --table
    python -m benchmarks.named --planted

Corpora, words, splits by the seed and scores are those of `benchmarks.start`: the held-out score
is in nats per token, NPMI of the ten likeliest words, and seconds of the processor. What stands in
the results is not run again. The table has means over the seeds, and the mean and the standard
error of the paired differences in score from StreamingLDA.

`--planted` prints of how many of 40 seeds the three topics of scikit-learn's nine planted
documents are found: those of `build_sparse_array` in the tests of its `LatentDirichletAllocation`,
in which nine words make three blocks.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import streamtopics
from benchmarks.results import append, read
from benchmarks.text_quality import documents, halves
from streamtopics import StreamingLDA
from streamtopics.metrics import topic_coherence

CHOOSE = (
    "newsgroups:100", "imdb_unlabelled:50", "dblp_titles:50", "wordnet_glosses:50", "m10_titles:20",
)  # fmt: skip
CONFIRM = (
    "health_tweets:50", "commit_subjects:50", "search_snippets:50", "reuters21578:50",
    "bbc_news:20", "nips_abstracts:20", "presidential_speeches:20", "rated_movie_reviews:20",
    "webkb:20",
)  # fmt: skip
NAMES = "SVBLDA", "BPSLDA", "SVBHPP", "VariationalOnlineEM", "GibbsOnlineEM"
BASE, PUBLISHED = "StreamingLDA", ", as published"
MODELS = BASE, *NAMES, *(name + PUBLISHED for name in NAMES)
KEY, FIGURES = ("corpus", "K", "seed", "model"), ("score", "npmi", "seconds")
RESULTS = Path(__file__).with_suffix(".csv")
N_SEEDS, BLOCK = 40, 3


def made(name: str, n_components: int, seed: int) -> Any:
    """The estimator of a name."""
    if name == BASE:
        return StreamingLDA(n_components, start="spectral", random_state=seed)
    kind = getattr(streamtopics, name.removesuffix(PUBLISHED))
    if name.endswith(PUBLISHED):
        return kind.preset(kind.__name__, n_components, random_state=seed)
    return kind(n_components, random_state=seed)


def measured(name: str, corpus: str, n_components: int, seed: int) -> dict[str, float]:
    """Figures of a model of one seed."""
    split = documents(corpus, seed)
    model, start = made(name, n_components, seed), time.process_time()
    model.fit(split.train)
    seconds = time.process_time() - start
    observed, held_out = halves(split.test)
    score = model.held_out_log_probability(observed, held_out).sum() / held_out.sum()
    top = np.argsort(-model.topic_word_, axis=1, kind="stable")[:, :10]
    npmi = float(topic_coherence(top, split.train).mean())
    return {"score": score, "npmi": npmi, "seconds": seconds}


def run(places: list[str], seeds: list[int], names: list[str], results: Path) -> None:
    """Add what is missing in the results."""
    for place in places:
        corpus, n_components = place.split(":")
        for seed in seeds:
            for name in names:
                key = dict(zip(KEY, (corpus, n_components, str(seed), name), strict=True))
                if any(all(row[field] == key[field] for field in KEY) for row in read(results)):
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = measured(name, corpus, int(n_components), seed)
                append(results, (*KEY, *FIGURES), key | {f: f"{v:.4f}" for f, v in found.items()})


def table(results: Path) -> str:
    """Rows of CSV: figures of each model on each corpus, and differences in score."""
    rows = read(results)
    lines = ["corpus,K,model,seeds," + ",".join(FIGURES) + ",score less StreamingLDA's"]
    for place in (*CHOOSE, *CONFIRM):
        corpus, K = place.split(":")
        here = [row for row in rows if (row["corpus"], row["K"]) == (corpus, K)]
        base = {row["seed"]: float(row["score"]) for row in here if row["model"] == BASE}
        for name in MODELS:
            own = [row for row in here if row["model"] == name]
            if not own:
                continue
            means = (f"{np.mean([float(row[figure]) for row in own]):.3f}" for figure in FIGURES)
            less = [float(row["score"]) - base[row["seed"]] for row in own if row["seed"] in base]
            error = np.std(less, ddof=1) / len(less) ** 0.5 if len(less) > 1 else np.nan
            told = f"{np.mean(less):+.3f} ± {error:.3f}" if name != BASE and less else ""
            lines.append(",".join((corpus, K, name, str(len(own)), *means, told)))
    return "\n".join(lines)


def planted() -> sparse.csr_matrix:
    """Nine documents of nine tokens, three for each topic."""
    block = np.full((BLOCK, BLOCK), BLOCK)
    return sparse.csr_matrix(sparse.block_diag([block] * BLOCK))


def finds_planted(model: Any, X: sparse.csr_matrix) -> bool:
    """Whether the topics that a model finds are the blocks."""
    top = np.argsort(model.fit(X).topic_word_, axis=1)[:, -BLOCK:]
    blocks = np.arange(BLOCK * BLOCK).reshape(BLOCK, BLOCK)
    return sorted(map(sorted, top.tolist())) == blocks.tolist()


def print_planted() -> None:
    """Print how often each finds the topics."""
    X = planted()
    for name in MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = sum(finds_planted(made(name, BLOCK, seed), X) for seed in range(N_SEEDS))
        print(f"{name}: {found} of {N_SEEDS}", flush=True)


def main() -> None:
    """Run what is missing, or print the table, or what is planted."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("places", nargs="*", default=[*CHOOSE, *CONFIRM], metavar="CORPUS:K")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    if options.planted:
        print_planted()
        return
    if not options.table:
        with threadpool_limits(1):
            run(options.places, options.seeds, options.models, options.results)
    print(table(options.results))


if __name__ == "__main__":
    main()
