# SPDX-License-Identifier: BSD-3-Clause
"""Rules x local steps x views on text: what predicts, what people can read, what keeps its prior.

    python -m benchmarks.composition [--results FILE] [--seeds 0 1 2] [CORPUS:K ...]
    python -m benchmarks.composition --table doc/composition_table.rst

A line of CSV for each cell: held-out score in nats per token of 1,000 documents, NPMI and
diversity of the ten most probable words of each topic, and the share of the topics that is
owed to the prior. What stands in FILE already is not run again.

The rules that keep a posterior have minibatches of 1,200 documents, for which they are made,
and online EM those of 100; the rows named "rounds" have 1,200, and three rounds over each
minibatch that go on from where the last one left the documents. "learnt" is alpha by fixed
point, from a thousand documents on, and ten rounds on each of the first three minibatches.
"""

import time
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora
from benchmarks.results import Rows, add, command, csv_table, mean, of, parser_of, read
from streamtopics import StreamingLDA
from streamtopics.estimators import Schedule
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

# Rule, documents in a minibatch, prior of the topics, and rounds in each minibatch.
RULES = {
    "SVB": (SVB(), 1200, 0.05, 1),
    "BPS(.1)": (BPS(0.1), 1200, 0.05, 1),
    "PP(.9)": (PowerPrior(0.9), 1200, 0.05, 1),
    "HPP": (HierarchicalPowerPrior(), 1200, 0.05, 1),
    "MHPP": (HierarchicalPowerPrior("topic"), 1200, 0.05, 1),
    "online EM": (OnlineEM(MeanDecay(0.7)), 100, 0.005, 1),
    "SVB 3 rounds": (SVB(), 1200, 0.05, 3),
    "BPS(.1) 3 rounds": (BPS(0.1), 1200, 0.05, 3),
    "PP(.9) 3 rounds": (PowerPrior(0.9), 1200, 0.05, 3),
    "online EM 3 rounds": (OnlineEM(MeanDecay(0.7)), 1200, 0.005, 3),
}
STEPS = {"gibbs": Gibbs(5), "variational": Variational(1e-3, 100)}
VIEWS = ("mean", "geometric_mean")
PLACES = (
    "health_tweets:20", "dblp_titles:20", "newsgroups:20", "health_tweets:100",
    "dblp_titles:100", "newsgroups:100", "imdb_unlabelled:50",
)  # fmt: skip
KEY = ("corpus", "K", "seed", "rule", "inference", "view", "learnt")
FIGURES = ("score", "npmi", "diversity", "prior_retention", "seconds")
MOST_DOCUMENTS = 20_000
LONG = ("newsgroups", "imdb_unlabelled")


def model(
    rule: str, inference: str, view: str, learnt: bool, n_topics: int, seed: int
) -> StreamingLDA:
    """The estimator of a cell."""
    update, batch_size, prior, n_rounds = RULES[rule]
    alpha: Any = FixedPoint() if learnt else "fixed"
    return StreamingLDA(
        n_topics,
        update=update,
        inference=STEPS[inference],
        view=view,
        doc_topic_prior_update=alpha,
        schedule=Schedule(
            n_rounds=n_rounds,
            n_start_rounds=10 if learnt else 1,
            warm_rounds=n_rounds > 1,
            prior_limit=None,
            growth=1.0,
            inner_batch_size=None,
        ),
        topic_word_prior=prior,
        start="noise",
        batch_size=batch_size,
        max_iter=1,
        random_state=seed,
    )


@cache
def counts(corpus: str, seed: int) -> corpora.Split:
    """Counts without empty documents, at most 20,000 documents of imdb_unlabelled."""
    min_df = 5 if corpus in LONG else 3
    split = corpora.split(corpus, min_df=min_df, seed=seed)
    train, test = split.train, split.test
    train = train[:MOST_DOCUMENTS] if corpus == "imdb_unlabelled" else train
    return split._replace(train=train[train.getnnz(axis=1) > 0], test=test[test.getnnz(axis=1) > 0])


def measured(corpus: str, n_topics: str, seed: int, *cell: Any) -> dict[str, float]:
    """The figures of a cell."""
    fitted = model(*cell, int(n_topics), seed)
    found = figures(fitted, counts(corpus, seed))
    return found | {"prior_retention": float(fitted.prior_retention_.mean())}


def figures(model: Any, split: corpora.Split) -> dict[str, float]:
    """Fit a model, and return its score and what its topics are like."""
    start = time.process_time()
    model.fit(split.train)
    seconds = time.process_time() - start
    top = np.argsort(-model.components_, axis=1)[:, :10]
    return {
        "score": float(model.score(split.test)),
        "npmi": float(np.mean(topic_coherence(top, split.train, measure="npmi"))),
        "diversity": topic_diversity(top),
        "seconds": seconds,
    }


def cells() -> Iterator[tuple[str, str, str, bool]]:
    """Rule, local step, view and whether alpha is learnt."""
    for rule in RULES:
        for inference in STEPS:
            for view in VIEWS:
                for learnt in (True, False):
                    if learnt or not rule.endswith("rounds"):
                        yield rule, inference, view, learnt


def table(results: Path) -> str:
    """Tables of means over the seeds, in reStructuredText: score, words shown, prior kept."""
    rows = read(results)
    places = dict.fromkeys((row["corpus"], row["K"]) for row in rows)
    figures = (
        ("Held-out score, nats per token", ("score",)),
        ("NPMI and diversity of the ten most probable words", ("npmi", "diversity")),
        ("Share of the topics owed to the prior", ("prior_retention",)),
    )
    return "\n".join(_table(title, rows, [*places], names) for title, names in figures)


def _table(title: str, rows: Rows, places: list[tuple[str, str]], names: tuple[str, ...]) -> str:
    """A table with a line for each cell and a column for each corpus."""
    here = [of(rows, corpus=corpus, K=K) for corpus, K in places]
    head = ["rule", "inference", "view", "learnt"]
    for place, own in zip(places, here, strict=True):
        n_seeds = len({row["seed"] for row in own})
        head.append(f"{place[0]} {place[1]} (n = {n_seeds})")
    lines = []
    for cell in cells():
        key = dict(zip(KEY[3:], cell, strict=True))
        found = [of(own, **key) for own in here]
        digits = 3 if len(names) == 1 else 2
        shown = [" / ".join(mean(own, name, digits) for name in names if own) for own in found]
        if any(shown):
            lines.append([*map(str, cell[:3]), "yes" if cell[3] else "no", *shown])
    return csv_table(title, head, lines)


def main() -> None:
    """Run what is asked for and is not there yet."""
    options = parser_of(__doc__, __file__, places=PLACES, n_seeds=3).parse_args()
    places = product(options.places, options.seeds, cells())
    keys = ((*place.split(":"), seed, *cell) for place, seed, cell in places)
    command(options, table, lambda: add(options.results, KEY, FIGURES, keys, measured))


if __name__ == "__main__":
    main()
