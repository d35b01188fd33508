# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches of a stream: reading, scoring and learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from inspect import signature
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.text import NamedCounts
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import check_not_frozen, counted, last_step, steps_before
from streamtopics.utils.structure import from_arrow, in_memory, in_order, number_of_rows
from streamtopics.utils.times import without_pandas

# Counters of documents, by class of model.
DOCUMENTS_SEEN = ("n_documents_seen_", "n_samples_seen_")

# A list of texts, or rows of counts.
Documents = list[str] | sparse.csr_matrix


class Learner(Protocol):
    """An estimator or pipeline with `partial_fit`."""

    @property
    def partial_fit(self) -> Callable[..., Any]: ...


class TimedBatch(NamedTuple):
    """A minibatch with its time and other data, such as ratings, users or labels.

    Attributes
    ----------
    X, time : object
        Counts, or texts for a pipeline; and the time of these documents.
    data : mapping of str to object
        Other arguments of `partial_fit` and `score`, for example ``{"y": ratings}``.
    """

    X: Any
    time: Any = None
    data: Mapping[str, Any] = {}


class Seen(NamedTuple):
    """Learnt documents and tokens; tokens are NaN if not counted."""

    n_documents: int
    n_tokens: float


# Minibatches


def read_batch(item: object) -> TimedBatch:
    batch = item if isinstance(item, TimedBatch) else TimedBatch(item)
    return batch._replace(X=in_memory(batch.X), time=without_pandas(batch.time))


def after(batches: Iterable[Any], skip: int) -> Iterator[Any]:
    """The minibatches after the first `skip`."""
    if isinstance(batches, str | np.ndarray) or sparse.issparse(batches):
        kind = type(batches).__name__
        raise TypeError(
            f"batches must be minibatches; cut the {kind} by streamtopics.datasets.iter_minibatches"
        )
    check_integer(least=0, skip=skip)
    left = iter(batches)
    n_skipped = sum(1 for _ in islice(left, int(skip)))
    if n_skipped < skip:
        raise ValueError(
            f"skip is {skip!r}, but batches has {n_skipped} minibatches; pass the same stream again"
        )
    return left


# Models


def check_model(model: Learner) -> None:
    check_not_frozen(model)
    counts = {*DOCUMENTS_SEEN} & {*dir(type(last_step(model)))}
    if not hasattr(model, "partial_fit") or not counts:
        raise TypeError(
            "model must be an estimator of this package with partial_fit, or a "
            f"streamtopics.text.StreamingPipeline with one as last step; got {model!r}"
        )


def check_has_topics(model: Learner) -> None:
    if not isinstance(last_step(model), StreamingTopicModel):
        raise TypeError(
            "model must be an estimator of topics over words that learns from counts alone, or a "
            f"pipeline with one as last step; got {model!r}"
        )


def count_of(estimator: object, *names: str, default: Any = 0) -> Any:
    """The first attribute found on an estimator, or the default."""
    return next((getattr(estimator, name) for name in names if hasattr(estimator, name)), default)


def seen_by(model: Learner) -> Seen:
    learner = last_step(model)
    n_documents = count_of(learner, *DOCUMENTS_SEEN)
    n_tokens = count_of(learner, "n_tokens_seen_", default=np.nan if n_documents else 0.0)
    return Seen(n_documents, n_tokens)


def n_learnt(model: Learner) -> int:
    return int(count_of(last_step(model), "n_batch_iter_"))


def score_before(model: Any, batch: TimedBatch) -> float:
    """The score before learning; NaN without rows, or for a new model."""
    if number_of_rows(batch.X) == 0:
        return np.nan
    known = arguments_of(type(model).score) if batch.data else ()
    data = {name: value for name, value in batch.data.items() if name in known}
    try:
        return float(model.score(batch.X, **data))
    except NotFittedError:
        return np.nan


def learn(model: Learner, batch: TimedBatch, learner: Any) -> None:
    if learner is None:
        own, of_last = (arguments_of(type(one).partial_fit) for one in (model, last_step(model)))
        # A `TopicStream` takes the times of the documents.
        time = {"time": batch.time} if "time" in of_last and "times" not in own else {}
        model.partial_fit(batch.X, **batch.data, **time)
    elif batch.data:
        given, kind = ", ".join(batch.data), type(learner).__name__
        raise TypeError(f"{kind} has the model learn from X alone; leave out {given}")
    else:
        learner.learn(model, batch.X, time=batch.time)


@cache
def arguments_of(method: Callable[..., Any]) -> frozenset[str]:
    return frozenset(signature(method).parameters)


# Documents of minibatches


def as_documents(model: Learner, X: Any) -> Documents:
    if steps_before(model):
        if isinstance(X, str) or len(getattr(X, "shape", ())) > 1:
            raise TypeError(f"X must be the texts of documents; got {X!r:.60}")
        return list(from_arrow(X))
    return sparse.csr_matrix(last_step(model)._counts(X, "partial_fit"))


def together(parts: Sequence[Any]) -> Documents:
    if isinstance(parts[0], list):
        return [document for part in parts for document in part]
    counts: Documents = parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
    return counts


def counts_of(model: Learner, documents: Documents) -> sparse.csr_matrix:
    """Counts of words in the current columns, without learning."""
    found = counted(model, documents) if isinstance(documents, list) else documents
    # A step of a pipeline may return several entries of a word, and keep the matrix.
    return in_order(sparse.csr_matrix(found))


def named(model: Learner, documents: Documents) -> Any:
    """Counts with the names of columns, if known; texts unchanged."""
    names = count_of(model, "feature_names_in_", default=None)
    if isinstance(documents, list) or names is None:
        return documents
    return NamedCounts.of(documents, names)
