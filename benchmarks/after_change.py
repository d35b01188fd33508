# SPDX-License-Identifier: BSD-3-Clause
"""What it is worth to set the clock of a model back after a change, and what kappa is worth.

    python -m benchmarks.after_change [changes] [kappa] [--seeds 0 1] [--output FILE]

Streams are learnt test-then-train: each minibatch is scored by document completion before it is
learnt, in nats per held-out token. The alarm rings once, at the first changed minibatch. `changes`
writes the mean score of the seven minibatches after that one for a model that does nothing, one
whose clock is set back at the alarm to so many documents, and one that forks, to 1,500, which in
the minibatch that decides is the one set back; `kappa` the mean over all minibatches but the
first, of GibbsOnlineEM. Words are those of `benchmarks.text_quality`; 20 topics.

* curl -> numpy, rails -> git: subjects of commits in time order, 1,500 a minibatch, seven of
  the one project and then eight of the other.
* no change: rails alone; the alarm at the eighth minibatch is false.
* sci.space: newsgroups, 500 a minibatch, eight without sci.space, then eight of which a fifth is.
"""

import argparse
import gzip
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from streamtopics import GibbsOnlineEM, StreamingLDA
from streamtopics.streams import AlarmFork

N_TOPICS = 20
MODELS: dict[str, Callable[..., Any]] = {
    "GibbsOnlineEM": GibbsOnlineEM,
    "GibbsOnlineEM, kappa=0.5": partial(GibbsOnlineEM, kappa=0.5),
    "StreamingLDA": StreamingLDA,
}
# How to react: documents that count from then on, and whether to fork; None is not to.
REACTIONS: dict[str, tuple[int, bool] | None] = {
    "nothing": None,
    "1,500": (1500, False),
    "4,500": (4500, False),
    "fork": (1500, True),
}
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


def projects(first: str, second: str) -> tuple[Batches, int]:
    """Commits of one project and then of another, and the number of the change."""
    commits = sorted(rows("commit_subjects"), key=lambda row: row["time"])
    before, after = ([row["text"] for row in commits if row["label"] == p] for p in (first, second))
    start = 10_500 if first == second else 0
    return counted(before[:10_500] + after[start : start + 12_000], 1500), 7


def sci_space(seed: int = 0) -> tuple[Batches, int]:
    """Newsgroups of which a fifth is sci.space from the ninth minibatch on."""
    both = rows("newsgroups_train") + rows("newsgroups_test")
    rng = np.random.default_rng(seed)
    both = [both[i] for i in rng.permutation(len(both))]
    space = [row["text"] for row in both if row["label"] == "sci.space"]
    others = [row["text"] for row in both if row["label"] != "sci.space"]
    texts = others[:4000]
    for i in range(8):
        new = others[4000 + 400 * i : 4400 + 400 * i] + space[100 * i : 100 * (i + 1)]
        texts += [new[j] for j in rng.permutation(500)]
    return counted(texts, 500), 8


STREAMS: dict[str, Callable[[], tuple[Batches, int]]] = {
    "curl -> numpy": partial(projects, "curl", "numpy"),
    "rails -> git": partial(projects, "rails", "git"),
    "no change": partial(projects, "rails", "rails"),
    "20 % sci.space": sci_space,
}


class At:
    """An alarm that rings at one minibatch, the n-th of those it is asked about."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, model: Any, X: Any) -> bool:
        self.left -= 1
        return self.left == 0


def scores(
    model: Any, batches: Batches, change: int, reaction: tuple[int, bool] | None
) -> np.ndarray:
    """Held-out score of each minibatch but the first, before it is learnt, as the stream has it."""
    # The alarm is asked from the second minibatch on.
    n_documents, fork = reaction or (1500, False)
    at = AlarmFork(At(0 if reaction is None else change), n_documents=n_documents, fork=fork)
    found = []
    for i, X in enumerate(batches):
        if i > 0:
            found.append(model.score(X))
        at.learn(model, X)
    return np.array(found)


def changes(seeds: list[int]) -> Iterator[list[str]]:
    """Rows of the table of reactions."""
    for stream, make in STREAMS.items():
        batches, change = make()
        for name, model in MODELS.items():
            cells = []
            for reaction in REACTIONS.values():
                of_seeds = [
                    scores(model(N_TOPICS, random_state=s), batches, change, reaction)[change:]
                    for s in seeds
                ]
                cells.append(f"{np.mean(of_seeds):.3f}")
            yield [stream, name, *cells]


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
    """Rows of the table of kappa."""
    streams = [(name, size, by_time) for name, size in BY_TIME.items()]
    streams += [(f"{name}, shuffled", size, shuffled) for name, size in SHUFFLED.items()]
    for name, size, texts in streams:
        batches = counted(texts(name.partition(",")[0], size * MOST_BATCHES), size)
        cells = []
        for kappa in KAPPAS:
            found = [
                scores(GibbsOnlineEM(N_TOPICS, kappa=kappa, random_state=s), batches, 0, None)
                for s in seeds
            ]
            cells.append(f"{np.mean(found):.3f}")
        yield [name, f"{len(batches)} of {size}", *cells]


TABLES = {
    "changes": ("Test-then-train after the alarm", ("stream", "model", *REACTIONS), changes),
    "kappa": (
        "Test-then-train, GibbsOnlineEM",
        ("stream", "minibatches", *(f"kappa = {kappa}" for kappa in KAPPAS)),
        kappas,
    ),
}


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=list(TABLES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lines = []
    with threadpool_limits(limits=1):
        for name in options.tables:
            title, head, make = TABLES[name]
            quoted = ", ".join(f'"{cell}"' for cell in head)
            lines += [f".. csv-table:: {title}", f"   :header: {quoted}", ""]
            for row in make(options.seeds):
                print(*row, sep=" | ", flush=True)
                lines.append("   " + ", ".join(f'"{cell}"' for cell in row))
            lines.append("")
    if options.output:
        options.output.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
