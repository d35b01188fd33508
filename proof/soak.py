# SPDX-License-Identifier: BSD-3-Clause
"""Hundreds of millions of tokens of text through streams that are killed and interrupted.

    python -m proof.soak --tokens 500000000 [--faults 40] [--only NAME] [--output FILE]
    python -m proof.soak --page doc [--output FILE]

The streams are those of `proof.soak_streams`: texts that drift and change all at once, with
empty and enormous documents, minibatches without a word and of one document, columns that change
hands; a thread reads from the model while it learns. Each runs twice. One is a service with a
checkpoint every few minibatches, which gets SIGKILL and SIGINT by turns at random moments and goes
on from its last checkpoint. The other is left alone, and shows how memory and speed go along. Every
fiftieth of a stream the counters, counts and proportions of the model are checked, and a minibatch
that is yet to come is scored.

It ends with 1 if a check failed, a reader met an error or never came to read, no signal reached the
service, the two ended in other bits or had other scores on the way, a process died by itself, was
killed by somebody else or was silent, no column changed hands, memory grew with the tokens, or a
stream became slower (`proof.soak_checks`). Rows of `soak.csv`, or of another file, are those
of streams of which nothing was wrong; what it has whole, for the same tokens, seed and faults, is
not run again. `--tokens` are of text, of all streams together: each has its share, but fifty
minibatches at least. Rows count those that were learnt, and the processor's seconds of that.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.results import append, read
from proof.commands import at_least
from proof.soak_checks import COMINGS, leaking, slower, wrong_tokens, wrong_topics
from proof.soak_page import write_page
from proof.soak_streams import (
    ROWS,
    WAYS,
    Reader,
    Send,
    Way,
    is_row,
    minibatch,
    minibatches,
    seen_until,
    yet_to_come,
)
from streamtopics import load, save
from streamtopics.streams import BatchInfo, Checkpointer, TopicTracker, resume, stream
from tests.saving.state import parts_of

OUTPUT = Path(__file__).with_name("soak.csv")
GIVEN = ("asked", "seed", "faults")
SUMS = ("seconds", "transform_calls", "recycled")
MEASURED = ("tokens", "megabytes", "score", "topics")
FIELDS = ("stream", "part", *GIVEN, "batch", *SUMS, *MEASURED, "kills", "interrupts")
SERVICE, ALONE = "service", "alone"
# Minibatches between checkpoints; seconds until a fault, at most, and until a process is ended.
CHECKPOINTS, DELAY, SILENCE = 5, 0.5, 300.0
MOST_TOKENS = 1e15


# In the process of a stream


class Along:
    """A callback that sends a message of every minibatch, and checks the model at some.

    Sums are those of this process: of the processor's seconds between a minibatch and its end, of
    the reader's calls and of columns that changed hands.
    """

    def __init__(self, way: Way, n_batches: int, send: Send, reader: Reader | None = None) -> None:
        self.way, self.n_batches, self.send, self.reader = way, n_batches, send, reader
        self.begun = self.seconds = 0.0
        self.recycled = 0

    def handed(self, batches: Iterator[list[str]]) -> Iterator[list[str]]:
        """The minibatches; the clock runs from when they are made."""
        for texts in batches:
            self.begun = time.process_time()
            yield texts

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        """Send what there is to know."""
        self.seconds += time.process_time() - self.begun
        if self.way.recycles:
            self.recycled += len(model.steps[0][1].recycled_)
        message: dict[str, Any] = {
            "batch": info.batch,
            "seconds": self.seconds,
            "transform_calls": self.reader.transform_calls if self.reader else 0,
            "recycled": self.recycled,
        }
        if is_row(info.batch, self.n_batches):
            topics = model.steps[-1][1]
            problem = wrong_topics(topics, seen_until(self.way, info.batch))
            message["problem"] = problem or wrong_tokens(model, info.X, info.n_tokens)
            coming = yet_to_come(self.way, info.batch, self.n_batches)
            message["score"] = float(model.score(coming))
            message["tokens"] = float(info.n_tokens_seen)
            message["topics"] = len(topics.topic_word_)
            message["megabytes"] = round(psutil.Process().memory_info().rss / 1e6, 1)
        self.send(message)


def serve(way: Way, folder: Path, n_batches: int, send: Send) -> None:
    """Run a stream from its last checkpoint on, again after every interrupt, and save its end."""
    while True:
        try:
            kept = resume(folder / "checkpoints")
            model, skip, tracker = way.make(2), 0, TopicTracker()
            if kept is not None:
                model, skip, (tracker,) = kept.model, kept.n_batches, kept.callbacks
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
    with Reader(way, model, minibatch(way, 0, n_batches), send) as reader:
        along = Along(way, n_batches, send, reader)
        keeper = Checkpointer(folder, every=CHECKPOINTS, also=[tracker])
        batches = along.handed(minibatches(way, skip, n_batches))
        stream(model, batches, callbacks=[along, tracker, keeper], skip=skip)


def learn_alone(way: Way, folder: Path, n_batches: int, send: Send) -> None:
    """Run a stream that nothing happens to, with checkpoints, and save its end."""
    model, along, tracker = way.make(1), Along(way, n_batches, send), TopicTracker()
    keeper = Checkpointer(folder / "kept", every=CHECKPOINTS, also=[tracker])
    batches = along.handed(minibatches(way, 0, n_batches))
    stream(model, batches, callbacks=[along, tracker, keeper])
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
        # It may have been ignored since before Python began, as in a job in the background.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.close(reader)
        work(lambda message: _write(writer, message))
        code = 0
    except BaseException as error:
        _write(writer, {"problem": f"the stream ended with {error!r:.500}"})
    finally:
        os._exit(code)


def _write(writer: int, message: dict[str, Any]) -> None:
    """Write a line, at once: those of two threads do not mix, as they are short."""
    line = json.dumps(message).encode() + b"\n"
    assert len(line) <= select.PIPE_BUF
    os.write(writer, line)


def messages_of(reader: int) -> Iterator[dict[str, Any]]:
    """What a process sends until it ends; the last line of one that was killed may be cut."""
    rest = b""
    while True:
        if not select.select([reader], [], [], SILENCE)[0]:
            yield {"problem": f"silent for {SILENCE:g} seconds", "silent": True}
            return
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from map(json.loads, lines)


class Watch:
    """What became of a stream: its rows, what was done to it, and what was wrong."""

    def __init__(self, way: Way, part: str) -> None:
        self.way, self.part = way, part
        self.rows: dict[int, dict[str, Any]] = {}
        self.kills = self.interrupts = 0
        self.problems: list[str] = []
        # Sums of earlier processes, and with those of the one that runs.
        self.before, self.sums = (dict.fromkeys(SUMS, 0.0) for _ in range(2))

    def take(self, message: dict[str, Any]) -> None:
        """Keep what a process sent."""
        if message.get("interrupted"):
            self.interrupts += 1
            # The process goes on with new sums.
            self.before = dict(self.sums)
        if message.get("problem"):
            self.add(f"{message['problem']} (minibatch {message.get('batch', 'unknown')})")
        if "seconds" in message:
            self.sums = {name: self.before[name] + message[name] for name in SUMS}
        if "score" not in message:
            return
        known = self.rows.get(message["batch"])
        if known and known["score"] != message["score"]:
            self.add(f"another score of {message['batch']} the second time")
        self.rows[message["batch"]] = {
            "stream": self.way.name, "part": self.part, "batch": message["batch"],
            "kills": self.kills, "interrupts": self.interrupts,
            **{name: round(self.sums[name], 3) for name in SUMS},
            **{name: message[name] for name in MEASURED},
        }  # fmt: skip

    def add(self, problem: str) -> None:
        """Keep what was wrong."""
        self.problems.append(f"{self.way.name}, {self.part}: {problem}")

    def follow(self, work: Callable[[Send], None], faults: list[int], rng: Any) -> bool:
        """Run a process until it ends, and tell whether it did so by a fault.

        Faults are done to it after some minibatches, each once, a kill and an interrupt by turns.
        """
        child, reader = started(work)
        self.before, sent = dict(self.sums), None
        for message in messages_of(reader):
            self.take(message)
            if message.get("silent"):
                os.kill(child, signal.SIGKILL)
            elif faults and message.get("batch", 0) >= faults[-1] and sent != signal.SIGKILL:
                faults.pop()
                time.sleep(float(rng.uniform(0, DELAY)))
                sent = signal.SIGINT if len(faults) % 2 else signal.SIGKILL
                os.kill(child, sent)
        os.close(reader)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if sent == signal.SIGKILL and ended == -signal.SIGKILL:
            self.kills += 1
            return True
        if ended:
            self.add(f"ended by no fault of ours, with {ended}")
        return False


def soak(
    way: Way, n_tokens: float, n_faults: int, seed: int, folder: Path
) -> tuple[list[dict[str, Any]], list[str]]:
    """Run both parts of a stream, and return their rows and what was wrong."""
    n_batches = way.n_batches(n_tokens)
    rng = np.random.default_rng([seed, way.seed])
    faults = sorted(rng.integers(1, n_batches, n_faults).tolist(), reverse=True)
    service, alone = Watch(way, SERVICE), Watch(way, ALONE)
    while service.follow(lambda send: serve(way, folder, n_batches, send), faults, rng):
        pass
    alone.follow(lambda send: learn_alone(way, folder, n_batches, send), [], rng)
    given = dict(zip(GIVEN, (float(n_tokens), seed, n_faults), strict=True))
    rows = [row | given for part in (service, alone) for row in part.rows.values()]
    problems = service.problems + alone.problems
    if not problems:
        problems = [f"{way.name}: {one}" for one in compared(service, alone, n_faults)]
        # The names of the arrays in a file are addresses, so what was read is compared.
        if parts_of(load(folder / SERVICE)) != parts_of(load(folder / ALONE)):
            problems.append(f"{way.name}: the two streams ended in other bits")
    return rows, problems


def compared(service: Watch, alone: Watch, n_faults: int) -> Iterator[str]:
    """What is wrong with streams that both came to their end."""
    parts = [list(one.rows.values()) for one in (service, alone)]
    scores = [[row["score"] for row in rows] for rows in parts]
    if scores[0] != scores[1]:
        yield "the two streams had other scores on the way"
    if n_faults > 1 and not (service.kills and service.interrupts):
        yield f"{service.kills} kills and {service.interrupts} interrupts of {n_faults} faults"
    if not service.sums["transform_calls"]:
        yield "nothing was read while it learnt"
    if service.way.recycles and not alone.sums["recycled"]:
        yield "no column changed hands"
    n_columns = service.way.n_columns
    found = leaking(parts[0], n_columns, COMINGS), leaking(parts[1], n_columns), slower(parts[1])
    yield from filter(None, found)


def is_whole(rows: Sequence[Mapping[str, str]], way: Way, given: tuple[float, int, int]) -> bool:
    """Whether there are the last rows of both parts of a stream, run with the same arguments."""
    last = {
        row["part"]
        for row in rows
        if row["stream"] == way.name
        and tuple(float(row[name]) for name in GIVEN) == given
        and int(row["batch"]) == way.n_batches(given[0])
    }
    return last == {SERVICE, ALONE}


def given_options() -> argparse.Namespace:
    """What the command was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--tokens",
        type=float,
        default=5e8,
        help=f"of text, of all streams together; each has {ROWS} minibatches at least",
    )
    parser.add_argument(
        "--faults", type=at_least(0), default=40, help="kills and interrupts of a stream"
    )
    parser.add_argument("--only", choices=list(WAYS), help="one of the streams")
    parser.add_argument("--seed", type=at_least(0), default=0)
    parser.add_argument(
        "--output", type=Path, default=OUTPUT, help="file of rows; default: proof/soak.csv"
    )
    parser.add_argument(
        "--page", type=Path, help="run nothing: draw what is in the file of rows into this folder"
    )
    options = parser.parse_args()
    if not 0 < options.tokens <= MOST_TOKENS:
        parser.error(f"--tokens must be more than 0, and {MOST_TOKENS:g} at most")
    for folder in (options.output.parent, options.page):
        if folder and not folder.is_dir():
            parser.error(f"there is no folder {folder}")
    if options.page and not read(options.output):
        parser.error(f"{options.output} has no rows yet: run the command without --page first")
    return options


def main() -> int:
    """Run."""
    options = given_options()
    output: Path = options.output
    if options.page:
        (options.page / "_static").mkdir(exist_ok=True)
        write_page(read(output), options.page)
        return 0
    warnings.simplefilter("error")
    given, problems = (options.tokens, options.seed, options.faults), list[str]()
    for way in WAYS.values():
        if options.only not in (None, way.name) or is_whole(read(output), way, given):
            continue
        n_tokens = way.n_batches(options.tokens) * way.n_tokens
        print(f"{way.name}: some {n_tokens:,} tokens of text, twice", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            rows, found = soak(way, options.tokens, options.faults, options.seed, Path(folder))
        problems += found
        for row in rows:
            if found:
                print(*row.values(), sep=" | ")
            else:
                append(output, FIELDS, row)
    print(*problems or ["nothing was wrong"], sep="\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
