# SPDX-License-Identifier: BSD-3-Clause
"""Readers of files: formats, compression, times, and what is done about what cannot be read."""

from streamtopics.datasets.reading.following import Follower, follow
from streamtopics.datasets.reading.growing import Position
from streamtopics.datasets.reading.problems import ReadingError, Skipped
from streamtopics.datasets.reading.reading import read_records, read_texts
from streamtopics.datasets.reading.records import Record

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
