# SPDX-License-Identifier: BSD-3-Clause
"""Input of estimators: counts of words, a row for each document."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features

from streamtopics.base.frame import StreamingEstimator
from streamtopics.base.typing import OptionalArray
from streamtopics.kernels import minibatch
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Minibatch
from streamtopics.utils.structure import (
    LEAST_COUNT,
    MOST_COUNT,
    check_reach,
    check_structure,
    column_names,
    holds_text,
    in_order,
    shape_of,
    to_csr,
)


@dataclass(frozen=True)
class Documents:
    X: sparse.csr_matrix
    # Arrays of n_documents rows by name, or None: classes of documents, or "vectors".
    columns: dict[str, Any]
    # Time of the documents.
    time: Any = None
    # Whether these are all documents of a `fit`.
    is_corpus: bool = False
    # Documents of the beginning of a stream at the last time that all were learnt anew.
    n_learnt: int = 0

    _holds = "n_learnt: >=0"

    @property
    def n_documents(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_tokens(self) -> float:
        return float(self.X.sum())

    @property
    def minibatch(self) -> Minibatch:
        return replace(minibatch_of(self.X), vectors=self.vectors)

    @property
    def vectors(self) -> Any:
        return self.columns.get("vectors")

    def without(self, words: np.ndarray) -> Documents:
        X = self.X.copy()
        X.data[np.isin(X.indices, words)] = 0
        X.eliminate_zeros()
        return replace(self, X=X)

    def cut(self, size: int) -> Iterator[Documents]:
        for start in range(0, self.n_documents, size):
            yield self.part(start, start + size)

    def after(self, begun: Self | None) -> Self:
        """The first documents `begun` of a stream, then these, copied."""
        parts = [self] if begun is None else [begun, self]
        X = sparse.vstack([part.X for part in parts], format="csr").copy()
        columns = {name: _stacked([p.columns[name] for p in parts]) for name in self.columns}
        return replace(self, X=X, columns=columns, time=None, n_learnt=parts[0].n_learnt)

    def part(self, start: int, stop: int) -> Self:
        rows = slice(start, stop)
        own = {k: None if v is None else v[rows] for k, v in self.columns.items()}
        return replace(self, X=self.X[rows], columns=own)


def _stacked(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return None if parts[0] is None else np.concatenate(parts)


class CountsInput(TransformerMixin, StreamingEstimator):
    def _counts(self, X: Any, method: str, *, reset: bool = False) -> sparse.csr_matrix:
        """Return X as a CSR matrix of non-negative, finite counts with sorted columns.

        Doubles and longer numbers become float64; others become float32, exact up to 16,777,216.
        """
        caller, least = f"{type(self).__name__}.{method}", int(method == "fit")
        if not reset and (clean := as_clean(self, X, least)) is not None:
            return clean
        if holds_text(X):
            raise TypeError(
                f"X must be a document-term matrix of counts, but {caller} got text; turn the "
                "documents into counts first, for example by "
                "sklearn.feature_extraction.text.CountVectorizer().fit_transform(documents)"
            )
        check_structure(X, caller)
        check_column_names(self, X, reset=reset)
        X = to_csr(X, caller, ensure_min_samples=least, ensure_min_features=1, estimator=self)
        _check_n_features(self, X, reset=reset)
        check_reach(X, caller)
        in_a_row = X.data.flags.c_contiguous and X.indices.flags.c_contiguous
        ordered = in_order(X if in_a_row else X.copy())
        if ordered is not X:
            # Of repeated entries.
            check_reach(ordered, caller)
        return ordered

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


def as_clean(estimator: StreamingEstimator, X: Any, least: int) -> sparse.csr_matrix | None:
    """X as from `_counts` if X is clean CSR of `least` documents, else None."""
    if type(X) not in (sparse.csr_matrix, sparse.csr_array) or X.ndim != 2:
        return None
    n, n_columns = X.shape
    known = n_columns == estimator.n_features_in_ and estimator._names_seen is None
    if not known or n < least or len(X.indptr) != n + 1 or len(X.data) == 0:
        return None
    data = X.data.astype(np.float32) if X.data.dtype.kind in "iu" else X.data
    try:
        arrays = X.indptr, X.indices, data
        if not minibatch.is_clean(*arrays, n_columns, LEAST_COUNT, MOST_COUNT):
            return None
    except (TypeError, ValueError):
        # Arrays of a type or shape unknown to the kernels.
        return None
    if data is not X.data:
        X = copy(X)
        X.data = data
    return cast("sparse.csr_matrix", X)


def check_column_names(estimator: StreamingEstimator, X: Any, *, reset: bool) -> None:
    """Keep or compare the column names of X, data frames or `NamedCounts`."""
    items = X if isinstance(X, list | tuple) or len(shape_of(X) or ()) == 1 else [X]
    named = (column_names(item) for item in items if sparse.issparse(item))
    names = next((names for names in named if names is not None), None)
    if names is None:
        frame = next((item for item in items if column_names(item) is not None), None)
        _check_feature_names(estimator, frame, reset=reset)
    elif reset:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif (known := estimator._names_seen) is not None and not np.array_equal(names, known):
        strange = np.setdiff1d(names, known).tolist()[:5]
        raise ValueError(
            f"the columns of X differ from those in the fit of {type(estimator).__name__}: "
            f"{f'it has {strange}, among others' if strange else 'their order differs'}; count "
            "with the vectorizer used for the fit"
        )


def check_feature_names(
    feature_names: OptionalArray | Collection[str], n_features: int
) -> np.ndarray:
    names = np.asarray(feature_names, dtype=object)
    if names.shape != (n_features,):
        raise ValueError(f"feature_names must have {n_features} names; its shape is {names.shape}")
    return names
