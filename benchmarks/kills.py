# SPDX-License-Identifier: BSD-3-Clause
"""Kills streams and saves at random moments, and counts what is lost: nothing should be.

    python benchmarks/kills.py --streams 500 --saves 200

Processes are forked from one that has everything imported, and get SIGKILL after a random time.
Of a stream with a `Checkpointer`: after each kill there is a whole checkpoint that is no older
than before, the folder has checkpoints only, and the stream that went on after all of its kills
ends in the file, byte for byte, that the uncut stream ends in. Of saves over one file: it is the
one or the other of the two models, byte for byte.
"""

import argparse
import os
import signal
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np

from streamtopics import GibbsOnlineEM, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.streams import Checkpointer, resume
from streamtopics.streams.callbacks import BatchInfo

N_BATCHES = 60
X = make_lda_corpus(n_documents=600, n_features=500, n_components=5, random_state=0).X
BATCHES = [X[i : i + 10] for i in range(0, 600, 10)]


def fresh():
    """The model of all streams."""
    return GibbsOnlineEM(5, random_state=0)


def run(folder, progress):
    """A stream, from its last checkpoint on; `progress` is told of each minibatch learnt."""
    found = resume(folder)
    model, skip = (fresh(), 0) if found is None else (found.model, found.n_batches)
    checkpointer = Checkpointer(folder, every=1, keep=2)
    for number in range(skip + 1, N_BATCHES + 1):
        model.partial_fit(BATCHES[number - 1])
        n_documents, n_tokens = model.n_documents_seen_, model.n_tokens_seen_
        checkpointer.on_batch(
            model, BatchInfo(number, None, None, 10, 0.0, n_documents, n_tokens, np.nan)
        )
        os.write(progress, b".")


def killed(work, seconds):
    """Whether a forked process that does some work was killed after so long, or had ended."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return check_status(status)
        time.sleep(min(0.0005, max(0.0, end - time.monotonic())))
    os.kill(child, signal.SIGKILL)
    return check_status(os.waitpid(child, 0)[1])


def check_status(status):
    """Whether it was killed; an error of its own is none of both."""
    if os.WIFSIGNALED(status):
        return True
    if os.WEXITSTATUS(status):
        raise SystemExit("a process failed without a kill")
    return False


def content_of(model, folder):
    save(model, folder / "compared")
    return (folder / "compared").read_bytes()


def kill_streams(n_kills, folder, rng):
    """Kill streams until so many kills are done, and compare the ends of the streams."""
    counts, uncut = Counter(), fresh()
    for batch in BATCHES:
        uncut.partial_fit(batch)
    expected = content_of(uncut, folder)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    for number in range(10**9):
        if counts["kills"] >= n_kills:
            return counts
        here, done = folder / f"stream{number}", 0
        while True:
            was_killed = killed(partial(run, here, writer), float(rng.uniform(0.0, 0.4)))
            learnt = done + len(read_all(reader))
            found = resume(here)
            now = 0 if found is None else found.n_batches
            counts["kills"] += was_killed
            # What a minibatch was told of is on the disk; of the next one it may be.
            counts["minibatches lost"] += not learnt <= now <= learnt + 1
            names = [path.name for path in here.iterdir()] if here.is_dir() else []
            counts["strange files"] += sum(not name.startswith("checkpoint-") for name in names)
            counts["more than kept"] += len(names) > 3
            done = now
            if not was_killed:
                break
        counts["streams"] += 1
        counts["other bits"] += content_of(resume(here).model, folder) != expected


def read_all(reader):
    try:
        return os.read(reader, 10**6)
    except BlockingIOError:
        return b""


def kill_saves(n_kills, folder, rng):
    """Kill saves of two models over one file."""
    wide = make_lda_corpus(n_documents=300, n_features=20_000, random_state=0).X
    models = [GibbsOnlineEM(50, random_state=seed).partial_fit(wide) for seed in (0, 1)]
    known = [content_of(model, folder) for model in models]
    here, counts = folder / "saves", Counter({"half-written files": 0, "whole copies left": 0})
    here.mkdir()
    path = here / "a.model"
    save(models[0], path)
    begun = time.perf_counter()
    save(models[0], path)
    one_save = time.perf_counter() - begun

    def work():
        for model in cycle(models):
            save(model, path)

    for _ in range(n_kills):
        counts["kills"] += killed(work, float(rng.uniform(0.0, 3 * one_save)))
        content = path.read_bytes()
        counts["other bytes"] += content not in known
        counts["the second model"] += content == known[1]
        load(path)
        for other in here.iterdir():
            if other != path:
                counts["half-written files"] += other.read_bytes() not in known
                counts["whole copies left"] += 1
                other.unlink()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=500, help="kills of streams")
    parser.add_argument("--saves", type=int, default=200, help="kills of saves")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to write; default is a temporary folder")
    given = parser.parse_args()
    warnings.simplefilter("error")
    rng = np.random.default_rng(given.seed)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        print("streams", dict(kill_streams(given.streams, Path(folder), rng)), flush=True)
        print("saves  ", dict(kill_saves(given.saves, Path(folder), rng)), flush=True)


if __name__ == "__main__":
    main()
