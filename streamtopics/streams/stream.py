# SPDX-License-Identifier: BSD-3-Clause
"""Runs a stream of minibatches through a model, calls what goes along with it, and scores it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import clone

from streamtopics.streams.batches import (
    Learner,
    after,
    check_model,
    learn,
    read_batch,
    score_before,
    seen_by,
)
from streamtopics.streams.callbacks import (
    BatchInfo,
    call,
    check_callbacks,
    finish_all,
    has,
    learner_of,
    mean_score,
)

Model = TypeVar("Model", bound=Learner)


def stream(
    model: Model,
    batches: Iterable[Any],
    *,
    callbacks: Sequence[Any] = (),
    score: bool = False,
    skip: int = 0,
) -> Model:
    """Learn from a stream of minibatches, and call callbacks after each of them.

    Parameters
    ----------
    model : estimator with partial_fit
        One of this package, or a `StreamingPipeline` that ends in one. It learns on in place.
    batches : iterable
        Minibatches: X of `partial_fit`, a `TimedBatch`, or a `BatchWith`. See
        `streamtopics.datasets.iter_minibatches`.
    callbacks : sequence, default=()
        Functions ``callback(model, info)`` or objects with ``on_batch(model, info)``, where
        ``info`` is a `BatchInfo`; one that returns True ends the stream. ``finish(model)`` is
        called once at the end, also after an error or an interrupt. ``learn(model, X, *,
        time=None)`` of one object, such as `DriftMonitor`, takes the place of `partial_fit`.
    score : bool, default=False
        Whether to score each minibatch before it is learnt. Done anyway if a callback has a true
        attribute `needs_score`, such as `ScoreHistory`.
    skip : int, default=0
        Minibatches at the head of `batches` that the model has learnt before.

    Returns
    -------
    model : estimator
        The same object. After an error or an interrupt it has learnt whole minibatches only; steps
        of a pipeline before the last may have seen one more, so go on from a saved one.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import ScoreHistory, stream
    >>> X = make_lda_corpus(n_documents=200, n_features=100, random_state=0).X
    >>> history = ScoreHistory()
    >>> model = stream(SVBLDA(5), iter_minibatches(X, 100), callbacks=[history])
    >>> [(row.batch, row.n_documents) for row in history.rows]
    [(1, 100), (2, 100)]
    """
    callbacks = tuple(callbacks)
    check_model(model)
    check_callbacks(callbacks)
    scored = score or any(has(callback, "needs_score") for callback in callbacks)
    left = after(batches, skip)
    with finish_all(model, callbacks):
        for number, item in enumerate(left, start=int(skip) + 1):
            info = _learnt(model, item, number, learner_of(callbacks), scored)
            # All are called, whichever of them ends the stream.
            ends = [call(callback, model, info) for callback in callbacks] if info else []
            if any(ends):
                break
    return model


def _learnt(
    model: Learner, item: object, number: int, learner: object, scored: bool
) -> BatchInfo | None:
    """Score and learn a minibatch; None before the first document."""
    batch, before = read_batch(item), seen_by(model)
    try:
        score = score_before(model, batch) if scored else np.nan
        learn(model, batch, learner)
    except Exception as error:
        error.add_note(f"This was minibatch {number} of the stream.")
        raise
    seen = seen_by(model)
    if seen.n_documents == 0:
        return None
    new = seen.n_documents - before.n_documents, seen.n_tokens - before.n_tokens
    return BatchInfo(number, batch.X, batch.time, *new, *seen, score)


class Prequential(NamedTuple):
    """The score of a model along a stream.

    Attributes
    ----------
    mean, standard_error : float
        Of the scores, weighted by tokens, or documents if the model counts no tokens; NaN of no
        score, or less than two.
    rows : list of BatchInfo
        One of each minibatch, also without a score, such as the first.
    """

    mean: float
    standard_error: float
    rows: list[BatchInfo]


def prequential_score(model: Learner, batches: Iterable[Any]) -> Prequential:
    """Score a model along a stream: each minibatch is scored before it is learnt.

    Parameters
    ----------
    model : estimator with partial_fit and score
        A clone of it learns, from nothing.
    batches : iterable
        Minibatches, as in `stream`.

    Returns
    -------
    result : Prequential
        Its standard error takes minibatches for independent, and has the learning curve in it.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import prequential_score
    >>> X = make_lda_corpus(n_documents=1000, n_features=100, random_state=0).X
    >>> few = prequential_score(SVBLDA(1, random_state=0), iter_minibatches(X, 200))
    >>> many = prequential_score(SVBLDA(10, random_state=0), iter_minibatches(X, 200))
    >>> many.mean > few.mean
    True
    """
    rows: list[BatchInfo] = []

    def keep(model: Learner, info: BatchInfo) -> None:
        rows.append(info._replace(X=None))

    stream(clone(model), batches, callbacks=[keep], score=True)
    return Prequential(*mean_score(rows), rows)
