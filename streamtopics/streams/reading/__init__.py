# SPDX-License-Identifier: BSD-3-Clause
"""Readers of files: formats, compression, times, and what is done about what cannot be read."""

from streamtopics.streams.reading.follow import Follower, Position, follow
from streamtopics.streams.reading.records import (
    ReadingError,
    Record,
    Skipped,
    read_records,
    read_texts,
)

__all__ = [
    "Follower",
    "Position",
    "ReadingError",
    "Record",
    "Skipped",
    "follow",
    "read_records",
    "read_texts",
]
