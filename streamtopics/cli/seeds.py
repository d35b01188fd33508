# SPDX-License-Identifier: BSD-3-Clause
"""Seed words of topics, from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_seeds(path: Path) -> dict[str, list[str]]:
    """Return the seed words by topic that a file has."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f'{path} is not JSON ({error}); write {{"sea": ["ship"]}}') from error
    right = isinstance(found, dict) and all(
        isinstance(words, list) and words and all(isinstance(word, str) for word in words)
        for words in found.values()
    )
    if not right or not found:
        raise ValueError(
            f'{path} must have an object of names, each with a list of words: {{"sea": ["ship"]}}'
        )
    return dict(found)


def check_seeds(path: Path | None, topics: Any, name: Path) -> None:
    """Refuse seeds other than those that the model, of this name, was begun with."""
    if path is None:
        return
    wanted, given = read_seeds(path), getattr(topics, "seeds", None)
    if given is None:
        raise ValueError(
            f"{name} holds a {type(topics).__name__}, which was learnt without seeds, and they "
            "cannot be given to it now; leave out --seeds, or begin another model with them"
        )
    if {k: list(words) for k, words in given.items()} != wanted:
        raise ValueError(
            f"{name} was begun with other seeds than those of {path}: {json.dumps(dict(given))}. "
            "Leave out --seeds to go on with them, or begin another model"
        )
