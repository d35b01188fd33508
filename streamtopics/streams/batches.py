# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches of a stream, and what comes with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from streamtopics.utils.checks import check_integer


class TimedBatch(NamedTuple):
    """A minibatch that has a time.

    Attributes
    ----------
    X : object
        Counts, or texts for a pipeline.
    time : object
        When it is from. Callbacks are told, and models whose `partial_fit` takes a `time`.
    """

    X: Any
    time: Any


class BatchWith(NamedTuple):
    """A minibatch with more than its documents, such as ratings, users or labels.

    Attributes
    ----------
    X : object
        Counts, or texts for a pipeline.
    data : mapping of str to object
        Other arguments of the model's `partial_fit` by name, such as ``{"y": ratings}``. Those
        that its `score` knows too are passed there as well.
    time : object, default=None
        As of `TimedBatch`.
    """

    X: Any
    data: Mapping[str, Any]
    time: Any = None


def read_batch(item: Any) -> BatchWith:
    """Return a minibatch with its data and time; what can be read once only becomes a list."""
    if isinstance(item, BatchWith):
        batch = item
    elif isinstance(item, TimedBatch):
        batch = BatchWith(item.X, {}, item.time)
    else:
        batch = BatchWith(item, {})
    return batch._replace(X=list(batch.X)) if isinstance(batch.X, Iterator) else batch


def after(batches: Iterable[Any], skip: int) -> Iterator[Any]:
    """Return the minibatches behind the first `skip` ones."""
    if hasattr(batches, "shape") or isinstance(batches, str | bytes):
        raise TypeError(
            f"batches must be an iterable of minibatches; got a {type(batches).__name__}, which "
            "streamtopics.datasets.iter_minibatches cuts into some"
        )
    check_integer(least=0, skip=skip)
    try:
        left, end = iter(batches), object()
    except TypeError:
        raise TypeError(
            f"batches must be an iterable of minibatches; got {batches!r:.60}"
        ) from None
    for n in range(skip):
        if next(left, end) is end:
            raise ValueError(
                f"skip is {skip!r}, but batches has {n} minibatches; pass the same stream again, "
                "from its beginning, or skip=0 for what came after it"
            )
    return left
