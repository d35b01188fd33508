# SPDX-License-Identifier: BSD-3-Clause
"""Texts of the corpora that there are, for what is compared with a twin on all of them."""

import gzip
import json
import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("STREAMTOPICS_DATA", "no folder"))
MOST_CHARACTERS = 1_000_000
each_corpus = pytest.mark.parametrize(
    "path",
    sorted(DATA.glob("*.jsonl.gz")) or [pytest.param(None, marks=pytest.mark.skip("no corpora"))],
    ids=lambda path: path.name[:-9] if path else "none",
)


def texts_of(path):
    """The first million characters of a corpus, which takes all there are in the small ones."""
    size = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield from (value for value in json.loads(line).values() if isinstance(value, str))
            size += len(line)
            if size > MOST_CHARACTERS:
                break
