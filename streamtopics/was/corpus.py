# SPDX-License-Identifier: BSD-3-Clause
"""Documents of sentences as sequences of words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.base.sentences import Sentences
from streamtopics.kernels import rows
from streamtopics.kernels import was as kernel
from streamtopics.local.step import mix
from streamtopics.utils.structure import for_scipy

# Words are sampled one by one. This many take about 1 GiB in `fit`, and as much again for every
# eight topics in `transform`; a hundred sweeps take hours.
MOST_WORDS = 2**24
# What `mix` adds before it mixes.
STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class SentenceCorpus:
    """Words of sentences of documents; a word is a column of the vocabulary."""

    words: np.ndarray  # int32.
    sentences: np.ndarray  # First word of each sentence, and the end; intp.
    documents: np.ndarray  # First sentence of each document, and the end; intp.

    @property
    def n_documents(self) -> int:
        return len(self.documents) - 1

    @property
    def n_sentences(self) -> int:
        return len(self.sentences) - 1

    @property
    def n_words(self) -> int:
        return len(self.words)

    @property
    def bounds(self) -> np.ndarray:
        """First word of each document, and the end."""
        return np.take(self.sentences, self.documents)

    def part(self, first: int, last: int) -> SentenceCorpus:
        sentences = self.sentences[self.documents[first] : self.documents[last] + 1]
        return SentenceCorpus(
            self.words[sentences[0] : sentences[-1]],
            sentences - sentences[0],
            self.documents[first : last + 1] - self.documents[first],
        )

    def repeat(self, n: int) -> SentenceCorpus:
        """Return n copies of a corpus of one document."""
        starts = np.add.outer(self.n_words * np.arange(n), self.sentences[:-1])
        return SentenceCorpus(
            np.tile(self.words, n),
            np.append(starts, self.n_words * n),
            self.n_sentences * np.arange(n + 1),
        )

    def spans(self, words_per_part: int) -> list[tuple[int, int]]:
        """(first, last) of consecutive parts of about `words_per_part` words."""
        bounds, n_documents = self.bounds, self.n_documents
        n_parts = max(1, min(n_documents, round(self.n_words / words_per_part)))
        targets = self.n_words * np.arange(1, n_parts) / n_parts
        cuts = np.unique(np.searchsorted(bounds, targets)).tolist()
        return list(pairwise([0, *(cut for cut in cuts if 0 < cut < n_documents), n_documents]))


def corpus_of(
    X: ArrayLike | sparse.csr_matrix, sentences_per_document: ArrayLike
) -> SentenceCorpus:
    """Turn counts of sentences, (n_sentences, n_features), into words in the order of columns."""
    X = sparse.csr_matrix(for_scipy(X), copy=True)
    X.sum_duplicates()
    counts = _whole(X.data)
    total = np.concatenate([[0], np.cumsum(counts)])
    return SentenceCorpus(
        np.repeat(X.indices.astype(np.int32), counts),
        total[X.indptr].astype(np.intp),
        np.concatenate([[0], np.cumsum(sentences_per_document)]).astype(np.intp),
    )


def words_of(sentences: Sentences) -> tuple[np.ndarray, SentenceCorpus]:
    return own_words(corpus_of(sentences.counts, np.diff(sentences.starts)))


def own_words(corpus: SentenceCorpus) -> tuple[np.ndarray, SentenceCorpus]:
    """Occurring columns, and the corpus with indices into the columns."""
    n_features = int(corpus.words.max(initial=-1)) + 1
    words, places = rows.used_columns(corpus.words, n_features)
    return words, replace(corpus, words=places)


def document_seeds(seed: int, n_before: int, n_documents: int) -> np.ndarray:
    """Return seeds of documents by their place in a stream, (n_documents,)."""
    places = np.arange(n_documents, dtype=np.uint64) + np.uint64(n_before)
    return mix(mix(np.array([seed], np.uint64) - STEP) + places - STEP)


def content_seeds(corpus: SentenceCorpus, words: np.ndarray) -> np.ndarray:
    """A seed for each document, a hash of its sentences."""
    found: np.ndarray = kernel.content_seeds(
        corpus.documents, corpus.sentences, words[corpus.words]
    )
    return found


def _whole(counts: np.ndarray) -> np.ndarray:
    whole = counts.astype(np.int64)
    if (whole != counts).any():
        raise ValueError(
            f"X holds the count {counts[whole != counts][0]:g}, but sentences are made of whole "
            "words; pass counts, not weights such as tf-idf"
        )
    n_words = float(counts.sum(dtype=np.float64))
    if n_words > MOST_WORDS:
        raise ValueError(
            f"X holds {n_words:,.0f} words, but at most {MOST_WORDS:,} are sampled at once; the "
            f"largest count is {counts.max():,.0f}. Pass fewer documents to partial_fit"
        )
    return whole
