# SPDX-License-Identifier: BSD-3-Clause
"""Rows that a stream keeps, as one array of bytes: a checkpoint of thousands is small and quick."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

PLAIN = {type(None), bool, int, float, str}


def packed(rows: list[Any], times: Iterable[object]) -> Any:
    """Rows of numbers and texts as bytes of JSON; as they are if a time is of another type."""
    if not PLAIN.issuperset(map(type, times)):
        return rows
    content = json.dumps(rows, ensure_ascii=False, default=lambda number: number.item())
    return np.frombuffer(content.encode("utf-8", "surrogatepass"), np.uint8)


def unpacked(found: Any) -> list[Any]:
    """What was packed, with lists in place of tuples."""
    if not isinstance(found, np.ndarray):
        return list(found)
    return list(json.loads(found.tobytes().decode("utf-8", "surrogatepass")))
