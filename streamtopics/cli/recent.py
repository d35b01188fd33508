# SPDX-License-Identifier: BSD-3-Clause
"""The last documents of a stream, which a report shows; kept with its checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamtopics.cli.reading import time_of
from streamtopics.datasets import Record

N_SHOWN, MOST_CHARACTERS = 2000, 4_000_000

# Texts, and their times: lists of what files can hold.
Recent = dict[str, list[Any]]


def nothing_recent() -> Recent:
    """Return the last documents of a stream that has none yet."""
    return {"texts": [], "times": []}


def add_recent(recent: Recent, records: Iterable[Record]) -> None:
    """Take in documents, and drop those that are too long ago, or too much."""
    texts, times = recent["texts"], recent["times"]
    for record in records:
        texts.append(record.text)
        times.append(time_of(record.time))
    del texts[:-N_SHOWN]
    size, n_dropped = sum(map(len, texts)), 0
    while size > MOST_CHARACTERS and n_dropped < len(texts) - 1:
        size -= len(texts[n_dropped])
        n_dropped += 1
    del texts[:n_dropped]
    del times[: len(times) - len(texts)]
