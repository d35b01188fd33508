# SPDX-License-Identifier: BSD-3-Clause
"""Checked input of a report: topics, names of columns, documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.report.settings import ReportSettings
from streamtopics.utils.steps import counted, last_step, names_of, steps_before
from streamtopics.utils.structure import (
    check_structure,
    from_arrow,
    has_entries,
    is_sparse,
    to_sparse,
)


@dataclass(frozen=True)
class Source:
    """A fitted model and the documents that its report shows.

    Attributes
    ----------
    model : object
        The topic model itself; of a pipeline, its last step.
    pipeline : object or None
        The pipeline whose other steps count words; None where the model is given counts.
    names : ndarray of shape (n_features,)
        Words of the columns.
    topic_word : ndarray of shape (n_topics, n_features)
        Probabilities of words in topics.
    weights : ndarray of shape (n_topics,)
        Shares of the topics; sum to 1.
    retention : ndarray of shape (n_topics,)
        Share of each topic that is still its prior.
    documents : object
        What `transform` of the model takes; None where there are no documents.
    counts : csr_matrix of shape (n_documents, n_features)
        Words of each document; without rows where there are no documents.
    texts, titles : list of str or None
        Of each document.
    times : sequence or None
        When each document is from.
    labels : list of str
        What topics are called; those beyond its end have no name.
    """

    model: Any
    pipeline: Any
    names: np.ndarray
    topic_word: np.ndarray
    weights: np.ndarray
    retention: np.ndarray
    documents: Any
    counts: sparse.csr_matrix
    texts: list[str] | None = None
    titles: list[str] | None = None
    times: Sequence[Any] | np.ndarray | None = None
    labels: Sequence[str] = ()


def read_source(estimator: Any, settings: ReportSettings) -> Source:
    """Check what a report is given, and count the words of texts where a pipeline can."""
    topics, X, names = _topics_of(estimator), settings.X, settings.feature_names
    pipeline = estimator if steps_before(estimator) else None
    texts, titles = _strings("texts", settings.texts), _strings("titles", settings.titles)
    if X is None and texts is not None:
        if pipeline is None:
            raise ValueError(
                f"texts came without documents, and {type(topics).__name__} cannot count words: "
                "pass X=, the counts of these texts, too, or a pipeline whose first step "
                "is a vectorizer as the model"
            )
        X = counted(estimator, texts)
    names = topics._column_names(names_of(estimator) if names is None else names)
    counts, documents = counts_of(X, len(names))
    n = None if documents is None else counts.shape[0]
    for name, values in (("texts", texts), ("times", settings.times), ("titles", titles)):
        _check_length(name, values, n)
    return Source(
        topics, pipeline, np.asarray(names), topics.topic_word_, topics.topic_weights_,
        topics.prior_retention_, documents, counts, texts, titles, settings.times,
        _labels(topics, settings.labels),
    )  # fmt: skip


def _topics_of(estimator: Any) -> Any:
    """The topic model itself."""
    topics = last_step(estimator)
    wanted = ("topic_word_", "topic_weights_", "prior_retention_", "transform")
    if isinstance(topics, type) or not all(hasattr(type(topics), name) for name in wanted):
        raise TypeError(
            "estimator must be a fitted topic model of streamtopics, such as StreamingLDA(), or a "
            f"pipeline that ends with one; got {estimator!r:.80}"
        )
    return topics


def _labels(topics: Any, labels: Any) -> list[str]:
    """Return the names of the topics that were given, or those of the model."""
    if labels is None:
        return [str(name) for name in getattr(topics, "topic_names_", ())]
    _check_in_order("labels", labels)
    given = [getattr(one, "label", one) for one in labels] if has_entries(labels) else labels
    found = _strings("labels", given) or []
    if len(found) != len(topics.topic_weights_):
        raise ValueError(
            f"labels must have one for each of the {len(topics.topic_weights_)} topics; got "
            f"{len(found)}"
        )
    return found


def _strings(name: str, values: Iterable[str] | None) -> list[str] | None:
    if values is None:
        return None
    _check_in_order(name, values)
    found = list(from_arrow(values)) if has_entries(values) else None
    if found is None or not all(isinstance(value, str) for value in found):
        wrong = values if found is None else next(v for v in found if not isinstance(v, str))
        raise TypeError(
            f"{name} must be a sequence of str, one for each {_each(name)}; got {wrong!r:.60}"
        )
    return found


def _check_in_order(name: str, values: Any) -> None:
    """Refuse a set, which has no order, and a data frame, which is no sequence of its rows."""
    if isinstance(values, set | frozenset):
        raise TypeError(
            f"{name} must be in order, one for each {_each(name)}, but a set has none; got "
            f"{values!r:.60}. Pass a list"
        )
    if hasattr(type(values), "columns"):
        raise TypeError(
            f"{name} must have one for each {_each(name)}; got a {type(values).__name__}. Pass one "
            'of its columns, such as frame["text"]'
        )


def _each(name: str) -> str:
    """Return 'topic' for labels, and 'document' for texts and titles."""
    return "topic" if name == "labels" else "document"


def counts_of(X: Any, n_features: int) -> tuple[sparse.csr_matrix, Any]:
    """Counts of each document, and what `transform` takes, of X as it is given."""
    if X is None:
        return sparse.csr_matrix((0, n_features)), None
    check_structure(X, "report", "X")
    if _are_matrices(X):
        X = list(X)
        for place, one in enumerate(X):
            check_structure(one, "report", f"X[{place}]")
        each = [sparse.csr_matrix(sparse.csr_matrix(one).sum(axis=0)) for one in X]
        counts = sparse.vstack(each, format="csr")
    else:
        if not isinstance(X, sparse.csr_matrix):  # such as NamedCounts, which stay
            X = to_sparse(X, "report")
        counts = X.astype(np.float64) if X.dtype == bool else X
    if counts.shape[1] != n_features:
        raise ValueError(
            f"X has {counts.shape[1]} columns, but the model has {n_features}; count words "
            "by the vectorizer that the model learnt with"
        )
    return counts, X


def _are_matrices(documents: Any) -> bool:
    """Whether this is a sequence of matrices, one for each document of sentences."""
    holds_any = isinstance(documents, list | tuple) or (
        isinstance(documents, np.ndarray) and documents.dtype.kind == "O" and documents.ndim == 1
    )
    return holds_any and len(documents) > 0 and getattr(documents[0], "ndim", 1) == 2


def _check_length(name: str, values: Any, n_documents: int | None) -> None:
    if values is None:
        return
    if n_documents is None:
        raise ValueError(f"{name} came without documents; pass X= or a pipeline and texts=")
    has_length = hasattr(values, "__len__") and not is_sparse(values)
    if not has_length or len(values) != n_documents:
        n = len(values) if has_length else repr(values)[:60]
        raise ValueError(
            f"{name} must have an entry for each of the {n_documents} documents; got {n}"
        )
