# SPDX-License-Identifier: BSD-3-Clause
"""Interrupts and failing allocations, one at each place of calls of every public estimator.

    python -m proof.faults --interrupts 100000 --allocations 100000 [--seed 0]
    python -m proof.faults --only SVBLDA --door later --interrupts 1000

Interrupts are raised at lines of the package. Of the allocations that fail, a third are lines
that raise MemoryError, a third are of Python's objects, and a third of the kernels' own; the latter
two need gcc and glibc. `proof.fault_calls` says which calls these are, and what has to hold after
each. A door of an estimator is a kind of call, such as a first `partial_fit`; the doors have turns
of some places each, drawn by the seed, with other minibatches in each lap. A turn runs in a process
of its own, so that one that dies, or a call that does not end, is reported too; one that dies
within NumPy or SciPy, which do not look whether Python had memory for each of their objects, or
while Python waits for a thread that had none to begin, is counted as theirs. Printed are numbers
for each means, and each distinct failure; with one, the exit code is 1.
"""

import argparse
import faulthandler
import os
import re
import signal
import sys
import tempfile
import warnings
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from proof.children import child_of, tell
from proof.commands import at_least
from proof.fault_calls import DOORS, doors_of, undisturbed
from proof.fault_means import Means, Memory, compiled, is_first
from tests.conventions.every import METHODS
from tests.interrupts import Lines

# Places that a door has at a time, and seconds that a call may take.
TURN, PATIENCE = 50, 60
ALLOCATIONS = ("lines", "objects", "kernels")
# Characters of what a process said before it died: the stacks of its threads.
WORDS = 10_000
# Libraries that do not look at all that Python gives them, and where Python waits for a thread that
# had no memory to begin.
OTHERS = re.compile(
    r"^died in .*/(numpy|scipy)/|/(threading)\.py\", line \d+ in start$", re.MULTILINE
)
Walk = tuple[str, str]


def means_of(name: str, library: Path | None) -> Means:
    """What disturbs calls, by its name."""
    if name in ("interrupts", "lines"):
        return Lines(KeyboardInterrupt if name == "interrupts" else MemoryError)
    if library is None:
        raise OSError(f"{name} need the library")
    return Memory(library, name)


def walks_of(only: str, door: str) -> list[Walk]:
    """Estimators and their doors."""
    names = [name for name in METHODS if only.lower() in name.lower()]
    return [(name, own) for name in names for own in doors_of(name) if door in ("", own)]


def take_turn(
    walk: Walk, kind: str, lap: int, seed: int, most: int, library: Path | None, writer: int
) -> None:
    """Disturb calls at drawn places of a door, and tell of each."""
    warnings.simplefilter("ignore")
    means = means_of(kind, library)
    # Write the stacks of all threads, and end.
    faulthandler.register(signal.SIGALRM, chain=True)
    with tempfile.TemporaryDirectory() as folder, undisturbed(*walk, lap, Path(folder)) as call:
        n = call.places(means)
        for at in np.random.default_rng(seed).permutation(n)[:most] + 1:
            tell(writer, {"at": int(at), "n": n})
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            outcome, failures = call.disturbed(means, int(at))
            signal.setitimer(signal.ITIMER_REAL, 0)
            tell(writer, {"outcome": outcome, "failures": failures})


def run_turn(
    walk: Walk, kind: str, lap: int, seed: int, most: int, library: Path | None = None
) -> tuple[Counter[str], dict[str, str]]:
    """Take a turn in a process of its own: how calls came out, and distinct failures."""
    outcomes, failures, where = Counter[str](), {}, ""

    def work(writer: int) -> None:
        take_turn(walk, kind, lap, seed, most, library, writer)

    with child_of(work) as child:
        for told in child.lines():
            if "at" in told:
                where = f"{':'.join(walk)}, {kind}, lap {lap}, place {told['at']} of {told['n']}"
                continue
            outcomes[told["outcome"]] += 1
            failures |= {f"{' | '.join(walk)} | {said}": where for said in told["failures"]}
        if how := child.how_it_ended():
            words = child.last_words(WORDS)
            found = OTHERS.search(words) if kind == "objects" else None
            outcomes[f"died in {found[1] or found[2]}" if found else "died"] += 1
            if not found:
                failures[f"{' | '.join(walk)} | died: {how}"] = f"{where}\n{words}"
    return outcomes, failures


def run(
    kind: str, wanted: int, walks: list[Walk], seed: int = 0, library: Path | None = None
) -> dict[str, str]:
    """Disturb so many calls, the doors by turns; print how they came out."""
    outcomes, failures, n_idle = Counter[str](), {}, 0
    turns = ((lap, walk) for lap in count(seed) for walk in walks)
    for number, (lap, walk) in enumerate(turns):
        left = wanted - (outcomes.total() - outcomes["not reached"])
        if left <= 0 or n_idle > len(walks):
            break
        most = min(TURN, left, max(1, wanted // len(walks)))
        found, broken = run_turn(walk, kind, lap, number, most, library)
        n_idle = 0 if found else n_idle + 1
        outcomes += found
        failures = broken | failures
    shares = ", ".join(f"{number:,} {name}" for name, number in sorted(outcomes.items()))
    print(f"{kind}: {outcomes.total():,} ({shares})", flush=True)
    return failures


def started_again(library: Path, arguments: list[str]) -> None:
    """Start this command anew with the library before all others, unless that is so."""
    if not is_first(library):
        command = [sys.executable, "-m", "proof.faults", *arguments]
        os.execve(sys.executable, command, os.environ | {"LD_PRELOAD": str(library)})


def main() -> int:
    """Disturb as many calls as are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--interrupts", type=at_least(0), default=0, help="how many in all")
    parser.add_argument(
        "--allocations", type=at_least(0), default=0, help="how many in all, a third of each kind"
    )
    parser.add_argument("--only", default="", help="estimators with this in their names")
    parser.add_argument("--door", default="", help=f"this one only, of {', '.join(DOORS)}")
    parser.add_argument("--seed", type=at_least(0), default=0)
    given: Any = parser.parse_args()
    if not (walks := walks_of(given.only, given.door)):
        parser.error("no estimator has this in its name, and such a door")
    library = None
    if given.allocations:
        # It is to be there for the command that is started again.
        folder = Path(tempfile.gettempdir()) / f"streamtopics-faults-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        library = folder / "failing_malloc.so"
        started_again(library if is_first(library) else compiled(folder), sys.argv[1:])
    failures = run("interrupts", given.interrupts, walks, given.seed)
    for kind in ALLOCATIONS if given.allocations else ():
        failures |= run(kind, given.allocations // 3, walks, given.seed, library)
    print(f"{len(failures):,} distinct failures")
    for key, said in sorted(failures.items()):
        print(f"{key}\n    {said}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
