# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of documents with words and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_array

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.typing import MatrixLike, OptionalArray
from streamtopics.metrics import predictive
from streamtopics.utils.structure import labelled, row_labels

D = TypeVar("D", bound=Documents)


@documented
class TakesVectors(StreamingTopicModel):
    """Base of the estimators of documents with words and vectors."""

    def _with_vectors(self, batch: D, vectors: OptionalArray, *given: Any) -> D:
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
        {time}
        {vectors}

        {returns_self}
        """
        return self._partial_fit(X=X, y=y, time=time, vectors=vectors)

    def fit_transform(
        self, X: MatrixLike, y: OptionalArray = None, *, vectors: OptionalArray = None
    ) -> np.ndarray:
        """Fit, and return `transform` of the same documents and vectors.

        {X}
        {known_topics}
        {vectors}

        {doc_topic}
        """
        return self.fit(X, y, vectors=vectors).transform(X, vectors=vectors)

    def transform(self, X: MatrixLike, *, vectors: OptionalArray = None) -> np.ndarray:
        """Return the posterior mean of the topic proportions of each document.

        Each row depends on one document only. A document without words and without a vector gets
        the mean of the Dirichlet prior `doc_topic_prior_`.

        {X}
        {vectors}

        {doc_topic}
        """
        return labelled(self, self._shares(X, "transform", vectors=vectors), row_labels(X))

    def score(
        self, X: MatrixLike, y: OptionalArray = None, *, vectors: OptionalArray = None
    ) -> float:
        """Return the log predictive probability per held-out token, by document completion.

        Held-out tokens are predicted from the other tokens and the vector. Higher is better.

        {X}
        {y_ignored}
        {vectors}

        {score}
        """
        return predictive.per_token(*self._completed("score", X, vectors=vectors))


def check_vectors(
    vectors: Any,
    n_documents: int,
    learnt: int | None,
    caller: str,
    told: tuple[str, str] = ("the model was started with", "otherwise start anew with fit"),
    rows: str = "documents",
) -> Any:
    """Vectors of documents or names scaled to length 1, 0 if missing; None without vectors.

    `learnt` is the dimension learnt so far, None before the first minibatch; `told` is for
    messages.
    """
    name = "vectors" if rows == "documents" else "name_vectors"
    where = f"{name}, passed to {caller},"
    if vectors is None:
        if learnt and caller.endswith("fit"):
            raise ValueError(
                f"vectors must be passed to {caller}: {told[0]} {said_of(learnt)}, and a document "
                f"without a vector has a row of NaN; {told[1]}"
            )
        return None
    kinds = np.float64, np.float32
    found = check_array(
        vectors, dtype=kinds, ensure_all_finite=False, ensure_min_samples=0, input_name=name
    )
    if len(found) != n_documents:
        raise ValueError(
            f"{where} must have a row for each of the {n_documents} {rows}; it has {len(found)}"
        )
    if learnt is not None and found.shape[1] != learnt:
        raise ValueError(
            f"{where} has {found.shape[1]} dimensions, but {told[0]} {said_of(learnt)}; {told[1]}"
        )
    lacking = np.isnan(found).all(axis=1) & (rows == "documents")
    odd = np.flatnonzero(~lacking & ~np.isfinite(found).all(axis=1))
    if len(odd):
        raise ValueError(f"{where} must be finite; row {odd[0]} is {found[odd[0]]!s:.60}")
    found = np.where(lacking[:, None], found.dtype.type(0), found)
    # By the largest entry first: squares of large or small entries are infinite or 0.
    largest = np.maximum(found.max(axis=1), -found.min(axis=1))[:, None]
    np.divide(found, largest, out=found, where=largest > 0)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    np.divide(found, lengths, out=found, where=lengths > 0)
    return found


def said_of(n_dimensions: int) -> str:
    return f"vectors of {n_dimensions} dimensions" if n_dimensions else "no vectors"


def check_name_vectors(name_vectors: object, names: Sequence[str], caller: str) -> np.ndarray:
    """Vectors of names, by name or in order, scaled to length 1; 0 without a vector."""
    if name_vectors is None:
        return np.empty((len(names), 0))
    if isinstance(name_vectors, Mapping):
        if strange := [name for name in name_vectors if name not in names]:
            raise ValueError(
                f"name_vectors has {strange[:5]}, not among the names {[*names]} in seeds; add "
                "these names to seeds, with an empty list if without words"
            )
        nothing = np.zeros(max(map(np.size, name_vectors.values()), default=0))
        name_vectors = [name_vectors.get(name, nothing) for name in names]
    found = check_vectors(name_vectors, len(names), None, caller, rows="names")
    return np.asarray(found, np.float64)
