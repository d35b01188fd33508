# SPDX-License-Identifier: BSD-3-Clause
"""The format of files, and how those of earlier formats become what this one reads.

A new format has the next number and one function here, which makes a description of the one
before into its own. A class that moves or is renamed keeps its name in files: see `RENAMED`. A
new field or parameter needs nothing if its default is what was done before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FORMAT = 1
# By format, what makes a description of it one of the next.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
# Names in files of what is called otherwise now, as in `known`.
RENAMED: dict[str, str] = {}


def upgraded(description: dict[str, Any], format_number: int) -> dict[str, Any]:
    """Return a description of an earlier format as one of the present format."""
    for number in range(format_number, FORMAT):
        description = UPGRADES[number](description)
    return description
