# SPDX-License-Identifier: BSD-3-Clause
"""The counts of topics in a store that has a row for each word seen, and none for the others.

`places` says which row of `counts` is that of a word. Row 0 is zeros and stands for all words
that were never seen, so that to read a word is the same whether it was seen or not. Rows are
given out in the order in which words come, and the array of rows grows by half when it is full:
its memory is that of the words seen. Of the vocabulary there is one int32 a word, and what an
update costs does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from streamtopics.kernels import minibatch
from streamtopics.kernels import rows as kernel
from streamtopics.messages import Statistics

GROWTH = 1.5
# Cells that there is room for from the start: memory that is only taken as they are written.
LEAST_CELLS = 2**20
# Of a long computation over many words, so that they stay in the processor's cache.
ROWS_AT_ONCE = 512


class Rows:
    """Counts of words by topic; updates change rows in place.

    Parameters
    ----------
    n_words, n_components : int

    Attributes
    ----------
    places : ndarray of shape (n_words,), int32
        Row of each word; 0 if it was never seen.
    counts : ndarray of shape (n, n_components), float64
        Row 0 is zeros, and so are rows that no word has yet.
    n_used : int
        Rows that are words', and row 0.
    """

    _holds = "counts: R *; places: V i4 >=0 <R"

    def __init__(self, n_words: int, n_components: int):
        self.places = np.zeros(n_words, np.int32)
        self.counts = np.zeros((1, n_components))
        self.n_used = 1

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.places), self.counts.shape[1]

    @property
    def words(self) -> np.ndarray:
        """Words that have a row, sorted, int32."""
        return np.flatnonzero(self.places).astype(np.int32)

    @property
    def used(self) -> np.ndarray:
        """Rows of `counts` that are words', int32."""
        return np.arange(1, self.n_used, dtype=np.int32)

    def located(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The array of counts, and the row in it of each of `words`, int32.

        A word that gets a row in a larger array meanwhile is one that was never seen.
        """
        counts = self.counts
        return counts, kernel.locate(self.places, words, len(counts))

    def rows(self, words: np.ndarray) -> np.ndarray:
        counts, rows = self.located(words)
        found: np.ndarray = counts[rows]
        return found

    def cells(self, words: np.ndarray, topics: np.ndarray) -> np.ndarray:
        """Counts of pairs of a word and a topic, in arrays of one shape."""
        counts, rows = self.located(np.ravel(words).astype(np.int32))
        found: np.ndarray = counts[rows.reshape(np.shape(words)), topics]
        return found

    def column(self, topic: int) -> np.ndarray:
        return self.counts[:, topic][self.places]

    def dense(self) -> np.ndarray:
        """Return the counts of all words, of shape (n_words, n_components); read-only.

        It is made anew, at the cost of the whole vocabulary.
        """
        dense: np.ndarray = self.counts[self.places]
        dense.flags.writeable = False
        return dense

    def only(self, words: np.ndarray, dtype: Any = np.float64) -> Rows:
        """A copy of which the words are `words` alone, numbered in their order.

        Its counts are of this `dtype`; a copy or pickle of it has double precision.
        """
        counts, rows = self.located(words)
        some = np.zeros((len(words) + 1, counts.shape[1]), dtype)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            places = rows[start : start + ROWS_AT_ONCE]
            some[start + 1 : start + 1 + len(places)] = counts[places]
        return Rows(len(words), counts.shape[1])._holding(np.arange(len(words)), some)

    def copy(self) -> Rows:
        out = Rows(0, self.counts.shape[1])
        out.places, out.n_used = self.places.copy(), self.n_used
        out.counts = self.counts[: self.n_used].copy()
        return out

    def claim(self, words: np.ndarray) -> Claim:
        """Rows for `words`, which are distinct; they have them when it is carried out."""
        store = self if self.counts.flags.writeable and self.places.flags.writeable else self.copy()
        counts, rows = store.located(words)
        new = rows == 0
        n_used = store.n_used + int(np.count_nonzero(new))
        rows[new] = np.arange(store.n_used, n_used)
        if n_used > len(counts):
            room = max(int(GROWTH * len(counts)), LEAST_CELLS // counts.shape[1])
            room = max(n_used, min(room, len(store.places) + 1))
            grown = np.zeros((room, counts.shape[1]))
            grown[: store.n_used] = counts[: store.n_used]
            counts = grown
        return Claim(store, counts, rows, n_used)

    def _holding(self, words: np.ndarray, counts: np.ndarray) -> Rows:
        """Return this store with other rows: after that of zeros, those of `words`."""
        self.places[words] = np.arange(1, len(counts), dtype=np.int32)
        self.counts, self.n_used = counts, len(counts)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the rows of words, and which words these are."""
        words = self.words
        in_order = np.empty(len(words), np.int32)
        in_order[self.places[words] - 1] = words
        return {
            "n_words": len(self.places),
            "words": in_order,
            "counts": self.counts[: self.n_used],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the rows of words."""
        self.places = np.zeros(state["n_words"], np.int32)
        self._holding(state["words"], np.asarray(state["counts"], np.float64))

    def check_held(self) -> None:
        """Refuse words that share a row."""
        if np.count_nonzero(self.places) != self.n_used - 1:
            raise ValueError("each word must have a row of its own")


class Claim(NamedTuple):
    """Rows that words have in a store once a change is carried out."""

    store: Rows
    # (n, n_components): the store's array of counts then: its own, or a larger copy
    counts: np.ndarray
    rows: np.ndarray  # Of each word
    n_used: int  # The store's `n_used` then

    def change(self, words: np.ndarray) -> tuple[np.ndarray, ...]:
        """The first arguments of the compiled writer: what it writes to, and where."""
        return self.counts[: self.n_used], self.store.places, words, self.rows

    @property
    def swaps(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Attributes of the store that are set together with the change."""
        mine = vars(self.store)
        return [(mine, "counts", self.counts), (mine, "n_used", self.n_used)]


def holding(n_words: int, words: np.ndarray, counts: np.ndarray) -> Rows:
    """A store of `n_words` words with the rows `counts` for some, distinct, and none else."""
    counts = np.concatenate([np.zeros((1, counts.shape[1])), counts])
    return Rows(n_words, counts.shape[1])._holding(words, counts)


def seen_in(stores: Sequence[Rows]) -> np.ndarray:
    """Words that have a row in any of some stores of as many words, sorted."""
    seen = np.zeros(stores[0].shape[0], bool)
    for store in stores:
        seen[store.words] = True
    return np.flatnonzero(seen).astype(np.int32)


def added(parts: Sequence[tuple[Rows, np.ndarray]]) -> Rows:
    """A store with the sum of some of as many words, the counts of each times its weights."""
    words = seen_in([store for store, _ in parts])
    total: Any = sum(weights * store.rows(words) for store, weights in parts)
    return holding(parts[0][0].shape[0], words, total)


def add_scaled(
    total: np.ndarray, words: np.ndarray, scale: np.ndarray, statistics: Statistics
) -> None:
    """Add `scale` times the counts of statistics to `total`, in place.

    Its rows are those of `words`, sorted, among which are those of the statistics.
    """
    places, counts = np.searchsorted(words, statistics.words), np.asarray(statistics.counts)
    if counts.dtype not in (np.float32, np.float64) or not counts.flags.c_contiguous:
        counts = np.ascontiguousarray(counts, np.float64)
    minibatch.add_scaled(total, places.astype(np.int32), scale, counts)
