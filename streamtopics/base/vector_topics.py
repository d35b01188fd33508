# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of topics whose documents may have vectors beside their words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.typing import MatrixLike, OptionalArray
from streamtopics.base.vectors import check_vectors
from streamtopics.metrics import predictive
from streamtopics.utils.output import labelled, row_labels

D = TypeVar("D", bound=Documents)


@documented
class TakesVectors(StreamingTopicModel):
    """Base of the estimators whose documents may have vectors beside their words."""

    def _with_vectors(self, batch: D, vectors: OptionalArray, *given: Any) -> D:
        """The documents with their vectors; `given` is for `check_vectors`."""
        found = check_vectors(vectors, batch.n_documents, *given)
        found = None if found is None else found.astype(batch.X.dtype)
        return replace(batch, columns=batch.columns | {"vectors": found})

    def fit(self, X: MatrixLike, y: OptionalArray = None, *, vectors: OptionalArray = None) -> Self:
        """Learn from a corpus, in minibatches of `batch_size` rows, in order.

        {learns_corpus}

        {X_to_learn}
        {known_topics}
        {vectors}

        {returns_self}
        """
        return self._fit(X=X, y=y, vectors=vectors)

    def partial_fit(
        self,
        X: MatrixLike,
        y: OptionalArray = None,
        *,
        time: object = None,
        vectors: OptionalArray = None,
    ) -> Self:
        """Learn from one minibatch: one step of the update rule.

        {learns_minibatch}

        {X_to_learn}
        {known_topics}
        time : object, default=None
            When the documents are from: kept for `drift_report`.
        {vectors}

        {returns_self}
        """
        return self._partial_fit(X=X, y=y, time=time, vectors=vectors)

    def fit_transform(
        self, X: MatrixLike, y: OptionalArray = None, *, vectors: OptionalArray = None
    ) -> np.ndarray:
        """Learn from a corpus as `fit` does, and return the shares of its topics.

        {X}
        y : array-like of shape (n_documents,), default=None
            As in `fit`.
        {vectors}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            The same as ``fit(X, y, vectors=vectors).transform(X, vectors=vectors)``.
        """
        return self.fit(X, y, vectors=vectors).transform(X, vectors=vectors)

    def transform(self, X: MatrixLike, *, vectors: OptionalArray = None) -> np.ndarray:
        """Topic proportions of documents: their posterior mean.

        Deterministic, and each row depends on its own document only. A document without words or
        a vector gets the mean of `doc_topic_prior_`.

        {X}
        {vectors}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            Rows sum to 1; float64 for float64 input, else float32.
        """
        return labelled(self, self._shares(X, "transform", vectors=vectors), row_labels(X))

    def score(
        self, X: MatrixLike, y: OptionalArray = None, *, vectors: OptionalArray = None
    ) -> float:
        """Log predictive probability per held-out token, by document completion.

        Comparable between models, numbers of topics and sizes of test sets; higher is better.
        Vectors are given, never held out.

        {X}
        {y_ignored}
        {vectors}

        {score}
        """
        return predictive.per_token(*self._completed("score", X, vectors=vectors))
