# SPDX-License-Identifier: BSD-3-Clause
"""Functions for workers: reading partitions and applying a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from traceback import format_exc
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from streamtopics.streams.records import read_texts
from streamtopics.text.counting import check_no_frame
from streamtopics.utils.steps import counted
from streamtopics.utils.structure import (
    check_structure,
    is_sparse,
    kinds_of,
    shape_of,
    take_rows,
    total,
)

Read = Callable[[Any], Any]


class Scored(NamedTuple):
    """Score of a partition or NaN, and tokens of known words."""

    score: float
    n_tokens: float


class Tally(NamedTuple):
    documents: dict[str, int]
    tokens: dict[str, int]
    n_documents: int


def documents_of(partition: object, read: Read | None) -> Any:
    """Return the documents of a partition, for repeated iteration.

    Without `read` a path is a file of texts; a table has texts in the column "text".
    """
    found: Any = partition
    if read is not None:
        found = read(partition)
    elif isinstance(partition, str | os.PathLike):
        found = read_texts(Path(partition))
    # A column of numbers is the word "text".
    is_table = hasattr(found, "columns") and "text" in found.columns
    if is_table and kinds_of(found["text"])[0] not in [*"biuf"]:
        found = found["text"]
    return found if shape_of(found) or isinstance(found, list) else list(found)


def counts_of(documents: object, read: Read | None, before: Pipeline | None) -> Any:
    found = documents_of(documents, read)
    if before is not None:
        if not is_sparse(found):
            check_no_frame(found)
        return counted(before, found)
    if isinstance(found, list) or len(found.shape) != 2:
        raise TypeError(
            "its documents are not rows of counts; instead of the model pass a pipeline with a "
            "fitted vectorizer as first step"
        )
    check_structure(found, "the cluster", "a partition")
    return found.tocsr() if is_sparse(found) else found


def read_partition(
    partition: object, read: Read | None, before: Pipeline | None, batch_size: int
) -> list[Any]:
    X = counts_of(partition, read, before)
    starts = range(0, X.shape[0], batch_size)
    return [take_rows(X, slice(start, start + batch_size)) for start in starts]


def read_batches(batches: Sequence[Any], before: Pipeline | None) -> list[Any]:
    """Minibatches as counts; an error is the last item."""
    found = list[Any]()
    try:
        for one in batches:
            found.append(one._replace(X=counts_of(one.X, None, before)))
    except Exception as error:
        error.add_note(format_exc())  # What is sent in a list has no traceback.
        found.append(error)
    return found


def transform(partition: object, read: Read | None, model: Any) -> Any:
    return model.transform(documents_of(partition, read))


def score(partition: object, read: Read | None, model: Any) -> Scored:
    documents = documents_of(partition, read)
    X = counted(model, documents)
    if not X.shape[0]:
        return Scored(np.nan, 0.0)
    return Scored(float(model.score(documents)), total(X))


def tally_of(partition: object, read: Read | None, counter: Any) -> Tally:
    mine, texts = clone(counter), documents_of(partition, read)
    if not len(texts):
        return Tally({}, {}, 0)
    try:
        counts = mine.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        return Tally({}, {}, len(texts))
    words = mine.get_feature_names_out()
    documents = dict(zip(words, counts.getnnz(axis=0).tolist(), strict=True))
    tokens = np.asarray(counts.sum(axis=0)).ravel().tolist()
    return Tally(documents, dict(zip(words, tokens, strict=True)), len(texts))
