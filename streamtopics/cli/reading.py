# SPDX-License-Identifier: BSD-3-Clause
"""Documents as the options say, one by one and in minibatches."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from streamtopics.cli.telling import safe
from streamtopics.datasets import Record, Skipped, load_docstrings, read_records


def settings(options: Namespace, skipped: Skipped) -> dict[str, Any]:
    """Return the arguments of readers."""
    names = ("text_key", "time_key", "format", "encoding", "max_line")
    on_bad = "skip" if options.skip_bad else "raise"
    return {name: vars(options)[name] for name in names} | {"on_bad": on_bad, "skipped": skipped}


def records(options: Namespace, skipped: Skipped) -> Iterator[Record]:
    """Yield documents of files, those with a text but for `apply`, or documentation strings."""
    if not options.files:
        texts = enumerate(load_docstrings().data, start=1)
        yield from (Record(text, None, {}, "documentation", i) for i, text in texts)
        return
    if "" in options.files:
        raise ValueError(
            "the name of a file is empty, as of a variable of the shell that is not set; name a "
            "file, or . for the files of this folder"
        )
    found = read_records([Path(name) for name in options.files], **settings(options, skipped))
    record = None
    for record in found if options.verb == "apply" else with_text(found, skipped):
        yield record
    if record is None:
        raise ValueError(f"there are no documents to read, and {skipped}; check the files")


def with_text(found: Iterable[Any], skipped: Skipped) -> Iterator[Any]:
    """Yield the records that have a text, and None for None; count the others."""
    for record in found:
        if record is None or record.text.strip():
            yield record
        else:
            skipped.add("missing texts", f"{record.source}, line {record.line}")


def time_of(when: Any) -> Any:
    """Return a time as it is written: dates as text, years without a fraction."""
    if isinstance(when, float) and when.is_integer():
        return int(when)
    return when.isoformat() if hasattr(when, "isoformat") else when


def cut(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of so many items, the last one perhaps shorter."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def texts_of(found: Iterable[Record]) -> list[str]:
    """Return the texts of records."""
    return [record.text for record in found]


def place_of(record: Record) -> str:
    """Return the file and the line of a document."""
    return safe(f"{record.source}:{record.line}")


class Sample:
    """A random sample of records of bounded size, each equally likely to be in it."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self.size, self.n, self.records = size, 0, list[Record]()
        self._random = Random(seed)

    def add(self, found: Iterable[Record]) -> None:
        """Take in records."""
        for record in found:
            self.n += 1
            if len(self.records) < self.size:
                self.records.append(record)
            elif (place := self._random.randrange(self.n)) < self.size:
                self.records[place] = record
