# SPDX-License-Identifier: BSD-3-Clause
"""Documents of minibatches, as rows of counts or as texts: some of them, several together.

A model of counts is one estimator; a pipeline takes texts, and its last step the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.text import NamedCounts
from streamtopics.utils.steps import counted, last_step, steps_before
from streamtopics.utils.structure import for_scipy, from_arrow, in_order

Documents = Any


def n_learnt(model: Any) -> int:
    """Minibatches that the topics were learnt from; 0 before the first."""
    return int(getattr(last_step(model), "n_batch_iter_", 0))


def check_kind(model: Any, X: Any) -> None:
    """Refuse one text, and for a pipeline what is no sequence of texts, such as a table."""
    if isinstance(X, str):
        raise TypeError(f"X must be the texts of documents, not one text; got {X[:40]!r}; use [X]")
    if steps_before(model) and len(getattr(X, "shape", ())) > 1:
        raise TypeError(
            "X must be the texts of documents, which the steps of the pipeline count; got a "
            f"{type(X).__name__} of shape {X.shape}; pass one column of a table, and counts with "
            "an estimator alone"
        )


def as_documents(model: Any, X: Any) -> Documents:
    """Documents of a minibatch, checked: a list of texts, or a CSR matrix with rows of counts."""
    if steps_before(model):
        return list(from_arrow(X))
    topics = last_step(model)
    if isinstance(topics, StreamingTopicModel):
        return sparse.csr_matrix(topics._counts(X, "partial_fit"))
    return sparse.csr_matrix(for_scipy(X))


def number_of(documents: Documents) -> int:
    """Number of documents."""
    return len(documents) if isinstance(documents, list) else int(documents.shape[0])


def chosen(documents: Documents, which: np.ndarray) -> Documents:
    """Some of the documents."""
    return [documents[i] for i in which] if isinstance(documents, list) else documents[which]


def together(parts: Sequence[Documents]) -> Documents:
    """All documents of some parts, in order."""
    if isinstance(parts[0], list):
        return [document for part in parts for document in part]
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")


def counts_of(model: Any, documents: Documents) -> sparse.csr_matrix:
    """Counts of words, of columns as they are now; nothing is learnt."""
    found = counted(model, documents) if isinstance(documents, list) else documents
    counts: sparse.csr_matrix = sparse.csr_matrix(found)
    # A step of a pipeline may return several entries of a word, and keep what it returned.
    return in_order(counts)


def named(model: Any, documents: Documents) -> Any:
    """The documents as the model learns them: with names of the columns, if it knows these."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(documents, list) or names is None:
        return documents
    return NamedCounts.of(documents, names)
