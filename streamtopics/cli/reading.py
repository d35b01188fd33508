# SPDX-License-Identifier: BSD-3-Clause
"""Documents as the options say, and the tally of what was read and left out by which limit."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np

from streamtopics.cli.inout import complain, note, safe
from streamtopics.datasets import load_docstrings
from streamtopics.streams.reading import Record, Skipped, read_records
from streamtopics.text import StreamingCountVectorizer

Item = TypeVar("Item")

MUCH = 0.1
N_SHOWN, LONGEST, MOST_KEPT = 5, 30, 5000
STOP = "stop_words"
LIMITS = ("min_df", "max_df", "max_features", "vocabulary", "binary", "dtype")
COUNTED = StreamingCountVectorizer().get_params().keys() - {*LIMITS}
# By the parameter of the vectorizer: why a word has no column, and what takes it in.
WHY = {
    STOP: ("", ""),
    "min_df": (" in too few documents", "lower --min-documents"),
    "max_df": (" in too many documents", "raise --max-share"),
    "max_features": (" too rare for the vocabulary", "raise --max-words"),
    "vocabulary": (" not in the vocabulary", "`streamtopics fit` makes a model of their words"),
}


def settings(options: Namespace, skipped: Skipped) -> dict[str, Any]:
    """Return the arguments of `read_records` and `follow`."""
    names = ("text_key", "time_key", "format", "time_format", "encoding")
    on_bad = "skip" if options.skip_bad else "raise"
    return {name: vars(options)[name] for name in names} | {"on_bad": on_bad, "skipped": skipped}


def columns(options: Namespace) -> list[str]:
    """Return the fields that come out again beside topics, the id first."""
    return [*([options.id_key] if options.id_key else []), *options.keep]


def records(
    options: Namespace, skipped: Skipped, keys: list[str] | None = None, empty: bool = False
) -> Iterator[Record]:
    """Yield documents of files, or documentation strings; those without a text are left out."""
    if not options.files:
        texts = enumerate(load_docstrings().data, start=1)
        yield from (Record(text, None, {}, "documentation", i) for i, text in texts)
        return
    if "" in options.files:
        raise ValueError("the name of a file is empty; name a file, or . for this folder")
    found = read_records(
        [Path(name) for name in options.files], keys=keys or [], sep=options.sep,
        **settings(options, skipped),
    )  # fmt: skip
    record = None
    for record in found if empty else with_text(found, skipped):
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


def time_of(when: object) -> object:
    """Return a time as it is written: dates as text, years without a fraction."""
    if isinstance(when, float) and when.is_integer():
        return int(when)
    return when.isoformat() if isinstance(when, datetime) else when


def cut(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
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


class Tally:
    """Counts documents, words, and what was left out of both; goes on, in place, from `kept`."""

    def __init__(self, kept: dict[str, dict[str, Any]] | None = None) -> None:
        kept = {} if kept is None else kept
        self.skipped = Skipped()
        self.skipped.counts = kept.setdefault("skipped", {})
        self.skipped.first = kept.setdefault("first", {})
        self._n: dict[str, int] = kept.setdefault("n", {"documents": 0, "words": 0, STOP: 0})
        self._words: dict[str, dict[str, int]] = kept.setdefault("words", {})

    def add(self, words: Any, texts: list[str], *, learnt: bool = False) -> None:
        """Take in texts, and what a vectorizer, which has perhaps just learnt them, leaves out."""
        self._n["documents"] += len(texts)
        if words is None:
            return
        words = vectorizer_of(words)
        given = words.get_params()
        every = StreamingCountVectorizer(**{name: given[name] for name in COUNTED & given.keys()})
        if every.ngram_range == (1, 1):  # else stop words come between n-grams
            every.stop_words = None
        try:
            X = every.fit_transform(texts)
        except ValueError:  # texts without a word
            return
        found = every.get_feature_names_out().tolist()
        n, frequencies = np.asarray(X.sum(axis=0)).ravel(), np.bincount(X.indices)
        self._n["words"] += int(n.sum())
        known, stop, limits = words.vocabulary_, words.get_stop_words() or (), ["vocabulary"]
        limits = words._limits_of(found, frequencies, len(texts)) if learnt else limits * len(n)
        for word, limit, count in zip(found, limits, n.tolist(), strict=True):
            if word not in known:
                reason = STOP if word in stop else limit
                counts = self._words.setdefault(reason, {})
                counts[word] = counts.get(word, 0) + count
                self._n[reason] = self._n.get(reason, 0) + count
        for reason, counts in self._words.items():
            if len(counts) > MOST_KEPT:
                self._words[reason] = dict(Counter(counts).most_common(MOST_KEPT // 2))

    def over(
        self, batches: Iterable[list[Record]], words: Any, *, learnt: bool = False
    ) -> Iterator[list[Record]]:
        """Yield minibatches, and take each in when the next one is asked for."""
        for batch in batches:
            yield batch
            self.add(words, texts_of(batch), learnt=learnt)

    @property
    def left_out(self) -> float:
        """Share of the words that are no stop words which were left out."""
        n = sum(self._n[reason] for reason in self._words if reason != STOP)
        return n / max(1, self._n["words"] - self._n[STOP])

    def rows(self) -> dict[str, str]:
        """Return what was counted, in words; nothing if nothing was left out."""
        rows = {"Documents read": f"{self._n['documents']:,}"}
        if self.skipped.counts:
            rows["Skipped"] = str(self.skipped).removeprefix("skipped ")
        told = {}
        for reason, counts in self._words.items():
            most = ", ".join(word[:LONGEST] for word, _ in Counter(counts).most_common(N_SHOWN))
            told[reason] = f"{self._n[reason]:,}{WHY[reason][0]} ({most})"
        if told:
            rows["Words read"] = f"{self._n['words']:,}"
            rows["Stop words left out"] = told.pop(STOP, "0")
            rows["Other words left out"] = "; ".join([f"{self.left_out:.1%}", *told.values()])
        return rows if len(rows) > 1 else {}

    def tell(self) -> None:
        """Say what was left out, and warn if it is much."""
        if rows := self.rows():
            note("; ".join(f"{name.lower()}: {value}" for name, value in rows.items()))
        if self.left_out > MUCH:
            most = max(self._words.keys() - {STOP}, key=self._n.__getitem__)
            complain(
                f"note: {self.left_out:.1%} of the words that are no stop words were left out; "
                f"{WHY[most][1]}"
            )


def vectorizer_of(words: Any) -> Any:
    """Return what counts words, also where it is within a `NamedVectorizer`."""
    return getattr(words, "vectorizer_", words)
