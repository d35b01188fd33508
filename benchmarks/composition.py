# SPDX-License-Identifier: BSD-3-Clause
"""Rules x local steps x views on text: what predicts, what people can read, what keeps its prior.

    python -m benchmarks.composition [--results FILE] [--seeds 0 1 2] [CORPUS:K ...]
    python -m benchmarks.composition --by-time health_tweets commit_subjects

A line of CSV for each cell: held-out score in nats per token of 1,000 documents, NPMI and
diversity of the ten most probable words of each topic, and the share of the topics that is
owed to the prior. What stands in FILE already is not run again. `--by-time` learns
test-then-train through a stream in minibatches of 1,500 documents; the score is the mean over
the tokens of all minibatches but the first.

The rules that keep a posterior have minibatches of 1,200 documents, for which they are made,
and online EM those of 100; the rows named "150" show the others with minibatches of 150
documents. "learnt" is alpha by fixed point and ten rounds on each of the first three
minibatches; it is learnt from a thousand documents on.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from streamtopics import StreamingLDA
from streamtopics.local import Gibbs, Variational
from streamtopics.metrics import topic_coherence, topic_diversity
from streamtopics.updates import (
    BPS,
    SVB,
    FixedPoint,
    HierarchicalPowerPrior,
    MeanDecay,
    OnlineEM,
    PowerPrior,
)

RULES = {
    "SVB": (SVB(), 1200, 0.05),
    "BPS(.1)": (BPS(0.1), 1200, 0.05),
    "PP(.9)": (PowerPrior(0.9), 1200, 0.05),
    "HPP": (HierarchicalPowerPrior(), 1200, 0.05),
    "MHPP": (HierarchicalPowerPrior("topic"), 1200, 0.05),
    "online EM": (OnlineEM(MeanDecay(0.7)), 100, 0.005),
    "SVB 150": (SVB(), 150, 0.01),
    "BPS(.1) 150": (BPS(0.1), 150, 0.01),
    "PP(.9 a 1200) 150": (PowerPrior(0.9 ** (150 / 1200)), 150, 0.01),
}
STEPS = {"gibbs": Gibbs(5), "variational": Variational(1e-3, 100)}
VIEWS = ("mean", "geometric_mean")
PLACES = (
    "newsgroups:20", "newsgroups:100", "dblp_titles:20", "dblp_titles:100", "health_tweets:20",
    "health_tweets:100", "imdb_unlabelled:50",
)  # fmt: skip
FIELDS = (
    "corpus", "K", "seed", "rule", "inference", "view", "learnt", "score", "npmi", "diversity",
    "prior_retention", "seconds",
)  # fmt: skip
MOST_DOCUMENTS = 20_000
LONG = ("newsgroups", "imdb_unlabelled")


def model(
    rule: str, inference: str, view: str, learnt: bool, n_topics: int, seed: int
) -> StreamingLDA:
    """The estimator of a cell."""
    update, batch_size, prior = RULES[rule]
    alpha: Any = FixedPoint(burn_in=max(1, 1000 // batch_size)) if learnt else "fixed"
    return StreamingLDA(
        n_topics,
        update=update,
        inference=STEPS[inference],
        view=view,
        doc_topic_prior_update=alpha,
        n_start_rounds=10 if learnt else 1,
        topic_word_prior=prior,
        batch_size=batch_size,
        random_state=seed,
    )


@cache
def counts(corpus: str, seed: int) -> corpora.Split:
    """Counts, at most 20,000 documents of imdb_unlabelled."""
    min_df = 5 if corpus in LONG else 3
    split = corpora.split(corpus, min_df=min_df, seed=seed)
    n = MOST_DOCUMENTS if corpus == "imdb_unlabelled" else split.train.shape[0]
    return replace_train(split, split.train[:n])


def replace_train(split: corpora.Split, train: Any) -> corpora.Split:
    """The split with other documents to learn from, without those that have no words."""
    return split._replace(
        train=train[train.getnnz(axis=1) > 0], test=split.test[split.test.getnnz(axis=1) > 0]
    )


def measured(corpus: str, n_topics: int, seed: int, *cell: Any) -> dict[str, float]:
    """The figures of a cell."""
    split = counts(corpus, seed)
    start = time.process_time()
    fitted = model(*cell, n_topics, seed).fit(split.train)
    seconds = time.process_time() - start
    top = np.argsort(-fitted.components_, axis=1)[:, :10]
    return {
        "score": fitted.score(split.test),
        "npmi": float(np.mean(topic_coherence(top, split.train, measure="npmi"))),
        "diversity": topic_diversity(top),
        "prior_retention": float(fitted.prior_retention_.mean()),
        "seconds": seconds,
    }


def cells() -> Iterator[tuple[str, str, str, bool]]:
    """Rule, local step, view and whether alpha is learnt."""
    for rule in RULES:
        for inference in STEPS:
            for view in VIEWS:
                for learnt in (True, False):
                    if learnt or not rule.endswith("150"):
                        yield rule, inference, view, learnt


def by_time(corpus: str, results: Path) -> None:
    """Test-then-train through a stream."""
    texts = corpora.texts(corpus)
    vectorizer = CountVectorizer(stop_words="english", min_df=3, dtype=np.float32)
    X = vectorizer.fit_transform(texts)
    for rule, inference, view, learnt in cells():
        if learnt != (view == "mean"):
            continue
        key = {"corpus": f"{corpus} by time", "K": "50", "seed": "0", "rule": rule}
        key |= {"inference": inference, "view": view, "learnt": str(learnt)}
        if key in done(results):
            continue
        start, lda, total, n = time.process_time(), model(rule, inference, view, learnt, 50, 0), 0, 0
        for first in range(0, X.shape[0], 1500):
            batch = X[first : first + 1500]
            if first:
                held_out = lda.score_samples(batch)
                weight = max(lda.score(batch), -1e3)
                tokens = held_out.sum() / weight if weight else 0.0
                total, n = total + held_out.sum(), n + tokens
            for inner in range(0, batch.shape[0], lda.batch_size):
                lda.partial_fit(batch[inner : inner + lda.batch_size])
        keep(results, key, {"score": total / n, "seconds": time.process_time() - start})


def done(results: Path) -> list[dict[str, str]]:
    """The cells that stand in the file."""
    if not results.exists():
        return []
    with results.open(newline="") as file:
        return [{name: row[name] for name in FIELDS[:7]} for row in csv.DictReader(file)]


def keep(results: Path, key: dict[str, str], figures: dict[str, float]) -> None:
    """Add a line to the file, and print it."""
    new = not results.exists()
    row = key | {name: f"{value:.4f}" for name, value in figures.items()}
    with results.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="")
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(*row.values(), flush=True)


def main() -> None:
    """Run what is asked for and is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("places", nargs="*", metavar="CORPUS:K", default=PLACES)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "composition.csv")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--by-time", nargs="*", default=[])
    options = parser.parse_args()
    for corpus in options.by_time:
        by_time(corpus, options.results)
    for seed in [] if options.by_time else options.seeds:
        for place in options.places:
            corpus, n_topics = place.split(":")
            for cell in cells():
                key = dict(zip(FIELDS, (corpus, n_topics, seed, *cell), strict=False))
                key = {name: str(value) for name, value in key.items()}
                if key not in done(options.results):
                    keep(options.results, key, measured(corpus, int(n_topics), seed, *cell))


if __name__ == "__main__":
    main()
