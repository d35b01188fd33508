# SPDX-License-Identifier: BSD-3-Clause
"""Tables of topics for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamtopics.cli.models import MOSTLY_PRIOR, name_before
from streamtopics.cli.reading import place_of, texts_of
from streamtopics.cli.telling import one_line, safe
from streamtopics.datasets import Record
from streamtopics.inspection import TopicRow, documents_of

WIDTH = 100


def print_topics(rows: Sequence[TopicRow], model: Any, width: int = WIDTH) -> None:
    """Print the topics, the heaviest first; those that are mostly prior say so."""
    print(f"{'topic':>5}  {'weight':>6}  words")
    for row in rows:
        mark = "(mostly prior) " if row.prior_retention > MOSTLY_PRIOR else ""
        name = name_before(model, row.topic)
        line = safe(f"{row.topic:>5}  {row.weight:>6.1%}  {mark}{name}{' '.join(row.words)}")
        print(line if len(line) <= width else line[: width + 1].rsplit(" ", 1)[0])


def print_documents(
    rows: Sequence[TopicRow], model: Any, records: list[Record], n_topics: int = 5, n: int = 3
) -> None:
    """Print the beginning and the place of a few documents of each of the largest topics."""
    shown = [row for row in rows if row.prior_retention <= MOSTLY_PRIOR][:n_topics]
    if not records or not shown:
        return
    found = documents_of(model, texts_of(records), n_documents=n)
    for row in shown:
        print(f"\ntopic {row.topic}: {safe(' '.join(row.words[:4]))}")
        for document in found:
            if document.topic == row.topic:
                record = records[document.document]
                print(f"  {document.share:>4.0%}  {one_line(record.text)}  [{place_of(record)}]")
