# SPDX-License-Identifier: BSD-3-Clause
"""Who should forget: rules on streams that change and on texts that do not, test-then-train.

    python -m benchmarks.forgetting_streams [choose] [confirm] [--results FILE] [--seeds 0]
    python -m benchmarks.forgetting_streams --table doc/forgetting_streams_table.rst

Each minibatch is scored by document completion before it is learnt; the score is the mean over
the tokens of all minibatches but the first, in nats. 50 topics. What stands in FILE already is
not run again.

`choose` has the streams that settings were chosen on, in minibatches of 1,000. "comes and goes":
the classes of a corpus have centres that are spread evenly over time in random order, and a
document comes at the centre of its class plus 0.2 times a normal number, so that one class after
the other dies and another appears. "switch": half of the classes, shuffled, and then the others.
"shuffled" does not change. `confirm` has the real streams by time: in minibatches of 1,500, and
of 300 for the abstracts.
"""

import time
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.results import add, command, csv_table, mean, of, parser_of, read
from streamtopics import StreamingLDA
from streamtopics.estimators import Schedule
from streamtopics.updates import Boost, Memory, PowerPrior
from tests.plain import GibbsOnlineEM

N_TOPICS = 50
SPREAD = 0.2
ONLINE_EM = "GibbsOnlineEM"
KEY = ("part", "stream", "model", "inference", "seed")
FIGURES = ("score", "second half", "prior", "seconds")
# Documents of a corpus, and of a minibatch.
MADE = {
    "newsgroups, comes and goes": 8_000,
    "dblp_titles, comes and goes": 24_000,
    "wordnet_glosses, comes and goes": 40_000,
    "newsgroups, switch": 8_000,
    "dblp_titles, shuffled": 24_000,
    "imdb_unlabelled, shuffled": 6_000,
}
BY_TIME = {"health_tweets": 1_500, "commit_subjects": 1_500, "nips_abstracts": 300}
RULES: dict[str, dict[str, Any]] = {
    "SVB": {"update": "svb"},
    "power prior, 20,000 documents": {"update": PowerPrior(Memory(20_000))},
    "power prior, 5,000 documents": {"update": PowerPrior(Memory(5_000))},
    "power prior, 20,000, boosted": {"update": PowerPrior(Memory(20_000), Boost(0.1))},
    "power prior, 20,000, growth=1": {
        "update": PowerPrior(Memory(20_000)),
        "schedule": Schedule(growth=1.0),
    },
    "HPP": {"update": "hpp"},
    "online EM": {"update": "online_em"},
}


@cache
def made(stream: str) -> sparse.csr_matrix:
    """Counts of a stream that is made of a corpus with classes."""
    corpus, kind = stream.split(", ")
    rows = corpora.rows(corpus)
    rng = np.random.default_rng(0)
    rows = [rows[i] for i in rng.permutation(len(rows))[: MADE[stream]]]
    if kind != "shuffled":
        labels = np.array([row["label"] for row in rows])
        classes = rng.permutation(np.unique(labels))
        place = {name: (i + 0.5) / len(classes) for i, name in enumerate(classes)}
        centre = np.array([place[label] for label in labels])
        if kind == "switch":
            moment = (centre > 0.5) + rng.uniform(0, 1, len(rows))
        else:
            moment = centre + SPREAD * rng.standard_normal(len(rows))
        rows = [rows[i] for i in np.argsort(moment)]
    return counted([row["text"] for row in rows])


@cache
def by_time(corpus: str) -> sparse.csr_matrix:
    """Counts of a corpus in the order of time."""
    return counted(corpora.texts(corpus))


def counted(texts: list[str]) -> sparse.csr_matrix:
    """Counts of the words of three documents or more, without empty documents."""
    vectorizer = CountVectorizer(stop_words="english", min_df=3, dtype=np.float32)
    X = vectorizer.fit_transform(texts).tocsr()
    return X[X.getnnz(axis=1) > 0]


def cells(parts: list[str], seeds: list[int]) -> Iterator[tuple[str, str, str, str, int]]:
    """Yield the key in the file of each run."""
    for part in parts:
        for stream, seed in product(BY_TIME if part == "confirm" else MADE, seeds):
            for inference, name in product(("auto", "gibbs"), RULES):
                yield part, stream, name, inference, seed
            yield part, stream, ONLINE_EM, "gibbs", seed


def measured(part: str, stream: str, name: str, inference: str, seed: int) -> dict[str, float]:
    """The figures of a run."""
    confirms = part == "confirm"
    X, size = (by_time(stream), BY_TIME[stream]) if confirms else (made(stream), 1_000)
    if name == ONLINE_EM:
        return prequential(X, size, GibbsOnlineEM(N_TOPICS, random_state=seed))
    model = StreamingLDA(N_TOPICS, inference=inference, random_state=seed, **RULES[name])
    return prequential(X, size, model)


def prequential(X: sparse.csr_matrix, size: int, model: Any) -> dict[str, float]:
    """Test-then-train through a stream in minibatches of so many documents."""
    # As its defaults are: online EM takes a hundred documents at a time.
    own = model.batch_size if type(model).__name__ == ONLINE_EM else size
    start, found = time.process_time(), []
    for first in range(0, X.shape[0], size):
        batch = X[first : first + size]
        if first:
            total, score = model.score_samples(batch).sum(), model.score(batch)
            found.append((total, total / score))
        for place in range(0, batch.shape[0], own):
            model.partial_fit(batch[place : place + own])
    totals = np.array(found)
    late = totals[len(totals) // 2 :].sum(axis=0)
    return {
        "score": totals[:, 0].sum() / totals[:, 1].sum(),
        "second half": late[0] / late[1],
        "prior": float(model.prior_retention_ @ model.topic_weights_),
        "seconds": time.process_time() - start,
    }


def table(path: Path) -> str:
    """Tables of means over the seeds, in reStructuredText: models by streams."""
    tables = []
    for title, part in (("Chosen on", "choose"), ("By time", "confirm")):
        rows, lines = of(read(path), part=part), []
        streams = dict.fromkeys(row["stream"] for row in rows)
        for inference, name in dict.fromkeys((row["inference"], row["model"]) for row in rows):
            own = of(rows, inference=inference, model=name)
            here = [of(own, stream=stream) for stream in streams]
            shown = [
                " / ".join(mean(cell, figure) for figure in FIGURES[:2] if cell) for cell in here
            ]
            lines.append([inference, f'"{name}"', *shown])
        n_seeds = len({row["seed"] for row in rows})
        title = f"{title}: score / second half of the stream (n = {n_seeds})"
        tables.append(csv_table(title, ["inference", "rule", *(f'"{s}"' for s in streams)], lines))
    return "\n".join(tables)


def main() -> None:
    """Run what is not there yet, and write the tables."""
    parser = parser_of(__doc__, __file__, places=("choose", "confirm"), metavar="PART", n_seeds=1)
    options = parser.parse_args()
    keys = cells(options.places, options.seeds)
    command(options, table, lambda: add(options.results, KEY, FIGURES, keys, measured))


if __name__ == "__main__":
    main()
