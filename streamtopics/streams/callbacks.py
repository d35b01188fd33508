# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks of a stream, and the record of a minibatch that they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# What a callback may have; one of them is enough.
HOOKS = ("on_batch", "learn", "__call__")


@dataclass(frozen=True)
class BatchInfo:
    """A minibatch that a model has just learnt from.

    Attributes
    ----------
    batch : int
        Its place in the stream, from 1.
    X : object
        The minibatch as the model was given it: counts, or texts for a pipeline.
    time : object
        When it is from; None where the stream does not say.
    n_documents : int
        Documents in it that the model has learnt.
    n_tokens : float
        Tokens in it, of the words that the model knows; NaN for a model that counts none, here
        and below.
    n_documents_seen : int
        Documents that the model has learnt from, these included, and those before the stream.
    n_tokens_seen : float
        Tokens that it has learnt from.
    score : float
        The model's `score` of the minibatch before it was learnt, nats per token for most models;
        NaN where it was not asked for or there was nothing to score.
    """

    batch: int
    X: Any
    time: Any
    n_documents: int
    n_tokens: float
    n_documents_seen: int
    n_tokens_seen: float
    score: float


# Called as callback(model, info) after each minibatch; True ends the stream.
OnBatch = Callable[[Any, BatchInfo], bool | None]


def learner_of(callbacks: tuple[Any, ...]) -> Any:
    """Return the callback that learns; None if there is none."""
    return next((callback for callback in callbacks if hasattr(callback, "learn")), None)


def call(callback: Any, model: Any, info: BatchInfo) -> bool:
    """Call a callback, and return whether it ends the stream."""
    if hasattr(callback, "on_batch"):
        callback = callback.on_batch
    elif not callable(callback):
        return False
    verdict = callback(model, info)
    if verdict is None or isinstance(verdict, bool | np.bool_):
        return bool(verdict)
    raise TypeError(
        f"a callback must return True to end the stream, or else False or None; {callback!r} "
        f"returned {verdict!r}"
    )


def finish_all(model: Any, callbacks: tuple[Any, ...], first: BaseException | None) -> None:
    """Call each `finish`; raise the first that fails, unless an error is on its way already.

    Those that learn come last: a checkpoint is of the model that the callbacks were shown.
    """
    failed = first
    for callback in sorted(callbacks, key=lambda callback: hasattr(callback, "learn")):
        if not hasattr(callback, "finish"):
            continue
        try:
            callback.finish(model)
        except BaseException as error:
            if failed is None:
                failed = error
            else:
                failed.add_note(f"Then {type(callback).__name__}.finish failed: {error!r}")
    if failed is not None and first is None:
        raise failed


def check_callbacks(callbacks: tuple[Any, ...]) -> None:
    """Refuse what cannot be called along a stream."""
    for callback in callbacks:
        if isinstance(callback, type):
            raise TypeError(
                f"callbacks has the class {callback.__name__}; make an object of it, such as "
                f"{callback.__name__}()"
            )
        if not any(hasattr(callback, name) for name in HOOKS):
            raise TypeError(
                f"a callback must be callable as callback(model, info), or have on_batch or learn; "
                f"got {callback!r}"
            )
    check_order(callbacks)
    learners = [type(callback).__name__ for callback in callbacks if hasattr(callback, "learn")]
    if len(learners) > 1:
        raise TypeError(
            f"one callback at most can learn in the place of partial_fit; got {learners}"
        )


def check_order(callbacks: tuple[Any, ...]) -> None:
    """Refuse what keeps callbacks that are called after it: they would miss a minibatch."""
    for place, callback in enumerate(callbacks):
        kept = getattr(callback, "also", ())
        for later in callbacks[place + 1 :]:
            called = hasattr(later, "on_batch") or callable(later)
            if called and isinstance(kept, tuple) and any(later is one for one in kept):
                raise ValueError(
                    f"callbacks has {type(callback).__name__} before the "
                    f"{type(later).__name__} that it keeps, which has not seen the minibatch then; "
                    f"put {type(callback).__name__} last"
                )
