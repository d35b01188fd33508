# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of neighbouring words counted as one word: "credit card".

Pairs are counted in a sample of the documents, in a table of bounded size. A phrase is a frequent
pair with a large normalised pointwise mutual information,

    npmi = log(n_ab n / (n_a n_b)) / log(n / n_ab),

with n_ab pairs, n_a and n_b of its words, among n words. Words are known by a hash of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from streamtopics.utils.checks import check_range, check_whole

# The sample of a corpus is one document in at most eight, and at least this number.
LEAST, MOST_STRIDE = 2000, 8
# The sample of a stream is the first documents, and then this number of each so many.
FIRST_LOOKED, LOOKED, PERIOD = 2000, 1000, 16_000
# Pairs kept when there are twice as many.
MOST_PAIRS = 2**14
# A phrase stays a phrase until its count is less than this share of `min_count`.
STAYS = 0.5
ODD = np.uint64(0x9E3779B97F4A7C15)
# Columns of the counts of a pair.
PAIR, FIRST, SECOND, WORDS = range(4)


@dataclass(frozen=True)
class Phrases:
    """Conditions for pairs of neighbouring words to count as one word.

    Parameters
    ----------
    min_count : int, default=10
        Least number of occurrences of a pair in a sample of the documents. In `fit` the sample is
        an eighth of the documents, but at least 2,000, or all if there are fewer. In a stream the
        sample is the first 2,000 documents, and later 1,000 of each 16,000.
    min_npmi : float in [-1, 1], default=0.5
        Least normalised pointwise mutual information of a pair: 1 for words always together, 0 for
        words together by chance.

    Examples
    --------
    >>> from streamtopics.text import Phrases, StreamingCountVectorizer
    >>> texts = ["My credit card is lost", "No credit card, no hotel", "The card of a hotel"]
    >>> vectorizer = StreamingCountVectorizer(phrases=Phrases(min_count=2), stop_words="english")
    >>> vectorizer.fit(texts).get_feature_names_out()
    array(['card', 'credit card', 'hotel', 'lost'], dtype=object)
    """

    min_count: int = 10
    min_npmi: float = 0.5

    def __post_init__(self) -> None:
        check_whole(self, min_count=self.min_count)
        check_range(self, -1, 1, min_npmi=self.min_npmi)


class Pairs(NamedTuple):
    """The most frequent pairs of neighbours in some documents."""

    keys: np.ndarray  # In order
    tags: np.ndarray  # For the two words of each pair,
    counts: np.ndarray
    totals: np.ndarray  # and the count of each of the two
    totals_of: Callable[[np.ndarray], np.ndarray]  # Counts of words by their tags
    n_words: float
    n_documents: int
    spelled: Callable[[int], list[str]]  # The two words of a pair


def pairs_of(parts: list[Any], rows: list[np.ndarray], n_documents: int) -> Pairs:
    """Return the most frequent pairs in some rows of compiled counters."""
    found = [part.pairs(chosen) for part, chosen in zip(parts, rows, strict=True)]
    tag = np.concatenate([part.tags() for part in parts])
    total = np.concatenate([total for _, _, total in found])
    starts = np.cumsum([0, *(len(total) for _, _, total in found)])
    pairs = np.concatenate(
        [words + start for (words, _, _), start in zip(found, starts, strict=False)]
    )
    counts, n_words = np.concatenate([counts for _, counts, _ in found]), total.sum()
    if len(parts) > 1:
        # Several parts may have the same word, or pair.
        _, same = np.unique(tag, return_inverse=True)
        total = np.bincount(same, total)[same]
        _, first, same = np.unique(_keys(tag[pairs]), return_index=True, return_inverse=True)
        pairs, counts = pairs[first], np.bincount(same, counts, len(first)).astype(np.int64)
    kept = np.flatnonzero(_are_most(counts))
    kept = kept[np.argsort(_keys(tag[pairs[kept]]))]
    pairs = pairs[kept]

    def totals_of(tags: np.ndarray) -> np.ndarray:
        if not len(tags):
            return np.zeros(tags.shape)
        wanted, where = np.unique(tags, return_inverse=True)
        order = np.argsort(tag)
        places, known = _places(tag[order], wanted)
        totals = np.where(known, np.append(total[order], 0)[places], 0)
        return totals[where].reshape(tags.shape)

    def spelled(pair: int) -> list[str]:
        p = int(np.searchsorted(starts, pairs[pair, 0], side="right")) - 1
        return [parts[p].spell_entry(int(word - starts[p])) for word in pairs[pair]]

    tags = tag[pairs]
    return Pairs(
        _keys(tags), tags, counts[kept], total[pairs], totals_of, n_words, n_documents, spelled
    )


@dataclass(frozen=True)
class PhraseTable:
    """Decayed counts of pairs of neighbours, and the phrases among them."""

    _holds = "keys: any N; tags: any N 2; counts: N 4 >=0; weight: >=0; n_documents: >=0"
    keys: np.ndarray  # In order
    tags: np.ndarray  # For the two words of each pair
    # For each pair, since the pair is in the table: itself, its first word, its second word, all
    # words
    counts: np.ndarray
    names: dict[int, str]  # By keys of phrases
    weight: float = 0.0  # Decayed number of documents in the sample
    n_documents: int = 0  # Documents seen before the last look

    @classmethod
    def empty(cls) -> PhraseTable:
        return cls(np.empty(0, np.uint64), np.empty((0, 2), np.uint64), np.empty((0, 4)), {})

    def step(
        self, found: Pairs, rule: Phrases, n_documents: int = 0, half_life: float | None = None
    ) -> PhraseTable:
        """Return the table after a further sample, with `n_documents` seen before."""
        elapsed = n_documents - self.n_documents
        decay = 1.0 if half_life is None else 2.0 ** (-elapsed / half_life)
        old = self.counts * decay
        old[:, FIRST:WORDS] += found.totals_of(self.tags)
        old[:, WORDS] += found.n_words
        places, known = _places(self.keys, found.keys)
        old[places[known], PAIR] += found.counts[known]
        tags, totals = found.tags[~known], found.totals[~known]
        n_words = np.full(len(tags), found.n_words)
        counts = np.column_stack([found.counts[~known], totals, n_words])
        keys, counts = np.append(self.keys, found.keys[~known]), np.concatenate([old, counts])
        order = np.argsort(keys, kind="stable")
        if len(order) > 2 * MOST_PAIRS:
            order = order[_are_most(counts[order, PAIR])]
        keys, counts = keys[order], counts[order]
        return PhraseTable(
            keys, np.concatenate([self.tags, tags])[order], counts,
            self._names(keys, counts, found, rule),
            self.weight * decay + found.n_documents, n_documents,
        )  # fmt: skip

    def _names(
        self, keys: np.ndarray, counts: np.ndarray, found: Pairs, rule: Phrases
    ) -> dict[int, str]:
        """Names of earlier phrases still frequent, and of new phrases."""
        held = np.sort(np.fromiter(self.names, np.uint64, len(self.names)))
        places, known = _places(keys, held)
        places, held = places[known], held[known]
        stays = counts[places, PAIR] >= STAYS * rule.min_count
        names = {key: self.names[key] for key in held[stays].tolist()}
        frequent = np.flatnonzero(counts[:, PAIR] >= rule.min_count)
        n_pair, n_first, n_second, n = counts[frequent].T
        # A single pair has no information; it is a phrase.
        npmi = np.log(n_pair * n / (n_first * n_second)) / np.maximum(np.log(n / n_pair), 1e-300)
        new = keys[frequent][npmi >= rule.min_npmi]
        places, known = _places(found.keys, new)
        for key, place in zip(new[known].tolist(), places[known].tolist(), strict=True):
            words = found.spelled(place)
            # Words of a tokenizer may have spaces, so the start of the second word would be
            # unknown.
            if key not in names and " " not in chain.from_iterable(words):
                names[key] = " ".join(words)
        return names

    def frequencies(self, weight: float) -> np.ndarray:
        """Estimated number of occurrences of each phrase in `weight` documents."""
        places = np.searchsorted(self.keys, np.fromiter(self.names, np.uint64, len(self.names)))
        return np.asarray(self.counts[places, PAIR] * weight / max(self.weight, 1.0))


def looked_at(n_before: int | None, n_documents: int) -> np.ndarray:
    """Whether each document is sampled: after `n_before` of a stream, or of a corpus."""
    if n_before is None:
        stride = min(MOST_STRIDE, max(1, n_documents // LEAST))
        return (np.arange(n_documents) % stride == 0).astype(np.uint8)
    places = n_before + np.arange(n_documents)
    return ((places < FIRST_LOOKED) | (places % PERIOD < LOOKED)).astype(np.uint8)


def _keys(tags: np.ndarray) -> np.ndarray:
    """The key of each pair, from hashes of the words."""
    return np.asarray(tags[:, 0] * ODD + tags[:, 1])


def _places(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of wanted keys in sorted keys, and whether each key occurs."""
    places = np.searchsorted(keys, wanted)
    return places, np.append(keys, np.uint64(0))[places] == wanted


def _are_most(counts: np.ndarray) -> np.ndarray:
    """Whether each count is among the `MOST_PAIRS` greatest; equal counts all or none."""
    if len(counts) <= MOST_PAIRS:
        return np.ones(len(counts), dtype=bool)
    least = np.partition(counts, len(counts) - MOST_PAIRS - 1)[len(counts) - MOST_PAIRS - 1]
    return np.asarray(counts > least)
