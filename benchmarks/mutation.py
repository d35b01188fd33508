# SPDX-License-Identifier: BSD-3-Clause
"""Mutation score: the share of small changes of the code that the tests tell.

    python -m benchmarks.mutation [--only PATH] [--sample N] [--seed S] [--state FILE]

Draws mutants of the areas below, stratified by file and operator, runs for each the tests that run
its lines (`benchmarks.mutation_runs`), the nearest and fastest first, and prints the score of each
file and what survived. What is judged already, in FILE, is not run again, unless the file of the
test that killed it, or of one that it survived, is another by now; a larger N adds to the sample.
What kills a mutant has to pass without it, which is tried once for each selection of tests.
Survivors are kept in
`benchmarks/mutation.csv`, where `judgement` is written by hand: "equivalent: ...", "tolerance:
...", "hole: ..."; a rerun keeps it. It belongs to the text of a line in a function.

Mutants without other bytecode are not counted. Tests are those of the folders below alone: what
only another test would tell counts as a survivor.
"""

import argparse
import csv
import hashlib
import json
import random
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import at_least
from benchmarks.mutants import Mutant, differs, mutants_of
from benchmarks.mutation_runs import KILLED, PATIENCE, Map, Workshop

AREAS = (
    "streamtopics/posteriors", "streamtopics/updates", "streamtopics/families",
    "streamtopics/local", "streamtopics/models/lda.py", "streamtopics/dpp/low_rank.py",
    "streamtopics/dpp/kernel.py", "streamtopics/dpp/conditioning.py",
    "streamtopics/dpp/determinants.py", "streamtopics/dpp/spectrum.py",
    "streamtopics/dpp/marginal.py", "streamtopics/dpp/totals.py",
    "streamtopics/dpp/likelihood.py", "streamtopics/dpp/multiplicative.py",
    "streamtopics/dpp/sampling.py", "streamtopics/was/sampler.py",
    "streamtopics/text/counting.py", "streamtopics/text/splitting.py",
    "streamtopics/text/vocabulary.py",
)  # fmt: skip
TESTS = (
    "tests/updates", "tests/posteriors", "tests/families", "tests/local", "tests/models",
    "tests/dpp", "tests/was", "tests/text", "tests/estimators/test_hdp.py",
    "tests/estimators/test_hdp_births.py", "tests/estimators/test_births.py",
)  # fmt: skip
FIELDS = (
    "file", "line", "column", "function", "occurrence", "operator", "code", "before", "after",
    "tests", "judgement",
)  # fmt: skip
SAME = ("file", "column", "function", "occurrence", "operator", "code", "before", "after")
"""Fields that tell a survivor, wherever its line has moved to."""
NO_FAULT = ("equivalent", "tolerance")
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `by` names the test that killed it, `tests` has how many there were.

    `digest` is of the test that killed it, or of all: others may give another verdict.
    """

    result: str
    by: str
    tests: str
    digest: str


def sample(mutants: list[Mutant], seed: int) -> Iterator[Mutant]:
    """All mutants, in an order of which each beginning is spread evenly over files and operators.

    They are sorted by file and operator, at random within, and steps of the golden ratio go
    round: a beginning has of each stratum nearly its share.
    """
    generator = random.Random(seed)
    offset = generator.random()
    order = sorted(mutants, key=lambda one: (one.path, one.operator, generator.random()))
    seen, i = set[int](), 0
    while len(seen) < len(order):
        place = int((offset + i * GOLDEN) % 1.0 * len(order))
        i += 1
        if place not in seen:
            seen.add(place)
            yield order[place]


def files_in(root: Path, places: Iterable[str], pattern: str) -> list[str]:
    """The files among some places, and those of the pattern in the folders among them."""
    files: set[Path] = set()
    for place in places:
        path = root / place
        files |= {path} if path.is_file() else set(path.rglob(pattern))
    return sorted(path.relative_to(root).as_posix() for path in files)


def found_in(root: Path, areas: Iterable[str]) -> list[Mutant]:
    """The mutants of files and folders."""
    names = files_in(root, areas, "*.py")
    return [one for name in names for one in mutants_of(name, (root / name).read_bytes())]


class State:
    """Verdicts in a file, a line for each, by the mutant and the text of its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        read = [json.loads(line) for line in lines]
        self.verdicts = {one.pop("key"): Verdict(**one) for one in read}

    def add(self, key: str, verdict: Verdict) -> None:
        """Write a verdict down."""
        self.verdicts[key] = verdict
        with self.path.open("a") as file:
            file.write(json.dumps({"key": key, **vars(verdict)}) + "\n")


class Table:
    """Survivors in a file of CSV, with what was written beside them by hand."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self.root = path, root
        rows = list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []
        self.rows = {self._key(row): row for row in rows}

    @staticmethod
    def _key(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[name] for name in SAME)

    def row(self, mutant: Mutant, tests: str = "") -> dict[str, str]:
        """The row of a mutant; its judgement is that of the row with the same text."""
        code = (self.root / mutant.path).read_text().splitlines()[mutant.line - 1].strip()
        row = {
            "file": mutant.path, "line": str(mutant.line), "column": str(mutant.column),
            "function": mutant.function, "occurrence": str(mutant.occurrence),
            "operator": mutant.operator, "code": code, "before": mutant.before,
            "after": mutant.after, "tests": tests,
        }  # fmt: skip
        known = self.rows.get(self._key(row | {"judgement": ""}))
        return row | {"judgement": known["judgement"] if known else ""}

    def write(self, survivors: list[tuple[Mutant, Verdict]], killed: list[Mutant]) -> None:
        """Put survivors in, take out what is killed by now; rows of other samples stay."""
        for mutant in killed:
            self.rows.pop(self._key(self.row(mutant)), None)
        for mutant, verdict in survivors:
            row = self.row(mutant, verdict.tests)
            self.rows[self._key(row)] = row
        with self.path.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            order = sorted(self.rows.values(), key=lambda row: (row["file"], int(row["line"])))
            writer.writerows(order)


def judge(drawn: list[Mutant], workshop: Workshop, tests: Map, state: State,
          budget: float) -> dict[Mutant, Verdict]:  # fmt: skip
    """The verdict on each mutant, of those that differ in their bytecode."""
    verdicts: dict[Mutant, Verdict] = {}
    for i, mutant in enumerate(drawn):
        source = (workshop.root / mutant.path).read_bytes()
        place = f"{mutant.path}:{mutant.start}:{mutant.end}:{mutant.after}"
        key = f"{place}:{hashlib.sha256(source).hexdigest()[:12]}"
        chosen, of = tests.chosen(mutant, budget)
        known = state.verdicts.get(key)
        if known is None or known.digest != tests.digest(chosen, known.by):
            result, by = workshop.judged(mutant, source, chosen, tests.seconds)
            known = Verdict(result, by, f"{len(chosen)} of {of}", tests.digest(chosen, by))
            state.add(key, known)
            print(f"{i + 1}/{len(drawn)} {told(mutant)}: {result} {by}", flush=True)
        verdicts[mutant] = known
    return verdicts


def told(mutant: Mutant) -> str:
    """A mutant in a line."""
    return f"{mutant.path}:{mutant.line}:{mutant.column}: {mutant.before} -> {mutant.after}"


def report(verdicts: dict[Mutant, Verdict], table: Table) -> None:
    """Print survivors, the score of each file and of all."""
    survivors = [(one, v) for one, v in verdicts.items() if v.result != KILLED]
    table.write(survivors, [one for one, v in verdicts.items() if v.result == KILLED])
    print("\nSurvivors")
    for mutant, verdict in sorted(survivors, key=lambda pair: (pair[0].path, pair[0].line)):
        judgement = table.row(mutant)["judgement"] or "not judged"
        print(f"  {told(mutant)} ({verdict.result}, {verdict.tests} tests): {judgement}")
    print("\nScore")
    for path in sorted({one.path for one in verdicts}):
        of_file = [v.result == KILLED for one, v in verdicts.items() if one.path == path]
        print(f"  {path:50} {sum(of_file):4} of {len(of_file):4}")
    no_fault = sum(table.row(one)["judgement"].startswith(NO_FAULT) for one, _ in survivors)
    n, killed = len(verdicts), len(verdicts) - len(survivors)
    print(f"mutation score: {killed} of {n}, {killed / max(n, 1):.1%}; without {no_fault} "
          f"equivalent or within a tolerance {killed / max(n - no_fault, 1):.1%}")  # fmt: skip


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="PATH", help="of the areas, what begins with it")
    parser.add_argument("--sample", type=at_least(0), default=200, metavar="N", help="0: all")
    parser.add_argument("--seed", type=at_least(0), default=0, metavar="S")
    parser.add_argument("--state", type=Path, metavar="FILE",
                        help="of verdicts; default: build/mutation/verdicts.jsonl")  # fmt: skip
    parser.add_argument("--budget", type=float, default=30.0, metavar="SECONDS",
                        help="of tests for one mutant, as they took once")  # fmt: skip
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="SECONDS",
                        help="of a processor, beside those of the tests")  # fmt: skip
    parser.add_argument("--root", type=Path, default=Path(), metavar="FOLDER", help="a checkout")
    parser.add_argument("--areas", nargs="+", default=AREAS, metavar="PATH")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="PATH")
    given = parser.parse_args()
    root = given.root.resolve()
    state = given.state or root / "build" / "mutation" / "verdicts.jsonl"
    mutants = [m for m in found_in(root, given.areas) if m.path.startswith(given.only or "")]
    if not mutants:
        parser.error(f"nothing that is mutated begins with {given.only}: {', '.join(given.areas)}")
    drawn: list[Mutant] = []
    for mutant in sample(mutants, given.seed):
        if len(drawn) == (given.sample or len(mutants)):
            break
        source = (root / mutant.path).read_bytes()
        if differs(source, mutant.applied(source)):
            drawn.append(mutant)
    packages = list(dict.fromkeys(one.partition("/")[0] for one in (*given.areas, *given.tests)))
    with tempfile.TemporaryDirectory() as scratch:
        workshop = Workshop(root, Path(scratch).resolve(), packages, given.patience)
        tests = Map(workshop, files_in(root, given.tests, "test_*.py"), state.parent / "lines")
        print(f"{len(drawn)} of {len(mutants)} mutants, {len(tests.seconds)} tests", flush=True)
        verdicts = judge(drawn, workshop, tests, State(state), given.budget)
    report(verdicts, Table(root / "benchmarks" / "mutation.csv", root))


if __name__ == "__main__":
    main()
