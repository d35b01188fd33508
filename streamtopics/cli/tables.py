# SPDX-License-Identifier: BSD-3-Clause
"""Tables of topics and of documents: for people, and for files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from streamtopics.cli.console import one_line, safe
from streamtopics.cli.models import name_before
from streamtopics.cli.reading import place_of, texts_of, time_of
from streamtopics.datasets import Record
from streamtopics.inspection import TopicRow, documents_of

WIDTH, MOSTLY_PRIOR = 100, 0.5


def print_topics(rows: Sequence[TopicRow], model: Pipeline, width: int = WIDTH) -> None:
    """Print the topics, the heaviest first; those that are mostly prior say so."""
    print(f"{'topic':>5}  {'weight':>6}  words")
    for row in rows:
        mark = "(mostly prior) " if row.prior_retention > MOSTLY_PRIOR else ""
        name = name_before(model, row.topic)
        line = safe(f"{row.topic:>5}  {row.weight:>6.1%}  {mark}{name}{' '.join(row.words)}")
        print(line if len(line) <= width else line[: width + 1].rsplit(" ", 1)[0])


def print_documents(
    rows: Sequence[TopicRow], model: Pipeline, records: list[Record], n_topics: int = 5, n: int = 3
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


def rows_of_documents(
    model: Pipeline,
    batches: Iterable[list[Record]],
    leading: int,
    labels: list[str],
    kind: str,
    options: Namespace,
) -> Iterator[dict[str, Any]]:
    """Yield the leading topics of each document, with where it is from, and its fields to keep."""
    for batch in batches:
        shares = np.asarray(model.transform(texts_of(batch)), dtype=np.float64)
        order = np.argsort(-shares, axis=1, kind="stable")[:, :leading]
        for record, share, first in zip(batch, shares, order, strict=True):
            row: dict[str, Any] = {}
            if options.id_key:
                row["id"] = record.fields[options.id_key]
            row |= {"source": record.source, "line": record.line, "time": time_of(record.time)}
            row |= {key: record.fields[key] for key in options.keep}
            topics: list[Any] = [(int(k), round(float(share[k]), 4), labels[k]) for k in first]
            if not record.text.strip():
                topics = [] if kind == "jsonl" else [(None, None, None)] * len(topics)
            if kind == "jsonl":
                names = ("topic", "share", "label")
                row["topics"] = [dict(zip(names, one, strict=True)) for one in topics]
            else:
                for i, (topic, part, label) in enumerate(topics, start=1):
                    row |= {f"topic_{i}": topic, f"share_{i}": part, f"label_{i}": label}
            yield row
