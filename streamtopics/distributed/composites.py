# SPDX-License-Identifier: BSD-3-Clause
"""Learning on a copy of a model, with an update as the result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import Composition
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.distributed.tasks import read_partition
from streamtopics.messages import Minibatch
from streamtopics.models import LDA
from streamtopics.posteriors import TopicPosterior
from streamtopics.streams.batches import Learner, check_has_topics, check_model
from streamtopics.updates.composite import Composite, apply_composite
from streamtopics.utils.checks import check_integer
from streamtopics.utils.parallel import SERIAL
from streamtopics.utils.steps import check_not_frozen, last_step, names_of, steps_before
from streamtopics.utils.structure import is_sparse

Model = TypeVar("Model")


def compute_update(model: Learner, documents: object, *, n_ahead: int = 0) -> Composite:
    """Learn from documents on a copy of a model, and return the change as an update.

    For engines without an executor, such as Spark: send the pickled model to workers, and add the
    pickled updates to the model by `apply_update`.

    Parameters
    ----------
    model : estimator of topics, or pipeline that ends in one
        Fitted, and as in `fit_partitions`; not changed.
    documents : path, list of str, matrix of counts or DataFrame
        A partition, as in `fit_partitions` without `read`.
    n_ahead : int, default=0
        Number of documents in the updates that `apply_update` will add before this update, so
        that each document of the stream has a different random seed.

    Returns
    -------
    update : Composite
        The size is 4 or 8 bytes for each pair of a topic and a distinct word of the documents.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.distributed import compute_update, apply_update
    >>> X = make_lda_corpus(n_documents=300, n_features=50, random_state=0).X
    >>> model = SVBLDA(4, random_state=0).partial_fit(X[:100])
    >>> left = compute_update(model, X[100:200])
    >>> right = compute_update(model, X[200:], n_ahead=100)
    >>> apply_update(apply_update(model, left), right).n_documents_seen_
    300
    """
    size, reader = batch_size_of(model), reader_of(last_step(model))
    check_integer(least=0, n_ahead=n_ahead)
    batches = read_partition(documents, None, counting_steps(model), size)
    if not batches:
        raise ValueError("documents is empty; there is nothing to learn from")
    if last_step(model)._commit.begun is not None:
        raise ValueError("topics are learnt anew until n_start_documents; compute updates later")
    words = words_of(batches)
    task = local_task(model, words, int(n_ahead), single=len(batches) > 1)
    return replace(learn(reader, task, batches, False).composite, places=_places_of(model, words))


def apply_update(model: Model, update: Composite, *, time: object = None) -> Model:
    """Add an update to a model; see the example of `compute_update`.

    The update is added with the present step size of the model, also if the model has learnt more
    since `compute_update`. An update is refused if an edit has moved its topics, or if other words
    have taken its columns.

    Parameters
    ----------
    model : estimator or pipeline
        The model given to `compute_update`, or the original if a copy was given. The model is
        unchanged after an error.
    update : Composite
        Apply each update once. The order of updates matters if the rule forgets.
    time : object, default=None
        Time of the documents, for `drift_`.

    Returns
    -------
    model : estimator or pipeline
        The same object.
    """
    topics = _topics_of(model)
    check_composed(topics)
    with topics._learning():
        composition, commit = topics._composed(), topics._commit
        _check_fits(update, commit.posterior, model)
        blend, state = apply_composite(
            composition.rule, composition.doc_topic, update, commit.posterior, commit.state
        )
        topics._carry_out(composition, blend, {"state": state}, time)
    return model


class Learnt(NamedTuple):
    """An update, and the score of the first minibatch before, or NaN."""

    composite: Composite
    score: float


@dataclass(frozen=True)
class LocalTask:
    """Learns minibatches from a copy of a model's posterior for some words."""

    composition: Composition
    model: LDA
    posterior: TopicPosterior
    state: Any  # Of the rule
    places: tuple[Any, ...]  # As in `Composite`
    single: bool = False  # Whether counts travel in single precision

    def run(self, minibatches: Sequence[Minibatch]) -> Composite:
        base, n = self.posterior, len(minibatches)
        posterior, state = deepcopy(base), self.state
        kept: Any = 1.0
        reported: Any = 1.0
        for minibatch in minibatches:
            blend, state = self.composition.step(posterior, minibatch, state, self.model, SERIAL)
            kept, reported = kept * blend.retain, reported * blend.reported_retention
            if n > 1:
                posterior.blend(blend)
        dtype = np.float32 if self.single else np.float64
        if n > 1:
            # The reported share is of one minibatch.
            blend = replace(posterior.since(base, kept, dtype), retention=reported ** (1 / n))
        elif self.single:
            counts = blend.statistics.counts.astype(dtype)
            blend = replace(blend, statistics=replace(blend.statistics, counts=counts))
        return Composite(blend, base.counters, base.alpha, (self.state, state), self.places)


def learn(
    reader: StreamingTopicModel, task: LocalTask, batches: Sequence[Any], scored: bool
) -> Learnt:
    score = np.nan
    if scored:
        scorer = copy(reader)
        scorer._commit = replace(reader._commit, posterior=deepcopy(task.posterior))
        score = float(scorer.score(batches[0]))
    read = [reader._read("partial_fit", reset=False, X=X).minibatch for X in batches]
    return Learnt(task.run(read), score)


def reader_of(model: StreamingTopicModel) -> StreamingTopicModel:
    """Return a copy of a model without topics, to read documents."""
    check_composed(model)
    bare, commit = copy(model), model._commit
    posterior = commit.posterior.of_words(np.empty(0, np.int32))
    bare._commit = replace(commit, posterior=posterior, drift=(), begun=None, edits=None)
    return bare


def local_task(model: Any, words: np.ndarray, n_ahead: int = 0, single: bool = False) -> LocalTask:
    """Return a task for sorted columns of words; `n_ahead` documents come first."""
    topics = last_step(model)
    check_composed(topics)
    commit, composition = topics._commit, topics._composed()
    posterior = commit.posterior.of_words(words, np.float32 if single else np.float64)
    local = replace(composition.model(topics.seed_), n_ahead=n_ahead)
    return LocalTask(composition, local, posterior, commit.state, _places_of(model), single)


def words_of(batches: Sequence[Any]) -> np.ndarray:
    seen = np.zeros(max(X.shape[1] for X in batches), np.bool_)
    for X in batches:
        seen[X.tocsr().indices if is_sparse(X) else np.nonzero(np.asarray(X))[1]] = True
    return np.flatnonzero(seen).astype(np.int32)


def batch_size_of(model: Learner) -> int:
    """Return the minibatch size; refuse a model unable to learn on workers."""
    topics = _topics_of(model)
    check_model(topics)
    _check_can_compose(topics)
    return int(topics.batch_size)


def counting_steps(model: object) -> Pipeline | None:
    """Return the steps before the last as a pipeline, or None."""
    steps = steps_before(model)
    return Pipeline([*steps, ("counts", "passthrough")]) if steps else None


def check_composed(model: StreamingTopicModel) -> None:
    """Refuse an unfitted model, or a rule without merging."""
    _check_can_compose(model)
    check_is_fitted(model)
    model._validate(model._commit)


def _check_can_compose(model: StreamingTopicModel) -> None:
    check_has_topics(model)
    model._validate()
    composition = model._composed()
    if composition.rule.traits.merges is None:
        raise ValueError(
            f"{composition.update} does not define merging (`merges` is None), so minibatches "
            "cannot be learnt away from the model; use a rule such as SVB() or PowerPrior(0.9)"
        )
    model._check_places("model")


def _topics_of(model: object) -> Any:
    check_not_frozen(model)
    last = model
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    if hasattr(last, "pipeline_"):
        raise TypeError(
            "workers would learn documents that a TopicStream does not count; use its partial_fit"
        )
    return last_step(model)


def _places_of(model: object, columns: np.ndarray | None = None) -> tuple[Any, ...]:
    names = None
    with suppress(AttributeError, ValueError):  # of a step without names, or that needs no fit
        names = None if columns is None else names_of(model)
    words = None if names is None else np.asarray(names, dtype=object)[columns]
    return columns, getattr(last_step(model), "topic_numbers_", None), words


def _check_fits(update: Composite, posterior: TopicPosterior, model: object) -> None:
    n_words = int(update.blend.statistics.words.max(initial=-1)) + 1
    theirs = len(update.alpha), n_words, update.before.n_documents
    ours = posterior.n_nodes, posterior.shape[0], posterior.n_documents
    if theirs[0] != ours[0] or theirs[1] > ours[1] or theirs[2] > ours[2]:
        raise ValueError(
            "update was learnt from another model: it is of {} topics, at least {} words and {} "
            "documents, but this model of {}, {} and {}".format(*theirs, *ours)
        )
    now_places = _places_of(model, *update.places[:1])
    for then, now in zip(update.places[1:], now_places[1:], strict=False):
        if then is not None and now is not None and (moved := then[then != now]).size:
            raise ValueError(
                "topics or words of update have moved in model: "
                f"{', '.join(map(str, moved)):.60}; learn from the documents again"
            )
