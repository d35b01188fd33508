# SPDX-License-Identifier: BSD-3-Clause
"""Kills, stops and restarts what takes part in streams on a cluster; no bit of them should change.

    python -m proof.cluster_faults --kills 100 --hangs 20 --restarts 20 [--allowed-failures 100]

Two worker processes of a Dask cluster learn the partitions of a made corpus, which are files.
Meanwhile a worker gets SIGKILL at random moments; or SIGSTOP, for some seconds, and SIGCONT; or the
client is a process of its own, which gets SIGKILL and is started again from its last checkpoint.
After each stream its tokens are counted and its bits compared to those of a stream in one process
that nothing happened to. It ends with 1 where something differs.
"""

import argparse
import hashlib
import json
import logging
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
from dask.distributed import Client, LocalCluster
from scipy import sparse

from streamtopics.datasets import make_lda_corpus
from streamtopics.distributed import fit_partitions
from streamtopics.streams import Checkpointer, resume
from tests.plain import GibbsOnlineEM

N_PARTITIONS, N_DOCUMENTS, SIZE, EVERY = 40, 600, 50, 60
STREAM = {"read": sparse.load_npz, "rounds": 8, "staleness": 2}


def write_corpus(folder: Path) -> float:
    """Write the partitions, and return the number of tokens."""
    n = N_PARTITIONS * N_DOCUMENTS
    X = make_lda_corpus(n, n_features=3000, mean_length=80, random_state=0).X
    for i in range(N_PARTITIONS):
        part = sparse.csr_matrix(X[i * N_DOCUMENTS : (i + 1) * N_DOCUMENTS])
        sparse.save_npz(folder / f"part{i:03d}.npz", part, compressed=False)
    return float(X.sum())


def learn(client: Any, folder: Path, kept: Path) -> tuple[float, str]:
    """Learn a stream, from its last checkpoint on; return its tokens and its bits."""
    found = resume(kept)
    model = GibbsOnlineEM(20, batch_size=SIZE, random_state=0) if found is None else found.model
    skip = 0 if found is None else found.n_batches
    keeper = Checkpointer(kept, every=EVERY)
    parts = sorted(folder.glob("part*.npz"))
    fit_partitions(model, parts, client, callbacks=[keeper], skip=skip, **STREAM)
    digest = hashlib.sha256()
    for array in (model.components_, model.doc_topic_prior_, model.posterior_.c):
        digest.update(np.ascontiguousarray(array).tobytes())
    return float(model.n_tokens_seen_), f"{digest.hexdigest()[:12]} {model.n_batch_iter_}"


def learn_alone(address: str, folder: Path, kept: Path, answer: Path) -> None:
    """Learn a stream as a client of its own, and write down what came out."""
    quiet()
    with Client(address) as client:
        found = learn(client, folder, kept)
    answer.write_text(json.dumps(found))


def quiet() -> None:
    """Have nothing said of workers that are gone."""
    for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def workers_of(cluster: Any) -> list[int]:
    """Process numbers of the workers that have begun to work.

    Dask does not start a worker again that dies while it starts.
    """
    known = list(cluster.scheduler.workers)
    nannies = [one for one in list(cluster.workers.values()) if one.status.name == "running"]
    found = [(nanny.pid, nanny.worker_address) for nanny in nannies]
    return [pid for pid, address in found if pid and address in known]


def kill(pid: int, _: random.Random) -> None:
    """Take a worker away."""
    os.kill(pid, signal.SIGKILL)


def stop(pid: int, rng: random.Random) -> None:
    """Have a worker not answer for some seconds, and then go on."""
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(rng.uniform(1.5, 4.0))
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def trouble(
    cluster: Any, strike: Callable[[int, random.Random], None], pause: float, rng: random.Random
) -> Iterator[Counter[str]]:
    """Strike some worker again and again, after pauses of random lengths, and count that."""
    counts: Counter[str] = Counter()
    over = threading.Event()

    def run() -> None:
        while not over.wait(rng.uniform(0.05, 2 * pause)):
            if pids := workers_of(cluster):
                try:
                    strike(rng.choice(pids), rng)
                except ProcessLookupError:
                    continue
                counts[strike.__name__] += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield counts
    finally:
        over.set()
        thread.join()


def strike_workers(
    cluster: Any, strike: Any, n: int, pause: float, folder: Path, expected: Any, rng: Any
) -> Counter[str]:
    """Learn streams until workers were struck so often."""
    total: Counter[str] = Counter()
    name = strike.__name__
    with Client(cluster) as client:
        while total[name] < n:
            kept = folder / f"{name}{total['streams']}"
            with trouble(cluster, strike, pause, rng) as counts:
                found = learn(client, folder, kept)
            total.update(counts)
            compare(total, found, expected)
    return total


def restart_clients(
    cluster: Any, n: int, seconds: float, folder: Path, expected: Any, rng: random.Random
) -> Counter[str]:
    """Learn streams whose client is killed, until that was done so often."""
    context = multiprocessing.get_context("forkserver")
    total: Counter[str] = Counter()
    while total["kill"] < n:
        kept, answer = folder / f"restart{total['streams']}", folder / "answer"
        answer.unlink(missing_ok=True)
        while not answer.exists():
            given = cluster.scheduler_address, folder, kept, answer
            process = context.Process(target=learn_alone, args=given)
            process.start()
            process.join(rng.uniform(0.5, seconds))
            if process.is_alive():
                process.kill()
                process.join()
                total["kill"] += 1
                total["with a checkpoint"] += any(kept.glob("*.model"))
            elif process.exitcode:
                raise SystemExit("a client failed without a kill")
        compare(total, tuple(json.loads(answer.read_text())), expected)
    return total


def compare(total: Counter[str], found: tuple[float, str], expected: tuple[float, str]) -> None:
    """Count a stream, and what is wrong with it."""
    total["streams"] += 1
    total["other tokens"] += found[0] != expected[0]
    total["other bits"] += found[1] != expected[1]


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="of workers, or a few more")
    parser.add_argument("--hangs", type=int, default=20, help="of workers, or a few more")
    parser.add_argument("--restarts", type=int, default=20, help="of clients, or a few more")
    parser.add_argument(
        "--allowed-failures", type=int, default=100, help="Dask's setting, 3 by default"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    quiet()
    settings = {
        "distributed.scheduler.allowed-failures": given.allowed_failures,
        # A local cluster gives up workers that are being started this long after they were lost.
        "distributed.deploy.lost-worker-timeout": "1 day",
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.worker.profile.enabled": False,
    }
    # Workers are forked from a process that has everything imported, so that they are soon back.
    distributed.utils._forkserver_preload_set = True
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        ["dask.distributed", "distributed.nanny", "distributed.worker", "streamtopics.distributed"]
    )
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name, dask.config.set(settings):
        folder = Path(name)
        n_tokens = write_corpus(folder)
        with ThreadPoolExecutor(1) as alone:
            expected = learn(alone, folder, folder / "alone")
        assert expected[0] == n_tokens, (expected, n_tokens)
        with LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster:  # fmt: skip
            begun = time.monotonic()
            with Client(cluster) as client:
                assert learn(client, folder, folder / "unbroken") == expected
            usual = time.monotonic() - begun
            print(f"{n_tokens:.0f} tokens, {usual:.1f} s a stream without trouble", flush=True)
            rest = folder, expected, rng
            runs = [
                partial(strike_workers, cluster, kill, given.kills, 1.0, *rest),
                partial(strike_workers, cluster, stop, given.hangs, 1.0, *rest),
                partial(restart_clients, cluster, given.restarts, 0.6 * usual + 1, *rest),
            ]
            wrong = False
            for title, run in zip(("kills", "hangs", "restarts"), runs, strict=True):
                begun = time.monotonic()
                counts = run()
                print(title, dict(counts), f"{time.monotonic() - begun:.0f} s", flush=True)
                wrong |= counts["other tokens"] + counts["other bits"] > 0
    sys.exit(int(wrong))


if __name__ == "__main__":
    main()
