# SPDX-License-Identifier: BSD-3-Clause
"""From raw files to topics with two worker processes of Dask beside one process with one thread.

    STREAMTOPICS_DATA=... python -m benchmarks.cluster_beside_one [newsgroups_train imdb_unlabelled
        commit_subjects] [--models StreamingLDA ...] [--workers 2] [--rounds 64] [--staleness 2]
        [--minibatches 8000] [--batch-size 100] [--components 100] [--seeds 5] [--results FILE]

A corpus is written to files of JSON lines, but for a tenth that is held out, and streamed again
and again, with its files in another order each time, until it has made so many minibatches. The
words are counted beforehand, those of five documents or more but English stop words. Either way
a minibatch is read, counted and learnt: by one process with one thread, or by workers with
`fit_partitions`, which share the processors with their client. Both take turns. `seconds` are by
the clock on the wall, from the first file to the topics, `cpu` those of the process or client;
scores are of the held-out documents, nats per token.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before numpy: one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.pipeline import make_pipeline

import streamtopics
from benchmarks.corpora import texts
from benchmarks.results import append, read
from streamtopics.datasets import read_texts
from streamtopics.distributed import count_vocabulary, fit_partitions
from streamtopics.text import StreamingCountVectorizer

FIELDS = (
    "corpus", "model", "components", "batch_size", "minibatches", "rounds", "staleness", "workers",
    "seed", "tokens", "seconds", "score", "cpu",
)  # fmt: skip
N_FILES = 24


def written(corpus: str, folder: Path) -> tuple[list[Path], list[str]]:
    """Files of a corpus, and the documents that are held out."""
    found = texts(corpus)
    order = np.random.default_rng(0).permutation(len(found))
    held_out, learnt = np.array_split(order, [len(found) // 10])
    paths = [folder / f"{corpus}-{i:02d}.jsonl" for i in range(N_FILES)]
    for path, part in zip(paths, np.array_split(learnt, N_FILES), strict=True):
        path.write_text("".join(json.dumps({"text": found[i]}) + "\n" for i in part))
    return paths, [found[i] for i in held_out]


def stream_of(paths: list[Path], n_documents: int, options: argparse.Namespace) -> list[Path]:
    """The files, as often as it takes."""
    n_passes = -(-options.minibatches * options.batch_size // n_documents)
    rng = np.random.default_rng(1)
    return [paths[i] for _ in range(n_passes) for i in rng.permutation(len(paths))]


def one_process(model: Any, paths: list[Path], options: argparse.Namespace) -> None:
    """Read, count and learn one minibatch after another."""
    counter, topics = model[0], model[-1]
    for path in paths:
        X = counter.transform(list(read_texts(path)))
        for start in range(0, X.shape[0], options.batch_size):
            topics.partial_fit(X[start : start + options.batch_size])


def timed(learn: Callable[[], Any]) -> dict[str, float]:
    """Seconds by the clock and of this process."""
    clock, cpu = time.perf_counter(), time.process_time()
    learn()
    return {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - cpu}


def run(corpus: str, options: argparse.Namespace, folder: Path, client: Client) -> None:
    """All runs of a corpus."""
    paths, held_out = written(corpus, folder)
    words = StreamingCountVectorizer(stop_words="english", min_df=5, dtype=np.float32)
    counter = count_vocabulary(words, paths, client)
    n_documents = sum(1 for path in paths for _ in path.open())
    stream = stream_of(paths, n_documents, options)
    known = {tuple(row[field] for field in FIELDS[:9]) for row in read(options.results)}
    for name in options.models:
        for seed in range(options.seeds):
            for workers in (1, options.workers):
                settings = {"components": options.components, "batch_size": options.batch_size}
                row = {"corpus": corpus, "model": name, "seed": seed, **settings}
                row |= {"minibatches": options.minibatches, "workers": workers}
                if workers > 1:
                    row |= {"rounds": options.rounds, "staleness": options.staleness}
                if tuple(str(row.get(field, "")) for field in FIELDS[:9]) in known:
                    continue
                estimator = getattr(streamtopics, name)(
                    options.components, random_state=seed, batch_size=options.batch_size
                )
                model = make_pipeline(counter, estimator)
                if workers == 1:
                    row |= timed(lambda model=model: one_process(model, stream, options))
                else:
                    row |= timed(
                        lambda model=model: fit_partitions(
                            model, stream, client, rounds=options.rounds,
                            staleness=options.staleness,
                        )
                    )  # fmt: skip
                row |= {"tokens": int(estimator.n_tokens_seen_)}
                row |= {"score": round(model.score(held_out), 4)}
                row |= {name: round(row[name], 2) for name in ("seconds", "cpu")}
                append(options.results, FIELDS, row)


def table(rows: list[dict[str, str]]) -> str:
    """Tokens a second of both, and what the score loses, mean and standard deviation of seeds."""
    head = "corpus, model, K, tokens a second of one process, of the workers, ratio, score, change"
    lines = [head]
    kinds = dict.fromkeys((row["corpus"], row["model"], row["components"]) for row in rows)
    for kind in kinds:
        own = [row for row in rows if (row["corpus"], row["model"], row["components"]) == kind]
        one, many = (
            {row["seed"]: row for row in own if (row["workers"] == "1") == alone}
            for alone in (True, False)
        )
        seeds = sorted(one.keys() & many.keys())
        if not seeds:
            continue
        rates = [
            np.mean([float(rows[s]["tokens"]) / float(rows[s]["seconds"]) for s in seeds])
            for rows in (one, many)
        ]
        change = [float(many[s]["score"]) - float(one[s]["score"]) for s in seeds]
        score = np.mean([float(one[s]["score"]) for s in seeds])
        lines.append(
            f"{', '.join(kind)}, {rates[0]:,.0f}, {rates[1]:,.0f}, {rates[1] / rates[0]:.2f}, "
            f"{score:.3f}, {np.mean(change):+.4f} ± {np.std(change):.4f} ({len(seeds)} seeds)"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is not on file yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    corpora = ["newsgroups_train", "imdb_unlabelled", "commit_subjects"]
    parser.add_argument("corpora", nargs="*", default=corpora)
    parser.add_argument("--models", nargs="+", default=["StreamingLDA"])
    for name, default in (
        ("workers", 2), ("rounds", 64), ("staleness", 2), ("minibatches", 8000),
        ("batch-size", 100), ("components", 100), ("seeds", 5),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parent / "cluster_beside_one.csv"
    )
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(options.workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        for corpus in options.corpora:
            run(corpus, options, Path(folder), client)
    print(table(read(options.results)))


if __name__ == "__main__":
    main()
