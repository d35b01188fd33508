# SPDX-License-Identifier: BSD-3-Clause
"""Kills streams and saves at random moments, and counts what is lost: nothing should be.

    python -m proof.kills --streams 800 --saves 200 [--seed 0] [--only SVBLDA]

Processes are forked from one that has everything imported, and get SIGKILL after a random time.
Of a `stream` with a `Checkpointer`: after each kill there is a whole checkpoint that is no older
than the last one of which the process could tell, none is damaged, the folder has checkpoints and
at most one hidden part of one, and the stream that went on after all of its kills ends in the
state, bit for bit, that the uncut stream ends in. Streams are of every estimator and method that
learns from them, by turns, as `tests.conventions.every` has it. Of saves over one file: it is the
one or the other of the two models, bit for bit. How many kills fell within a write is told too.
The exit code is 1 if anything was lost, and each loss is printed with the estimator, the stream and
the moment of the kill. What a power cut leaves is not tried: the system writes on after a kill.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from proof.children import child_of
from proof.commands import at_least
from streamtopics import GibbsOnlineEM, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.streams import BatchInfo, Checkpointer, Resumed, TimedBatch, resume, stream
from tests.conventions.every import METHODS, N
from tests.saving.state import parts_of

N_BATCHES, SIZE = 30, 8
STREAMED = [name for name, case in METHODS.items() if hasattr(case.made, "partial_fit")]
# What a process tells before and after a write.
BEFORE, AFTER = b"(", b")"


@dataclass
class Kills:
    """What came of kills.

    Attributes
    ----------
    counts : Counter
    losses : list of str
        What was lost, and what repeats it.
    """

    counts: Counter[str] = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)

    def check(self, kept: bool, loss: str, where: str) -> None:
        """Note a loss, unless all is kept."""
        if not kept:
            self.losses.append(f"{loss}: {where}")


# Streams


class Telling(Checkpointer):
    """Tells before and after it writes."""

    def __init__(self, folder: Path, writer: int) -> None:
        super().__init__(folder, every=1)
        self.writer = writer

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        os.write(self.writer, BEFORE)
        super().on_batch(model, info)
        os.write(self.writer, AFTER)


def batches_of(name: str) -> list[TimedBatch]:
    """The minibatches of an estimator's stream."""
    rng, case = np.random.default_rng(0), METHODS[name]
    parts = [case.part(rng.permutation(N)[:SIZE]) for _ in range(N_BATCHES)]
    labels: list[dict[str, Any]] = [{} if part.y is None else {"y": part.y} for part in parts]
    return [
        TimedBatch(part.X, data={**y, **part.given, **part.of_stream})
        for part, y in zip(parts, labels, strict=True)
    ]


def run(name: str, folder: Path, writer: int) -> None:
    """A stream, from its last checkpoint on."""
    found = resumed(folder)
    model, skip = (METHODS[name].made, 0) if found is None else (found.model, found.n_batches)
    stream(model, batches_of(name), callbacks=[Telling(folder, writer)], skip=skip)


def resumed(folder: Path) -> Resumed | None:
    """The newest checkpoint; a warning that it is damaged is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        return resume(folder)


def uncut(name: str) -> Any:
    """The state that a stream ends in."""
    return parts_of(stream(METHODS[name].made, batches_of(name)))


def killed(work: Callable[[int], None], seconds: float) -> tuple[bool, bytes]:
    """Whether a forked process was killed after so long, or had done its work; what it told."""
    with child_of(work) as child:
        had_ended = child.wait(seconds)
        child.kill()
        code = os.waitstatus_to_exitcode(child.status or 0)
        if code != 0 and (had_ended or code != -signal.SIGKILL):
            raise SystemExit(f"a process ended by itself, {code}: {child.last_words()}")
        return code != 0, os.read(child.reader, 2**16)


def kill_stream(name: str, here: Path, expected: Any, found: Kills, rng: Any) -> None:
    """Kill a stream until it comes to its end, which is to be that of the uncut one."""
    done, was_killed = 0, True
    while was_killed:
        seconds = float(rng.uniform(0.0, 0.4))
        was_killed, told = killed(partial(run, name, here), seconds)
        where = f"{name}, {here.name}, {done} minibatches done, after {seconds:.6f} s"
        found.counts["kills"] += was_killed
        found.counts["within a write"] += was_killed and told.endswith(BEFORE)
        found.counts["before any write"] += was_killed and not told
        try:
            kept = resumed(here)
        except UserWarning as warning:
            found.check(False, f"damaged checkpoint ({warning})", where)
            kept = resume(here)
        learnt, now = done + told.count(AFTER), 0 if kept is None else kept.n_batches
        # What a process told of is in the folder; the checkpoint that it was writing may be.
        found.check(learnt <= now <= learnt + 1, "minibatches lost", where)
        names = [path.name for path in here.iterdir()] if here.is_dir() else []
        parts = [name for name in names if name.endswith(".part")]
        strange = [name for name in names if not name.startswith("checkpoint-")]
        found.check(strange == parts and len(parts) <= 1, f"strange files {strange}", where)
        found.check(len(names) <= 4, f"more than kept {names}", where)
        done = now
    found.counts["streams to their ends"] += 1
    last = resumed(here)
    assert last is not None
    found.check(parts_of(last.model) == expected, "other bits", f"{name}, {here.name}")


def kill_streams(n_kills: int, only: str, folder: Path, seed: int) -> Kills:
    """Kill streams until so many kills are done, and compare the ends of the streams."""
    found, rng = Kills(), np.random.default_rng(seed)
    names = [name for name in STREAMED if only.lower() in name.lower()]
    expected = {name: uncut(name) for name in names}
    for number, name in enumerate(cycle(names)):
        if found.counts["kills"] >= n_kills:
            break
        kill_stream(name, folder / f"stream{number}", expected[name], found, rng)
    return found


# Saves


def kill_saves(n_kills: int, folder: Path, seed: int) -> Kills:
    """Kill saves of two models over one file."""
    found, rng = Kills(), np.random.default_rng(seed)
    wide = make_lda_corpus(n_documents=300, n_features=20_000, random_state=0).X
    models = [GibbsOnlineEM(50, random_state=seed).partial_fit(wide) for seed in (0, 1)]
    known = [parts_of(model) for model in models]
    here = folder / "saves"
    here.mkdir()
    path = here / "a.model"
    save(models[0], path)
    begun = time.perf_counter()
    save(models[0], path)
    one_save = time.perf_counter() - begun

    def work(writer: int) -> None:
        for model in cycle(models):
            os.write(writer, BEFORE)
            save(model, path)
            os.write(writer, AFTER)

    for number in range(n_kills):
        seconds = float(rng.uniform(0.0, 3 * one_save))
        was_killed, told = killed(work, seconds)
        where = f"save {number}, after {seconds:.6f} s"
        found.counts["kills"] += was_killed
        found.counts["within a write"] += told.endswith(BEFORE)
        state = parts_of(load(path))
        found.check(state in known, "other bits", where)
        found.counts["left the second model"] += state == known[1]
        for other in here.iterdir():
            if other != path:
                found.check(other.name.startswith("."), "other file", where)
                found.counts["hidden parts left"] += 1
                other.unlink()
    return found


def told_of(found: Kills) -> str:
    """Numbers of kills, and of them those at certain moments."""
    return ", ".join(f"{number} {name}" for name, number in found.counts.items()) or "no kills"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--streams", type=at_least(0), default=800, help="kills of streams, or a few more"
    )
    parser.add_argument("--saves", type=at_least(0), default=200, help="kills of saves")
    parser.add_argument(
        "--only", default="", help="of streams, estimators with this in their names"
    )
    parser.add_argument("--seed", type=at_least(0), default=0)
    parser.add_argument("--folder", type=Path, help="where to write; default is a temporary folder")
    given = parser.parse_args()
    if not given.streams + given.saves:
        parser.error("--streams or --saves must be more than 0")
    if not any(given.only.lower() in name.lower() for name in STREAMED):
        parser.error(f"no estimator that learns from streams has {given.only!r} in its name")
    if given.folder is not None and not given.folder.is_dir():
        parser.error(f"there is no folder {given.folder}")
    warnings.simplefilter("ignore")
    # Takes longer than most of the processes live.
    import_module("skops.io")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        streams = kill_streams(given.streams, given.only, Path(folder), given.seed)
        print("of streams:", told_of(streams), flush=True)
        saves = kill_saves(given.saves, Path(folder), given.seed)
        print("of saves:", told_of(saves), flush=True)
    losses = [*streams.losses, *saves.losses]
    print(f"{len(losses)} losses with --seed {given.seed}", *losses, sep="\n")
    return int(bool(losses))


if __name__ == "__main__":
    sys.exit(main())
