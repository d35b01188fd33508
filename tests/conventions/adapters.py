# SPDX-License-Identifier: BSD-3-Clause
"""Estimators whose X is no matrix, as scikit-learn's checks, which make matrices, can ask them.

An adapter is the estimator itself, a subclass, whose methods first make of each row of a matrix
what the estimator reads: a document of sentences, a set, a text. All the rest it passes on:
containers, types, wrong values and names of columns, so that what is checked is what the
estimator does with them. Rows are scaled to whole numbers where it needs them.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import validate_data

import streamtopics as st
from streamtopics.text import (
    NamedCounts,
    NamedVectorizer,
    SentenceVectorizer,
    StreamingCountVectorizer,
)
from streamtopics.text.named import TextVectorizer

METHODS = (
    "fit", "partial_fit", "transform", "predict", "predict_proba", "score", "score_samples",
    "fit_transform",
)  # fmt: skip


class Made(list[Any]):
    """What was made of a matrix already."""


def a_container(X: Any) -> Any:
    """X, or the array that stands behind what has no shape of its own."""
    return X if isinstance(X, list) or hasattr(X, "shape") else np.asarray(X)


def whole(X: Any) -> Any:
    """Fractions times 10, rounded down; what is no number stays, as do NaN and infinity."""
    if sparse.issparse(X):
        rows = X.tocsr(copy=True)
        rows.data = whole(rows.data)
        return rows.asformat(X.format)
    if hasattr(X, "iloc"):
        return type(X)(whole(X.to_numpy()), index=X.index, columns=X.columns)
    if isinstance(X, list):
        return whole(np.asarray(X)).tolist()
    if X.dtype.kind == "c":
        return X
    try:
        values = np.floor(10 * np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError):
        return X
    return values.astype(X.dtype if X.dtype.kind in "fO" else np.float64)


def rows_twice(X: Any) -> Any:
    """Each row as a document of two equal sentences, in a container like X; else X as it is."""
    if len(X.shape if hasattr(X, "shape") else np.shape(X)) != 2:
        return X
    if isinstance(X, list):
        return Made([row, row] for row in X)
    X = X.tocsr() if sparse.issparse(X) else X
    at = X.iloc if hasattr(X, "iloc") else X
    return Made(at[[d, d]] for d in range(X.shape[0]))


def texts(X: Any) -> Made:
    """Each row as a text: for each entry that is not 0, in order, a sentence of its words."""
    times = np.ceil(np.minimum(abs(X.toarray() if sparse.issparse(X) else X), 20)).astype(int)
    return Made(
        " ".join((f"Word{j} " * n).strip() + "." for j, n in enumerate(row) if n) for row in times
    )


def chosen(summaries: Any, width: int) -> np.ndarray:
    """Summaries as a matrix: 1 where the sentence of a column was taken."""
    out = np.zeros((len(summaries), width))
    for row, sentences in zip(out, summaries, strict=True):
        row[[int(sentence.partition(" ")[0].strip(".")[4:]) for sentence in sentences]] = 1.0
    return out


def summed(documents: Any, width: int) -> np.ndarray:
    """Sentences of documents as a matrix with a row for each document."""
    return np.array([np.asarray(X.sum(axis=0)).ravel() for X in documents], dtype=np.float64)


def adapted(name: str, kind: type, read: Callable[..., Any], shown: Any = None) -> type:
    """A subclass whose methods pass on what `read` makes of X; `shown` is of what they return.

    `read` takes the estimator, X and whether X says how many columns there are, and returns
    arguments by name.
    """

    def reading(method: Callable[..., Any], called: str) -> Callable[..., Any]:
        @wraps(method)
        def call(self: Any, X: Any, *args: Any, **given: Any) -> Any:
            if isinstance(X, Made):
                return method(self, X, *args, **given)
            X = a_container(X)
            is_first = called == "partial_fit" and not hasattr(self, "n_features_in_")
            made, more = read(self, X, reset=called.startswith("fit") or is_first)
            passed = signature(method).bind(self, made, *args, **given)
            passed.arguments.update(
                (k, v) for k, v in more.items() if k in signature(method).parameters
            )
            out = method(*passed.args, **passed.kwargs)
            return shown(out, np.shape(X)[1]) if shown and out is not self else out

        return call

    def tags(self: Any) -> Any:
        tags = super(found, self).__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.sparse = True
        tags.input_tags.three_d_array = tags.input_tags.string = False
        return tags

    # A `fit_transform` that is not the estimator's own is `fit` and `transform`.
    own = {*vars(kind), *vars(TextVectorizer if issubclass(kind, TextVectorizer) else kind)}
    methods = {
        called: reading(getattr(kind, called), called)
        for called in METHODS
        if hasattr(kind, called) and (called != "fit_transform" or called in own)
    }
    place = {"__module__": __name__, "__qualname__": name, "__doc__": kind.__doc__}
    found = type(name, (kind,), {**methods, **place, "__sklearn_tags__": tags})
    return found


def apart(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A matrix for each document."""
    return rows_twice(X), {}


def together(estimator: Any, X: Any, *, reset: bool) -> Any:
    """One matrix for all documents, and the document of each row."""
    return X, {"groups": np.arange(len(X) if isinstance(X, list) else X.shape[0])}


def of_whole(read: Callable[..., Any]) -> Callable[..., Any]:
    """The same, of whole numbers."""
    return lambda estimator, X, *, reset: read(estimator, whole(X), reset=reset)


def as_texts(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A text for each row."""
    return texts(validate_data(estimator, X, reset=reset, accept_sparse="csr")), {}


def named(estimator: Any, X: Any, *, reset: bool) -> Any:
    """With names of the columns, as scikit-learn's checks name them, and without labels."""
    if not hasattr(X, "columns") and len(shape := np.shape(X)) == 2 and shape[1]:
        names = [f"col_{j}" for j in range(shape[1])]
        X = NamedCounts.of(X, names) if sparse.issparse(X) else pd.DataFrame(X, columns=names)
    return X, {"y": None}


def numbered(out: Any, width: int) -> Any:
    """Names of topics as numbers, all else as it is."""
    if getattr(getattr(out, "dtype", None), "kind", "f") in "fiu":
        return out
    return np.array([sum(map(ord, name)) for name in out])


WASApart = adapted("WASApart", st.WASTopicModel, of_whole(apart))
WASTogether = adapted("WASTogether", st.WASTopicModel, of_whole(together))
SentimentApart = adapted("SentimentApart", st.AspectSentimentModel, apart)
SentimentTogether = adapted("SentimentTogether", st.AspectSentimentModel, together)
SetsApart = adapted("SetsApart", st.LowRankDPP, apart)
SetsTogether = adapted("SetsTogether", st.LowRankDPP, together)
Summaries = adapted("Summaries", st.DPPSummarizer, as_texts, chosen)
Words = adapted("Words", StreamingCountVectorizer, as_texts)
NamedWords = adapted("NamedWords", NamedVectorizer, as_texts)
SentenceWords = adapted("SentenceWords", SentenceVectorizer, as_texts, summed)
Stream = adapted("Stream", st.TopicStream, as_texts)
Guided = adapted("Guided", st.GuidedTopics, named, numbered)
# Checks make it 1; the seeds say how many there are.
Guided.n_components = property(
    lambda self: st.GuidedTopics.n_components.fget(self), lambda self, n: None
)


class AsTexts(TransformerMixin, BaseEstimator):
    """The first step of a pipeline of texts."""

    def fit(self, X: Any, y: Any = None) -> Self:
        validate_data(self, X, accept_sparse="csr")
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        validate_data(self, X, reset=not hasattr(self, "n_features_in_"), accept_sparse="csr")
        return self

    def transform(self, X: Any) -> Made:
        return texts(validate_data(self, X, reset=False, accept_sparse="csr"))

    def set_output(self, *, transform: str | None = None) -> Self:
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.requires_fit = True, False
        tags.transformer_tags.preserves_dtype = []
        return tags
