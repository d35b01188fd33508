# SPDX-License-Identifier: BSD-3-Clause
"""Learning from the partitions of a collection, and from minibatches that come from outside.

A round is some minibatches that a worker learns one after another from the topics of the round's
words, as they were when it began. It sends back what they made of these, as one update; the client
takes the updates in, in the order of the stream. The beginning of a stream, whose rounds would be
short, the client learns itself. So the result depends on the data, the seed and the plan alone: not
on how many workers there are, how fast each is, and whether one was lost, since a round that the
engine runs again has the same bits.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline

from streamtopics.distributed import tasks
from streamtopics.distributed.composites import (
    apply_update,
    check_can_compose,
    check_composes,
    local_task,
    reader_of,
    words_of,
)
from streamtopics.distributed.executors import (
    Begun,
    PartitionError,
    ahead,
    executor_of,
    partitions_of,
    sent,
    submitted,
)
from streamtopics.streams.batches import (
    Seen,
    after,
    check_model,
    is_fitted,
    read_batch,
    score_before,
    seen_by,
)
from streamtopics.streams.callbacks import (
    BatchInfo,
    call,
    check_callbacks,
    finish_all,
    learner_of,
)
from streamtopics.streams.checkpoint import Checkpointer
from streamtopics.utils.checks import check_integer, check_whole
from streamtopics.utils.steps import check_not_frozen, last_step, steps_before

Model = TypeVar("Model")
# Minibatches learnt for each one of delay.
RAMP = 16
# A round is worth its way with so many minibatches, or documents.
ENOUGH, ENOUGH_DOCUMENTS = 8, 4000


def fit_partitions(
    model: Model,
    partitions: Any,
    client: Any,
    *,
    read: Callable[[Any], Any] | None = None,
    batch_size: int | None = None,
    rounds: int = 32,
    staleness: int = 2,
    callbacks: Sequence[Any] = (),
    skip: int = 0,
) -> Model:
    """Learn from the partitions of a corpus on the workers of a cluster.

    Workers read partitions, count their words and learn rounds of their minibatches; the client
    learns the first minibatches of a stream, and takes in what each round made of the topics, in
    the order of the partitions. The result depends on the data and how they are cut, the seed,
    `rounds`, `staleness` and the minibatches between checkpoints alone: it has the same bits for
    any number of workers, and whatever befell them.

    Parameters
    ----------
    model : estimator of topics, or pipeline that ends in one
        Such as `StreamingLDA` or `GibbsOnlineEM`, under a rule that merges: SVB, BPS, online EM,
        stochastic or population variational Bayes, or fixed forgetting. It is changed in place;
        if it was fitted before it learns on. The steps before it count words; they must be
        fitted, or need no fitting, such as ``HashingVectorizer(alternate_sign=False, norm=None)``
        or what `count_vocabulary` returns.
    partitions : dask collection, or iterable
        A dask Bag, Series, DataFrame or Array, a list of `Delayed` or of futures, or an
        iterable of anything that `read` understands. Without `read`, a string or a path is a file
        of texts as in `streamtopics.datasets.read_texts`, anything else the documents themselves:
        a list of texts, or a matrix of counts.
    client : concurrent.futures.Executor or dask.distributed.Client
        Any executor, of threads, processes, MPI or a cluster.
    read : callable, default=None
        Run on the worker as ``read(partition)``, it returns texts, or counts.
    batch_size : int or None, default=None
        Documents of a minibatch; None is that of the model. Minibatches do not reach from one
        partition to the next.
    rounds : int, default=32
        Minibatches in a round, at most: the longer, the less travels for each of them. Topics that
        have learnt little change fast, so the client learns by itself until 16 times `staleness`
        times 8 minibatches, 4,000 documents or `rounds`, whichever is least, have been learnt.
    staleness : int, default=2
        Rounds that may be under way when another one begins, at most; set it to at least the
        number of workers less one. What a round is learnt from is that many rounds old.
    callbacks : sequence, default=()
        As of `streamtopics.streams.stream`, called after each minibatch that the client learns
        and each round; ``info.batch`` counts minibatches, ``info.X`` is None, and ``info.score``
        that of the minibatch, or of the first of the round, before it was learnt. At the
        checkpoints of a `Checkpointer` nothing is under way.
    skip : int, default=0
        Minibatches of the partitions that the model has learnt already: ``n_batches`` of
        `streamtopics.streams.resume`.

    Returns
    -------
    model : estimator or pipeline
        The same object.

    Raises
    ------
    PartitionError
        If a partition cannot be read or learnt; the model has learnt what came before, the
        first ``error.n_batches`` minibatches of the partitions.
    TypeError, ValueError
        If `model` is no estimator of topics over words, its rule cannot learn away from it,
        iterates are averaged, or the partitions end before `skip`.

    See Also
    --------
    fit_stream : The same for minibatches that come from outside.
    count_vocabulary : Finds the words of partitions.

    Notes
    -----
    With ``rounds=1, staleness=0`` the result is that of one `partial_fit` after another, bit for
    bit. Otherwise counts travel in single precision.

    What a lost worker had, the engine runs again, if it does that: Dask three times
    (``distributed.scheduler.allowed-failures``). Counts pass through the client; `staleness` + 2
    partitions are read ahead.

    Examples
    --------
    Threads stand for the workers here.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.distributed import fit_partitions
    >>> X = make_lda_corpus(n_documents=1200, n_features=200, random_state=0).X
    >>> model = GibbsOnlineEM(5, batch_size=50, random_state=0)
    >>> with ThreadPoolExecutor(2) as client:
    ...     model = fit_partitions(model, [X[:400], X[400:800], X[800:]], client)
    >>> model.n_documents_seen_
    1200
    """
    size = batch_size_of(model, batch_size)
    learning = _Learning(model, client, Plan(rounds, staleness, _every(callbacks), size), callbacks)
    check_integer(least=0, skip=skip)
    before = sent(client, counting_steps(model))
    begun = (
        (number, submitted(learning.executor, tasks.read_partition, one, read, before, size))
        for number, one in enumerate(partitions_of(partitions, client))
    )
    learning.run(begun, 0, int(skip))
    return model


def fit_stream(
    model: Model,
    batches: Iterable[Any],
    client: Any,
    *,
    rounds: int = 8,
    staleness: int = 2,
    callbacks: Sequence[Any] = (),
    skip: int = 0,
) -> Model:
    """Learn from a stream of minibatches, which the workers of a cluster count and learn.

    Documents travel from here to the workers, so where they can read them from files
    themselves, `fit_partitions` is faster.

    Parameters
    ----------
    model
        As of `fit_partitions`.
    batches : iterable
        Minibatches: lists of texts for a pipeline, or matrices of counts. As many are read at a
        time as have a round.
    client
        As of `fit_partitions`.
    rounds : int, default=8
        Minibatches in a round, at most; the client waits for so many before it sends them.
    staleness, callbacks
        As of `fit_partitions`; the client learns the first minibatches here too.
    skip : int, default=0
        Minibatches at the head of `batches` that are passed over, as the model has learnt them.

    Returns
    -------
    model : estimator or pipeline
        The same object.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.distributed import fit_stream
    >>> X = make_lda_corpus(n_documents=900, n_features=200, random_state=0).X
    >>> with ThreadPoolExecutor(2) as client:
    ...     model = fit_stream(SVBLDA(5, random_state=0), iter_minibatches(X, 100), client)
    >>> model.n_batch_iter_, model.n_documents_seen_
    (9, 900)
    """
    size = batch_size_of(model, None)
    plan = Plan(rounds, staleness, _every(callbacks), size)
    learning = _Learning(model, client, plan, callbacks, "minibatch")
    left, before = after(batches, skip), sent(client, counting_steps(model))
    begun = (
        (first, submitted(learning.executor, tasks.read_batches, some, before))
        for first, some in _in_groups(left, int(rounds), int(skip))
    )
    learning.run(begun, int(skip), 0)
    return model


@dataclass(frozen=True)
class Plan:
    """How long rounds are, and how many may be under way, by the place in a stream.

    What is learnt from topics that are D minibatches old costs about D / n at the n-th minibatch,
    so both grow along a stream: the delay is at most a sixteenth of what was learnt. As long as
    rounds would be so short that sending them costs more than learning them, the client learns by
    itself. All depends on the place alone, never on the time or the number of workers.

    Parameters
    ----------
    rounds, staleness : int
        As of `fit_partitions`.
    every : int or None
        Minibatches after which nothing may be under way, and the multiples of it.
    batch_size : int
        Documents in a minibatch.
    """

    rounds: int
    staleness: int
    every: int | None = None
    batch_size: int = 100

    def __post_init__(self) -> None:
        check_whole(self, rounds=self.rounds, batch_size=self.batch_size)
        check_whole(self, least=0, staleness=self.staleness)

    def learns_here(self, n_learnt: int) -> bool:
        """Whether the client learns a minibatch by itself, by those that were learnt before it."""
        least = min(ENOUGH, -(-ENOUGH_DOCUMENTS // self.batch_size), self.rounds)
        return n_learnt < RAMP * self.staleness * least

    def length(self, n_before: int, n_learnt: int) -> int:
        """Minibatches of a round behind `n_before` of the stream, with topics of `n_learnt`."""
        longest = self.rounds
        if self.staleness:
            longest = min(longest, max(1, n_learnt // (RAMP * self.staleness)))
        return longest if self.every is None else min(longest, self.every - n_before % self.every)

    def under_way(self, n_before: int, n_learnt: int) -> int:
        """Rounds that may be under way when another one begins."""
        if self.every is not None and n_before % self.every == 0:
            return 0
        return min(self.staleness, n_learnt // RAMP)


class _Placed(NamedTuple):
    """Counts of a minibatch, and the place of its partition, or its own in a stream."""

    X: Any
    number: int


class _Round(NamedTuple):
    """Minibatches that are learnt on a worker; `n_after` of the stream end with its last one."""

    batches: list[_Placed]
    n_after: int
    future: Future[tasks.Learnt]

    @property
    def n_documents(self) -> int:
        return sum(one.X.shape[0] for one in self.batches)


class _Learning:
    """Learns minibatches here and rounds on workers, and takes these in.

    `what` the numbers of minibatches count is "partition" or "minibatch".
    """

    def __init__(
        self, model: Any, client: Any, plan: Plan, callbacks: Sequence[Any], what: str = "partition"
    ) -> None:
        self.callbacks = tuple(callbacks)
        check_callbacks(self.callbacks)
        if learner_of(self.callbacks) is not None:
            raise TypeError(
                f"{type(learner_of(self.callbacks)).__name__} learns in the place of partial_fit, "
                "which workers do here; leave it out, or use streamtopics.streams.stream"
            )
        self.model, self.topics, self.plan, self.what = model, last_step(model), plan, what
        self.client, self.executor = client, executor_of(client)
        self.scored = any(getattr(callback, "needs_score", False) for callback in self.callbacks)
        # Counts travel as they are where the stream could as well be learnt here.
        self.single = plan.rounds > 1 or plan.staleness > 0
        self.under_way: deque[_Round] = deque()
        self.reader: Any = None
        self.ended = False
        self.unread: Exception | None = None
        # Minibatches of the stream that are begun, those that are learnt, and documents begun.
        self.n_begun = self.n_done = 0
        self.n_documents = seen_by(model).n_documents

    def run(self, begun: Iterable[Begun], n_before: int, skip: int) -> None:
        """Learn from all that is read, or until a callback ends the stream; finish callbacks.

        `n_before` minibatches of the stream are before what is read, and `skip` of it were learnt.
        """
        first: BaseException | None = None
        reading = ahead(begun, self.plan.staleness + 2)
        try:
            self._run(self._minibatches(reading), n_before, skip)
        except BaseException as error:
            first = error
            if isinstance(error, PartitionError):
                error.n_batches = self.n_done
            raise
        finally:
            reading.close()
            for one in self.under_way:
                one.future.cancel()
            finish_all(self.model, self.callbacks, first)

    def _run(self, batches: Iterator[_Placed], n_before: int, skip: int) -> None:
        n_skipped = sum(1 for _ in islice(batches, skip))
        self.n_begun = self.n_done = n_before + n_skipped
        while not self.ended and self._learn_next(batches):
            pass
        self._take_in_all_but(0)
        if self.unread is not None and not self.ended:
            raise self.unread
        if n_skipped < skip and not self.ended:
            raise ValueError(
                f"skip is {skip}, but the partitions have {n_skipped} minibatches; pass the same "
                "partitions again, or skip=0 for what came after them"
            )

    def _minibatches(self, reading: Iterator[Begun]) -> Iterator[_Placed]:
        """Minibatches as they are read; what cannot be read ends them, after what came before."""
        try:
            for number, future in reading:
                try:
                    found = future.result()
                except Exception as error:
                    raise self._error([_Placed(None, number)], "read", error) from error
                for place, X in enumerate(found):
                    yield _Placed(X, number + place * (self.what == "minibatch"))
        except Exception as error:
            self.unread = error

    def _learn_next(self, batches: Iterator[_Placed]) -> bool:
        """Learn a minibatch, or begin a round; whether there was one."""
        # Documents count as minibatches of the usual size, or what came of the stream.
        n_learnt = max(self.n_begun, self.n_documents // self.plan.batch_size)
        begins = not is_fitted(self.topics) or self.topics._commit.begun is not None
        here = begins or self.plan.learns_here(n_learnt)
        some = list(islice(batches, 1 if here else self.plan.length(self.n_begun, n_learnt)))
        if some and here:
            self._learn_here(some[0])
        elif some:
            self._take_in_all_but(self.plan.under_way(self.n_begun, n_learnt))
            if not self.ended:
                self._begin(some)
        self.n_begun += len(some)
        self.n_documents += sum(one.X.shape[0] for one in some)
        return bool(some)

    def _learn_here(self, one: _Placed) -> None:
        """Learn a minibatch."""
        before, knows = seen_by(self.model), is_fitted(self.topics)
        try:
            score = score_before(self.topics, read_batch(one.X)) if self.scored else np.nan
            self.topics.partial_fit(one.X)
        except Exception as error:
            if not knows:
                raise
            raise self._error([one], "learnt", error) from error
        if is_fitted(self.topics):
            check_composes(self.topics)
            self._tell(self.n_begun + 1, before, score)

    def _begin(self, some: list[_Placed]) -> None:
        """Begin a round from the topics as they are now."""
        if self.reader is None:
            self.reader = sent(self.client, reader_of(self.topics))
        n_ahead, batches = sum(one.n_documents for one in self.under_way), [one.X for one in some]
        try:
            local = local_task(self.topics, words_of(batches), n_ahead, single=self.single)
        except IndexError as error:
            self._take_in_all_but(0)
            raise self._error(some, "learnt", error) from error
        future = submitted(self.executor, tasks.learn, self.reader, local, batches, self.scored)
        self.under_way.append(_Round(some, self.n_begun + len(some), future))

    def _take_in_all_but(self, n: int) -> None:
        """Take in rounds until no more than `n` are under way, or a callback ends the stream."""
        while len(self.under_way) > n and not self.ended:
            one = self.under_way.popleft()
            try:
                learnt = one.future.result()
            except Exception as error:
                raise self._error(one.batches, "learnt", error) from error
            before = seen_by(self.model)
            apply_update(self.topics, learnt.composite)
            self._tell(one.n_after, before, learnt.score)

    def _error(self, some: list[_Placed], done: str, error: Exception) -> PartitionError:
        """What could not be done to partitions, or to minibatches of a stream."""
        plural = "minibatches" if self.what == "minibatch" else "partitions"
        first, last = some[0].number, some[-1].number
        name = f"{self.what} {first}" if first == last else f"{plural} {first} to {last}"
        return PartitionError(f"{name} could not be {done}: {type(error).__name__}: {error}", first)

    def _tell(self, n_batches: int, before: Seen, score: float) -> None:
        """Call the callbacks."""
        seen, self.n_done = seen_by(self.model), n_batches
        learnt = seen.n_documents - before.n_documents, seen.n_tokens - before.n_tokens
        info = BatchInfo(n_batches, None, None, *learnt, *seen, score)
        for callback in self.callbacks:
            self.ended |= call(callback, self.model, info)


def batch_size_of(model: Any, batch_size: int | None) -> int:
    """Return the documents in a minibatch of a model that can learn on workers."""
    check_not_frozen(model)
    topics = last_step(model)
    check_model(topics)
    check_can_compose(topics)
    size = topics.batch_size if batch_size is None else batch_size
    check_integer(batch_size=size)
    return int(size)


def counting_steps(model: Any) -> Pipeline | None:
    """Return the steps before the last one as a model of their own; None if there are none."""
    steps = steps_before(model)
    return Pipeline([*steps, ("counts", "passthrough")]) if steps else None


def _every(callbacks: Sequence[Any]) -> int | None:
    """Minibatches from one checkpoint to the next; None if there is none."""
    return math.gcd(*(one.every for one in callbacks if isinstance(one, Checkpointer))) or None


def _in_groups(batches: Iterable[Any], n: int, skip: int) -> Iterator[tuple[int, list[Any]]]:
    """Minibatches behind `skip` others, up to the next multiple of `n` at a time."""
    left, first = iter(batches), skip
    while group := [_documents_of(one) for one in islice(left, n - first % n)]:
        yield first, group
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
