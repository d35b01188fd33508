# SPDX-License-Identifier: BSD-3-Clause
"""The partitions of a collection."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from streamtopics.distributed.tasks import Batches
from streamtopics.streams.batches import read_batch


def partitions_of(collection: Any, client: Any) -> Iterator[Any]:
    """The partitions of a collection, one by one.

    Parameters
    ----------
    collection : dask collection or iterable
    client : object
        Computes what is delayed.

    Raises
    ------
    TypeError
        If it is one path, text or matrix.
    """
    if hasattr(collection, "to_delayed"):
        delayed = collection.to_delayed()
        collection = delayed.ravel().tolist() if hasattr(delayed, "ravel") else delayed
    elif isinstance(collection, str | bytes | os.PathLike) or hasattr(collection, "shape"):
        raise TypeError(
            "partitions must be a dask collection or an iterable of partitions, such as a list of "
            f"paths; got a {type(collection).__name__}; pass [partition] if it is one"
        )
    return (_begun(one, client) for one in collection)


def _begun(partition: Any, client: Any) -> Any:
    """A partition, of which what is delayed has been begun."""
    is_delayed = hasattr(partition, "__dask_graph__") and hasattr(client, "compute")
    return client.compute(partition) if is_delayed else partition


def in_groups(batches: Iterable[Any], n: int) -> Iterator[Batches]:
    """Minibatches, `n` at a time."""
    left = iter(batches)
    while group := list(islice(left, n)):
        yield Batches([_documents_of(one) for one in group])


def _documents_of(item: Any) -> Any:
    """Return the documents of a minibatch, which may come with a time."""
    batch = read_batch(item)
    if batch.data:
        raise TypeError(
            f"a minibatch has data {sorted(batch.data)}, which is not sent to workers; learn it by "
            "streamtopics.streams.stream"
        )
    return batch.X
