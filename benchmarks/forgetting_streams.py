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

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora, results
from streamtopics import StreamingLDA
from streamtopics.estimators import Schedule
from streamtopics.updates import Boost, Memory, PowerPrior
from tests.plain import GibbsOnlineEM

N_TOPICS = 50
SPREAD = 0.2
FIELDS = (
    "part",
    "stream",
    "model",
    "inference",
    "seed",
    "score",
    "second half",
    "prior",
    "seconds",
)
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
    names = ["newsgroups_train", "newsgroups_test"] if corpus == "newsgroups" else [corpus]
    rows = [row for name in names for row in read(name)]
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


def read(corpus: str) -> list[dict[str, Any]]:
    """Documents of a corpus with their fields."""
    with gzip.open(corpora.folder() / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def by_time(corpus: str) -> sparse.csr_matrix:
    """Counts of a corpus in the order of time."""
    return counted(corpora.texts(corpus))


def counted(texts: list[str]) -> sparse.csr_matrix:
    """Counts of the words of three documents or more, without empty documents."""
    vectorizer = CountVectorizer(stop_words="english", min_df=3, dtype=np.float32)
    X = vectorizer.fit_transform(texts).tocsr()
    return X[X.getnnz(axis=1) > 0]


def cells(parts: list[str], seeds: list[int]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the key in the file and the model of each run."""
    for part in parts:
        for stream in BY_TIME if part == "confirm" else MADE:
            for seed in seeds:
                for inference in ("auto", "gibbs"):
                    for name, parameters in RULES.items():
                        model = StreamingLDA(
                            N_TOPICS, inference=inference, random_state=seed, **parameters
                        )
                        yield (part, stream, name, inference, str(seed)), model
                online_em = GibbsOnlineEM(N_TOPICS, random_state=seed)
                yield (part, stream, "GibbsOnlineEM", "gibbs", str(seed)), online_em


def measured(X: sparse.csr_matrix, size: int, model: Any) -> dict[str, float]:
    """Test-then-train through a stream in minibatches of so many documents."""
    start, found = time.process_time(), []
    for first in range(0, X.shape[0], size):
        batch = X[first : first + size]
        if first:
            total, score = model.score_samples(batch).sum(), model.score(batch)
            found.append((total, total / score))
        # As its defaults are: online EM takes a hundred documents at a time.
        own = model.batch_size if type(model).__name__ == "GibbsOnlineEM" else batch.shape[0]
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
    """Tables of means over the seeds, in reStructuredText."""
    rows = results.read(path)
    titles = {
        "choose": "Chosen on: score / second half of the stream",
        "confirm": "By time: score / second half of the stream",
    }
    return "\n".join(
        _csv_table(title, [row for row in rows if row["part"] == part])
        for part, title in titles.items()
    )


def _csv_table(title: str, rows: list[dict[str, str]]) -> str:
    """A line for each model and a column for each stream."""
    streams = list(dict.fromkeys(row["stream"] for row in rows))
    models = list(dict.fromkeys((row["inference"], row["model"]) for row in rows))
    head = ", ".join(["inference", "rule", *(f'"{stream}"' for stream in streams)])
    n_seeds = len({row["seed"] for row in rows})
    lines = [f".. csv-table:: {title} (n = {n_seeds})", f"   :header: {head}", ""]
    for inference, name in models:
        shown = []
        for stream in streams:
            key = (inference, name, stream)
            own = [row for row in rows if (row["inference"], row["model"], row["stream"]) == key]
            means = [np.mean([float(row[f]) for row in own]) for f in FIELDS[5:7] if own]
            shown.append(" / ".join(f"{mean:.3f}" for mean in means))
        lines.append("   " + ", ".join([inference, f'"{name}"', *shown]))
    return "\n".join([*lines, ""])


def main() -> None:
    """Run what is not there yet, or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", default=["choose", "confirm"])
    here = Path(__file__)
    parser.add_argument("--results", type=Path, default=here.with_suffix(".csv"))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table:
        options.table.write_text(table(options.results), encoding="utf-8")
        return
    done = {tuple(row[name] for name in FIELDS[:5]) for row in results.read(options.results)}
    for key, model in cells(options.parts, options.seeds):
        if key in done:
            continue
        part, stream = key[:2]
        confirms = part == "confirm"
        X, size = (by_time(stream), BY_TIME[stream]) if confirms else (made(stream), 1_000)
        figures = {name: f"{value:.4f}" for name, value in measured(X, size, model).items()}
        results.append(options.results, FIELDS, dict(zip(FIELDS, key, strict=False)) | figures)


if __name__ == "__main__":
    main()
