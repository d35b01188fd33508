# SPDX-License-Identifier: BSD-3-Clause
"""Counts of words by sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate, chain
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from streamtopics.text.counting import check_no_frame, count_sentences, word_rule
from streamtopics.text.named import NamedCounts, TextVectorizer, rows_apart
from streamtopics.text.splitting import split_sentences
from streamtopics.text.streaming_vectorizer import StreamingCountVectorizer
from streamtopics.utils.steps import is_frozen
from streamtopics.utils.structure import (
    from_arrow,
    has_entries,
    outputs_pandas,
    row_labels,
    shape_of,
)


class SentenceVectorizer(TextVectorizer, auto_wrap_output_keys=None):
    """Turn each document into a matrix of counts with a row for each sentence.

    Parameters
    ----------
    vectorizer : CountVectorizer, TfidfVectorizer, HashingVectorizer or None, default=None
        Counts words. None is ``StreamingCountVectorizer()``. The vectorizer is cloned, except a
        `sklearn.frozen.FrozenEstimator`.
    splitter : callable or None, default=None
        Maps a text to a list of sentences. None is :func:`~streamtopics.text.split_sentences`.

    Attributes
    ----------
    vectorizer_ : object
        The fitted vectorizer.

    Notes
    -----
    ``min_df``, ``max_df`` and the idf of TfidfVectorizer count documents, not sentences. N-grams
    do not cross sentences. Row s of document d counts the words of
    ``sentences(raw_documents)[d][s]``; a sentence without known words has a row of zeros.

    Examples
    --------
    >>> from streamtopics.text import SentenceVectorizer
    >>> reviews = ["The screen is great. The battery is not!", "Great screen."]
    >>> vectorizer = SentenceVectorizer()
    >>> X = vectorizer.fit_transform(reviews)
    >>> vectorizer.get_feature_names_out()
    array(['battery', 'great', 'is', 'not', 'screen', 'the'], dtype=object)
    >>> X.shape
    (2,)
    >>> X[0].toarray()
    array([[0, 1, 1, 0, 1, 1],
           [1, 0, 1, 1, 0, 1]])
    >>> vectorizer.sentences(reviews)
    [['The screen is great.', 'The battery is not!'], ['Great screen.']]
    """

    def __init__(
        self,
        vectorizer: BaseEstimator | None = None,
        *,
        splitter: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.vectorizer = vectorizer
        self.splitter = splitter

    def _labelled(self, found: np.ndarray, raw_documents: Any) -> np.ndarray:
        """The matrices of documents; a labelled Series for pandas output."""
        if (labels := row_labels(raw_documents)) is None or not outputs_pandas(self):
            return found
        return cast("np.ndarray", type(raw_documents)(list(found), index=labels, dtype=object))

    def sentences(self, raw_documents: Iterable[Any]) -> list[list[str]]:
        """Return the sentences of each document, a list of lists of str, also before a fit."""
        check_no_frame(raw_documents)
        # Rows of a table are no documents.
        shape = shape_of(raw_documents)
        if not has_entries(raw_documents) or (shape is not None and len(shape) != 1):
            raise TypeError("raw_documents must be an iterable of texts, or of lists of sentences")
        split = split_sentences if self.splitter is None else self.splitter
        documents = from_arrow(raw_documents)
        found = [split(text) if isinstance(text, str) else text for text in documents]
        for place, sentences in enumerate(found):
            is_list = isinstance(sentences, list | tuple | np.ndarray)
            if not is_list or not all(isinstance(one, str) for one in sentences):
                raise TypeError(
                    "a document must be a str or a list of str, its sentences; document "
                    f"{place} is {sentences!r:.60}"
                )
        return list(map(list, found))

    def _fresh(self) -> Any:
        return StreamingCountVectorizer() if self.vectorizer is None else super()._fresh()

    def _learnt(self, raw_documents: Any, y: object) -> np.ndarray:
        documents = self.sentences(raw_documents)
        found = self._learn(documents)
        if found is None:
            return self._counts(raw_documents, documents)
        return self._labelled(self._apart(found, documents), raw_documents)

    def _counts(self, raw_documents: Any, documents: list[list[str]] | None = None) -> np.ndarray:
        if documents is None:
            documents = self.sentences(raw_documents)
        # HashingVectorizer needs at least one text; its row is left over.
        counts = self.vectorizer_.transform([*chain.from_iterable(documents), ""]).tocsr()
        return self._labelled(self._apart(counts, documents), raw_documents)

    def _learn(self, documents: list[list[str]]) -> sparse.csr_matrix | None:
        """Fit the vectorizer; return counts of all sentences if already found."""
        vectorizer = self._fresh()
        if getattr(vectorizer, "input", None) != "content":
            raise ValueError("vectorizer must be one of scikit-learn's for texts, input='content'")
        if is_frozen(vectorizer):
            self.vectorizer_ = vectorizer.fit(documents, None)
            return None
        if isinstance(vectorizer, StreamingCountVectorizer):
            vectorizer._check_parameters()
            if word_rule(vectorizer) is not None:
                learnt = vectorizer._learn(documents, count_sentences)
                self.vectorizer_ = vectorizer
                return vectorizer._matrix(*learnt)
            if vectorizer.phrases:
                raise ValueError("phrases need the compiled word rule here; use no own tokenizer")
        # Its analyzer takes a sentence; during the fit, a document.
        analyze = vectorizer.build_analyzer()
        vectorizer.build_analyzer = lambda: lambda document: chain(*map(analyze, document))
        vectorizer.fit(documents)
        del vectorizer.build_analyzer
        self.vectorizer_ = vectorizer
        return None

    def _apart(self, counts: sparse.csr_matrix, documents: list[list[str]]) -> np.ndarray:
        """Return the rows of each document, with known words."""
        if hasattr(self.vectorizer_, "get_feature_names_out"):
            counts = NamedCounts.of(counts, self.get_feature_names_out())
        return rows_apart(counts, list(accumulate(map(len, documents), initial=0)))
