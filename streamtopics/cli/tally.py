# SPDX-License-Identifier: BSD-3-Clause
"""The tally of intake: what was read, and what was left out by which limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from streamtopics.cli.reading import texts_of
from streamtopics.cli.telling import complain, note
from streamtopics.datasets import Record, Skipped
from streamtopics.text import StreamingCountVectorizer

MUCH = 0.1
N_SHOWN, LONGEST, MOST_KEPT = 5, 30, 5000
LIMITS = ("min_df", "max_df", "max_features", "vocabulary", "binary", "dtype")
COUNTED = StreamingCountVectorizer().get_params().keys() - {*LIMITS}
STOP = "stop_words"
# By the parameter of the vectorizer: why a word has no column, and what takes it in.
WHY = {
    STOP: ("", ""),
    "min_df": (" in too few documents", "lower --min-documents"),
    "max_df": (" in too many documents", "raise --max-share"),
    "max_features": (" too rare for the vocabulary", "raise --max-words"),
    "vocabulary": (" not in the vocabulary", "`streamtopics fit` makes a model of their words"),
}


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
        words = getattr(words, "vectorizer_", words)
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
        if self.skipped.total:
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
