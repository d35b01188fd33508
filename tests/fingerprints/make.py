# SPDX-License-Identifier: BSD-3-Clause
"""Writes the fingerprints of the instruction set in force, STREAMTOPICS_ISA, to its file.

    python -m tests.fingerprints.make [--jobs N] [--group GROUP ...] [--seed SEED ...]
        [--output FILE]

Only where results are meant to change: what is written is what later runs are held to. With
groups or seeds the lines of the others stay.
"""

import argparse
import json
import platform
import re
import sys
import time
from pathlib import Path

import numpy as np
import scipy

from streamtopics.kernels import _cpu, instruction_set
from tests.fingerprints.cases import GROUPS, SEEDS, prints

FOLDER = Path(__file__).parent


def path_of(isa):
    return FOLDER / f"{isa}.json"


def write(path, lines):
    """Lines by case, input and quantity, with what they were made with."""
    cases = {}
    for key, line in lines.items():
        name, corpus, seed, quantity = key.split(" | ")
        cases.setdefault(name, {}).setdefault(f"{corpus} | {seed}", {})[quantity] = line
    record = {"made with": surroundings(), "cases": cases}
    path.write_text(json.dumps(record, indent=0) + "\n", encoding="utf-8")


def read(path):
    """What the lines of a file were made with, and the lines."""
    record = json.loads(path.read_text(encoding="utf-8"))
    lines = {
        f"{name} | {given} | {quantity}": line
        for name, inputs in record["cases"].items()
        for given, quantities in inputs.items()
        for quantity, line in quantities.items()
    }
    return record["made with"], lines


def surroundings():
    """What the last bits depend on, beside the package."""
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
        "compiler": compiler(),
        "cpu": " ".join(sorted(cpu_features())),
    }


def compiler():
    """That of the kernels, as it signs them; empty if it does not."""
    found = re.search(rb"(GCC: \([^)]*\) |clang version )[\d.]+", Path(_cpu.__file__).read_bytes())
    return found[0].decode() if found else ""


def cpu_features():
    """Those that numpy found and uses."""
    core = np._core if hasattr(np, "_core") else np.core
    return [name for name, has in core._multiarray_umath.__cpu_features__.items() if has]


def made(groups, seeds, n_jobs, report=None):
    found = {}
    for group in groups:
        for name in GROUPS[group]:
            start = time.perf_counter()
            found |= prints(name, n_jobs, seeds)
            if report is not None:
                print(f"{time.perf_counter() - start:6.2f} s  {name}", file=report)
    return found


def main():
    parser = argparse.ArgumentParser(description="Write fingerprints of results.")
    parser.add_argument("--jobs", type=int, default=None, help="n_jobs of the estimators")
    parser.add_argument("--group", nargs="+", choices=GROUPS, help="only these cases")
    parser.add_argument("--seed", nargs="+", type=int, choices=SEEDS, default=SEEDS)
    parser.add_argument("--output", type=Path, default=path_of(instruction_set))
    arguments = parser.parse_args()
    lines = made(arguments.group or GROUPS, arguments.seed, arguments.jobs, sys.stderr)
    if (arguments.group or arguments.seed != SEEDS) and arguments.output.exists():
        lines = read(arguments.output)[1] | lines
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
