# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of minibatches that are learnt on workers, and taken in, in the order of the stream.

A round is some minibatches that were read together. Its worker learns them one after another from
the topics of the round's words, as they were when it began, and sends back what they made of
these, as one update; the client takes the updates in, in the order of the stream. The beginning
of a stream, whose rounds would be short, the client learns itself. So the result depends
on the data, the seed and the schedule alone: not on how many workers there are, how fast each is,
and whether one was lost, since a round that is run again has the same bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np

from streamtopics.base.composites import check_composes, local_task, reader_of, take_in
from streamtopics.distributed import tasks
from streamtopics.distributed.attempts import Kind, PartitionError, Policy, Task
from streamtopics.distributed.engines import Engine, Handle
from streamtopics.distributed.parcels import Parcel
from streamtopics.distributed.schedule import Schedule
from streamtopics.steps import last_step
from streamtopics.streams.batches import read_batch
from streamtopics.streams.callbacks import BatchInfo, call
from streamtopics.streams.learners import Seen, is_fitted, score_before, seen_by

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

    def __init__(
        self, cluster: Cluster, number: int, partitions: list[Any], counts: Handle = None
    ) -> None:
        self.cluster, self.number, self.partitions = cluster, number, partitions
        if isinstance(partitions[0], tasks.Batches):
            self.number = partitions[0].first
        self.counts = self._read() if counts is None else counts
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

    def one_by_one(self) -> list[Source]:
        """Read each of the partitions alone."""
        places = enumerate(self.partitions, self.number)
        return [Source(self.cluster, number, [partition]) for number, partition in places]

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


@dataclass(frozen=True)
class Round:
    """Minibatches that are learnt together.

    Attributes
    ----------
    source : Source
        Of all of them.
    first, stop : int
        The first of them, and the one behind the last.
    n_documents : int
    n_before : int
        Minibatches of the stream before it.
    n_learnt : int
        Minibatches that are learnt or under way when it begins, those before the stream too.
    words : ndarray, int32
        Columns of its words, and maybe of others, sorted.
    """

    source: Source
    first: int
    stop: int
    n_documents: int
    n_before: int
    n_learnt: int
    words: np.ndarray

    @property
    def name(self) -> str:
        """Name of its partitions."""
        first, last = self.source.partition_of(self.first), self.source.partition_of(self.stop - 1)
        return self.source.name(first, last)

    @property
    def number(self) -> int:
        """Place of its first partition."""
        several = len(self.source.partitions) > 1
        return self.source.number + (self.source.partition_of(self.first) if several else 0)

    @property
    def n_after(self) -> int:
        """Minibatches of the stream up to its last one."""
        return self.n_before + self.stop - self.first


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


class _Ahead:
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


class Learning:
    """Learns rounds of minibatches on a cluster, and takes them in.

    Parameters
    ----------
    model : estimator or pipeline
        It is changed in place.
    cluster : Cluster
    schedule : Schedule
    callbacks : tuple
        Called after each round.
    ordered : bool
        Whether rounds are taken in, in the order of the stream.
    """

    def __init__(
        self,
        model: Any,
        cluster: Cluster,
        schedule: Schedule,
        callbacks: tuple[Any, ...],
        ordered: bool,
    ) -> None:
        self.model, self.topics, self.cluster = model, last_step(model), cluster
        self.schedule, self.callbacks, self.ordered = schedule, callbacks, ordered
        self.scored = any(getattr(callback, "needs_score", False) for callback in callbacks)
        # Counts travel as they are where the stream could as well be learnt here.
        self.single = schedule.rounds > 1 or schedule.staleness > 0
        self.under_way: deque[tuple[Round, Task]] = deque()
        self.begun: deque[Source] = deque()
        self.has_reader = False
        self.ended = False
        # Minibatches of the stream that are begun, those that are learnt, and documents begun.
        self.n_begun = self.n_done = self.n_documents = 0

    def run(self, partitions: Iterable[Any], n_before: int, skip: int, *, together: bool) -> None:
        """Learn from all partitions, or until a callback ends the stream.

        Parameters
        ----------
        partitions : iterable
        n_before : int
            Minibatches of the stream before them.
        skip : int
            Minibatches of them that were learnt already.
        together : bool
            Whether small partitions are read together, as many as make a round.
        """
        self.n_begun = self.n_done = n_before
        self.n_documents, begin = seen_by(self.model).n_documents, n_before + skip
        grouped = Grouping(self.schedule.rounds)
        sources = self._sources(partitions, grouped if together else None)
        read = self._read(ahead(sources, self.schedule.staleness + 2), grouped)
        unread = None
        try:
            while not self.ended:
                try:
                    source, contents = next(read)
                except StopIteration:
                    break
                except Exception as error:
                    # What came before a partition that cannot be read is learnt.
                    unread = error
                    break
                self._learn(source, contents, begin)
            self._take_in_all_but(0)
        except PartitionError as error:
            error.n_batches = self.n_done
            raise
        if self.ended:
            return
        if isinstance(unread, PartitionError):
            unread.n_batches = self.n_done
        if unread is not None:
            raise unread
        if self.n_begun < begin:
            raise ValueError(
                f"skip is {begin}, but the partitions have {self.n_begun} minibatches; pass the "
                "same partitions again, or skip=0 for what came after them"
            )

    def drop(self) -> None:
        """Let the engine forget what is under way."""
        with suppress(Exception):  # What has failed already says more.
            while self.under_way:
                self.under_way.pop()[1].drop()
        with suppress(Exception):
            while self.begun:
                self.begun.pop().drop()

    def _sources(self, partitions: Iterable[Any], grouped: Grouping | None) -> Iterator[Source]:
        """The partitions, as many at a time as make a round; an error comes in its turn."""
        left, number, failed = iter(partitions), 0, None
        while failed is None:
            some: list[Any] = []
            try:
                some.extend(islice(left, 1))
                while some and grouped is not None and len(some) < grouped.size:
                    some.append(next(left))
            except StopIteration:
                pass
            except Exception as error:
                failed = error
            if some:
                self.begun.append(Source(self.cluster, number, some))
                if grouped is not None:
                    grouped.begun(len(some))
                yield self.begun[-1]
                number += len(some)
            elif failed is None:
                return
        raise failed

    def _read(
        self, sources: Iterable[Source], grouped: Grouping
    ) -> Iterator[tuple[Source, tasks.Contents]]:
        """The sources and what is in them."""
        for source in sources:
            try:
                read, error = [(source, source.contents())], None
            except PartitionError as trouble:
                read, error = self._up_to_trouble(source, trouble)
            self.begun.popleft()
            for one, contents in read:
                grouped.read(len(one.partitions), len(contents.n_documents))
                yield one, contents
            if error is not None:
                raise error

    def _up_to_trouble(
        self, source: Source, error: PartitionError
    ) -> tuple[list[tuple[Source, tasks.Contents]], PartitionError | None]:
        """What can be read of partitions that could not be read together, and then the error.

        Where each can be read alone, they are put together: rounds stay as they are.
        """
        if len(source.partitions) == 1:
            return [], error
        alone, read = source.one_by_one(), []
        for place, one in enumerate(alone):
            try:
                read.append((one, one.contents()))
            except PartitionError as trouble:
                for other in alone[place:]:
                    other.drop()
                return read, trouble
        counts = self.cluster.submit("put", FIRST, tasks.together, *(one.counts for one in alone))
        again = Source(self.cluster, source.number, source.partitions, counts)
        return [(again, again.contents())], None

    def _learn(self, source: Source, contents: tasks.Contents, begin: int) -> None:
        """Learn from what was read, but for what is before minibatch `begin` of the stream."""
        sizes = contents.n_documents
        place = min(len(sizes), max(begin - self.n_begun, 0))
        self.n_begun += place
        self.n_done = self.n_begun if place else self.n_done
        here = _Ahead(source, place, len(sizes))
        while place < len(sizes) and not self.ended:
            # Documents count as minibatches of the usual size, or what came of the stream.
            n_learnt = max(self.n_begun, self.n_documents // self.cluster.batch_size)
            if self.schedule.learns_here(n_learnt) or not is_fitted(self.topics):
                stop = place + 1
                self._learn_here(source, place, here.minibatch(place))
            else:
                stop = place + self.schedule.length(self.n_begun, n_learnt, len(sizes) - place)
                n_documents = int(sizes[place:stop].sum())
                words = contents.words_of(place, stop)
                one = Round(source, place, stop, n_documents, self.n_begun, n_learnt, words)
                self._take_in_all_but(self.schedule.under_way(self.n_begun, n_learnt))
                if self.ended:
                    return
                self._launch(one)
            self.n_documents += int(sizes[place:stop].sum())
            self.n_begun, place = self.n_begun + stop - place, stop
        here.drop()

    def _learn_here(self, source: Source, place: int, X: Any) -> None:
        """Learn a minibatch."""
        before, knows = seen_by(self.model), is_fitted(self.topics)
        try:
            score = score_before(self.topics, read_batch(X)) if self.scored else np.nan
            self.topics.partial_fit(X)
        except Exception as error:
            if not knows:
                raise
            part = source.partition_of(place)
            raise PartitionError(
                f"{source.name(part, part)} could not be learnt: {type(error).__name__}: {error}",
                source.number + (part if len(source.partitions) > 1 else 0),
            ) from error
        if is_fitted(self.topics):
            check_composes(self.topics)
            self._tell(self.n_begun + 1, before, score)

    def _launch(self, one: Round) -> None:
        """Begin a round from the topics as they are now."""
        if not self.has_reader:
            self.cluster.keep("reader", reader_of(self.topics))
            self.has_reader = True
        words, n_features = one.words, self.topics.n_features_in_
        if len(words) and words[-1] >= n_features:
            self._take_in_all_but(0)
            raise PartitionError(
                f"{one.name} could not be learnt: it has counts of at least {words[-1] + 1} words, "
                f"but the model knows {n_features}; count all partitions with one vectorizer",
                one.number,
            )
        n_ahead = sum(other.n_documents for other, _ in self.under_way)
        local = local_task(self.topics, words, n_ahead, single=self.single)
        local = self.cluster.engine.packed(local)
        rest = "reader", local, one.first, one.stop, self.scored
        task = one.source.task(LEARN, tasks.learn_round, *rest, kind=self.cluster.learning)
        self.under_way.append((one, task))

    def _take_in_all_but(self, n: int) -> None:
        """Take in rounds until no more than `n` are under way, or a callback ends the stream."""
        while len(self.under_way) > n and not self.ended:
            if not self.ordered:
                self._first_done_to_front()
            one, task = self.under_way.popleft()
            found = self._result(one, task)
            learnt: tasks.Learnt = found.opened() if isinstance(found, Parcel) else found
            self.cluster.learning.seconds.append(learnt.seconds)
            before = seen_by(self.model)
            take_in(self.topics, learnt.composite)
            self._tell(one.n_after, before, learnt.score)

    def _result(self, one: Round, task: Task) -> Any:
        """Wait for a round; an error names its partitions."""
        try:
            return task.result()
        except PartitionError as error:
            text = str(error).replace(task.name, one.name, 1)
            raise PartitionError(text, one.number) from error.__cause__

    def _first_done_to_front(self) -> None:
        """Put the first round that has ended before the others."""
        handles = [handle for _, task in self.under_way for handle in task.handles]
        done = self.cluster.engine.wait(handles, self.cluster.policy.patience)
        for place, (_, task) in enumerate(self.under_way):
            if any(handle is one for handle in task.handles for one in done):
                self.under_way.rotate(-place)
                return

    def _tell(self, n_batches: int, before: Seen, score: float) -> None:
        """Call the callbacks."""
        seen, self.n_done = seen_by(self.model), n_batches
        info = BatchInfo(
            batch=n_batches,
            X=None,
            time=None,
            n_documents=seen.n_documents - before.n_documents,
            n_tokens=seen.n_tokens - before.n_tokens,
            n_documents_seen=seen.n_documents,
            n_tokens_seen=seen.n_tokens,
            score=score,
        )
        for callback in self.callbacks:
            self.ended |= call(callback, self.model, info)


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
