# SPDX-License-Identifier: BSD-3-Clause
"""Generated calls over everything public: estimators with any parameters, functions, any X.

    python -m benchmarks.fuzz --calls 100000 [--seed 0] [--only NAME] [--state FILE]
    python -m benchmarks.fuzz --episode 17

An episode makes one estimator from its seed, and calls it a few times, or one function. After
each call: an error is one of the package's own words, and has changed nothing; what only reads
has changed nothing either; results are finite unless the documentation says otherwise; a copy
that was pickled before learns the same bits; what was passed is as it was. Episodes run in
processes of their own, so that one that dies is reported too, with the signal and its seed.

Printed are the numbers of calls, and each distinct failure with the seed that repeats it; with
one, the exit code is 1. With a file of the state a later run goes on from there.
"""

import argparse
import faulthandler
import json
import os
import resource
import select
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.fuzz_episodes import Tally, public_estimators, run_episode, subjects

CHUNK = 40
# Seeds of episodes of one `--seed`.
SEEDS = 10**9
# Seconds of the processor that an episode may take, seconds until a silent one is ended, bytes.
PROCESSOR, SILENCE, MEMORY = 60, 600, 8 * 2**30

Episode = Callable[[int, str | None, Tally], None]


# Processes


def run_chunk(
    seeds: range, only: str | None, state: dict[str, Any], episode: Episode = run_episode
) -> int:
    """Run episodes in a process of their own; the number of those that it came to."""
    reader, child = in_child(lambda writer: _run_all(seeds, only, writer, episode))
    begun, door, done = seeds.start, "nothing", 0
    for told in lines_of(reader, child):
        if "begin" in told:
            begun, door = told["begin"], "its making"
            done += 1
        elif "door" in told:
            door = told["door"]
        else:
            add(state, told)
    os.close(reader)
    if how := how_it_ended(child):
        key = f"{door.partition('(')[0]} | died | {how}"
        state["failures"].setdefault(key, {"seed": begun, "said": door[:300]})
    return done


def in_child(work: Callable[[int], None]) -> tuple[int, int]:
    """Fork a process that does some work and tells of it; where to read that, and its number."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return reader, child
    os.close(reader)
    faulthandler.disable()
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    code = 1
    try:
        work(writer)
        code = 0
    except BaseException as error:
        tell(writer, {"door": f"the fuzzer ({''.join(traceback.format_exception(error)[-2:])})"})
    finally:
        os._exit(code)


def how_it_ended(child: int) -> str:
    """How a process ended, in a word; nothing if it ended well."""
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit code {status >> 8}" if status else ""


def _run_all(seeds: range, only: str | None, writer: int, episode: Episode) -> None:
    """Run episodes and tell of each as it begins, of its calls, and of what it came to."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for seed in seeds:
        tell(writer, {"begin": seed})
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + PROCESSOR
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        tally = Tally(tell=lambda door: tell(writer, {"door": door[:300]}))
        episode(seed, only, tally)
        tell(writer, {
            "calls": tally.calls, "refusals": tally.refusals, "episodes": 1,
            "failures": tally.failures,
        })  # fmt: skip


def tell(writer: int, told: dict[str, Any]) -> None:
    """Write a line, all of it."""
    line = json.dumps(told).encode() + b"\n"
    while line:
        line = line[os.write(writer, line) :]


def lines_of(reader: int, child: int) -> Iterator[dict[str, Any]]:
    """What a process tells until it ends; one that is silent for long is ended."""
    rest = b""
    while True:
        if not select.select([reader], [], [], SILENCE)[0]:
            os.kill(child, signal.SIGKILL)
        more = os.read(reader, 2**16)
        if not more:
            return
        *whole, rest = (rest + more).split(b"\n")
        yield from map(json.loads, whole)


# States


def fresh_state(seed: int) -> dict[str, Any]:
    """Counts of nothing."""
    return {"next": seed * SEEDS, "calls": 0, "refusals": 0, "episodes": 0, "failures": {}}


def add(state: dict[str, Any], told: dict[str, Any]) -> None:
    """Add what an episode came to."""
    for name in ("calls", "refusals", "episodes"):
        state[name] += told[name]
    for key, failure in told["failures"].items():
        state["failures"].setdefault(key, failure)


def read_state(path: Path | None, seed: int) -> dict[str, Any]:
    """The state of a file, or a fresh one."""
    if path is None or not path.exists():
        return fresh_state(seed)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def write_state(path: Path | None, state: dict[str, Any]) -> None:
    """Replace the file of a state at once."""
    if path is not None:
        half = path.with_name(f"{path.name}.part")
        half.write_text(json.dumps(state, indent=1))
        half.replace(path)


def run(
    n_calls: int, state: dict[str, Any], only: str | None, path: Path | None,
    episode: Episode = run_episode,
) -> dict[str, Any]:  # fmt: skip
    """Run episodes until so many more calls are made."""
    enough = state["calls"] + n_calls
    while state["calls"] < enough:
        first = state["next"]
        done = run_chunk(range(first, first + CHUNK), only, state, episode)
        state["next"] = first + max(done, 1)
        write_state(path, state)
    return state


# Command


def told_of(state: dict[str, Any]) -> str:
    """Numbers of calls, and each distinct failure with its seed."""
    numbers = [f"{state[name]:,} {name}" for name in ("calls", "episodes", "refusals")]
    rows = [f"{', '.join(numbers)}, {len(state['failures']):,} distinct failures"]
    for key, failure in sorted(state["failures"].items()):
        rows.append(f"{key}\n    --episode {failure['seed']}: {failure['said']}")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=1000, help="calls to make; default 1000")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--only", help="what has this in its name, such as SVBLDA or metrics")
    parser.add_argument("--state", type=Path, help="file that keeps counts, and to go on from")
    parser.add_argument("--episode", type=int, help="run this one here, and show all of it")
    given = parser.parse_args(arguments)
    try:
        subjects(given.only)
    except ValueError as error:
        parser.error(str(error))
    if given.episode is not None:
        tally = Tally(tell=print, show=print)
        run_episode(given.episode, given.only, tally)
        return int(bool(tally.failures))
    # Found once, before processes are forked.
    public_estimators()
    state = run(given.calls, read_state(given.state, given.seed), given.only, given.state)
    print(told_of(state))
    return int(bool(state["failures"]))


if __name__ == "__main__":
    sys.exit(main())
