# SPDX-License-Identifier: BSD-3-Clause
"""What the decay of the step size, kappa, is worth on streams by time and on shuffled ones.

    python -m benchmarks.kappa [--seeds 0 1] [--output FILE]

Streams are learnt test-then-train by GibbsOnlineEM with 20 topics: each minibatch is scored by
document completion before it is learnt, in nats per held-out token. The table has the mean over
all minibatches but the first. Words are those of `benchmarks.text_quality`.
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from streamtopics.base.topic_model import StreamingTopicModel
from tests.plain import GibbsOnlineEM

N_TOPICS = 20
KAPPAS = (0.5, 0.6, 0.7)
# Corpora by time, with documents in a minibatch; sub-sampled to so many minibatches.
BY_TIME = {"commit_subjects": 1500, "health_tweets": 1500, "nips_abstracts": 300}
SHUFFLED = {"commit_subjects": 1500, "newsgroups": 500}
MOST_BATCHES = 20

Batches = list[sparse.csr_matrix]


def counted(texts: list[str], size: int) -> Batches:
    """Minibatches of counts, in order."""
    vectorizer = CountVectorizer(
        stop_words="english", token_pattern=r"\b[^\W\d_]{2,}\b", min_df=3, dtype=np.float32
    )
    X = vectorizer.fit_transform(texts).tocsr()
    return [X[i : i + size] for i in range(0, X.shape[0] - size + 1, size)]


def rows(name: str) -> list[dict[str, Any]]:
    """Documents of a corpus with their fields."""
    with gzip.open(corpora.folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def mean_score(model: StreamingTopicModel, batches: Batches) -> float:
    """Mean held-out score of the minibatches but the first, each before it is learnt."""
    found = []
    model.partial_fit(batches[0])
    for X in batches[1:]:
        found.append(model.score(X))
        model.partial_fit(X)
    return float(np.mean(found))


def by_time(corpus: str, most: int) -> list[str]:
    """Texts in the order of time, spread evenly over it."""
    documents = rows(corpus)
    time = "time" if "time" in documents[0] else "year"
    documents = sorted(documents, key=lambda row: row[time])
    chosen = np.linspace(0, len(documents) - 1, min(len(documents), most)).astype(int)
    return [documents[i]["text"] for i in chosen]


def shuffled(corpus: str, most: int) -> list[str]:
    """Texts in a random order."""
    texts = corpora.texts(corpus)
    return [texts[i] for i in np.random.default_rng(0).permutation(len(texts))[:most]]


def kappas(seeds: list[int]) -> Iterator[list[str]]:
    """Rows of the table."""
    streams = [(name, size, by_time) for name, size in BY_TIME.items()]
    streams += [(f"{name}, shuffled", size, shuffled) for name, size in SHUFFLED.items()]
    for name, size, texts in streams:
        batches = counted(texts(name.partition(",")[0], size * MOST_BATCHES), size)
        cells = []
        for kappa in KAPPAS:
            found = [
                mean_score(GibbsOnlineEM(N_TOPICS, kappa=kappa, random_state=s), batches)
                for s in seeds
            ]
            cells.append(f"{np.mean(found):.3f}")
        yield [name, f"{len(batches)} of {size}", *cells]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    head = ("stream", "minibatches", *(f"kappa = {kappa}" for kappa in KAPPAS))
    quoted = ", ".join(f'"{cell}"' for cell in head)
    lines = [".. csv-table:: Test-then-train, GibbsOnlineEM", f"   :header: {quoted}", ""]
    with threadpool_limits(limits=1):
        for row in kappas(options.seeds):
            print(*row, sep=" | ", flush=True)
            lines.append("   " + ", ".join(f'"{cell}"' for cell in row))
    if options.output:
        options.output.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
