# SPDX-License-Identifier: BSD-3-Clause
"""Data to learn from: synthetic corpora, English text, and readers of files."""

from streamtopics.datasets.docstrings import load_docstrings
from streamtopics.datasets.following import Follower, follow
from streamtopics.datasets.rated import make_rated_reviews
from streamtopics.datasets.synthetic import make_lda_corpus
from streamtopics.streams.records import (
    ReadingError,
    Record,
    Skipped,
    iter_minibatches,
    read_records,
    read_texts,
)

__all__ = [
    "Follower",
    "ReadingError",
    "Record",
    "Skipped",
    "follow",
    "iter_minibatches",
    "load_docstrings",
    "make_lda_corpus",
    "make_rated_reviews",
    "read_records",
    "read_texts",
]
