# SPDX-License-Identifier: BSD-3-Clause
"""Learns text without an end on two local workers, and says how much memory each process has.

    python -m benchmarks.cluster_endless --tokens 1000000000

Partitions are numbers that a generator yields; a worker makes the text of one, see
`benchmarks.endless_text`, counts its words in 2^17 buckets and learns them. A line of
`cluster_endless.csv` every so many tokens: seconds, megabytes of the client, which the scheduler
is part of, and of the workers together. It ends with 1 if in the last quarter of the stream they
have a tenth more than in the one before, on average.
"""

import argparse
import logging
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import dask
import numpy as np
import psutil
from dask.distributed import Client, LocalCluster
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline

from benchmarks.endless_text import EndlessText
from benchmarks.results import append
from streamtopics.distributed import fit_partitions
from tests.plain import VariationalOnlineEM

DOCUMENTS, TOKENS = 16_000, 1_600_000
FIELDS = ("tokens", "seconds", "client", "workers")
OUTPUT = Path(__file__).with_name("cluster_endless.csv")


def read(number: int) -> list[str]:
    """Return the texts of a partition."""
    text = EndlessText(number)
    text.n_tokens = number * TOKENS
    return text.documents(DOCUMENTS)


class Watch:
    """A callback that writes down memory along the stream, and ends it."""

    def __init__(self, cluster: Any, n_tokens: float) -> None:
        self.cluster, self.n_tokens, self.begun = cluster, n_tokens, time.monotonic()
        self.rows: list[dict[str, float]] = []

    def on_batch(self, _: Any, info: Any) -> bool:
        """Write a line after every fiftieth of the stream."""
        if info.n_tokens_seen >= (len(self.rows) + 1) * self.n_tokens / 50:
            pids = [nanny.pid for nanny in self.cluster.workers.values()]
            row = {
                "tokens": int(info.n_tokens_seen),
                "seconds": round(time.monotonic() - self.begun, 1),
                "client": round(megabytes()),
                "workers": round(sum(map(megabytes, pids))),
            }
            append(OUTPUT, FIELDS, row)
            self.rows.append(row)
        return bool(info.n_tokens_seen >= self.n_tokens)


def megabytes(pid: int | None = None) -> float:
    """Return the memory that a process has."""
    return float(psutil.Process(pid).memory_info().rss) / 1e6


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", type=float, default=1e9)
    parser.add_argument("--components", type=int, default=100)
    given = parser.parse_args()
    counter = HashingVectorizer(n_features=2**17, alternate_sign=False, norm=None)
    topics = VariationalOnlineEM(given.components, batch_size=500, random_state=0)
    OUTPUT.unlink(missing_ok=True)
    started = partial(
        LocalCluster, n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0,
        silence_logs=logging.CRITICAL,
    )  # fmt: skip
    dask.config.set({"distributed.worker.profile.enabled": False})
    with started() as cluster, Client(cluster) as client:
        watch = Watch(cluster, given.tokens)
        model = make_pipeline(counter, topics)
        fit_partitions(model, count(), client, read=read, callbacks=[watch])
    end, grown = watch.rows[-1], False
    print(f"{end['tokens'] / end['seconds']:.0f} tokens a second")
    for name in ("client", "workers"):
        quarters = [np.mean([row[name] for row in part]) for part in np.array_split(watch.rows, 4)]
        grown |= quarters[3] > 1.1 * quarters[2]
        print(name, "MB by quarters of the stream:", *map(round, quarters))
    sys.exit(int(grown))


if __name__ == "__main__":
    main()
