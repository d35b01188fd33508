# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics apply`: the topics of each document."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from streamtopics.cli.models import labels_of, load_model
from streamtopics.cli.reading import cut, records, texts_of, time_of
from streamtopics.cli.tally import Tally
from streamtopics.cli.telling import counted, note
from streamtopics.cli.writing import check_target, write_rows
from streamtopics.datasets import Record


def run(options: Namespace) -> None:
    """Write a line for each document, as they are read."""
    path = None if options.output == "-" else Path(options.output)
    kind = options.output_format
    if path is not None:
        kept = [options.model_file, *options.files]
        check_target(path, () if kind else ("jsonl", "csv"), kept)
        kind = kind or path.suffix[1:].lower()
    model, tally = load_model(options.model_file), Tally()
    found = cut(records(options, tally.skipped), options.batch_size)
    found = tally.over(found, model.steps[0][1])
    labels = labels_of(model, options.words, options.relevance)
    rows = rows_of_documents(model, found, options.leading, labels, kind or "jsonl")
    n = write_rows(path, rows, kind or "jsonl")
    tally.tell()
    if path is not None:
        note(f"topics of {counted(n, 'document')} written to {path}")


def rows_of_documents(
    model: Any, batches: Iterable[list[Record]], leading: int, labels: list[str], kind: str
) -> Iterator[dict[str, Any]]:
    """Yield the leading topics of each document, with where it is from."""
    for batch in batches:
        shares = np.asarray(model.transform(texts_of(batch)), dtype=np.float64)
        order = np.argsort(-shares, axis=1, kind="stable")[:, :leading]
        for record, share, first in zip(batch, shares, order, strict=True):
            row: dict[str, Any] = {"source": record.source, "line": record.line}
            row["time"] = time_of(record.time)
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
