# SPDX-License-Identifier: BSD-3-Clause
"""The counts of topics in lists: with many topics, a word is in few of them.

A count of less than `least` tokens becomes so many or 0 when its word is updated, at random, with
its value as the mean. What is drawn depends on the posterior's seed, the minibatch and the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.kernels import rows as kernel
from streamtopics.posteriors.protocol import Swap, swap

# Entries that arrays have room for at least, and times as many as they hold.
LEAST_ENTRIES, GROWTH = 2**16, 3


class Lists:
    """Counts of words by topic; updates put new lists behind the old ones.

    The list of word w has places[w, 1] entries of `topics`, ascending, and `counts`, from
    places[w, 0] on. A copy of some words is changed in place: lists have room for places[w, 2].
    """

    _holds = "self: V K; places: i8 V 3 >=0; topics: i4 N >=0 <K; counts: N"

    def __init__(self, n_words: int, n_components: int, least: float):
        self.shape, self.least, self.n_used = (n_words, n_components), least, 0
        self.is_copy, self.places = False, np.zeros((n_words, 3), np.int64)
        self.topics, self.counts = np.zeros(0, np.int32), np.zeros(0)

    @classmethod
    def of(cls, matrix: sparse.csr_array, least: float) -> Lists:
        """A store of the counts of a matrix, whose topics are in order."""
        out, length = cls(*matrix.shape, least), np.diff(matrix.indptr)
        out.places[:] = np.column_stack((matrix.indptr[:-1], length, length))
        out.topics, out.counts, out.n_used = matrix.indices, matrix.data, matrix.nnz
        return out

    @property
    def words(self) -> np.ndarray:
        """Words that have a list, sorted, int32."""
        return np.flatnonzero(self.places[:, 1]).astype(np.int32)

    def matrix(self, words: np.ndarray, scale: np.ndarray | float = 1.0) -> sparse.csr_array:
        """Rows of words, times a number for each topic."""
        first, length, _ = self.places[words].T
        starts = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
        own = np.repeat(first - starts[:-1], length) + np.arange(starts[-1])
        topics, values = self.topics[own], self.counts[own]
        values *= np.broadcast_to(scale, self.shape[1])[topics]
        return sparse.csr_array((values, topics, starts), (len(words), self.shape[1]))

    def rows(self, words: np.ndarray) -> np.ndarray:
        return np.asarray(self.matrix(words).toarray())

    def find(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of words as an array, and the place of each word in it, int32."""
        return self.rows(words), np.arange(len(words), dtype=np.int32)

    def dense(self) -> np.ndarray:
        """The counts of all words, of shape (n_words, n_components); read-only."""
        dense = self.rows(np.arange(self.shape[0]))
        dense.flags.writeable = False
        return dense

    def only(self, words: np.ndarray, dtype: Any = np.float64) -> Lists:
        """A copy with `words` alone, to change in place; a pickle has double precision."""
        return self._copied(words, 0, True, dtype)

    def _copied(self, words: np.ndarray, room: int, is_copy: bool, dtype: Any) -> Lists:
        """A copy with `words` alone, and room for `room` entries behind the lists."""
        out, old = Lists(len(words), self.shape[1], self.least), self.places[words]
        n = int(old[:, 1].sum())
        size = max(GROWTH * n, n + room, LEAST_ENTRIES) + 1
        out.is_copy, out.topics, counts = is_copy, np.empty(size, np.int32), np.empty(size)
        none, ones = np.zeros(len(words) + 1, np.int32), np.ones(self.shape[1])
        given = self.topics, self.counts.astype(np.float64, copy=False), none[1:], none
        kernel.merge_lists(
            old, *given, none[:0], ones[:0], ones, ones, 0.0, (), out.topics, counts, out.places,
            ones.copy(), 0, False,
        )  # fmt: skip
        out.n_used, out.counts = n, counts.astype(dtype, copy=False)
        return out

    def plan(
        self,
        words: np.ndarray,
        counts: Any,
        scale: np.ndarray,
        unit: np.ndarray,
        seed: tuple[int, ...] = (),
    ) -> tuple[Any, np.ndarray, list[Swap]]:
        """The lists of `words` after `scale` times counts are added; nothing changes yet.

        A count is `unit` times as many tokens, (n_components,). `seed` is that of the minibatch.
        Returned are the change for the compiled writer, how much the sum of all counts grows,
        (n_components,), and what is to be set then.
        """
        store, old, added = self, self.places[words], sparse.csr_array(counts, dtype=np.float64)
        most = old[:, 1] + np.diff(added.indptr)
        needed = 2 * int(most[(most > old[:, 2]) | (not self.is_copy)].sum()) + 1
        if self.n_used + needed > len(self.topics) or not self.topics.flags.writeable:
            every = np.arange(self.shape[0])
            # Copied lists have no room of their own left.
            store = self._copied(every, 2 * int(most.sum()) + 1, self.is_copy, np.float64)
            old = store.places[words]
        places, change = np.empty_like(old), np.empty(self.shape[1])
        n_used = kernel.merge_lists(
            old, store.topics, store.counts, words, added.indptr, added.indices, added.data,
            scale, unit, self.least, seed, store.topics, store.counts, places, change,
            store.n_used, store.is_copy,
        )  # fmt: skip
        fields = {**vars(store), "n_used": n_used}
        swaps = [swap(self, name, value) for name, value in fields.items()]
        return kernel.ListChange(store.places, words, places), change, swaps

    def __getstate__(self) -> dict[str, Any]:
        found = self.matrix(self.words)
        own = {"words": self.words, "length": np.diff(found.indptr).astype(np.int32)}
        own |= {"topics": found.indices, "counts": found.data}
        return {"shape": self.shape, "least": self.least, **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        n_words, n_components = state["shape"]
        Lists.__init__(self, n_words, n_components, state["least"])
        length = np.asarray(state["length"], np.int64)
        places = np.column_stack((np.cumsum(length) - length, length, length))
        self.places[state["words"]] = places
        self.topics, self.counts = state["topics"], np.asarray(state["counts"], np.float64)
        self.n_used = len(self.topics)

    def check_held(self) -> None:
        found = self.matrix(self.words)
        rises = np.diff(found.indices) > 0
        rises[found.indptr[1:-1] - 1] = True
        if not rises.all() or len(self.topics) != len(self.counts):
            raise ValueError("the topics of a word must be in order, each with a count")


def joined(
    parts: Sequence[tuple[np.ndarray, Any, Any]], words: np.ndarray, scale: np.ndarray
) -> sparse.csr_array:
    """The sum of parts, each of words, counts and a factor, for all `words`, times `scale`."""
    found = []
    for own, counts, factor in parts:
        places = np.searchsorted(words, own).astype(np.int32)
        values = counts.data * (factor * scale)[counts.indices]
        found.append((values, np.repeat(places, np.diff(counts.indptr)), counts.indices))
    values, rows, topics = map(np.concatenate, zip(*found, strict=True))
    return sparse.coo_array((values, (rows, topics)), (len(words), len(scale))).tocsr()
