# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of minibatches that are learnt on workers, and taken in, in the order of the stream.

A round is some minibatches of a partition. Its worker learns them one after another from the
topics of the round's words, as they were when it began, and sends back what they made of these,
as one update; the client takes the updates in, in the order of the stream. So the result depends
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
from streamtopics.distributed.parcels import packed
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

    def __init__(self, cluster: Cluster, number: int, partitions: list[Any]) -> None:
        self.cluster, self.number, self.partitions = cluster, number, partitions
        last = number + len(partitions) - 1
        self.name = f"partition {number}" if number == last else f"partitions {number} to {last}"
        if isinstance(partitions[0], tasks.Batches):
            self.number = partitions[0].first
            self.name = f"what minibatch {self.number} begins"
        self.counts = self._read()
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

        kind = kind or self.cluster.reading
        return Task(self.cluster.engine, self.cluster.policy, kind, self.number, self.name, begin)

    def contents(self) -> tasks.Contents:
        """Wait, once, for what was read."""
        task, self._contents = self._contents, None
        assert task is not None
        found: tasks.Contents = task.result()
        self.cluster.reading.seconds.append(found.seconds)
        return found

    def one_by_one(self) -> Iterator[Source]:
        """Read each of the partitions alone."""
        for i, partition in enumerate(self.partitions):
            yield Source(self.cluster, self.number + i, [partition])


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
    def n_after(self) -> int:
        """Minibatches of the stream up to its last one."""
        return self.n_before + self.stop - self.first


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
        self.has_reader = False
        self.ended = False
        # Partitions that were read, and minibatches in them.
        self.n_partitions = self.n_read = 0

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
        sources = self._sources(partitions, together)
        begun = ahead(sources, self.schedule.staleness + 2)
        rounds = self._rounds(begun, n_before, n_before + skip)
        left, unread = ahead(rounds, self.schedule.staleness + 1), None
        while True:
            try:
                one = next(left)
            except StopIteration:
                break
            except Exception as error:
                unread = error
                break
            self._take_in_all_but(self.schedule.under_way(one.n_before, one.n_learnt))
            if self.ended:
                return
            try:
                self._launch(one)
            except PartitionError as error:
                unread = error
                break
        # What came before a partition that cannot be read is learnt.
        self._take_in_all_but(0)
        if unread is not None and not self.ended:
            raise unread

    def drop(self) -> None:
        """Let the engine forget what is under way."""
        while self.under_way:
            with suppress(Exception):  # What has failed already says more.
                self.under_way.pop()[1].drop()

    def _sources(self, partitions: Iterable[Any], together: bool) -> Iterator[Source]:
        """The partitions, as many at a time as make a round by the size of those read so far."""
        left, number = iter(partitions), 0
        while True:
            n = self.schedule.rounds * self.n_partitions // max(self.n_read, self.n_partitions, 1)
            some = list(islice(left, max(n, 1) if together else 1))
            if not some:
                return
            yield Source(self.cluster, number, some)
            number += len(some)

    def _read(self, sources: Iterable[Source]) -> Iterator[tuple[Source, tasks.Contents]]:
        """The sources and what is in them."""
        for source in sources:
            try:
                read = [(source, source.contents())]
                error = None
            except PartitionError as trouble:
                read, error = self._up_to_trouble(source, trouble)
            for one, contents in read:
                self.n_partitions += len(one.partitions)
                self.n_read += len(contents.n_documents)
                yield one, contents
            if error is not None:
                raise error

    def _up_to_trouble(
        self, source: Source, error: PartitionError
    ) -> tuple[list[tuple[Source, tasks.Contents]], PartitionError | None]:
        """What can be read of partitions that could not be read together, and then the error.

        Where each can be read alone, they are read together once more: rounds stay as they are.
        """
        if len(source.partitions) == 1:
            return [], error
        read = []
        for one in source.one_by_one():
            try:
                read.append((one, one.contents()))
            except PartitionError as trouble:
                return read, trouble
        again = Source(self.cluster, source.number, source.partitions)
        return [(again, again.contents())], None

    def _rounds(self, sources: Iterable[Source], n_before: int, begin: int) -> Iterator[Round]:
        """The rounds of the partitions; the first minibatches of a stream are learnt here."""
        n_documents_before = seen_by(self.model).n_documents
        for source, contents in self._read(sources):
            sizes = contents.n_documents
            place = min(len(sizes), begin - n_before) if n_before < begin else 0
            n_before += place
            while place < len(sizes) and not self.ended:
                # Documents count as minibatches of the usual size, or what came of the stream.
                n_learnt = max(n_before, n_documents_before // self.cluster.batch_size)
                n_left = len(sizes) - place
                here = self.schedule.here(n_learnt, n_left)
                if not (here or is_fitted(self.topics)):
                    here = 1
                stop = place + (here or self.schedule.length(n_before, n_learnt, n_left))
                n_documents = int(sizes[place:stop].sum())
                if here:
                    self._learn_here(source, place, stop, n_before)
                else:
                    words = contents.words_of(place, stop)
                    yield Round(source, place, stop, n_documents, n_before, n_learnt, words)
                n_documents_before += n_documents
                n_before, place = n_before + stop - place, stop
            if self.ended:
                return
        if n_before < begin:
            raise ValueError(
                f"skip is {begin}, but the partitions have {n_before} minibatches; pass the same "
                "partitions again, or skip=0 for what came after them"
            )

    def _learn_here(self, source: Source, first: int, stop: int, n_before: int) -> None:
        """Learn some minibatches one after another, until a callback ends the stream."""
        for n_after, X in enumerate(
            source.task(READ, tasks.minibatches_of, first, stop).result(), n_before + 1
        ):
            before, knows = seen_by(self.model), is_fitted(self.topics)
            try:
                score = score_before(self.topics, read_batch(X)) if self.scored else np.nan
                self.topics.partial_fit(X)
            except (TypeError, ValueError) as error:
                if not knows:
                    raise
                raise PartitionError(
                    f"{source.name} could not be learnt: {type(error).__name__}: {error}",
                    source.number,
                ) from error
            if is_fitted(self.topics):
                check_composes(self.topics)
                self._tell(n_after, before, score)
            if self.ended:
                return

    def _launch(self, one: Round) -> None:
        """Begin a round from the topics as they are now."""
        if not self.has_reader:
            self.cluster.keep("reader", reader_of(self.topics))
            self.has_reader = True
        words, n_features = one.words, self.topics.n_features_in_
        if len(words) and words[-1] >= n_features:
            raise PartitionError(
                f"{one.source.name} could not be learnt: it has counts of at least "
                f"{words[-1] + 1} words, but the model knows {n_features}; count all partitions "
                "with one vectorizer",
                one.source.number,
            )
        n_ahead = sum(other.n_documents for other, _ in self.under_way)
        local = packed(local_task(self.topics, words, n_ahead, single=self.single))
        rest = "reader", local, one.first, one.stop, self.scored
        task = one.source.task(LEARN, tasks.learn_round, *rest, kind=self.cluster.learning)
        self.under_way.append((one, task))

    def _take_in_all_but(self, n: int) -> None:
        """Take in rounds until no more than `n` are under way, or a callback ends the stream."""
        while len(self.under_way) > n and not self.ended:
            if not self.ordered:
                self._first_done_to_front()
            one, task = self.under_way.popleft()
            learnt: tasks.Learnt = task.result().opened()
            self.cluster.learning.seconds.append(learnt.seconds)
            before = seen_by(self.model)
            take_in(self.topics, learnt.composite)
            self._tell(one.n_after, before, learnt.score)

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
        seen = seen_by(self.model)
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
