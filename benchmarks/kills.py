# SPDX-License-Identifier: BSD-3-Clause
"""Kills streams and saves at random moments, and counts what is lost: nothing should be.

    python -m benchmarks.kills --streams 800 --saves 200

Processes are forked from one that has everything imported, and get SIGKILL after a random time.
Of a stream with a `Checkpointer`: after each kill there is a whole checkpoint that is no older
than before, the folder has checkpoints only, and the stream that went on after all of its kills
ends in the file, byte for byte, that the uncut stream ends in. Streams are of every estimator that
learns from them, by turns, as `tests.conventions.every` has it. Of saves over one file: it is the
one or the other of the two models, byte for byte. The exit code is 1 if anything was lost.
"""

import argparse
import os
import signal
import sys
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
from tests.conventions.every import EVERY, N

N_BATCHES, SIZE = 30, 8
STREAMED = [name for name, case in EVERY.items() if hasattr(case.made, "partial_fit")]
# Counts of what should never be.
LOSSES = (
    "minibatches lost", "strange files", "more than kept", "other bits", "other bytes",
    "half-written files",
)  # fmt: skip


def batches_of(name):
    """The minibatches of an estimator's stream."""
    rng, case = np.random.default_rng(0), EVERY[name]
    return [case.part(rng.permutation(N)[:SIZE]) for _ in range(N_BATCHES)]


def run(name, folder, progress):
    """A stream, from its last checkpoint on; `progress` is told of each minibatch learnt."""
    found = resume(folder)
    model, skip = (EVERY[name].made, 0) if found is None else (found.model, found.n_batches)
    checkpointer = Checkpointer(folder, every=1, keep=2)
    for number, batch in enumerate(batches_of(name)[skip:], start=skip + 1):
        batch.taught(model)
        checkpointer.on_batch(
            model, BatchInfo(number, None, None, SIZE, 0.0, number * SIZE, 0.0, np.nan)
        )
        os.write(progress, b".")


def uncut(name, folder):
    """The file that a stream ends in."""
    model = EVERY[name].made
    for batch in batches_of(name):
        batch.taught(model)
    return content_of(model, folder)


def two_models(name):
    """Two models of an estimator that have learnt."""
    case = EVERY[name]
    return [case.part(rows).taught(case.made, "fit") for rows in (np.arange(N), np.arange(2, N))]


def save_for_ever(name, path):
    """Save two models of an estimator over one file, when that was told."""
    warnings.simplefilter("ignore")
    models = two_models(name)
    print("ready", flush=True)
    for model in cycle(models):
        save(model, path)


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
    counts = Counter()
    expected = {name: uncut(name, folder) for name in STREAMED}
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    for number in range(10**9):
        if counts["kills"] >= n_kills:
            return counts
        here, done = folder / f"stream{number}", 0
        name = STREAMED[number % len(STREAMED)]
        while True:
            was_killed = killed(partial(run, name, here, writer), float(rng.uniform(0.0, 0.4)))
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
        counts["other bits"] += content_of(resume(here).model, folder) != expected[name]


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
    parser.add_argument("--streams", type=int, default=800, help="kills of streams")
    parser.add_argument("--saves", type=int, default=200, help="kills of saves")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to write; default is a temporary folder")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(given.seed)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        streams = kill_streams(given.streams, Path(folder), rng)
        print("streams", dict(streams), flush=True)
        saves = kill_saves(given.saves, Path(folder), rng)
        print("saves  ", dict(saves), flush=True)
    return int(any(counts[name] for counts in (streams, saves) for name in LOSSES))


if __name__ == "__main__":
    sys.exit(main())
