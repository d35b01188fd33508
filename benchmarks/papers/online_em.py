# SPDX-License-Identifier: BSD-3-Clause
"""The methods of chapter 3 of Dupuy's thesis, on one stream each.

Left-to-right log-perplexity of held-out documents, in nats per document (lower is
better), after one pass in minibatches of 100, with P = 20 local iterations, step
size 1/sqrt(t) where it is free, and this package's defaults beside it. The
synthetic corpus is drawn from 10 topics, which are learnt here from the 1,000
most frequent words of a real one: documents of Poisson(60) tokens and an
asymmetric prior whose parameters sum to 1.6 (section 3.5.2 of the thesis takes
topics learnt from film reviews).

    STREAMTOPICS_DATA=... python benchmarks/papers/online_em.py [CORPUS] --output FOLDER
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA, VariationalOnlineEM
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.datasets import make_lda_corpus
from streamtopics.metrics import left_to_right
from streamtopics.updates import DampedNewton

BATCH = 100
SWEEPS = 20
KAPPA = 0.5
TRUE_ALPHA = 1.61 * np.array([5, 4, 3, 2, 2, 1.5, 1.5, 1, 1, 1]) / 22


def methods(K: int, n_documents: int, seed: int) -> Iterator[tuple[str, StreamingTopicModel]]:
    """What is compared, by name; n_documents is the size of the corpus, where it is asked for."""
    common = {"n_components": K, "batch_size": BATCH, "random_state": seed, "n_jobs": 2}
    free = {"kappa": KAPPA}
    local = {"max_local_iter": SWEEPS, "local_tol": 0.0}
    preset = partial(StreamingLDA.preset, **common)
    size = {"update__n_documents": n_documents}
    stochastic = size | {"update__step_size__kappa": KAPPA}
    olda = {
        "doc_topic_prior_update": DampedNewton(),
        "inference__max_iter": SWEEPS,
        "inference__tol": 0.0,
    }
    yield "G-OEM", GibbsOnlineEM(n_sweeps=SWEEPS, n_start_rounds=1, **free, **common)
    yield "V-OEM++", VariationalOnlineEM(update_each_sweep=True, **free, **local, **common)
    yield "OLDA", preset("OnlineVBLDA", **stochastic, **olda)
    yield "VarGibbs", preset("VarGibbsLDA", inference__n_sweeps=SWEEPS, **stochastic)
    yield "SVB", SVBLDA(**local, **common)
    yield "SPLDA", preset("SinglePassLDA", n_rounds=SWEEPS, inference__tol=0.0)
    yield "SGS", preset("StreamingGibbsLDA", inference__n_sweeps=SWEEPS)
    yield "LDS", preset("LangevinLDA", **size)
    yield "V-OEM", VariationalOnlineEM(**free, **local, **common)
    yield "G-OEM++", GibbsOnlineEM(n_sweeps=SWEEPS, update_each_sweep=True, **free, **common)
    yield "G-OEM, start rounds", GibbsOnlineEM(n_sweeps=SWEEPS, **free, **common)
    smoothed = {"inference__n_sweeps": SWEEPS, "topic_word_prior": 1.0}
    yield "SGS, smoothing 1", preset("StreamingGibbsLDA", **smoothed)
    yield "SVB, prior 0.5", SVBLDA(topic_word_prior=0.5, **local, **common)
    yield "G-OEM, defaults", GibbsOnlineEM(**common)
    yield "V-OEM, defaults", VariationalOnlineEM(**common)


EIGHT = ("G-OEM", "V-OEM++", "OLDA", "VarGibbs", "SVB", "SPLDA", "SGS", "LDS")


def synthetic(name: str, n_documents: int) -> Callable[[int], tuple[sparse.csr_matrix, ...]]:
    """Streams drawn from topics that were learnt from `name`, by seed."""
    real = corpora.split(name, max_features=1000).train
    topics = GibbsOnlineEM(10, random_state=0, max_iter=5).fit(real).topic_word_

    def draw(seed: int) -> tuple[sparse.csr_matrix, ...]:
        corpus = make_lda_corpus(
            n_documents + 1000,
            topic_word=topics,
            doc_topic_prior=TRUE_ALPHA,
            mean_length=60,
            random_state=seed,
        )
        X = corpus.X.astype(np.float32)
        truth = perplexity(X[n_documents:], topics, TRUE_ALPHA)
        print(f"seed {seed}: the true topics have {truth:.2f}", flush=True)
        return X[:n_documents], X[n_documents:]

    return draw


def perplexity(X: sparse.csr_matrix, topic_word: np.ndarray, alpha: np.ndarray) -> float:
    """Nats per document, by left-to-right evaluation."""
    return -float(left_to_right(X, topic_word, alpha, n_jobs=2).log_likelihood.mean())


def study(
    draw: Callable[[int], tuple[sparse.csr_matrix, ...]], K: int, n_seeds: int
) -> dict[str, list[float]]:
    """Perplexities of each method, one for each seed."""
    results: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        train, test = draw(seed)
        for name, model in methods(K, train.shape[0], seed):
            start = time.perf_counter()
            model.fit(train)
            seconds = time.perf_counter() - start
            value = perplexity(test, model.topic_word_, model.doc_topic_prior_)
            results.setdefault(name, []).append(value)
            print(f"K = {K}, seed {seed}, {name:<20} {value:8.2f} {seconds:6.1f} s", flush=True)
    return results


def table(results: dict[int, dict[str, list[float]]]) -> str:
    """Means and ranges, a row for each method."""
    lines = ["| method | " + " | ".join(f"K = {K}" for K in results) + " |"]
    lines.append("|---" * (len(results) + 1) + "|")
    for name in next(iter(results.values())):
        cells = []
        for K in results:
            values = results[K][name]
            best = min(np.mean(results[K][other]) for other in EIGHT)
            mean = f"{np.mean(values):.2f}"
            if name in EIGHT and np.mean(values) == best:
                mean = f"**{mean}**"
            cells.append(f"{mean} [{min(values):.2f}, {max(values):.2f}]")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw_picture(results: dict[int, dict[str, list[float]]], path: Path) -> None:
    """A dot for each method and seed, one panel for each K."""
    figure = Figure(figsize=(3.4 * len(results), 4.2), layout="constrained")
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for ax, (K, of_K) in zip(panels, results.items(), strict=True):
        names = [*reversed(of_K)]
        for place, name in enumerate(names):
            ax.plot(of_K[name], [place] * len(of_K[name]), "o", alpha=0.5, color="C0")
            ax.plot(np.mean(of_K[name]), place, "|", markersize=14, color="black")
        ax.set_yticks(range(len(names)), names)
        ax.set_title(f"K = {K}")
        ax.set_xlabel("nats per document")
        ax.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", default="synthetic")
    parser.add_argument("--topics-from", default="newsgroups", help="of the synthetic corpus")
    parser.add_argument("--components", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--documents", type=int, default=50_000, help="of the synthetic corpus")
    parser.add_argument("--max-features", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.corpus == "synthetic":
        draw = synthetic(options.topics_from, options.documents)
    else:
        split = corpora.split(options.corpus, max_features=options.max_features)

        def draw(seed: int) -> tuple[sparse.csr_matrix, ...]:
            return split.train, split.test[:500]

    results = {K: study(draw, K, options.seeds) for K in options.components}
    text = table(results)
    print(text)
    (options.output / f"online_em_{options.corpus}.md").write_text(text, encoding="utf-8")
    draw_picture(results, options.output / f"online_em_{options.corpus}.png")


if __name__ == "__main__":
    main()
