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
from typing import Any

import numpy as np

from streamtopics.distributed import tasks
from streamtopics.distributed.attempts import PartitionError, Task
from streamtopics.distributed.composites import check_composes, local_task, reader_of, take_in
from streamtopics.distributed.parcels import Parcel
from streamtopics.distributed.reading import (
    LEARN,
    Cluster,
    Grouping,
    MinibatchesHere,
    Source,
    ahead,
)
from streamtopics.distributed.schedule import Schedule
from streamtopics.streams.batches import (
    Seen,
    is_fitted,
    read_batch,
    score_before,
    seen_by,
)
from streamtopics.streams.callbacks import BatchInfo, call
from streamtopics.utils.steps import last_step


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
    words : ndarray, int32
        Columns of its words, and maybe of others, sorted.
    """

    source: Source
    first: int
    stop: int
    n_documents: int
    n_before: int
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
            size = 1 if grouped is None else grouped.size
            try:
                while len(some) < size:
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
        """What comes before the partition that could not be read, and then the error."""
        if len(source.partitions) == 1:
            return [], error
        place = getattr(error.__cause__, tasks.PLACE, None)
        if place is None:
            error.args = (f"{error}; set rounds=1, so that each is read alone",)
            return [], error
        text = str(error).replace(source.name(0, len(source.partitions) - 1), "", 1)
        named = PartitionError(source.name(place, place) + text, source.number + place)
        named.__cause__ = error.__cause__
        if not place:
            return [], named
        before = Source(self.cluster, source.number, source.partitions[:place])
        return [(before, before.contents())], named

    def _learn(self, source: Source, contents: tasks.Contents, begin: int) -> None:
        """Learn from what was read, but for what is before minibatch `begin` of the stream."""
        sizes = contents.n_documents
        place = min(len(sizes), max(begin - self.n_begun, 0))
        self.n_begun += place
        self.n_done = self.n_begun if place else self.n_done
        here = MinibatchesHere(source, place, len(sizes))
        while place < len(sizes) and not self.ended:
            # Documents count as minibatches of the usual size, or what came of the stream.
            n_learnt = max(self.n_begun, self.n_documents // self.cluster.batch_size)
            begins = not is_fitted(self.topics) or self.topics._commit.begun is not None
            if begins or self.schedule.learns_here(n_learnt):
                stop = place + 1
                self._learn_here(source, place, here.minibatch(place))
            else:
                stop = place + self.schedule.length(self.n_begun, n_learnt, len(sizes) - place)
                n_documents = int(sizes[place:stop].sum())
                words = contents.words_of(place, stop)
                one = Round(source, place, stop, n_documents, self.n_begun, words)
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
