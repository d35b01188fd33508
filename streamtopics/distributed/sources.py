# SPDX-License-Identifier: BSD-3-Clause
"""The partitions of a collection."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from streamtopics.distributed.tasks import Batches
from streamtopics.streams.batches import read_batch
from streamtopics.utils.structure import has_entries


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
        if any(n > 1 for n in getattr(collection, "numblocks", ())[1:]):
            raise ValueError(
                "partitions is an array that is cut by columns too; pass "
                "partitions.rechunk({1: -1}), whose blocks have all of them"
            )
        delayed = collection.to_delayed()
        collection = delayed.ravel().tolist() if hasattr(delayed, "ravel") else delayed
    elif isinstance(collection, str | bytes | os.PathLike) or hasattr(collection, "shape"):
        raise TypeError(
            "partitions must be a dask collection or an iterable of partitions, such as a list of "
            f"paths; got a {type(collection).__name__}; pass [partition] if it is one"
        )
    if not has_entries(collection):
        raise TypeError(f"partitions must be an iterable of partitions; got {collection!r:.60}")
    return (_begun(one, client) for one in collection)


def _begun(partition: Any, client: Any) -> Any:
    """A partition, of which what is delayed has been begun."""
    is_delayed = hasattr(partition, "__dask_graph__") and hasattr(client, "compute")
    return client.compute(partition) if is_delayed else partition


def in_groups(batches: Iterable[Any], n: int, skip: int = 0) -> Iterator[Batches]:
    """Minibatches that come after `skip` others, up to the next multiple of `n` at a time."""
    left, first = iter(batches), skip
    while group := list(islice(left, n - first % n)):
        yield Batches([_documents_of(one) for one in group], first)
        first += len(group)


def _documents_of(item: Any) -> Any:
    """Return the documents of a minibatch, which may come with a time."""
    batch = read_batch(item)
    if batch.data:
        raise TypeError(
            f"a minibatch has data {sorted(batch.data)}, which is not sent to workers; learn it by "
            "streamtopics.streams.stream"
        )
    return batch.X
