# SPDX-License-Identifier: BSD-3-Clause
"""Where the seconds of `fit_partitions` go: files of newsgroups, worker processes of this machine.

    STREAMTOPICS_DATA=... python -m benchmarks.cluster [--topics 100] [--workers 2] [--repeats 2]
        [--before 6]

20 newsgroups, in four files of JSON lines, to topics by GibbsOnlineEM and VariationalOnlineEM, in
minibatches of 100; 1,000 documents are held out. The files are learnt once, by a model that is new
and by one that has gone over them `--before` times: late in a stream rounds are long. `serial` is a
loop over the files in one process; the others are schedules of a Dask cluster of worker processes
with one thread each. CPU seconds are of the processor, of the client with its scheduler and of all
workers; `wall` is by the clock, and means little where workers and client have no core each. The
least of the repeats counts. `client ms` are those of the client for each minibatch: however many
workers there are, a stream takes no less time than its client. `MB` are what rounds send to the
workers, and as much comes back. Scores are in nats per held-out token.
"""

import argparse
import json
import tempfile
import time
from copy import deepcopy
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from sklearn.pipeline import make_pipeline

from benchmarks import corpora
from streamtopics import GibbsOnlineEM, VariationalOnlineEM
from streamtopics.datasets import iter_minibatches, read_texts
from streamtopics.distributed import fit_partitions, learning
from streamtopics.text import StreamingCountVectorizer

BATCH, N_FILES, N_TEST = 100, 4, 1000
SCHEDULES = {
    "serial": None,
    "rounds 1, staleness 0": {"rounds": 1, "staleness": 0},
    "rounds 8, staleness 2": {"rounds": 8, "staleness": 2},
    "rounds 32, staleness 2": {"rounds": 32, "staleness": 2},
}


def serial(model, paths):
    """The loop of one process."""
    for path in paths:
        for texts in iter_minibatches(list(read_texts(path)), BATCH):
            model[-1].partial_fit(model[0].transform(texts))


class Traffic:
    """Adds up what rounds send to the workers; as much comes back."""

    def __init__(self):
        self.n_bytes, self._task = 0, learning.local_task
        learning.local_task = self

    def __call__(self, topics, words, *rest, **settings):
        self.n_bytes += 4 * topics.n_components * len(words)
        return self._task(topics, words, *rest, **settings)


class Cluster:
    """What is measured of one pass over the files, on the workers or here."""

    def __init__(self, client, paths, n_repeats):
        self.client, self.paths, self.n_repeats = client, paths, n_repeats
        self.traffic = Traffic()

    def seconds(self):
        """By the clock, and of the processor of this process and of all workers."""
        workers = sum(self.client.run(time.process_time).values())
        return np.array([time.perf_counter(), time.process_time(), workers])

    def measured(self, first, schedule):
        """The model after the pass, the least of each kind of seconds, and bytes sent."""
        runs = []
        for _ in range(self.n_repeats):
            model, self.traffic.n_bytes = deepcopy(first), 0
            before = self.seconds()
            if schedule is None:
                serial(model, self.paths)
            else:
                fit_partitions(model, self.paths, self.client, **schedule)
            runs.append(self.seconds() - before)
        return model, np.min(runs, axis=0), self.traffic.n_bytes


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {"topics": 100, "workers": 2, "repeats": 2, "before": 6}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    texts = corpora.texts("newsgroups")
    held_out, texts = texts[:N_TEST], texts[N_TEST:]
    folder = Path(tempfile.mkdtemp())
    paths = [folder / f"{i}.jsonl" for i in range(N_FILES)]
    for i, path in enumerate(paths):
        path.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts[i::N_FILES]))
    words = StreamingCountVectorizer(stop_words="english", min_df=5).fit(texts)
    X = words.transform(held_out)
    print("model, passes before, schedule, wall, CPU client, CPU workers, client ms, MB, score")
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as local,
        Client(local) as client,
    ):
        cluster = Cluster(client, paths, options.repeats)
        for estimator in (GibbsOnlineEM, VariationalOnlineEM):
            topics = estimator(options.topics, batch_size=BATCH, random_state=0)
            model = make_pipeline(words, topics)
            for n_passes in (0, options.before):
                for _ in range(n_passes):
                    serial(model, paths)
                for name, schedule in SCHEDULES.items():
                    found, seconds, n_bytes = cluster.measured(model, schedule)
                    each = 1000 * seconds[1] / (len(texts) / BATCH)
                    print(
                        f"{estimator.__name__}, {n_passes}, {name}, {seconds[0]:.2f}, "
                        f"{seconds[1]:.2f}, {seconds[2]:.2f}, {each:.1f}, {n_bytes / 1e6:.0f}, "
                        f"{found[-1].score(X):.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
