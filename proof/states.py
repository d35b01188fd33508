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
    """The state of a file; a fresh one if there is none, or the package's sources are others now.

    Raises
    ------
    ValueError
        If the file holds no state, or is of other arguments, or there is no folder for it.
    """
    of = {"version": version(), **asked}
    if path is None:
        return {"of": of, **fresh}
    if not path.exists():
        if not path.absolute().parent.is_dir():
            raise ValueError(f"there is no folder {path.parent} for a state")
        return {"of": of, **fresh}
    try:
        held = json.loads(path.read_text())
        found = {name: held[name] for name in ("of", *fresh)}
        before = dict(found["of"])
        then = before.pop("version")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} holds no state; choose another file") from error
    if before != asked:
        raise ValueError(f"{path} is of a run with {before}, not {asked}; choose another file")
    if then == of["version"]:
        return found
    kept = path.with_name(f"{path.name}.{then}")
    path.replace(kept)
    print(f"{path} was of other sources; it is {kept} now, and the run begins anew", flush=True)
    return {"of": of, **fresh}


def write_state(path: Path | None, state: dict[str, Any]) -> None:
    """Replace the file of a state at once."""
    if path is not None:
        half = path.with_name(f"{path.name}.part")
        half.write_text(json.dumps(state, indent=1))
        half.replace(path)
