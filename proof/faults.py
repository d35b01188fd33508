# SPDX-License-Identifier: BSD-3-Clause
"""Interrupts and failing allocations, one at each place of calls of every public estimator.

    python -m proof.faults --interrupts 100000 --allocations 100000 [--state FILE]
    python -m proof.faults --only SVBLDA --door later --interrupts 1000
    python -m proof.faults --repeat SVBLDA:later:interrupts:0:17

Interrupts are raised at lines of the package. Of the allocations that fail, a third are lines
that raise MemoryError, a third are of Python's objects, and a third of the kernels' own; the latter
two need gcc and glibc. `proof.fault_calls` says which calls these are, and
what has to hold after each.

A door of an estimator is a kind of call, such as a first `partial_fit`. The door that had the
fewest disturbed calls has the next, with a few places that lie far apart; when it has had all of
its places, it begins a lap with other minibatches. All runs in processes of their own, so that one
that dies, or a call that does not end, is reported too. One that dies within NumPy or SciPy, which
do not look whether Python had memory for each of their objects, is counted as theirs, and one in
which Python waits for a thread that had none to begin as Python's. Printed are the numbers for each
estimator, calls left out that did not come to their place, and each distinct failure with what
repeats it; with one, the exit code is 1. With a file of the state a later run goes on from there,
until as many are disturbed in all; it begins anew if the package's sources are others.
"""

import argparse
import faulthandler
import math
import os
import re
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from proof.children import child_of, tell
from proof.commands import at_least
from proof.fault_calls import DOORS, doors_of, undisturbed
from proof.fault_means import Means, Memory, compiled, is_first
from proof.states import read_state, write_state
from tests.conventions.every import METHODS
from tests.interrupts import Lines

# Places that a door has at a time.
TURN = 50
GOLDEN = (math.sqrt(5) - 1) / 2
INTERRUPTS = ("interrupts",)
ALLOCATIONS = ("lines", "objects", "kernels")
# Seconds that a call may take.
PATIENCE = 60
# Characters of what a process said before it died: the stacks of its threads.
WORDS = 10_000
# Libraries that do not look at all that Python gives them, and where Python waits for a thread that
# had no memory to begin.
OTHERS = re.compile(
    r"^died in .*/(numpy|scipy)/|/(threading)\.py\", line \d+ in start$", re.MULTILINE
)


class Walk(NamedTuple):
    """A door of an estimator, and what its calls are disturbed by."""

    name: str
    door: str
    means: str

    @property
    def key(self) -> str:
        """The walk in a word."""
        return ":".join(self)


class Stand(NamedTuple):
    """How far a walk is: its lap, the places of it that are done, and calls disturbed in all."""

    lap: int = 0
    done: int = 0
    n_disturbed: int = 0


def means_of(name: str, library: Path | None) -> Means:
    """What disturbs calls, by its name."""
    if name in ("interrupts", "lines"):
        return Lines(KeyboardInterrupt if name == "interrupts" else MemoryError)
    if library is None:
        raise OSError(f"{name} need the library")
    return Memory(library, name)


def place_of(number: int, n: int) -> int:
    """The place, from 1 to n, that comes at a number from 0; all of them in n numbers."""
    step = max(1, round(GOLDEN * n))
    while math.gcd(step, n) > 1:
        step += 1
    return 1 + number * step % n


# Processes


def take_turn(
    walk: Walk, lap: int, numbers: range, library: Path | None, writer: int
) -> None:  # fmt: skip
    """Disturb calls at the next places of a walk, and tell of each."""
    warnings.simplefilter("ignore")
    means = means_of(walk.means, library)
    # Write the stacks of all threads, and end.
    faulthandler.register(signal.SIGALRM, chain=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        undisturbed(walk.name, walk.door, lap, Path(folder)) as call,
    ):
        n = call.places(means)
        tell(writer, {"n": n})
        for number in numbers[: max(n - numbers.start, 0)]:
            at = place_of(number, n)
            tell(writer, {"at": at})
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            outcome, failures = call.disturbed(means, at)
            signal.setitimer(signal.ITIMER_REAL, 0)
            tell(writer, {"outcome": outcome, "failures": failures})


def run_turn(walk: Walk, state: dict[str, Any], library: Path | None, most: int = TURN) -> int:
    """Take the next turn of a walk in a process of its own; how many calls were disturbed."""
    stand = stand_of(walk, state)
    numbers = range(stand.done, stand.done + most)
    n, at, outcomes = 0, 0, Counter[str]()
    with child_of(lambda writer: take_turn(walk, stand.lap, numbers, library, writer)) as child:
        for told in child.lines():
            n, at = told.get("n", n), told.get("at", at)
            if "outcome" in told:
                outcomes[told["outcome"]] += 1
                for said in told["failures"]:
                    keep_failure(state, walk, said, stand.lap, at)
        if how := child.how_it_ended():
            words = child.last_words(WORDS)
            found = OTHERS.search(words) if walk.means == "objects" else None
            outcomes[f"died in {found[1] or found[2]}" if found else "died"] += 1
            if not found:
                keep_failure(state, walk, f"died: {how}", stand.lap, at, words)
    done, n_disturbed = stand.done + outcomes.total(), outcomes.total() - outcomes["not reached"]
    lap, done = (stand.lap + 1, 0) if done >= n else (stand.lap, done)
    # One without places has its turn like any other.
    state["walks"][walk.key] = (lap, done, stand.n_disturbed + max(n_disturbed, 1))
    counts = state["counts"].setdefault(walk.means, {}).setdefault(walk.name, {})
    for outcome, number in outcomes.items():
        counts[outcome] = counts.get(outcome, 0) + number
    return n_disturbed


def keep_failure(
    state: dict[str, Any], walk: Walk, said: str, lap: int, at: int, more: str = ""
) -> None:
    """Keep a failure, unless one like it is known."""
    key = f"{walk.name} | {walk.door} | {walk.means} | {said}"
    state["failures"].setdefault(key, {"repeat": f"{walk.key}:{lap}:{at}", "said": more})


# States


def fresh_state() -> dict[str, Any]:
    """Counts of nothing."""
    return {"walks": {}, "counts": {}, "failures": {}}


def stand_of(walk: Walk, state: dict[str, Any]) -> Stand:
    """How far a walk is."""
    return Stand(*state["walks"].get(walk.key, ()))


def n_disturbed(state: dict[str, Any], means: str) -> int:
    """How many calls were disturbed so far."""
    names = state["counts"].get(means, {}).values()
    return sum(sum(counts.values()) - counts.get("not reached", 0) for counts in names)


def walks_of(means: str, only: str, door: str) -> list[Walk]:
    """The walks that there are."""
    names = [name for name in METHODS if only.lower() in name.lower()]
    found = [Walk(n, d, means) for n in names for d in doors_of(n) if door in ("", d)]
    if not found:
        of = f" and a door {door!r}" if door else ""
        raise ValueError(f"no estimator has {only!r} in its name{of}")
    return found


def run(
    wanted: int, walks: Sequence[Walk], state: dict[str, Any], library: Path | None = None,
    path: Path | None = None,
) -> None:  # fmt: skip
    """Disturb calls until there are so many in all, the walks by turns."""
    left, n_idle = wanted - n_disturbed(state, walks[0].means), 0
    while left > 0:
        walk = min(walks, key=lambda walk: stand_of(walk, state).n_disturbed)
        done = run_turn(walk, state, library, min(TURN, left))
        write_state(path, state)
        left, n_idle = left - done, 0 if done else n_idle + 1
        if n_idle > len(walks):
            raise RuntimeError("the walks have no places")


def told_of(state: dict[str, Any]) -> str:
    """Numbers by means and estimator, and each distinct failure with what repeats it."""
    rows = []
    for means, names in state["counts"].items():
        total: Counter[str] = sum((Counter(c) for c in names.values()), Counter())
        rows.append(f"{means}: {n_disturbed(state, means):,} ({_shares(total)})")
        rows += [f"    {name:<26}{_shares(counts)}" for name, counts in names.items()]
    rows.append(f"{len(state['failures']):,} distinct failures")
    for key, failure in sorted(state["failures"].items()):
        command = f"python -m proof.faults --repeat {failure['repeat']}"
        rows.append(f"{key}\n    {command}\n{failure['said']}".rstrip())
    return "\n".join(rows)


def _shares(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))


# Command


def repeated(given: tuple[str, str, str, int, int], library: Path | None) -> int:
    """Disturb one call here, and show what came of it."""
    name, door, means, lap, at = given
    with (
        tempfile.TemporaryDirectory() as folder,
        undisturbed(name, door, lap, Path(folder)) as call,
    ):
        outcome, failures = call.disturbed(means_of(means, library), at)
    print(outcome, *failures, sep="\n")
    return 2 if outcome == "not reached" else int(bool(failures))


def place_named(text: str) -> tuple[str, str, str, int, int]:
    """A type of `argparse`: what repeats a disturbed call."""
    form = "must be ESTIMATOR:DOOR:MEANS:LAP:PLACE, as a failure names it"
    try:
        name, door, means, lap, at = text.split(":")
        found = name, door, means, int(lap), int(at)
        known = door in doors_of(name) and means in (*INTERRUPTS, *ALLOCATIONS)
    except (ValueError, KeyError) as error:
        raise argparse.ArgumentTypeError(f"{form}; got {text!r}") from error
    if not known or min(found[3:]) < 0:
        raise argparse.ArgumentTypeError(f"{form}; got {text!r}")
    return found


def started_again(library: Path) -> None:
    """Start this command anew with the library before all others, unless that is so."""
    if not is_first(library):
        command = [sys.executable, "-m", "proof.faults", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | {"LD_PRELOAD": str(library)})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--interrupts", type=at_least(0), default=0, help="how many in all")
    parser.add_argument(
        "--allocations", type=at_least(0), default=0, help="how many in all, a third of each kind"
    )
    parser.add_argument("--only", default="", help="estimators with this in their names")
    parser.add_argument("--door", default="", help=f"this one only, of {', '.join(DOORS)}")
    parser.add_argument("--state", type=Path, help="file that keeps counts, and to go on from")
    parser.add_argument("--repeat", type=place_named, help="one call, as a failure names it")
    given = parser.parse_args(arguments)
    if not (given.interrupts or given.allocations or given.repeat):
        parser.error("--interrupts, --allocations or --repeat is needed")
    asked = {"only": given.only, "door": given.door}
    try:
        walks_of("lines", given.only, given.door)
        state = read_state(None if given.repeat else given.state, fresh_state(), asked)
    except ValueError as error:
        parser.error(str(error))
    library = None
    if given.allocations or given.repeat:
        # It is to be there for the command that is started again.
        folder = Path(tempfile.gettempdir()) / f"streamtopics-faults-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        library = folder / "failing_malloc.so"
        started_again(library if is_first(library) else compiled(folder))
    if given.repeat:
        return repeated(given.repeat, library)
    parts = [(INTERRUPTS, given.interrupts), (ALLOCATIONS, given.allocations)]
    for kinds, wanted in parts:
        for number, kind in enumerate(kinds):
            share = wanted // len(kinds) + (number < wanted % len(kinds))
            if share:
                run(share, walks_of(kind, given.only, given.door), state, library, given.state)
    print(told_of(state))
    return int(bool(state["failures"]))


if __name__ == "__main__":
    sys.exit(main())
