# SPDX-License-Identifier: BSD-3-Clause
"""Partitions on their way to the workers, and what of them comes here."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import numpy as np

from streamtopics.distributed import tasks
from streamtopics.distributed.attempts import Kind, Policy, Task
from streamtopics.distributed.engines import Engine, Handle

# Tasks that others wait for go first.
LEARN, READ, FIRST = 0, 5, 10


class Cluster:
    """The engine of a stream, and what all of its tasks share.

    Parameters
    ----------
    engine : Engine
    policy : Policy
    read : callable or None
        Makes documents or counts of a partition.
    before : Pipeline or None
        Steps that make counts of documents.
    batch_size : int
        Documents in a minibatch.
    run : str
        Part of the names of all tasks.
    """

    def __init__(
        self, engine: Engine, policy: Policy, read: Any, before: Any, batch_size: int, run: str
    ) -> None:
        self.engine, self.policy, self.run, self._numbers = engine, policy, run, count()
        self.reading, self.learning = Kind("read"), Kind("learnt")
        self.read, self.batch_size = read, batch_size
        self._values: dict[str, Any] = {"before": before}
        self._sent: dict[str, Handle] = {}

    def keep(self, name: str, value: Any) -> None:
        """Have a value to send to the workers that ask for it."""
        self._values[name] = value

    def sent(self, name: str) -> Handle:
        """Handle of a value that was kept, which is sent once; None of None."""
        value = self._values[name]
        if value is not None and name not in self._sent:
            self._sent[name] = self.submit(name, FIRST, tasks.same, value)
        return self._sent.get(name)

    def forget_sent(self) -> None:
        """Send values again to whom asks for them next: who had them may be gone."""
        self._sent = {}

    def submit(self, name: str, priority: int, function: Any, *arguments: Any) -> Handle:
        """Start a task under a name that no other has."""
        key = f"{name}-{self.run}-{next(self._numbers)}"
        return self.engine.submit(key, priority, function, *arguments)


class Source:
    """Partitions on their way to the workers, which read them together.

    Parameters
    ----------
    cluster : Cluster
    number : int
        Place of the first among the partitions, from 0, or that of its first minibatch in a
        stream.
    partitions : list

    Attributes
    ----------
    counts : handle
        Of their counts.
    """

    def __init__(self, cluster: Cluster, number: int, partitions: list[Any]) -> None:
        self.cluster, self.number, self.partitions = cluster, number, partitions
        if isinstance(partitions[0], tasks.Batches):
            self.number = partitions[0].first
        self.counts = self._read()
        self.lengths = [0]
        # It refers back to this source, whose counts are kept as long as anything does.
        self._contents: Task | None = self.task(READ, tasks.contents_of)

    def _read(self) -> Handle:
        one = self.cluster
        rest = one.read, one.sent("before"), one.batch_size, *self.partitions
        return one.submit("read", READ, tasks.read_partitions, *rest)

    def task(self, priority: int, function: Any, *arguments: Any, kind: Kind | None = None) -> Task:
        """Return a task on the counts; another attempt reads the partitions again.

        The name of a value that the cluster keeps stands for the value.
        """

        def begin(attempt: int) -> Handle:
            if attempt:
                self.cluster.forget_sent()
                self.counts = self._read()
            own = [self.cluster.sent(one) if isinstance(one, str) else one for one in arguments]
            name = function.__name__
            return self.cluster.submit(name, priority, function, self.counts, *own)

        one, size = self.cluster, len(self.partitions) if kind is None else 1
        name = self.name(0, len(self.partitions) - 1)
        kind = kind or one.reading
        return Task(one.engine, one.policy, kind, self.number, name, begin, size)

    def contents(self) -> tasks.Contents:
        """Wait, once, for what was read."""
        task, self._contents = self._contents, None
        assert task is not None
        found: tasks.Contents = task.result()
        self.cluster.reading.seconds.append(found.seconds / len(self.partitions))
        self.lengths = found.lengths
        return found

    def drop(self) -> None:
        """Let the engine forget what nobody has waited for."""
        if self._contents is not None:
            self._contents.drop()
            self._contents = None

    def partition_of(self, minibatch: int) -> int:
        """Place of the partition of a minibatch among those of this source."""
        return int(np.searchsorted(np.cumsum(self.lengths), minibatch, side="right"))

    def name(self, first: int, last: int) -> str:
        """Name some of the partitions."""
        if isinstance(self.partitions[0], tasks.Batches):
            return f"what minibatch {self.number} begins"
        if first == last:
            return f"partition {self.number + first}"
        return f"partitions {self.number + first} to {self.number + last}"


class Grouping:
    """How many partitions are read together: as many as make a round, by those read so far.

    Parameters
    ----------
    n_minibatches : int
        In a round.

    Attributes
    ----------
    size : int
        Partitions of the next source.
    """

    def __init__(self, n_minibatches: int) -> None:
        self.of_round = n_minibatches
        self.n_partitions = self.n_minibatches = 0
        self.size = self.last = 1

    def begun(self, n: int) -> None:
        """Take note of partitions that are going to be read."""
        self.last = n

    def read(self, n_partitions: int, n_minibatches: int) -> None:
        """Take note of partitions that were read."""
        self.n_partitions += n_partitions
        self.n_minibatches += n_minibatches
        # The larger of all and of these last, and at most twice as many as before: others may come.
        each = max(n_minibatches / n_partitions, self.n_minibatches / self.n_partitions, 1.0)
        self.size = max(1, min(int(self.of_round / each), 2 * self.last))


class MinibatchesHere:
    """Minibatches of a source on their way here, some more than were asked for."""

    def __init__(self, source: Source, first: int, stop: int) -> None:
        self.source, self.next, self.stop = source, first, stop
        self.begun: deque[Task] = deque()
        self.arrived: deque[Any] = deque()

    def minibatch(self, place: int) -> Any:
        """Return the minibatch at a place, the one behind the last that was asked for."""
        while len(self.begun) < 2 and self.next < self.stop:
            first, self.next = self.next, min(self.next + tasks.AT_ONCE, self.stop)
            self.begun.append(self.source.task(FIRST, tasks.minibatches_of, first, self.next))
        if not self.arrived:
            self.arrived.extend(self.begun.popleft().result())
        return self.arrived.popleft()

    def drop(self) -> None:
        """Let the engine forget what was not asked for."""
        while self.begun:
            self.begun.pop().drop()


def ahead(items: Iterable[Any], n: int) -> Iterator[Any]:
    """Items, of which `n` more than were asked for have been begun; an error comes in its turn."""
    begun: deque[Any] = deque()
    failed: Exception | None = None
    left = iter(items)
    while failed is None:
        try:
            begun.append(next(left))
        except StopIteration:
            break
        except Exception as error:
            failed = error
        if len(begun) > n:
            yield begun.popleft()
    yield from begun
    if failed is not None:
        raise failed
