# SPDX-License-Identifier: BSD-3-Clause
"""Counts with the words of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from streamtopics.text.counting import check_no_frame
from streamtopics.utils.output import LinksToReference
from streamtopics.utils.steps import is_frozen
from streamtopics.utils.structure import check_structure, for_scipy, from_arrow, row_labels


class NamedCounts(sparse.csr_matrix):
    """A CSR matrix with names of columns.

    Selected rows keep `feature_names`, but not `index`. Results of arithmetic have neither.

    Attributes
    ----------
    feature_names : ndarray of shape (n_features,), of str objects, or None
        The words by column.
    index : pandas.Index of shape (n_documents,) or None
        Labels of the rows, if the texts were a Series.

    Examples
    --------
    >>> from streamtopics.text import NamedCounts
    >>> X = NamedCounts.of([[1, 0], [0, 2]], ["sea", "sky"])
    >>> X[1:].feature_names
    array(['sea', 'sky'], dtype=object)
    """

    feature_names: np.ndarray | None = None
    index: Any = None

    @classmethod
    def of(cls, counts: object, feature_names: ArrayLike) -> NamedCounts:
        """Return `NamedCounts` with these names of columns; a CSR matrix is not copied."""
        if counts is None:
            raise TypeError("counts must be a matrix; got None, which scipy reads as NaN")
        check_structure(counts, "NamedCounts.of", "counts")
        named = cls(for_scipy(counts))
        names = np.array(feature_names, dtype=object)
        if names.shape != named.shape[1:]:
            raise ValueError(f"feature_names must name {named.shape[1]} columns; got {names.shape}")
        named.feature_names = names
        return named

    def __getitem__(self, key: Any) -> Any:
        selected = super().__getitem__(key)
        columns = key[1:] if isinstance(key, tuple) else ()
        # An ellipsis stands for all remaining axes.
        whole = all(c is ... or (isinstance(c, slice) and c == slice(None)) for c in columns)
        if isinstance(selected, NamedCounts) and whole:
            selected.feature_names = self.feature_names
        return selected


def with_labels(counts: sparse.csr_matrix, labels: Any) -> NamedCounts:
    named = counts if isinstance(counts, NamedCounts) else NamedCounts(counts)
    named.index = labels
    return named


def rows_apart(X: sparse.csr_matrix, starts: list[int]) -> np.ndarray:
    """Slices of rows between starts, as an object array."""
    # Properties of X, such as sorted indices, hold for its parts.
    common = {**vars(X), "_has_canonical_format": X.has_canonical_format, "index": None}
    parts, ends = np.empty(len(starts) - 1, object), X.indptr[starts].tolist()
    for p, (start, stop) in enumerate(pairwise(starts)):
        span = slice(ends[p], ends[p + 1])
        part = type(X).__new__(type(X))
        vars(part).update(
            common,
            _shape=(stop - start, X.shape[1]),
            data=X.data[span].copy(),
            indices=X.indices[span].copy(),
            indptr=X.indptr[start : stop + 1] - ends[p],
        )
        parts[p] = part
    return parts


class StaysSparse:
    def set_output(self, *, transform: str | None = None) -> Self:
        """Accept scikit-learn's choice of output without effect: counts stay sparse."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self


class TextVectorizer(
    LinksToReference, StaysSparse, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Base of the vectorizers around a vectorizer of scikit-learn."""

    # Texts come alone, without metadata.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"raw_documents": UNUSED}
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"raw_documents": UNUSED}
    vectorizer: Any
    vectorizer_: Any
    # Learns the vocabulary and counts; counts only.
    _learnt: Callable[..., Any]
    _counts: Callable[..., Any]

    def fit(self, raw_documents: Iterable[Any], y: object = None) -> Self:
        """Learn the vocabulary.

        Parameters
        ----------
        raw_documents : iterable
            Texts; for `SentenceVectorizer` also lists of sentences.
        y : array-like of shape (n_documents,) or None
            Passed to `vectorizer` by `NamedVectorizer`, ignored by `SentenceVectorizer`.
        """
        self.fit_transform(raw_documents, y)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: object = None) -> Any:
        """Learn the vocabulary and count words, as `fit` and `transform`."""
        return self._learnt(raw_documents, y)

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """Count the words of each text, or of each sentence.

        Returns
        -------
        X : NamedCounts of shape (n_documents, n_words), or ndarray of shape (n_documents,)
            A `SentenceVectorizer` gives each document a matrix of shape (n_sentences, n_words).
        """
        check_is_fitted(self)
        return self._counts(raw_documents)

    def _fresh(self) -> Any:
        return CountVectorizer() if self.vectorizer is None else clone(self.vectorizer)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the words of the columns."""
        check_is_fitted(self)
        return np.asarray(self.vectorizer_.get_feature_names_out())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


class NamedVectorizer(TextVectorizer, auto_wrap_output_keys=None):
    """Count words, and pass the counts and column names (words) to the next step of a pipeline.

    The next step can look up the words of a prior, such as `streamtopics.priors.SeedWords`, and
    print topics without `feature_names`.

    Parameters
    ----------
    vectorizer : transformer or None, default=None
        Makes sparse counts, and has `get_feature_names_out`; None is ``CountVectorizer()``. The
        vectorizer is cloned, except a `sklearn.frozen.FrozenEstimator`.

    Attributes
    ----------
    vectorizer_ : object
        The fitted vectorizer.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.text import NamedVectorizer
    >>> texts = ["a ship at sea", "the deep sea", "a ship"] * 10
    >>> model = make_pipeline(
    ...     NamedVectorizer(CountVectorizer(stop_words="english")), SVBLDA(1, batch_size=5)
    ... ).fit(texts)
    >>> model[-1].top_words(n_words=2)
    [['ship', 'sea']]
    """

    def __init__(self, vectorizer: BaseEstimator | None = None) -> None:
        self.vectorizer = vectorizer

    def _learnt(self, raw_documents: Any, y: object) -> NamedCounts:
        check_no_frame(raw_documents)
        vectorizer, texts = self._fresh(), from_arrow(raw_documents)
        if is_frozen(vectorizer):
            counts = vectorizer.fit(texts, y).transform(texts)
        else:
            counts = vectorizer.fit_transform(texts, y)
        self.vectorizer_ = vectorizer
        return self._named(counts, raw_documents)

    def _counts(self, raw_documents: Any) -> NamedCounts:
        check_no_frame(raw_documents)
        return self._named(self.vectorizer_.transform(from_arrow(raw_documents)), raw_documents)

    def _named(self, counts: object, raw_documents: object) -> NamedCounts:
        named = NamedCounts.of(counts, self.get_feature_names_out())
        return with_labels(named, row_labels(raw_documents))
