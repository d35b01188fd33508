# SPDX-License-Identifier: BSD-3-Clause
"""What a round of minibatches costs: seconds of one process, a worker and the client; megabytes.

    python -m benchmarks.cluster_costs            # writes cluster_costs.csv, cluster_tasks.csv
    python -m benchmarks.cluster_costs --losses   # writes cluster_losses.csv

Measured is, for rounds of several lengths of minibatches of 100 documents: the seconds of one
process that reads (`reading`) and learns them itself (`alone`), of a worker that learns, of the
client before and after, and the bytes of the messages; and what Dask's client and scheduler need
for a task and a megabyte. All seconds are of the processor. The documents are 20 newsgroups, or
made: Zipf's law in a vocabulary of so many words. They are read from files of JSON lines.

Losses are those of the score by rounds and staleness alone, by the package's own code in one
process: workers change nothing.
"""

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import corpora
from benchmarks.results import append, read
from streamtopics.datasets import read_texts
from streamtopics.distributed import fit_partitions
from streamtopics.distributed.composites import local_task, reader_of, take_in
from streamtopics.distributed.parcels import packed
from streamtopics.text import StreamingCountVectorizer
from tests.plain import GibbsOnlineEM, VariationalOnlineEM

HERE = Path(__file__).parent
COSTS, TASKS, LOSSES = (HERE / f"cluster_{name}.csv" for name in ("costs", "tasks", "losses"))
SIZE, N_BEFORE = 100, 60
LENGTHS = (1, 8, 32, 64, 256)
# Of which the client learns the first 4,096 by itself where 32 rounds are under way.
LOSS_MINIBATCHES = 8000
METHODS = {"gibbs": GibbsOnlineEM, "variational": VariationalOnlineEM}
COST_FIELDS = (
    "method", "words", "K", "length", "reading", "alone", "worker", "before", "after",
    "mb_out", "mb_back", "distinct",
)  # fmt: skip
TASK_FIELDS = ("a_task", "a_megabyte")
LOSS_FIELDS = ("K", "rounds", "staleness", "seed", "score")


def made(n_documents: int, n_words: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Documents of a hundred words or so: Zipf's law in 100 topics and in what they share."""
    lengths = np.exp(rng.normal(4.42, 0.6, n_documents)).astype(int) + 1
    own = rng.integers(0, 100, (n_documents, 3))
    document = np.repeat(np.arange(n_documents), lengths)
    topics = own[document, rng.integers(0, 3, len(document))]
    topics[rng.random(len(document)) < 0.3] = 100
    ranks = np.exp(rng.random(len(document)) * np.log(n_words / 10)).astype(np.int64)
    words = (ranks + topics * 7_919_993) * 2_654_435_761 % n_words
    shape = n_documents, n_words
    X = sparse.csr_matrix((np.ones(len(words), np.float32), (document, words)), shape)
    X.sum_duplicates()
    return X


@cache
def split() -> corpora.Split:
    """The newsgroups."""
    return corpora.split("newsgroups_train")


def newsgroups(n_documents: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Some postings."""
    X = split().train
    return X[rng.permutation(np.resize(np.arange(X.shape[0]), n_documents))]


def quickest(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the quicker of two runs, and what it returned."""
    found = []
    for _ in range(2):
        clock = Clock()
        result = work()
        found.append((clock.read(), result))
    return min(found, key=lambda one: one[0])


class Clock:
    """Seconds of the processor since it was last read."""

    def __init__(self) -> None:
        self.last = time.process_time()

    def read(self) -> float:
        """Seconds."""
        before, self.last = self.last, time.process_time()
        return self.last - before


def measure(method: str, n_words: int, K: int, lengths: tuple[int, ...]) -> None:
    """Write a line for rounds of each length, the second of two."""
    rng = np.random.default_rng(0)

    def source(n: int) -> Any:
        return made(SIZE * n, n_words, rng) if n_words else newsgroups(SIZE * n, rng)

    model = METHODS[method](K, batch_size=SIZE, random_state=0)
    learn_here(model, source(N_BEFORE))
    for length in lengths:
        row = {"method": method, "K": K, "length": length}
        X = source(length)
        clock = Clock()
        learn_here(model, X)
        row["alone"] = clock.read()
        row["reading"] = reading(X)
        X = source(length)
        row |= one_round(model, X) | {"words": X.shape[1]}
        rounded = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()}
        append(COSTS, COST_FIELDS, rounded)


def reading(X: Any) -> float:
    """Seconds of reading and counting documents with these counts from a file."""
    words = np.char.add("w", np.arange(X.shape[1]).astype(str))
    counter = StreamingCountVectorizer(vocabulary=words.tolist(), dtype=np.float32).fit([""])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        with path.open("w") as file:
            for row in X:
                text = " ".join(np.repeat(words[row.indices], row.data.astype(int)))
                file.write(json.dumps({"text": text}) + "\n")
        clock = Clock()
        found = counter.transform(list(read_texts(path)))
        seconds = clock.read()
    assert found.sum() == X.sum()
    return seconds


def learn_here(model: Any, X: Any) -> None:
    """Learn minibatches one after another."""
    for start in range(0, X.shape[0], SIZE):
        model.partial_fit(X[start : start + SIZE])


def one_round(model: Any, X: Any) -> dict[str, Any]:
    """Learn minibatches as a round; return what each part of it takes."""
    reader = pickle.loads(pickle.dumps(reader_of(model)))
    words = np.unique(X.indices).astype(np.int32)
    before, message = quickest(lambda: packed(local_task(model, words, single=True)))

    def work() -> Any:
        parts = [reader.minibatch(X[i : i + SIZE]) for i in range(0, X.shape[0], SIZE)]
        return packed(message.opened().run(parts))

    worker, answer = quickest(work)
    clock = Clock()
    take_in(model, answer.opened())
    sizes = {
        name: sum(array.nbytes for array in parcel.arrays) / 1e6
        for name, parcel in (("mb_out", message), ("mb_back", answer))
    }
    return {
        "worker": worker, "before": before, "after": clock.read(), "distinct": len(words), **sizes
    }  # fmt: skip


def measure_tasks(n: int = 200) -> None:
    """Write what Dask's client and scheduler need for a task, and for a megabyte each way."""
    found = []
    with two_workers() as client:
        for size in (0, 4_000_000):
            payload = np.zeros(size, np.uint8)
            for timed in (False, True):
                clock, repeats = Clock(), n if size == 0 else n // 5
                for i in range(repeats if timed else 5):
                    key = f"echo-{size}-{timed}-{i}"
                    client.submit(np.copy, payload, key=key, pure=False).result()
                found.append(clock.read() / repeats)
    row = {"a_task": f"{found[1]:.5f}", "a_megabyte": f"{(found[3] - found[1]) / 8:.5f}"}
    TASKS.unlink(missing_ok=True)
    append(TASKS, TASK_FIELDS, row)


def two_workers(n: int = 2) -> Any:
    """A client with its cluster, both closed together."""
    from dask.distributed import Client

    return Client(
        n_workers=n, threads_per_worker=1, dashboard_address=None, memory_limit=0,
    )  # fmt: skip


class Now(Executor):
    """Runs each task at once."""

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        """Run a task."""
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


def measure_losses() -> None:
    """Write the held-out score after newsgroups, again and again, by rounds and staleness."""
    train, test = newsgroups(SIZE * LOSS_MINIBATCHES, np.random.default_rng(0)), split().test
    known = {tuple(row[name] for name in LOSS_FIELDS[:4]) for row in read(LOSSES)}
    for K in (50, 100):
        for rounds, staleness in ((1, 0), (8, 2), (8, 8), (64, 0), (64, 2), (64, 8), (64, 32)):
            cell = K, rounds, staleness, 0
            if tuple(map(str, cell)) not in known:
                model = GibbsOnlineEM(K, batch_size=SIZE, random_state=0)
                parts = [train[i : i + 6400] for i in range(0, train.shape[0], 6400)]
                fit_partitions(model, parts, Now(), rounds=rounds, staleness=staleness)
                score = f"{model.score(test):.4f}"
                append(LOSSES, LOSS_FIELDS, dict(zip(LOSS_FIELDS, (*cell, score), strict=True)))


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--losses", action="store_true")
    if parser.parse_args().losses:
        measure_losses()
        return
    COSTS.unlink(missing_ok=True)
    measure_tasks()
    measure("gibbs", 0, 100, LENGTHS)
    measure("variational", 0, 100, LENGTHS)
    for n_words in (100_000, 1_000_000):
        measure("gibbs", n_words, 100, LENGTHS)
        measure("gibbs", n_words, 1000, LENGTHS[:-1])


if __name__ == "__main__":
    main()
