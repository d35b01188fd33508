# SPDX-License-Identifier: BSD-3-Clause
"""Results have the same bits as when the fingerprints were made.

The bits depend also on numpy, scipy, Python, the compiler and the processor. Where one of
these is not that of the file, only summaries are compared: sums and a projection, to a
relative 1e-3. Of samplers and of optimisers with many optima not even these, since from one
last bit that differs a chain goes elsewhere for good: then they are only held to the shapes
and to being finite, and that is all that this test says of them there. So it is with all results
of kernels without optimisation (STREAMTOPICS_DEBUG), since a local step may end a sweep earlier:
the records of two instruction sets differ by up to a half for this reason.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import streamtopics
from streamtopics.kernels import instruction_set
from tests.fingerprints.cases import CASES, GROUPS, SEEDS, prints
from tests.fingerprints.make import path_of, read, surroundings
from tests.fingerprints.measures import FRAGILE, same_shape

ROOT = Path(__file__).parents[2]
RECORDS = [isa for isa in ("baseline", "avx2", "avx512") if path_of(isa).exists()]
# Groups that call no kernel that is compiled for each instruction set: their record is one.
ONE_RECORD = ("bayes", "sentences", "processes")
# The others, as two processes share them.
SHARES = [("reviews",), tuple(group for group in GROUPS if group not in {*ONE_RECORD, "reviews"})]
# What differs with wide vectors seldom differs by the seed.
EACH_SEED = [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])]


@cache
def recorded(isa):
    return read(path_of(isa))


def baseline_of_groups(groups, seed, output):
    """The record of groups of cases, made by another process without wide vectors."""
    paths = [str(Path(streamtopics.__file__).parents[1]), str(ROOT)]
    environment = os.environ | {
        "STREAMTOPICS_ISA": "baseline",
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
    }
    command = "-m", "tests.fingerprints.make", "--output", str(output)
    command += "--seed", str(seed), "--group", *groups
    subprocess.run([sys.executable, *command], env=environment, check=True, capture_output=True)
    return read(output)[1]


def of_case(name, lines, seeds=SEEDS):
    """The lines of a case whose keys have one of some seeds."""
    own = {key: key.split(" | ") for key in lines if key.startswith(f"{name} | ")}
    return {key: lines[key] for key, parts in own.items() if int(parts[2]) in seeds}


def different(name, found, isa, seeds=SEEDS):
    """What of a case is not as recorded, by corpus, seed and quantity."""
    made_with, lines = recorded(isa)
    wanted = of_case(name, lines, seeds)
    alike = comparison(name, made_with == surroundings())
    return {
        key: f"{wanted.get(key, 'not there')} -> {found.get(key, 'not there')}"
        for key in sorted(wanted.keys() | found.keys())
        if key not in wanted or key not in found or not alike(key, wanted[key], found[key])
    }


def comparison(name, same_surroundings):
    """When two lines of a case are the same."""

    def alike(key, line, other):
        if same_surroundings or line == other:
            return line == other
        if os.environ.get("STREAMTOPICS_DEBUG"):
            return same_shape(line, other)
        return (same_shape if key.endswith(FRAGILE) else CASES[name].loose)(line, other)

    return alike


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, cases in GROUPS.items() for name in cases]
)
def test_results_are_those_recorded(group, name):
    isa = "baseline" if group in ONE_RECORD else instruction_set
    if isa not in RECORDS:
        pytest.skip(f"no fingerprints were made with {isa}")
    assert different(name, prints(name), isa) == {}


def test_what_has_one_record_has_the_same_in_all_files():
    files = [recorded(isa)[1] for isa in RECORDS]
    for group in ONE_RECORD:
        for name in GROUPS[group]:
            first, *others = (of_case(name, lines) for lines in files)
            assert first
            assert all(other == first for other in others), name


@pytest.mark.skipif(instruction_set == "baseline", reason="that is the one in force")
@pytest.mark.parametrize("groups", SHARES, ids="-".join)
@pytest.mark.parametrize("seed", EACH_SEED)
def test_results_without_wide_vectors_are_those_recorded(groups, seed, tmp_path):
    made = baseline_of_groups(groups, seed, tmp_path / "made.json")
    names = [name for group in groups for name in GROUPS[group]]
    wrong = {name: different(name, of_case(name, made), "baseline", {seed}) for name in names}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


def test_nothing_recorded_is_left_out():
    for isa in RECORDS:
        assert {key.split(" | ")[0] for key in recorded(isa)[1]} == set(CASES)
