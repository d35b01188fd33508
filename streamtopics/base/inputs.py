# SPDX-License-Identifier: BSD-3-Clause
"""Input of estimators: counts of words in documents, or in the sentences of documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin

from streamtopics.base.frame import StreamingEstimator
from streamtopics.base.sentences import Sentences, read_sentences
from streamtopics.base.validation import check_column_names, check_counts
from streamtopics.local.minibatches import minibatch_of
from streamtopics.messages import Minibatch, SentenceBatch


@dataclass(frozen=True)
class Documents:
    """Counts of words in documents, and what comes with each document.

    Attributes
    ----------
    X : sparse matrix of shape (n_documents, n_features)
    columns : dict of ndarray of shape (n_documents,), or None
        By name, such as the class of each document; "vectors" has a row for each.
    time : object
        When the documents are from.
    is_corpus : bool
        Whether they are all that `fit` learns from.
    """

    X: sparse.csr_matrix
    columns: dict[str, Any]
    time: Any = None
    is_corpus: bool = False

    @property
    def n_documents(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_tokens(self) -> float:
        return float(self.X.sum())

    @property
    def minibatch(self) -> Minibatch:
        """The documents over their own words, with their vectors."""
        return replace(minibatch_of(self.X), vectors=self.vectors)

    @property
    def vectors(self) -> Any:
        """Their vectors, of shape (n_documents, n_dimensions); None if they have none."""
        return self.columns.get("vectors")

    def cut(self, size: int) -> Iterator[Documents]:
        """Batches of `size` documents, in order."""
        for start in range(0, self.n_documents, size):
            yield self.part(start, start + size)

    def part(self, start: int, stop: int) -> Self:
        """The documents start .. stop - 1."""
        rows = slice(start, stop)
        own = {k: None if v is None else v[rows] for k, v in self.columns.items()}
        return replace(self, X=self.X[rows], columns=own)


class CountsInput(TransformerMixin, StreamingEstimator):
    """An estimator of documents as rows of counts."""

    def _counts(self, X: object, method: str, *, reset: bool = False) -> sparse.csr_matrix:
        caller = f"{type(self).__name__}.{method}"
        return check_counts(self, X, reset=reset, caller=caller, allow_no_documents=method != "fit")

    def _read(
        self, method: str, *, reset: bool, X: object, y: Any = None, time: object = None
    ) -> Documents:
        return Documents(self._counts(X, method, reset=reset), {}, time, method == "fit")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True)
class SentenceDocuments:
    """Documents made of sentences.

    Attributes
    ----------
    sentences : Sentences
    is_corpus : bool
        Whether they are all that `fit` learns from.
    """

    sentences: Sentences
    is_corpus: bool = False

    @property
    def n_documents(self) -> int:
        return self.sentences.n_documents

    @property
    def n_tokens(self) -> float:
        return float(self.sentences.counts.sum(dtype=np.float64))

    @property
    def batch(self) -> SentenceBatch:
        """The sentences over the words that occur in them."""
        return SentenceBatch(minibatch_of(self.sentences.counts), self.sentences.starts)

    def cut(self, size: int) -> Iterator[SentenceDocuments]:
        """Batches of `size` documents, in order."""
        for start in range(0, self.n_documents, size):
            yield self.part(start, min(start + size, self.n_documents))

    def part(self, start: int, stop: int) -> SentenceDocuments:
        """The documents start .. stop - 1."""
        starts = self.sentences.starts[start : stop + 1]
        counts = self.sentences.counts[starts[0] : starts[-1]]
        return SentenceDocuments(Sentences(counts, starts - starts[0]))


class SentencesInput(TransformerMixin, StreamingEstimator):
    """An estimator of documents as groups of sentences."""

    # Whether counts have to be whole numbers.
    _whole_counts = False

    def _read(
        self, method: str, *, reset: bool = False, X: object, groups: object = None
    ) -> SentenceDocuments:
        n_words = None if reset else self.n_features_in_
        caller = f"{type(self).__name__}.{method}"
        X = list(X) if isinstance(X, Iterator) else X
        # First the names: values in wrong columns are wrong for another reason.
        check_column_names(self, X, reset=reset)
        sentences = read_sentences(
            X, groups, n_words=n_words, whole=self._whole_counts, caller=caller
        )
        if method == "fit" and sentences.n_documents == 0:
            raise ValueError(f"X, passed to {caller}, has no documents; fit needs at least one")
        if reset:
            self.n_features_in_ = sentences.n_words
        return SentenceDocuments(sentences, method == "fit")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        return tags
