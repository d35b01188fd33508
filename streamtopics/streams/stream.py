# SPDX-License-Identifier: BSD-3-Clause
"""Runs a stream of minibatches through a model, and calls what goes along with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from streamtopics.streams.batches import after, read_batch
from streamtopics.streams.callbacks import (
    BatchInfo,
    call,
    check_callbacks,
    finish_all,
    learner_of,
)
from streamtopics.streams.checks import check_callables
from streamtopics.streams.learners import (
    check_model,
    check_names,
    is_fitted,
    learn,
    score_before,
    seen_by,
)
from streamtopics.utils.checks import check_truth

Model = TypeVar("Model")


def stream(
    model: Model,
    batches: Iterable[Any],
    *,
    callbacks: Sequence[Any] = (),
    score: bool = False,
    skip: int = 0,
) -> Model:
    """Learn from a stream of minibatches, and call callbacks after each of them.

    Each minibatch is scored if that is asked for, then learnt by one `partial_fit`, then every
    callback is called, in order. The stream ends with `batches`, or after a minibatch at which a
    callback returned True.

    Parameters
    ----------
    model : estimator with partial_fit
        One of this package, or a `StreamingPipeline` that ends in one. It is changed in place; if
        it was fitted before it learns on.
    batches : iterable
        Minibatches: what `partial_fit` takes as X, a `TimedBatch`, or a `BatchWith`. They are
        read one at a time, and none after the one that ends the stream.
    callbacks : sequence, default=()
        Each a callable ``callback(model, info)`` or an object with ``on_batch(model, info)``,
        where ``info`` is a `BatchInfo`; True ends the stream, when the others were called too.
        An object may have ``finish(model)``, which is called once at the end, also after an
        error or an interrupt. One of them may have ``learn(model, X, *, time=None)``, which is
        called in the place of `partial_fit`, such as `DriftMonitor`; if it has nothing else, it is
        not called afterwards.
    score : bool, default=False
        Whether to take the model's `score` of each minibatch before it is learnt. It is taken
        too if a callback has a true attribute `needs_score`, such as `ScoreHistory`.
    skip : int, default=0
        Minibatches at the head of `batches` that are passed over, since the model has learnt
        from them before it was interrupted. ``info.batch`` counts them.

    Returns
    -------
    model : estimator
        The same object.

    Raises
    ------
    TypeError
        If the model or a callback is none, two callbacks have `learn`, `batches` is a matrix or
        a str, `data` has names that `partial_fit` does not know, a score is wanted of a model
        without one, or a callback returns something other than a truth value or None.
    ValueError
        If `skip` is negative, `batches` ends before so many, or a `Checkpointer` is before a
        callback that it keeps.

    See Also
    --------
    prequential_score : The score of a model along a stream.
    streamtopics.datasets.iter_minibatches : Cuts texts, files and matrices into minibatches.

    Notes
    -----
    A stream that an error or an interrupt ends has learnt from whole minibatches only, as one
    call of `partial_fit` has; of a pipeline the steps before the last may have seen one more, so
    go on from a saved one. The first error is the one that is raised; what fails in a `finish`
    after it is added to it as a note.

    ``n_documents_seen`` and ``n_tokens_seen`` are the model's own counters, so they are right for
    a model that was saved and learns on; they count what it learnt before the stream too.
    While a model has nothing to start from, as `StreamingLDA` without a document, callbacks are
    not called.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import ScoreHistory, stream
    >>> X = make_lda_corpus(n_documents=400, n_features=100, random_state=0).X
    >>> history = ScoreHistory()
    >>> model = stream(
    ...     SVBLDA(5, random_state=0), iter_minibatches(X, 100), callbacks=[history]
    ... )
    >>> [(row.batch, row.n_documents) for row in history.rows]
    [(1, 100), (2, 100), (3, 100), (4, 100)]
    >>> history.rows[-1].score > history.rows[1].score
    True
    """
    check_callables("callbacks", callbacks)
    callbacks = tuple(callbacks)
    check_model(model)
    check_callbacks(callbacks)
    check_truth(score=score)
    score = bool(score) or any(getattr(callback, "needs_score", False) for callback in callbacks)
    if score and not hasattr(model, "score"):
        raise TypeError(
            f"{type(model).__name__} has no score; leave out score=True and the callbacks that "
            "need one (ScoreHistory, EarlyStopping)"
        )
    left = after(batches, skip)
    first: BaseException | None = None
    try:
        for number, batch in enumerate(left, start=int(skip) + 1):
            if _took_in(model, batch, number, callbacks, score):
                break
    except BaseException as error:
        first = error
        raise
    finally:
        finish_all(model, callbacks, first)
    return model


def _took_in(model: Any, item: Any, number: int, callbacks: tuple[Any, ...], scored: bool) -> bool:
    """Score and learn a minibatch, call the callbacks, and return whether one ends the stream."""
    batch, learner = read_batch(item), learner_of(callbacks)
    try:
        check_names(model, batch, learner)
        before = seen_by(model)
        score = score_before(model, batch) if scored else np.nan
        learn(model, batch, learner)
    except Exception as error:
        error.add_note(f"This was minibatch {number} of the stream.")
        raise
    seen = seen_by(model)
    if seen.n_documents == 0 and not is_fitted(model):
        return False
    info = BatchInfo(
        batch=number,
        X=batch.X,
        time=batch.time,
        n_documents=seen.n_documents - before.n_documents,
        n_tokens=seen.n_tokens - before.n_tokens,
        n_documents_seen=seen.n_documents,
        n_tokens_seen=seen.n_tokens,
        score=score,
    )
    ends = False
    for callback in callbacks:
        ends |= call(callback, model, info)
    return ends
