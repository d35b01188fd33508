# SPDX-License-Identifier: BSD-3-Clause
"""Finds out, of a model that learns from a stream, what it has learnt from."""

from __future__ import annotations

from functools import cache
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from streamtopics.streams.batches import BatchWith
from streamtopics.utils.steps import check_not_frozen, last_step
from streamtopics.utils.structure import number_of_rows

# Counters of documents, by the class of model.
DOCUMENTS_SEEN = ("n_documents_seen_", "n_samples_seen_")


class Seen(NamedTuple):
    """Amounts of documents and tokens that a model has learnt from."""

    n_documents: int
    n_tokens: float


def seen_by(model: Any) -> Seen:
    """Return the documents and tokens that a model has learnt from.

    Nothing is seen before the first minibatch. Tokens are NaN for a model that counts none.
    """
    learner = last_step(model)
    documents = next(name for name in DOCUMENTS_SEEN if hasattr(type(learner), name))
    without = 0.0 if hasattr(type(learner), "n_tokens_seen_") else np.nan
    # A NotFittedError is an AttributeError.
    return Seen(getattr(learner, documents, 0), getattr(learner, "n_tokens_seen_", without))


def score_before(model: Any, batch: BatchWith) -> float:
    """Return the model's score of a minibatch before it is learnt.

    NaN if the minibatch has no rows, or the model knows nothing yet.
    """
    if number_of_rows(batch.X) == 0:
        return np.nan
    data = {}
    if batch.data:
        known = names_of(model, "score")
        data = {name: value for name, value in batch.data.items() if name in known}
    try:
        return float(model.score(batch.X, **data))
    except NotFittedError:
        return np.nan


def learn(model: Any, batch: BatchWith, learner: Any) -> None:
    """Learn a minibatch, by the callback that learns if there is one."""
    if learner is not None:
        learner.learn(model, batch.X, time=batch.time)
        return
    told = {"time": batch.time} if "time" in names_of(last_step(model), "partial_fit") else {}
    model.partial_fit(batch.X, **batch.data, **told)


def is_fitted(model: Any) -> bool:
    """Whether a model has learnt anything, or has a state to learn on from."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def names_of(model: Any, method: str) -> frozenset[str]:
    """Names of the arguments of a method of a model beside its X."""
    kind: Any = type(model)
    return names_in(kind, method)


@cache
def names_in(kind: type, method: str) -> frozenset[str]:
    """Names of the arguments of a method of a class beside its X."""
    _, _, *others = signature(getattr(kind, method)).parameters.values()
    various = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return frozenset(other.name for other in others if other.kind not in various)


def check_names(model: Any, batch: BatchWith, learner: Any) -> None:
    """Refuse data that what learns has no use for."""
    if not batch.data:
        return
    if learner is not None:
        raise TypeError(
            f"a minibatch has data {sorted(batch.data)}, but {type(learner).__name__}.learn takes "
            "X and time only; leave that callback out, or the data"
        )
    known = names_of(model, "partial_fit") | names_of(last_step(model), "partial_fit")
    unknown = sorted(batch.data.keys() - (known - {"time"}))
    if unknown:
        raise TypeError(
            f"a minibatch has data {unknown}, but {type(last_step(model)).__name__}.partial_fit "
            f"knows {sorted(known)} only, and a time is passed as BatchWith(X, data, time)"
        )


def check_model(model: Any) -> None:
    """Refuse what cannot learn from a stream."""
    check_not_frozen(model)
    learner = last_step(model)
    fitting = hasattr(model, "partial_fit") and hasattr(learner, "partial_fit")
    counts = any(hasattr(type(learner), name) for name in DOCUMENTS_SEEN)
    if isinstance(model, type) or not fitting or not counts:
        raise TypeError(
            "model must be an estimator with partial_fit that counts the documents it has seen, "
            "such as StreamingLDA(), or a streamtopics.text.StreamingPipeline that ends in one; "
            f"got {model!r}"
        )
