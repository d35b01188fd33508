# SPDX-License-Identifier: BSD-3-Clause
"""Generated calls over everything public: estimators with any parameters, functions, any X.

    python -m proof.fuzz --calls 100000 [--seed 0] [--only NAME] [--state FILE]
    python -m proof.fuzz --places [--seed 0]
    python -m proof.fuzz --episode 17 [--places] [--only NAME]

An episode makes one estimator from its seed, and calls it a few times, or one function or record.
In one of five the counts and the parameters are far out, though right.
After each call: an error is one of the package's own words, and has changed nothing; what only
reads has changed nothing either; results, and what was learnt, are finite unless the documentation
says otherwise; nothing was warned of or ignored; a copy that was pickled before learns the same
bits; what was passed is as it was. Episodes run in processes of their own, so that one that dies is
reported too, with the signal and its seed. With `--places` nothing is left to chance: each
parameter has each of some fifty values that are seldom right, and episodes are those parameters;
the seed is of the other arguments.

Printed are the numbers of calls, what was short of memory, what never returned, and each distinct
failure with the seed that repeats it; with one, the exit code is 1. With a file of the state a
later run goes on from there, until there are so many calls in all; it begins anew if the package's
sources are others. From 100,000 calls on, what was called often and never returned fails too.
"""

import argparse
import gc
import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from mmap import mmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proof.children import child_of, tell
from proof.commands import at_least
from proof.fuzz_checks import PACKAGE, lines_of
from proof.fuzz_episodes import CALLS, Tally, run_episode, subjects
from proof.fuzz_places import SEEDS, places, run_place
from proof.states import read_state, write_state
from tests.conventions.every import public_estimators

# Episodes of a process, at most and at least: each imports and makes some things anew.
CHUNK, FEWEST = 1000, 8
PLACES_AT_ONCE = 50
# Bytes of what is kept of the call that was begun last.
DOOR = 300
# Seconds of the processor that an episode may take, and bytes.
PROCESSOR, MEMORY = 60, 8 * 2**30
# Objects, and collections of younger ones, after which Python looks for what may be freed.
SELDOM = (50_000, 20, 20)
# What refuses whatever is passed: the rules of these estimators forget nothing.
CLOSED = ("SVBLDA.drift_report", "BPSLDA.drift_report")
# Processes in a row that made no call, after which there is no point in going on.
MOST_IDLE = 20
# Calls in all, and of one door, after which it should have returned once.
MANY, OFTEN = 100_000, 100

Episode = Callable[[int, str | None, Tally], None]


# Processes


def run_chunk(
    seeds: range, only: str | None, state: dict[str, Any], episode: Episode = run_episode
) -> int:
    """Run episodes in a process of their own; the number of those that it came to."""
    begun, done = seeds.start, 0

    def work(writer: int) -> None:
        os.chdir(folder)
        _run_all(seeds, only, writer, last, episode)

    with TemporaryDirectory() as folder, mmap(-1, DOOR) as last, child_of(work) as child:
        for told in child.lines():
            if "begin" in told:
                begun = told["begin"]
                done += 1
            else:
                add(state, told)
        if how := child.how_it_ended():
            door = last[:].rstrip(b"\0").decode(errors="replace") or "nothing"
            key = f"{door.partition('(')[0]} | died | {how}"
            said = f"{door} {child.last_words()}".strip()
            state["failures"].setdefault(key, {"seed": begun, "said": said})
    return done


def _run_all(seeds: range, only: str | None, writer: int, last: mmap, episode: Episode) -> None:
    """Run episodes, and tell of each as it begins, and of what it came to.

    The call that was begun last is in memory that outlives the process, which costs less than to
    tell of it.
    """

    def note(door: str) -> None:
        last[:] = door.encode(errors="replace")[:DOOR].ljust(DOOR, b"\0")

    # AddressSanitizer reserves terabytes, and has a limit of its own.
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # What was imported before is looked through no more for what may be freed.
    gc.freeze()
    gc.set_threshold(*SELDOM)
    for seed in seeds:
        tell(writer, {"begin": seed})
        note("its making")
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + PROCESSOR
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        tally = Tally(tell=note)
        episode(seed, only, tally)
        tell(writer, {
            "refusals": tally.refusals, "doors": tally.doors, "short": tally.short,
            "failures": tally.failures,
        })  # fmt: skip


# States


def fresh_state(seed: int) -> dict[str, Any]:
    """Counts of nothing."""
    return {
        "next": seed * SEEDS, "calls": 0, "refusals": 0, "episodes": 0, "doors": {}, "short": {},
        "failures": {},
    }  # fmt: skip


def add(state: dict[str, Any], told: dict[str, Any]) -> None:
    """Add what an episode came to."""
    state["episodes"] += 1
    state["refusals"] += told["refusals"]
    for door, (n_calls, n_returns) in told["doors"].items():
        before = state["doors"].get(door, (0, 0))
        state["doors"][door] = [before[0] + n_calls, before[1] + n_returns]
        state["calls"] += n_calls
    for kind in ("short", "failures"):
        for key, found in told[kind].items():
            state[kind].setdefault(key, found)


def never_returned(state: dict[str, Any]) -> list[str]:
    """What was called often, and only refused; of places it says nothing."""
    if state.get("of", {}).get("places"):
        return []
    return [
        door
        for door, (n_calls, n_returns) in sorted(state["doors"].items())
        if n_calls >= OFTEN and not n_returns and door not in CLOSED
    ]


def is_wrong(state: dict[str, Any]) -> bool:
    """Whether there are failures, or what was called often enough never returned."""
    return bool(state["failures"] or (state["calls"] >= MANY and never_returned(state)))


def run(
    n_calls: int, state: dict[str, Any], only: str | None, path: Path | None,
    episode: Episode = run_episode,
) -> dict[str, Any]:  # fmt: skip
    """Run episodes until so many calls are made in all."""
    n_idle = 0
    while state["calls"] < n_calls:
        first, before = state["next"], state["calls"]
        size = min(CHUNK, max(FEWEST, (n_calls - before) // CALLS))
        done = run_chunk(range(first, first + size), only, state, episode)
        state["next"] = first + max(done, 1)
        write_state(path, state)
        n_idle = 0 if state["calls"] > before else n_idle + 1
        if n_idle >= MOST_IDLE:
            raise RuntimeError(f"{n_idle} processes in a row made no call\n{told_of(state)}")
    return state


def run_places(state: dict[str, Any], only: str | None, path: Path | None) -> dict[str, Any]:
    """Run all places that are left, in few processes."""
    end = state["next"] - state["next"] % SEEDS + len(places(only))
    while state["next"] < end:
        first = state["next"]
        last = min(first + PLACES_AT_ONCE, end)
        state["next"] += max(1, run_chunk(range(first, last), only, state, run_place))
        write_state(path, state)
    return state


# Command


def told_of(state: dict[str, Any]) -> str:
    """Numbers of calls, what never returned, and each distinct failure with its seed."""
    numbers = [f"{state[name]:,} {name}" for name in ("calls", "episodes", "refusals")]
    rows = [f"{', '.join(numbers)}, {len(state['failures']):,} distinct failures"]
    of = state.get("of", {})
    command = "python -m proof.fuzz"
    # Which episode has a number hangs on these.
    command += f" --only {of['only']!r}" if of.get("only") else ""
    command += " --places" if of.get("places") else ""
    rows += [
        f"short of memory: {key}\n    {command} --episode {seed}"
        for key, seed in state["short"].items()
    ]
    for door in never_returned(state):
        rows.append(f"never returned, of {state['doors'][door][0]:,} calls: {door}")
    for key, failure in sorted(state["failures"].items()):
        rows.append(f"{key}\n    {failure['said']}\n    {command} --episode {failure['seed']}")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--calls", type=at_least(1), default=1000, help="calls in all, or a few more; default 1000"
    )
    parser.add_argument(
        "--seed", type=at_least(0), default=0, help=f"the first episode is {SEEDS:,} times this"
    )
    parser.add_argument("--only", help="what has this in its name, such as SVBLDA or metrics")
    parser.add_argument("--state", type=Path, help="file that keeps counts, and to go on from")
    parser.add_argument("--places", action="store_true", help="each value in each place instead")
    parser.add_argument(
        "--episode", type=at_least(0), help="run this one here, of any seed; show calls and errors"
    )
    given = parser.parse_args(arguments)
    asked = {"seed": given.seed, "only": given.only, "places": given.places}
    kept_in = given.state if given.episode is None else None
    try:
        subjects(given.only)
        state = read_state(kept_in, fresh_state(given.seed), asked)
    except ValueError as error:
        parser.error(str(error))
    if given.episode is not None:
        tally, episode = Tally(tell=print, show=print), run_place if given.places else run_episode
        with TemporaryDirectory() as folder:
            os.chdir(folder)
            episode(given.episode, given.only, tally)
        n_calls = sum(n for n, _ in tally.doors.values())
        print(f"{n_calls} calls, {tally.refusals} refused, {len(tally.failures)} failures")
        print(*(f"{key}: {failure['said']}" for key, failure in tally.failures.items()), sep="\n")
        return int(bool(tally.failures))
    # Found once, before processes are forked.
    public_estimators()
    for path in PACKAGE.rglob("*.py"):
        lines_of(str(path))
    for name in ("matplotlib.pyplot", "polars"):
        with suppress(ImportError):
            import_module(name)
    if given.places:
        run_places(state, given.only, given.state)
    else:
        run(given.calls, state, given.only, given.state)
    print(told_of(state))
    return int(is_wrong(state))


if __name__ == "__main__":
    sys.exit(main())
