# SPDX-License-Identifier: BSD-3-Clause
"""Hundreds of millions of tokens of text through streams that are killed and interrupted.

    python -m benchmarks.soak --tokens 500000000 [--faults 40] [--only NAME]
    python -m benchmarks.soak --page doc

The streams are those of `benchmarks.soak_streams`: texts that drift and change all at once, with
empty and enormous documents, minibatches without a word and of one document, columns that change
hands; a thread reads from the model while it learns. Each runs twice. One is a service with a
checkpoint every few minibatches, which gets SIGKILL and SIGINT at random moments and goes on from
its last checkpoint. The other is left alone, and shows how memory and speed go along. Every
fiftieth of a stream the counters, components and proportions of the model are checked, and a
minibatch that is yet to come is scored.

It ends with 1 if a check failed, a reader met an error, the two ended in other bits or had other
scores on the way, a process died by itself or was silent, or memory in the last quarter is a
tenth above that of the third. Streams that `soak.csv` has whole are not run again.
"""

import argparse
import json
import os
import select
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.results import append, read
from benchmarks.soak_page import write_page
from benchmarks.soak_streams import (
    ROWS,
    SCORED,
    WAYS,
    Reader,
    Way,
    documents_until,
    minibatch,
    minibatches,
    wrong_with,
)
from streamtopics import save
from streamtopics.streams import BatchInfo, Checkpointer, TopicTracker, resume, stream

OUTPUT = Path(__file__).with_name("soak.csv")
FIELDS = (
    "stream", "part", "batch", "tokens", "seconds", "megabytes", "score", "topics", "reads",
    "kills", "interrupts",
)  # fmt: skip
SERVICE, ALONE = "service", "alone"
# Minibatches between checkpoints; seconds until a fault, at most, and until a process is ended.
CHECKPOINTS, DELAY, SILENCE = 5, 0.5, 300.0
Send = Callable[[dict[str, Any]], None]


# In the process of a stream


class Along:
    """A callback that tells of every minibatch, and checks and measures the model at some."""

    def __init__(self, way: Way, n_batches: int, send: Send, reader: Reader) -> None:
        self.way, self.n_batches, self.send, self.reader = way, n_batches, send, reader

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        """Send what there is to know."""
        told: dict[str, Any] = {"batch": info.batch, "tokens": info.batch * self.way.n_tokens}
        if info.batch % max(1, self.n_batches // ROWS) == 0 and info.batch < self.n_batches:
            learnt = documents_until(self.way, info.batch)
            told["wrong"] = wrong_with(model, learnt) or self.reader.wrong
            coming = minibatch(self.way, info.batch, self.n_batches)[:SCORED]
            told["score"] = float(model.score(coming))
            told["topics"] = len(model.steps[-1][1].topic_word_)
            told["megabytes"] = round(psutil.Process().memory_info().rss / 1e6)
            told["reads"] = self.reader.n_reads
        self.send(told)


def serve(way: Way, folder: Path, n_batches: int, send: Send) -> None:
    """Run a stream from its last checkpoint on, again after every interrupt, and save its end."""
    while True:
        try:
            found = resume(folder / "checkpoints")
            model, skip, tracker = way.make(2), 0, TopicTracker()
            if found is not None:
                model, skip, (tracker,) = found.model, found.n_batches, found.callbacks
            run(way, model, n_batches, send, folder / "checkpoints", skip, tracker)
            # As of the other: threads change no bit.
            save(model.set_params(topics__n_jobs=1), folder / SERVICE)
            return
        except KeyboardInterrupt:
            send({"interrupted": True})


def run(
    way: Way, model: Any, n_batches: int, send: Send, folder: Path, skip: int, tracker: TopicTracker
) -> None:
    """Run a stream with its callbacks and a reader."""
    with Reader(model, minibatch(way, 0, n_batches)) as reader:
        along = Along(way, n_batches, send, reader)
        keeper = Checkpointer(folder, every=CHECKPOINTS, keep=2, also=[tracker])
        batches = minibatches(way, skip, n_batches)
        stream(model, batches, callbacks=[tracker, along, keeper], skip=skip)


def learn_alone(way: Way, folder: Path, n_batches: int, send: Send) -> None:
    """Run a stream that nothing happens to, and save its end."""
    model = way.make(1)
    along = Along(way, n_batches, send, Reader(model, []))
    stream(model, minibatches(way, 0, n_batches), callbacks=[along])
    save(model, folder / ALONE)


# In the process that watches


def started(work: Callable[[Send], None]) -> tuple[int, int]:
    """A process that does some work, and where to read what it sends."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    code = 1
    try:
        os.close(reader)
        work(lambda told: _write(writer, json.dumps(told).encode() + b"\n"))
        code = 0
    except BaseException as error:
        _write(writer, json.dumps({"wrong": f"the stream ended with {error!r}"}).encode() + b"\n")
    finally:
        os._exit(code)


def _write(writer: int, line: bytes) -> None:
    while line:
        line = line[os.write(writer, line) :]


def told_by(reader: int) -> Iterator[dict[str, Any]]:
    """What a process sends until it ends; the last line of one that was killed may be cut."""
    rest = b""
    while True:
        if not select.select([reader], [], [], SILENCE)[0]:
            yield {"wrong": f"silent for {SILENCE:g} seconds", "silent": True}
            return
        found = os.read(reader, 1 << 16)
        if not found:
            return
        *lines, rest = (rest + found).split(b"\n")
        yield from map(json.loads, lines)


class Watch:
    """What became of a stream: its rows, what was done to it, and what was wrong."""

    def __init__(self, way: Way, part: str) -> None:
        self.way, self.part = way, part
        self.rows: dict[int, dict[str, Any]] = {}
        self.kills = self.interrupts = 0
        self.wrong: list[str] = []
        self.begun = time.monotonic()

    def take(self, told: dict[str, Any]) -> None:
        """Keep what a process told."""
        self.interrupts += told.get("interrupted", False)
        if told.get("wrong"):
            self.wrong.append(f"{self.way.name}, {self.part}, {told.get('batch')}: {told['wrong']}")
        if "score" not in told:
            return
        known = self.rows.get(told["batch"])
        if known and known["score"] != told["score"]:
            self.wrong.append(f"{self.way.name}: another score of {told['batch']} the second time")
        self.rows[told["batch"]] = {
            "stream": self.way.name, "part": self.part, "batch": told["batch"],
            "seconds": round(time.monotonic() - self.begun, 1), "kills": self.kills,
            "interrupts": self.interrupts,
            **{name: told[name] for name in ("tokens", "megabytes", "score", "topics", "reads")},
        }  # fmt: skip

    def follow(self, work: Callable[[Send], None], faults: list[int], rng: Any) -> bool:
        """Run a process until it ends; do something to it after some minibatches, each once."""
        child, reader = started(work)
        for told in told_by(reader):
            self.take(told)
            if faults and told.get("batch", 0) >= faults[-1]:
                faults.pop()
                time.sleep(float(rng.uniform(0, DELAY)))
                os.kill(child, signal.SIGKILL if rng.random() < 0.5 else signal.SIGINT)
            if told.get("silent"):
                os.kill(child, signal.SIGKILL)
        os.close(reader)
        status = os.waitpid(child, 0)[1]
        was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        self.kills += was_killed
        if status and not was_killed:
            self.wrong.append(f"{self.way.name}, {self.part}: ended with the status {status}")
        return was_killed and not any("silent" in one for one in self.wrong)


def soak(
    way: Way, n_tokens: float, n_faults: int, seed: int, folder: Path
) -> tuple[list[dict[str, Any]], list[str]]:
    """Run both parts of a stream, and return their rows and what was wrong."""
    n_batches = max(ROWS, int(way.share * n_tokens / way.n_tokens))
    rng = np.random.default_rng([seed, way.seed])
    faults = sorted(rng.integers(1, n_batches, n_faults).tolist(), reverse=True)
    service = Watch(way, SERVICE)
    while service.follow(lambda send: serve(way, folder, n_batches, send), faults, rng):
        pass
    alone = Watch(way, ALONE)
    alone.follow(lambda send: learn_alone(way, folder, n_batches, send), [], rng)
    wrong = [*service.wrong, *alone.wrong]
    if not wrong:
        if (folder / SERVICE).read_bytes() != (folder / ALONE).read_bytes():
            wrong.append(f"{way.name}: the two streams ended in other bits")
        scores = [[row["score"] for row in one.rows.values()] for one in (service, alone)]
        if scores[0] != scores[1]:
            wrong.append(f"{way.name}: the two streams had other scores on the way")
        third, last = (
            np.mean([row["megabytes"] for row in part])
            for part in np.array_split(list(alone.rows.values()), 4)[2:]
        )
        if last > 1.1 * third:
            wrong.append(f"{way.name}: memory grew from {third:.0f} to {last:.0f} MB")
    return [*service.rows.values(), *alone.rows.values()], wrong


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", type=float, default=5e8)
    parser.add_argument("--faults", type=int, default=40, help="kills and interrupts of a stream")
    parser.add_argument("--only", choices=list(WAYS), help="one of the streams")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="write table and picture into this folder")
    given = parser.parse_args()
    if given.page:
        write_page(read(OUTPUT), given.page)
        return 0
    warnings.simplefilter("error")
    done, wrong = {row["stream"] for row in read(OUTPUT)}, []
    for way in WAYS.values():
        if way.name in done or given.only not in (None, way.name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows, found = soak(way, given.tokens, given.faults, given.seed, Path(folder))
        for row in rows:
            append(OUTPUT, FIELDS, row)
        wrong += found
    print(*wrong or ["nothing was wrong"], sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
