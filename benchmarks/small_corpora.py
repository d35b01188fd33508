# SPDX-License-Identifier: BSD-3-Clause
"""Defaults on corpora cut to a few documents, beside those of scikit-learn, gensim and tomotopy.

    python -m benchmarks.small_corpora [CORPUS ...] [--sizes 60 200] [--seeds 0 1 2]
        [--models NAME ...] [--results FILE] [--table FILE]

A line of CSV for each corpus, size, seed and model; what stands in the results already is not run
again. `--table` writes means over the seeds. All models have ten topics, and everything else as
it comes; tomotopy, which does not say how long to sample, has 200 sweeps.

Words are those of `benchmarks.text_quality`, of all documents of a corpus, as from a vectorizer
that knows more of them than the few documents learnt from: these are drawn by the seed, as are up
to 1,000 held-out ones. Scores are by the common fold-in of `benchmarks.text_quality`, in nats per
held-out token: `score` over all words, and `score_known` over the words that were learnt from
alone, for which topics are normalised. NPMI is that of the ten likeliest words, over all documents
that are not held out. Seconds are CPU time of the fit.
"""

import time
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import text_models
from benchmarks.results import Rows, add, command, csv_table, mean, of, parser_of, read
from benchmarks.text_models import LEAST_PROBABILITY, Counts, Fitted, Train, own
from benchmarks.text_quality import apart, documents, fold_in, halves, score
from streamtopics import StreamingLDA
from streamtopics.metrics import topic_coherence

CHOOSE = ("newsgroups", "m10_titles", "imdb_unlabelled")
CONFIRM = ("bbc_news", "reuters21578")
SIZES = (60, 200, 500, 2000)
N_TOPICS, MOST_HELD_OUT = 10, 1000
KEY = ("corpus", "size", "seed", "model")
FIGURES = ("score", "score_known", "npmi", "seconds")


def tomotopy(X: Counts, K: int, seed: int) -> Train:
    """200 sweeps, of which words that were not learnt from have the pseudo-count of the prior."""
    train_seen = text_models.tomotopy(X, K, seed)
    known = np.asarray(X.sum(axis=0)).ravel() > 0

    def train() -> Fitted:
        found = train_seen()
        # The pseudo-count is what a known word has that a topic lacks.
        least = found.topics[:, known].min(axis=1, keepdims=True)
        topics = np.where(known, found.topics, least)
        return found._replace(topics=topics / topics.sum(axis=1, keepdims=True))

    return train


MODELS: dict[str, Callable[..., Train]] = {
    "StreamingLDA": partial(own, StreamingLDA),
    # As for streams and larger corpora.
    "StreamingLDA, 0.02": partial(own, StreamingLDA, topic_word_prior=0.02),
    "scikit-learn": partial(text_models.scikit_learn, learning_method="batch", max_iter=10),
    "gensim": text_models.gensim,
    "tomotopy": tomotopy,
}


@lru_cache(maxsize=1)
def counts(name: str) -> Counts:
    """Counts of all documents."""
    split = documents(name, 0)
    return sparse.vstack([split.train, split.test], format="csr")


def cut(name: str, size: int, seed: int) -> tuple[Counts, Counts, Counts]:
    """Counts of the documents to learn from, of held-out ones and of all others."""
    X = counts(name)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    n_held_out = min(MOST_HELD_OUT, X.shape[0] - max(SIZES))
    pool = X[order[n_held_out:]]
    return pool[:size], X[order[:n_held_out]], pool


def measured(corpus: str, size: int, seed: int, name: str) -> dict[str, float] | None:
    """The figures of a model, by a process of its own."""
    return apart(partial(_measured, MODELS[name], *cut(corpus, size, seed), seed))


def _measured(
    model: Callable[..., Train], train: Counts, test: Counts, pool: Counts, seed: int
) -> dict[str, float]:
    fit = model(train, N_TOPICS, seed)
    start = time.process_time()
    fitted = fit()
    seconds = time.process_time() - start
    topics = np.maximum(np.asarray(fitted.topics, dtype=np.float64), LEAST_PROBABILITY)
    alpha = np.full(N_TOPICS, 1 / N_TOPICS) if fitted.alpha is None else np.array(fitted.alpha)
    top = np.argsort(-topics, axis=1, kind="stable")[:, :10]
    known = np.asarray(train.sum(axis=0)).ravel() > 0
    return {
        "score": held_out_score(topics, alpha, test),
        "score_known": held_out_score(topics[:, known], alpha, test[:, known]),
        "npmi": float(topic_coherence(top, pool).mean()),
        "seconds": seconds,
    }


def held_out_score(topics: np.ndarray, alpha: np.ndarray, X: Counts) -> float:
    """Score of one half of the tokens of each document, given the other."""
    topics = topics / topics.sum(axis=1, keepdims=True)
    observed, held_out = halves(X)
    return score(fold_in(observed, topics, alpha), topics, held_out)


def table(results: Path) -> str:
    """A table in reStructuredText for each corpus, of means over the seeds."""
    rows, tables = read(results), []
    head = [f'"{name}"' for name in ("documents", *MODELS)]
    for corpus in (*CHOOSE, *CONFIRM):
        here = of(rows, corpus=corpus)
        n_seeds = len({row["seed"] for row in here})
        title = f"{corpus}: score / score of known words / NPMI (n = {n_seeds})"
        lines = [
            [f"{size}", *(cell(of(here, size=size, model=m)) for m in MODELS)] for size in SIZES
        ]
        if here:
            tables.append(csv_table(title, head, lines))
    return "\n".join(tables)


def cell(rows: Rows) -> str:
    """Means of the figures."""
    shown = (mean(rows, "score"), mean(rows, "score_known"), mean(rows, "npmi", 2))
    return " / ".join(shown) if rows else ""


def main() -> None:
    """Run what is not there yet."""
    parser = parser_of(
        __doc__, __file__, places=(*CHOOSE, *CONFIRM), metavar="CORPUS", n_seeds=3, models=MODELS
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    options = parser.parse_args()
    cells = product(options.places, options.seeds, options.sizes, options.models)
    keys = ((corpus, size, seed, name) for corpus, seed, size, name in cells)
    command(options, table, lambda: add(options.results, KEY, FIGURES, keys, measured))


if __name__ == "__main__":
    main()
