# SPDX-License-Identifier: BSD-3-Clause
"""The oldest releases that are declared are those that are tested."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OLDEST = ROOT / ".ci" / "oldest.txt"
EXTRAS = ["plot", "dask", "parquet", "excel", "zstd", "test"]
# Left out of the oldest environment: slow to compile, or to install.
NOT_TESTED = {"gensim", "pyldavis"}

pytestmark = pytest.mark.skipif(not OLDEST.exists(), reason="needs the checkout, not the sdist")


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared() -> set[tuple[str, str]]:
    """The packages that pyproject.toml names, each with its floor."""
    named = [*PROJECT["dependencies"]]
    named += [line for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra]]
    found = (re.match(r"([\w.-]+)>=([\d.]+)", line) for line in named)
    return {(match[1].lower(), match[2]) for match in found if match}


def oldest() -> dict[str, str]:
    """The release of each package that `.ci/floors` installs."""
    lines = OLDEST.read_text(encoding="utf-8").splitlines()
    pinned = (line.split("==") for line in lines if "==" in line)
    return {name.lower(): version for name, version in pinned}


def test_floors_are_those_tested():
    wanted = {name: floor for name, floor in declared() if name not in NOT_TESTED}
    tested = oldest()
    assert {"numpy", "scipy", "scikit-learn", "joblib", "tqdm"} <= set(wanted)
    parts = {name: len(floor.split(".")) for name, floor in wanted.items()}
    assert wanted == {name: ".".join(tested[name].split(".")[: parts[name]]) for name in wanted}


def test_actions_are_taken_by_commit():
    """A tag can be moved to other code; a hash cannot."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    used = [line for path in workflows for line in path.read_text().splitlines() if "uses:" in line]
    assert len(used) > 20
    pinned = re.compile(r"\s+- uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [line for line in used if not pinned.fullmatch(line)] == []
