# SPDX-License-Identifier: BSD-3-Clause
"""Documents by the options, and counts of what was read and skipped."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from streamtopics.cli.console import log, safe, warn
from streamtopics.datasets import ReadingError, Record, Skipped, load_docstrings, read_records
from streamtopics.streams import TimedBatch
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer
from streamtopics.utils.steps import unwrap

MOST_LEFT_OUT = 0.1
N_SHOWN, LONGEST, LONGEST_PLACE, MOST_KEPT = 5, 30, 100, 5000
# Parameters of a vectorizer that define words, rather than choose words for columns.
OF_WORDS = (
    "input", "encoding", "decode_error", "strip_accents", "lowercase", "preprocessor",
    "tokenizer", "token_pattern", "ngram_range", "analyzer", "n_jobs",
)  # fmt: skip
OF_A_CLOSED = "`streamtopics fit` makes a model of their words"
OF_LIMITS = "lower --min-documents, or raise --max-words or --max-share"


def settings(options: Namespace, skipped: Skipped) -> dict[str, Any]:
    return {
        "text_key": options.text_key, "time_key": options.time_key, "format": options.format,
        "time_format": options.time_format, "encoding": options.encoding or "utf-8",
        "on_bad": "skip" if options.skip_bad else "raise", "skipped": skipped,
        "keys": [key for key in (options.id_key, *options.keep, options.group_key) if key],
    }  # fmt: skip


def records(options: Namespace, skipped: Skipped, empty: bool = False) -> Iterator[Record]:
    """Yield documents of files, or of `load_docstrings`; `empty` keeps empty texts."""
    if not options.files:
        texts = enumerate(load_docstrings().data, start=1)
        yield from (Record(text, None, {}, "documentation", i) for i, text in texts)
        return
    if "" in options.files:
        raise ValueError("the name of a file is empty; name a file, or . for this folder")
    paths = [Path(name) for name in options.files]
    found = read_records(paths, sep=options.sep, **settings(options, skipped))
    record = None
    for record in found if empty else with_text(found, options, skipped, {}):
        yield record
    if record is None:
        raise ValueError(f"there are no documents in {' '.join(options.files):.300}; {skipped}")


def with_text(
    found: Iterable[Any], options: Namespace, skipped: Skipped, kept: dict[str, Any]
) -> Iterator[Any]:
    """Yield records with a text, and None for None; count skipped records.

    Times must be all dates or all numbers, as `kept` says from the first on.
    """
    for record in found:
        if record is None:
            yield None
            continue
        place, are_dates = f"{record.source}, line {record.line}", isinstance(record.time, datetime)
        if not record.text.strip():
            skipped.add("missing texts", place)
        elif kept.setdefault("are_dates", are_dates) == are_dates:
            yield record
        elif options.skip_bad:
            skipped.add("no time", place)
        else:
            problem = f"times must be all dates or all numbers; got {record.time} after others"
            raise ReadingError("no time", place, problem)


def time_of(when: object) -> object:
    if isinstance(when, float) and when.is_integer():
        return int(when)
    return when.isoformat() if isinstance(when, datetime) else when


def cut(found: Iterable[Record], size: int) -> Iterator[list[Record]]:
    left = iter(found)
    while batch := list(islice(left, size)):
        yield batch


def texts_of(found: Iterable[Record]) -> list[str]:
    return [record.text for record in found]


def minibatch(found: list[Record], options: Namespace) -> TimedBatch:
    ids = [r.fields[options.id_key] if options.id_key else place_of(r) for r in found]
    labels: dict[str, Any] = {"ids": ids}
    if options.time_key:
        labels["times"] = [record.time for record in found]
    if options.group_key:
        labels["groups"] = [record.fields[options.group_key] for record in found]
    return TimedBatch(texts_of(found), time_of(found[-1].time), labels)


def place_of(record: Record) -> str:
    place = safe(f"{record.source}:{record.line}")
    return place if len(place) <= LONGEST_PLACE else f"…{place[1 - LONGEST_PLACE :]}"


class Tally:
    """Counts of documents and words, read and skipped; `kept` is continued in place."""

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        self.n: dict[str, Any] = {} if kept is None else kept
        none: dict[str, Any] = dict.fromkeys(("documents", "words", "stop", "others", "learnt"), 0)
        self.n |= none | {name: {} for name in ("most", "skipped", "first")} | self.n
        self.skipped = Skipped()
        self.skipped.counts, self.skipped.first = self.n["skipped"], self.n["first"]

    def add(self, words: object, texts: list[str], *, learnt: bool = False) -> None:
        """Count texts, and the words that the vectorizer `words` leaves out."""
        self.n["documents"] += len(texts)
        own = unwrap(words)
        own = unwrap(own.vectorizer_) if isinstance(own, NamedVectorizer) else own
        if not hasattr(own, "get_stop_words"):  # for example a pipeline
            return
        given = {name: value for name, value in own.get_params().items() if name in OF_WORDS}
        every = StreamingCountVectorizer(**given)
        try:
            counts = every.fit_transform(texts).sum(axis=0).A1.tolist()
        except ValueError:  # texts without a word
            return
        found = dict(zip(every.get_feature_names_out(), counts, strict=True))
        stop, known = {*(own.get_stop_words() or ())}, own.vocabulary_
        known = {*known, *" ".join(word for word in known if " " in word).split()}  # of phrases
        others = {word: n for word, n in found.items() if word not in known and word not in stop}
        self.n["learnt"] |= int(learnt)
        self.n["words"] += sum(counts)
        self.n["stop"] += sum(n for word, n in found.items() if word in stop)
        self.n["others"] += sum(others.values())
        most = Counter(self.n["most"])
        most.update(others)
        self.n["most"] = dict(most.most_common(MOST_KEPT))

    def over(
        self, batches: Iterable[list[Record]], words: object, *, learnt: bool = False
    ) -> Iterator[list[Record]]:
        for batch in batches:
            yield batch
            self.add(words, texts_of(batch), learnt=learnt)

    def rows(self) -> dict[str, str]:
        """The counts as text; empty if nothing was left out."""
        n, rows = self.n, {"Documents read": f"{self.n['documents']:,}"}
        if self.skipped.counts:
            rows["Skipped"] = str(self.skipped).removeprefix("skipped ")
        if n["others"] or n["stop"]:
            most = ", ".join(word[:LONGEST] for word in [*n["most"]][:N_SHOWN])
            others = f"{self._left_out():.1%}; {n['others']:,}{f' ({most})' if most else ''}"
            rows |= {"Words read": f"{n['words']:,}", "Stop words left out": f"{n['stop']:,}"}
            rows["Other words left out"] = others
        return rows if len(rows) > 1 else {}

    def tell(self) -> None:
        """Print the counts; warn if many words were left out."""
        if rows := self.rows():
            log("; ".join(f"{name.lower()}: {value}" for name, value in rows.items()))
        if self._left_out() > MOST_LEFT_OUT:
            warn(
                f"note: {self._left_out():.1%} of the words, stop words aside, were left out; "
                f"{OF_LIMITS if self.n['learnt'] else OF_A_CLOSED}"
            )

    def _left_out(self) -> float:
        return float(self.n["others"] / max(1, self.n["words"] - self.n["stop"]))
