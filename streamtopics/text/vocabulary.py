# SPDX-License-Identifier: BSD-3-Clause
"""The columns of words, for a corpus or a stream.

A stream has document frequencies of words with a column, and of a bounded number M of candidates.
Documents seen n documents ago count 2^(-n / h), h the half-life. If there are too many candidates,
the (M+1)-th largest count is subtracted from all (Misra and Gries, 1982). So counts err by at most
W / (M + 1), W the decayed number of (document, word) pairs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from streamtopics.kernels import tokens as kernel
from streamtopics.text.phrases import PhraseTable
from streamtopics.utils.checks import MOST_DOCUMENTS
from streamtopics.utils.parallel import WithCache, lock_of

# Longer words are not candidates, because the memory of a stream must be bounded.
LONGEST = 256
# Beginning of the names of columns without a word.
FREE = "<free "
NONE = np.empty(0, dtype=np.int64)
ARRAYS = "frequency", "column", "owner", "since"
# Held while a list shared by several vocabularies is written.
SHARED = WithCache()


def is_free(name: object) -> bool:
    """Whether a name is of a column without a word."""
    return str(name).startswith(FREE)


@dataclass(frozen=True)
class ClosedVocabulary:
    """Words by column."""

    names: list[str]
    phrases: PhraseTable | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The words as one text, because a file for each word would be large."""
        return {"names": json.dumps(self.names), "phrases": self.phrases}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, names=json.loads(state["names"]))

    @cached_property
    def columns(self) -> dict[str, int]:
        return {word: column for column, word in enumerate(self.names)}

    @property
    def n_columns(self) -> int:
        return len(self.names)

    @cached_property
    def _places(self) -> Any:
        return kernel.Words(self.names)

    def columns_of(self, words: list[str]) -> np.ndarray:
        """Return the column of each word, -1 for none."""
        return np.asarray(self._places.of(words))


@dataclass(frozen=True)
class Policy:
    """Rules of the columns of a stream; see `StreamingCountVectorizer`."""

    half_life: float | None
    min_df: float
    max_df: float
    n_candidates: int
    margin: float

    def limits(self, weight: float, so_far: bool = False) -> tuple[float, float]:
        """Limits of the document frequency of a word; a share of few may be less than one."""
        low, high = (_documents(df, weight) for df in (self.min_df, self.max_df))
        grows = so_far and _is_share(self.max_df)
        if high < low and not (grows and not _is_share(self.min_df)):
            raise ValueError(f"max_df corresponds to < documents than min_df: {high:g} < {low:g}")
        return low, max(1.0, high) if grows else high


def _documents(df: float, weight: float) -> float:
    return df * weight if _is_share(df) else float(min(df, MOST_DOCUMENTS))


def _is_share(df: float) -> bool:
    return not isinstance(df, int | np.integer)


@dataclass(frozen=True)
class OpenVocabulary:
    """The words of a stream with columns, and candidates for columns.

    A step appends to the shared lists; `table` knows the number of own words.
    """

    _holds = (
        "table.frequency: W >=0; table.owner: i4 C >=-1 <W; table.column: i4 W >=-1 <C; "
        "table.since: i8 C >=0; "
        "recycled: i8 * >=0 <C; n_documents: >=0; weight: >=0; error_bound: >=0"
    )
    words: list[str]
    places: Any  # Compiled. Of each word in `words`
    # Compiled. For each word `frequency`, decayed documents, and `column`, -1 for candidates; for
    # each column `owner`, the place of its word, and `since`, documents at the last change of the
    # word.
    table: Any
    n_documents: int = 0
    weight: float = 0.0  # Decayed documents
    error_bound: float = 0.0  # Largest error of the frequency of a candidate
    recycled: np.ndarray = field(default_factory=lambda: NONE)  # Columns without their former word
    phrases: PhraseTable | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without words added by a later step."""
        with lock_of(SHARED):
            words = self.words[: self.n_words]
        arrays = dict(zip(ARRAYS, self.table.arrays(), strict=True))
        return {**vars(self), **arrays, "words": json.dumps(words), "places": None, "table": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        words = json.loads(state["words"])
        table = kernel.Columns(*(state.pop(name) for name in ARRAYS))
        vars(self).update(state, words=words, places=kernel.Words(words), table=table)

    def check_held(self) -> None:
        _, column, owner, _ = self.table.arrays()
        held, n = np.flatnonzero(owner >= 0), self.n_words
        valid = len(held) == np.count_nonzero(column >= 0) and len(self.words) >= n
        # A later or interrupted step may have added words.
        valid = valid and np.array_equal(self.places.of(self.words[:n]), np.arange(n))
        if not valid or (column[owner[held]] != held).any():
            raise ValueError("words, their places and their columns must agree")

    @classmethod
    def empty(cls, n_columns: int) -> OpenVocabulary:
        owner, since = np.full(n_columns, -1, dtype=np.int32), np.zeros(n_columns, dtype=np.int64)
        return cls(
            [], kernel.Words([]), kernel.Columns(np.empty(0), np.empty(0, np.int32), owner, since)
        )

    @property
    def n_columns(self) -> int:
        return int(self.table.n_columns)

    @property
    def names(self) -> list[str]:
        """The words by column; other names for free columns."""
        return self.names_of(np.arange(self.n_columns))

    def names_of(self, columns: np.ndarray, have_words: bool = True) -> list[str]:
        # Reading copies the table of an earlier step.
        owners = self.table.owners(columns)[0].tolist() if have_words else [-1] * len(columns)
        each = zip(columns.tolist(), owners, strict=True)
        return [self.words[i] if i >= 0 else f"{FREE}{c}>" for c, i in each]

    @property
    def n_words(self) -> int:
        return int(self.table.n_words)

    @property
    def columns(self) -> dict[str, int]:
        owner = self.table.owner
        return {self.words[owner[c]]: c for c in np.flatnonzero(owner >= 0).tolist()}

    def columns_of(self, words: list[str]) -> np.ndarray:
        return np.asarray(self.table.of_words(self.places.of(words)))

    def step(
        self, words: list[str], frequencies: np.ndarray, n_documents: int, policy: Policy
    ) -> OpenVocabulary:
        if not n_documents:
            return replace(self, recycled=NONE)
        decay = 1.0 if policy.half_life is None else 2.0 ** (-n_documents / policy.half_life)
        weight = self.weight * decay + n_documents
        # Contradictory limits are refused before counting.
        how = decay, *policy.limits(weight, so_far=True), policy.margin
        after = self._with_counts(words, frequencies, *how, self.n_documents + n_documents)
        columns, had_word = after.table.changed()
        after = replace(
            after,
            n_documents=self.n_documents + n_documents,
            weight=weight,
            error_bound=self.error_bound * decay,
            recycled=columns[had_word],
        )
        return after._bounded(policy.n_candidates)

    def offered(self, words: list[str], frequencies: np.ndarray | float) -> OpenVocabulary:
        """Return the vocabulary with `frequencies` documents of words without a column."""
        more = frequencies - np.append(self.table.frequency, 0.0)[self._places_of(words)]
        changed = np.flatnonzero(np.where(self.columns_of(words) < 0, more, 0.0))
        if not len(changed):
            return self
        words = [words[i] for i in changed.tolist()]
        return self._with_counts(words, more[changed], 1.0, 0.0, 0.0, 0.0, self.n_documents)

    def _places_of(self, words: list[str]) -> np.ndarray:
        places: np.ndarray = self.places.of(words)
        return np.where(places < self.n_words, places, np.int32(-1))

    def _with_counts(
        self, words: list[str], frequencies: np.ndarray, *how: float
    ) -> OpenVocabulary:
        places = self._places_of(words)
        new = [i for i in np.flatnonzero(places < 0).tolist() if len(words[i]) <= LONGEST]
        all_words, all_places = self._with_words([words[i] for i in new])
        places[new] = np.arange(self.n_words, self.n_words + len(new), dtype=np.int32)
        kept = places >= 0
        counts = frequencies[kept].astype(np.float64)
        table = self.table.step(places[kept], counts, *how[:-1], self.n_documents, how[-1])
        return replace(self, words=all_words, places=all_places, table=table)

    def _with_words(self, added: list[str]) -> tuple[list[str], Any]:
        n = self.n_words
        # Several vocabularies share the list.
        with lock_of(SHARED):
            words, places = self.words, self.places
            if len(words) > n:
                words = words[:n]
                places = kernel.Words(words)
            words.extend(added)
            places.extend(added)
        return words, places

    def _bounded(self, n_candidates: int) -> OpenVocabulary:
        """The vocabulary with at most twice `n_candidates`."""
        if self.n_words - self.table.n_held <= 2 * n_candidates:
            return self
        frequency, column, owner, since = self.table.arrays()
        candidate = column < 0
        counts = frequency[candidate]
        least = np.partition(counts, len(counts) - n_candidates - 1)[-n_candidates - 1]
        frequency = frequency - np.where(candidate, least, 0.0)
        kept = np.flatnonzero(~candidate | (frequency > 0))
        words = [self.words[i] for i in kept.tolist()]
        column = column[kept]
        owner[column[column >= 0]] = np.flatnonzero(column >= 0)
        return replace(
            self,
            words=words,
            places=kernel.Words(words),
            table=kernel.Columns(frequency[kept], column, owner, since),
            error_bound=self.error_bound + float(least),
        )


def joined(vocabulary: ClosedVocabulary | OpenVocabulary) -> list[str]:
    if vocabulary.phrases is None:
        return []
    names = [*vocabulary.phrases.names.values()]
    has_column = vocabulary.columns_of(names) >= 0
    return [name for name, has in zip(names, has_column.tolist(), strict=True) if has]
