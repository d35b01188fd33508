# SPDX-License-Identifier: BSD-3-Clause
"""Files that keep what long runs have come to, for one version of the package and one command."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import streamtopics

PACKAGE = Path(streamtopics.__file__).parent
SOURCES = (".py", ".pyx", ".pxd", ".pxi", ".h")


@cache
def version() -> str:
    """A hash of the package's sources."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in SOURCES:
            found.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def read_state(path: Path | None, fresh: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """The state of a file, if it is of these sources and of what is asked now; else a fresh one."""
    of = {"version": version(), **asked}
    if path is not None and path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        if found.get("of") == of:
            return found
        print(f"{path} is of {found.get('of')}; a run of {of} begins anew", flush=True)
    return {"of": of, **fresh}


def write_state(path: Path | None, state: dict[str, Any]) -> None:
    """Replace the file of a state at once."""
    if path is not None:
        half = path.with_name(f"{path.name}.part")
        half.write_text(json.dumps(state, indent=1))
        half.replace(path)
