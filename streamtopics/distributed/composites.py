# SPDX-License-Identifier: BSD-3-Clause
"""Learning away from a model: what a task needs of it, and what comes back.

A model makes a `Reader` of documents and `LocalTask` records, which are small and can be pickled:
of the posterior they hold the rows of the words that the task has. A task learns its minibatches
one after another on a copy of those rows, and returns one `Composite`, which the model takes in,
whatever it has learnt meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import Composition
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.messages import Minibatch
from streamtopics.models import LDA
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates.composite import Composite, rebased
from streamtopics.utils.parallel import SERIAL
from streamtopics.utils.structure import is_sparse

NO_WORDS = np.empty(0, np.int32)


@dataclass(frozen=True)
class Reader:
    """Reads documents as a model does, by a copy whose posterior has no words."""

    model: StreamingTopicModel

    def minibatch(self, X: Any) -> Minibatch:
        """Documents over their own words."""
        documents = self.model._read("partial_fit", reset=False, X=X)
        minibatch: Minibatch = documents.minibatch
        return minibatch

    def score(self, task: LocalTask, X: Any) -> float:
        """Held-out score of the rows of X under the topics of a task, nats per token."""
        scorer = copy(self.model)
        scorer._commit = replace(scorer._commit, posterior=deepcopy(task.posterior))
        return float(scorer.score(X))


@dataclass(frozen=True)
class LocalTask:
    """Learns minibatches from a copy of a model's posterior, as the model would.

    The posterior is of the words of its minibatches alone, the state that of the rule.
    """

    composition: Composition
    model: LDA
    posterior: TopicPosterior
    state: Any
    single: bool = False

    def run(self, minibatches: Sequence[Minibatch]) -> Composite:
        """Return what the minibatches, one after another, make of the posterior."""
        if not minibatches:
            raise ValueError("minibatches is empty; a task learns from at least one")
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
            # What is reported is the share that one of them leaves.
            blend = replace(posterior.since(base, kept, dtype), retention=reported ** (1 / n))
        elif self.single:
            counts = blend.statistics.counts.astype(dtype)
            blend = replace(blend, statistics=replace(blend.statistics, counts=counts))
        return Composite(blend, base.counters, base.alpha, (self.state, state))


def words_of(batches: Sequence[Any]) -> np.ndarray:
    """Return the columns of the words of some minibatches of counts, sorted, int32."""
    seen = np.zeros(max(X.shape[1] for X in batches), np.bool_)
    for X in batches:
        if is_sparse(X):
            seen[X.tocsr().indices] = True
        else:
            seen[: X.shape[1]] |= np.asarray(X).any(axis=0)
    return np.flatnonzero(seen).astype(np.int32)


def reader_of(model: StreamingTopicModel) -> Reader:
    """Return the reader of a model; see `check_composes`."""
    check_composes(model)
    husk = copy(model)
    commit = model._commit
    posterior = commit.posterior.of_words(NO_WORDS)
    husk._commit = replace(commit, posterior=posterior, drift=(), begun=None)
    return Reader(husk)


def local_task(
    model: StreamingTopicModel, words: np.ndarray, n_ahead: int = 0, *, single: bool = False
) -> LocalTask:
    """Return a task that learns from a model as it is now.

    `words` are the columns of those of its minibatches, sorted. `n_ahead` documents of the stream
    are between those that the model has learnt and those of the task, which set the seeds of what
    is drawn. Counts travel in `single` precision, in either direction, or in double.
    """
    check_composes(model)
    commit, composition = model._commit, model._composed()
    posterior = commit.posterior.of_words(words, np.float32 if single else np.float64)
    local = replace(composition.model(model.seed_), n_ahead=n_ahead)
    return LocalTask(composition, local, posterior, commit.state, single)


def apply_update(model: StreamingTopicModel, composite: Composite) -> None:
    """Learn what a task has found, after all that the model has learnt meanwhile.

    When it fails nothing has changed.
    """
    check_composes(model)
    with model._learning():
        composition, commit = model._composed(), model._commit
        _check_fits(composite, commit.posterior)
        blend, state = rebased(
            composition.rule, composition.doc_topic, composite, commit.posterior, commit.state
        )
        model._carry_out(composition, blend, {"state": state})


def _check_fits(update: Composite, posterior: TopicPosterior) -> None:
    """Refuse what was learnt from another model, as far as can be told."""
    n_words = int(update.blend.statistics.words.max(initial=-1)) + 1
    theirs = len(update.alpha), n_words, update.before.n_documents
    ours = posterior.n_nodes, posterior.shape[0], posterior.n_documents
    if theirs[0] != ours[0] or theirs[1] > ours[1] or theirs[2] > ours[2]:
        raise ValueError(
            "update was learnt from another model: it is of {} topics, at least {} words and {} "
            "documents, but this model of {}, {} and {}".format(*theirs, *ours)
        )


def check_composes(model: StreamingTopicModel) -> None:
    """Refuse a model whose minibatches cannot be learnt away from it, or that has learnt none."""
    check_can_compose(model)
    check_is_fitted(model)
    model._validate(model._commit)


def check_can_compose(model: Any) -> None:
    """Refuse an estimator whose minibatches cannot be learnt away from it."""
    if not isinstance(model, StreamingTopicModel):
        raise TypeError(
            "model must be an estimator of topics over words, such as StreamingLDA or "
            f"GibbsOnlineEM, or a pipeline that ends in one; got {model!r}"
        )
    model._validate()
    composition = model._composed()
    if composition.rule.traits.merges is None:
        raise ValueError(
            f"{composition.update} does not say what minibatches count after others (its `merges` "
            "is None), so that they cannot be learnt away from the model; use a rule such as "
            "SVB(), BPS(0.1), OnlineEM() or PowerPrior(0.9)"
        )
    model._check_places("model")
