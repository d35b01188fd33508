# SPDX-License-Identifier: BSD-3-Clause
"""Readers of files: formats, compression, times, and what is done about what cannot be read."""

from streamtopics.streams.reading.follow import Follower, follow
from streamtopics.streams.reading.growing import Position
from streamtopics.streams.reading.problems import ReadingError, Skipped
from streamtopics.streams.reading.records import Record
from streamtopics.streams.reading.records_of import read_records, read_texts

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
