# SPDX-License-Identifier: BSD-3-Clause
"""Rows of CSV that benchmarks keep, one added after each run, so that a run may be cut."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a file; none where there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append(path: Path, fields: Sequence[str], row: Mapping[str, Any]) -> None:
    """Add a row, under a head where the file is new, and print it."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, restval="", lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(*(row.get(field, "") for field in fields), sep=" | ", flush=True)
