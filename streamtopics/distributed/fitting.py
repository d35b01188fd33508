# SPDX-License-Identifier: BSD-3-Clause
"""Learning from the partitions of a collection, and from minibatches that come from outside."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar
from uuid import uuid4

from sklearn.pipeline import Pipeline

from streamtopics.distributed.attempts import Policy
from streamtopics.distributed.composites import check_can_compose
from streamtopics.distributed.engines import engine_of
from streamtopics.distributed.learning import Learning
from streamtopics.distributed.reading import Cluster
from streamtopics.distributed.schedule import Schedule
from streamtopics.distributed.sources import in_groups, partitions_of
from streamtopics.streams.batches import after, check_model
from streamtopics.streams.callbacks import check_callbacks, finish_all, learner_of
from streamtopics.streams.checkpoint import Checkpointer
from streamtopics.utils.checks import check_integer, check_truth
from streamtopics.utils.steps import check_not_frozen, last_step, steps_before

Model = TypeVar("Model")


def fit_partitions(
    model: Model,
    partitions: Any,
    client: Any,
    *,
    read: Callable[[Any], Any] | None = None,
    batch_size: int | None = None,
    rounds: int = 32,
    staleness: int = 2,
    ordered: bool = True,
    callbacks: Sequence[Any] = (),
    skip: int = 0,
    max_attempts: int = 3,
    patience: float = 10.0,
    timeout: float | None = None,
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
    client : dask.distributed.Client
        Or an executor of `concurrent.futures`, or the module `ray`.
    read : callable, default=None
        Run on the worker as ``read(partition)``, it returns texts, or counts.
    batch_size : int or None, default=None
        Documents of a minibatch; None is that of the model. Minibatches do not reach from one
        partition to the next.
    rounds : int, default=32
        Minibatches in a round, at most: the longer, the less travels for each of them. Small
        partitions are read together, as many as make a round. Topics that have learnt little
        change so fast that late minibatches would hold them up: the client learns by itself until
        rounds of 8 minibatches, of 4,000 documents or of `rounds` minibatches come soon enough,
        whichever is least: 16 times as many times `staleness` have been learnt then.
    staleness : int, default=2
        Rounds that may be under way when another one begins, at most; set it to at least the
        number of workers less one. What a round is learnt from is that many rounds old.
    ordered : bool, default=True
        Whether rounds are taken in, in the order of the partitions. False takes the first that
        is ready; then the bits depend on how fast each worker is.
    callbacks : sequence, default=()
        As of `streamtopics.streams.stream`, called after each minibatch that the client learns
        and each round; ``info.batch`` counts minibatches, ``info.X`` is None, and ``info.score``
        that of the minibatch, or of the first of the round, before it was learnt. At the
        checkpoints of a `Checkpointer` nothing is under way.
    skip : int, default=0
        Minibatches of the partitions that the model has learnt already: ``n_batches`` of
        `streamtopics.streams.resume`.
    max_attempts : int, default=3
        Times that a task is begun at most: it may fail, be late, or lose its worker.
    patience : float, default=10.0
        Seconds that reading a partition or learning a round may take before it is begun once
        more, mostly on another worker, or three times what that usually takes, if it is more.
    timeout : float or None, default=None
        Seconds that a round, or reading a partition, may take in all; None waits for ever, also
        for workers.

    Returns
    -------
    model : estimator or pipeline
        The same object.

    Raises
    ------
    PartitionError
        If a partition cannot be read or learnt; the model has learnt what came before, the
        first ``error.n_batches`` minibatches of the partitions.
    TypeError
        If `client` or a callback is none, or `model` is no estimator of topics over words.
    ValueError
        If the rule of the model cannot learn away from it, iterates are averaged, or the
        partitions end before `skip`.

    See Also
    --------
    fit_stream : The same for minibatches that come from outside.
    count_vocabulary : Finds the words of partitions.

    Notes
    -----
    With ``rounds=1, staleness=0`` the result is that of one `partial_fit` after another, bit for
    bit. Otherwise counts travel in single precision.

    What a lost worker had, Dask runs again by itself, ``distributed.scheduler.allowed-failures``
    times, 3 by default. These count among the `max_attempts`, so that a partition that kills its
    workers is named after 4 of them; set both higher where workers are taken away all the time.
    Partitions that were read together are named together; with ``rounds=1`` each is read alone. A
    worker that hangs is given up by `patience`, also where it has finished and does not hand over
    what it found. Where a cluster has no workers, a warning says so each minute.

    Examples
    --------
    Threads stand for the workers here; a `dask.distributed.Client` is used in the same way.

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
    learning = _learning(
        model, client, size, read, Schedule(rounds, staleness, _every(callbacks), size),
        Policy(max_attempts, patience, timeout), callbacks, ordered,
    )  # fmt: skip
    check_integer(least=0, skip=skip)
    _run(learning, partitions_of(partitions, client), 0, int(skip), together=True)
    return model


def fit_stream(
    model: Model,
    batches: Iterable[Any],
    client: Any,
    *,
    rounds: int = 8,
    staleness: int = 2,
    ordered: bool = True,
    callbacks: Sequence[Any] = (),
    skip: int = 0,
    max_attempts: int = 3,
    patience: float = 10.0,
    timeout: float | None = None,
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
    staleness, ordered, callbacks
        As of `fit_partitions`; the client learns the first minibatches here too.
    skip : int, default=0
        Minibatches at the head of `batches` that are passed over, as the model has learnt them.
    max_attempts, patience, timeout
        As of `fit_partitions`.

    Returns
    -------
    model : estimator or pipeline
        The same object.

    Raises
    ------
    PartitionError, TypeError, ValueError
        As of `fit_partitions`.

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
    learning = _learning(
        model, client, size, None, Schedule(rounds, staleness, _every(callbacks), size),
        Policy(max_attempts, patience, timeout), callbacks, ordered,
    )  # fmt: skip
    left = after(batches, skip)
    _run(learning, in_groups(left, int(rounds), int(skip)), int(skip), 0, together=False)
    return model


def _learning(
    model: Any,
    client: Any,
    batch_size: int,
    read: Any,
    schedule: Schedule,
    policy: Policy,
    callbacks: Sequence[Any],
    ordered: bool,
) -> Learning:
    """Return what learns, when all has been checked."""
    callbacks = tuple(callbacks)
    check_callbacks(callbacks)
    if learner_of(callbacks) is not None:
        raise TypeError(
            f"{type(learner_of(callbacks)).__name__} learns in the place of partial_fit, which "
            "workers do here; leave it out, or use streamtopics.streams.stream"
        )
    check_truth(ordered=ordered)
    if not ordered and any(isinstance(one, Checkpointer) for one in callbacks):
        raise ValueError(
            "with ordered=False a checkpoint has no place in the stream to go on from; leave out "
            "the Checkpointer, or set ordered=True"
        )
    engine, before = engine_of(client), counting_steps(model)
    cluster = Cluster(engine, policy, read, before, batch_size, uuid4().hex[:8])
    return Learning(model, cluster, schedule, callbacks, bool(ordered))


def _run(
    learning: Learning, partitions: Iterable[Any], n_before: int, skip: int, *, together: bool
) -> None:
    """Learn, and finish all callbacks."""
    first: BaseException | None = None
    try:
        learning.run(partitions, n_before, skip, together=together)
    except BaseException as error:
        first = error
        raise
    finally:
        learning.drop()
        finish_all(learning.model, learning.callbacks, first)


def batch_size_of(model: Any, batch_size: int | None) -> int:
    """Return the number of documents in a minibatch of a model that can learn on workers."""
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
    keepers = [one for one in callbacks if isinstance(one, Checkpointer)]
    if not keepers:
        return None
    for keeper in keepers:
        if keeper.seconds is not None or keeper.every is None:
            raise ValueError(
                "a Checkpointer whose checkpoints go by seconds would make the result depend on "
                "the clock; set seconds=None and every to a number of minibatches"
            )
    return math.gcd(*(int(keeper.every or 0) for keeper in keepers))
