# SPDX-License-Identifier: BSD-3-Clause
"""Documents as the options say, and the tally of what was read and left out by which limit."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from streamtopics.cli.console import log, safe, warn
from streamtopics.datasets import Record, Skipped, load_docstrings, read_records
from streamtopics.streams import TimedBatch
from streamtopics.text import StreamingCountVectorizer
from streamtopics.utils.steps import unwrap

Item = TypeVar("Item")

MOST_LEFT_OUT = 0.1
N_SHOWN, LONGEST, LONGEST_PLACE, MOST_KEPT = 5, 30, 100, 5000
# Parameters of a vectorizer that say what is a word, rather than which words have a column.
OF_WORDS = (
    "input", "encoding", "decode_error", "strip_accents", "lowercase", "preprocessor",
    "tokenizer", "token_pattern", "ngram_range", "analyzer", "n_jobs",
)  # fmt: skip
OF_A_CLOSED = "`streamtopics fit` makes a model of their words"
OF_LIMITS = "lower --min-documents, or raise --max-words or --max-share"


def settings(options: Namespace, skipped: Skipped) -> dict[str, Any]:
    """Return the arguments of `read_records` and `follow`."""
    return {
        "text_key": options.text_key, "time_key": options.time_key, "format": options.format,
        "time_format": options.time_format, "encoding": options.encoding, "keys": columns(options),
        "on_bad": "skip" if options.skip_bad else "raise", "skipped": skipped,
    }  # fmt: skip


def columns(options: Namespace) -> list[str]:
    """Return the fields to read beside texts and times: those that come out again, and groups."""
    return [key for key in (options.id_key, *options.keep, options.group_key) if key]


def records(options: Namespace, skipped: Skipped, empty: bool = False) -> Iterator[Record]:
    """Yield documents of files, or documentation strings; those without a text are left out."""
    if not options.files:
        texts = enumerate(load_docstrings().data, start=1)
        yield from (Record(text, None, {}, "documentation", i) for i, text in texts)
        return
    if "" in options.files:
        raise ValueError("the name of a file is empty; name a file, or . for this folder")
    paths = [Path(name) for name in options.files]
    found = read_records(paths, sep=options.sep, **settings(options, skipped))
    record = None
    for record in found if empty else with_text(found, skipped):
        yield record
    if record is None:
        raise ValueError(f"there are no documents in {' '.join(options.files):.300}; {skipped}")


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


def documents_of(found: list[Record], options: Namespace) -> tuple[list[str], dict[str, Any]]:
    """Return texts, and the times, groups and ids that a stream learns them with."""
    id_key, group_key = options.id_key, options.group_key
    labels: dict[str, Any] = {
        "ids": [record.fields[id_key] if id_key else place_of(record) for record in found]
    }
    if options.time_key:
        labels["times"] = [record.time for record in found]
    if group_key:
        labels["groups"] = [record.fields[group_key] for record in found]
    return texts_of(found), labels


def minibatches(batches: Iterable[list[Record]], options: Namespace) -> Iterator[TimedBatch]:
    """Yield the documents of each minibatch, with the time of the last one."""
    for batch in batches:
        texts, labels = documents_of(batch, options)
        yield TimedBatch(texts, time_of(batch[-1].time), labels)


def place_of(record: Record) -> str:
    """Return the file and the line of a document; the end of it if it is long."""
    place = safe(f"{record.source}:{record.line}")
    return place if len(place) <= LONGEST_PLACE else f"…{place[1 - LONGEST_PLACE :]}"


class Tally:
    """Counts documents, words, and what was left out of both; goes on, in place, from `kept`."""

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        self.n: dict[str, Any] = {} if kept is None else kept
        for name in ("documents", "words", "stop", "others", "learnt"):
            self.n.setdefault(name, 0)
        for name in ("most", "skipped", "first"):
            self.n.setdefault(name, {})
        self.skipped = Skipped()
        self.skipped.counts, self.skipped.first = self.n["skipped"], self.n["first"]

    def add(self, words: object, texts: list[str], *, learnt: bool = False) -> None:
        """Take in texts, and what a vectorizer, which has perhaps just learnt them, leaves out."""
        self.n["documents"] += len(texts)
        if words is None:
            return
        own = vectorizer_of(words)
        given = {name: value for name, value in own.get_params().items() if name in OF_WORDS}
        every = StreamingCountVectorizer(**given)
        try:
            X = every.fit_transform(texts)
        except ValueError:  # texts without a word
            return
        self.n["learnt"] |= int(learnt)
        self.n["words"] += int(X.sum())
        known, stop, most = own.vocabulary_, own.get_stop_words() or (), self.n["most"]
        known = {*known, *" ".join(word for word in known if " " in word).split()}  # of phrases
        for word, n in zip(every.get_feature_names_out(), X.sum(axis=0).A1.tolist(), strict=True):
            if word in stop:
                self.n["stop"] += n
            elif word not in known:
                self.n["others"] += n
                most[word] = most.get(word, 0) + n
        if len(most) > MOST_KEPT:
            self.n["most"] = dict(Counter(most).most_common(MOST_KEPT // 2))

    def over(
        self, batches: Iterable[list[Record]], words: object, *, learnt: bool = False
    ) -> Iterator[list[Record]]:
        """Yield minibatches, and take each in when the next one is asked for."""
        for batch in batches:
            yield batch
            self.add(words, texts_of(batch), learnt=learnt)

    def rows(self) -> dict[str, str]:
        """Return what was counted, in words; nothing if nothing was left out."""
        n, rows = self.n, {"Documents read": f"{self.n['documents']:,}"}
        if self.skipped.counts:
            rows["Skipped"] = str(self.skipped).removeprefix("skipped ")
        if n["others"] or n["stop"]:
            most = Counter(n["most"]).most_common(N_SHOWN)
            listed = f" ({', '.join(word[:LONGEST] for word, _ in most)})" if most else ""
            rows["Words read"] = f"{n['words']:,}"
            rows["Stop words left out"] = f"{n['stop']:,}"
            rows["Other words left out"] = f"{self._left_out():.1%}; {n['others']:,}{listed}"
        return rows if len(rows) > 1 else {}

    def tell(self) -> None:
        """Say what was left out, and warn if it is much."""
        if rows := self.rows():
            log("; ".join(f"{name.lower()}: {value}" for name, value in rows.items()))
        if self._left_out() > MOST_LEFT_OUT:
            warn(
                f"note: {self._left_out():.1%} of the words that are no stop words were left out; "
                f"{OF_LIMITS if self.n['learnt'] else OF_A_CLOSED}"
            )

    def _left_out(self) -> float:
        """Share of the words that are no stop words which were left out."""
        return float(self.n["others"] / max(1, self.n["words"] - self.n["stop"]))


def vectorizer_of(words: object) -> Any:
    """Return what counts words, also where it is frozen or within a `NamedVectorizer`."""
    own = unwrap(words)
    return getattr(own, "vectorizer_", own)
