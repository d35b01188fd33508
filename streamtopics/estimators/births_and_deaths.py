# SPDX-License-Identifier: BSD-3-Clause
"""Births and deaths of topics, where each document has one: from a minibatch to a blend.

New topics are groups of documents that no topic explains. Their words stand in free places of a
copy of the posterior while the minibatch is learnt, and are then taken out of it again: each
document counts once, in the topic that it is found to have.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import Composition
from streamtopics.base.frame import keeps_means
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.typing import OptionalArray
from streamtopics.local.directions import summed
from streamtopics.local.groups import Base, Groups, find_groups, known_by
from streamtopics.local.step import Source
from streamtopics.messages import Minibatch, Statistics
from streamtopics.models import LDA
from streamtopics.models.lda import BoundedPrior
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates.births import DirichletProcess, Lifetimes, Seeds, TopicLifetime, finish
from streamtopics.utils.parallel import SERIAL, Workers


class ReportsLifetimes(StreamingTopicModel):
    """Adds the record of births and deaths to estimators whose topics may come and go."""

    # How they do; None for topics that are always the same.
    births: DirichletProcess | None = DirichletProcess()

    @property
    def births_(self) -> list[TopicLifetime]:
        """The topics that live and the last thousand that died, by birth."""
        lifetimes = self._lifetimes()
        return sorted((*lifetimes.dead, *lifetimes.alive), key=lambda one: (one.born, one.topic))

    def births_report(self, feature_names: OptionalArray = None) -> list[TopicLifetime]:
        """Rows on the topics along the stream: when each was born and died, and of what words.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            As in `top_words`.

        Returns
        -------
        report : list of TopicLifetime
            A row for each of `births_`, with words instead of columns. As a frame by
            `pandas.DataFrame(report)`.
        """
        names = dict(enumerate(self._column_names(feature_names)))
        return [one.named(names) for one in self.births_]

    def _lifetimes(self) -> Lifetimes:
        check_is_fitted(self)
        if self._commit.lifetimes is None:
            raise AttributeError(
                f"{type(self).__name__} has no births where its clusters are always the same; set "
                "births=DirichletProcess()"
            )
        return self._commit.lifetimes

    def _check_places(self, name: str) -> None:
        super()._check_places(name)
        if self.births is not None:
            raise TypeError(f"{name} cannot be merged: its topics have no fixed places")


def step_with_births(
    composition: Composition, commit: Any, batch: Documents, model: LDA, pool: Workers
) -> tuple[Blend, dict[str, Any]]:
    """The blend that takes in a minibatch, and what else it changes of the commit record."""
    process: Any = composition.births
    lifetimes, posterior = commit.lifetimes, commit.posterior
    minibatch, first = batch.minibatch, composition.inference.n_background
    groups, needed = _groups(composition, process, posterior, minibatch, pool)
    free = np.flatnonzero(posterior.alpha[first:] == 0)
    missing = groups.documents.size - free.size
    if missing > 0:
        warnings.warn(
            f"all {len(posterior.alpha) - first} clusters are taken, so that {missing} more could "
            f"not be born in minibatch {lifetimes.n_batches + 1}; start anew with a larger "
            "n_components",
            stacklevel=6,
        )
        n = free.size
        groups = replace(groups, counts=groups.counts[:, :n], documents=groups.documents[:n])
    means = keeps_means(composition.update)
    unit = float(posterior.c.mean()) if means else 1.0
    scratch, seeds = _seeded(posterior, minibatch, groups, free, first, unit, needed)
    blend, state = composition.step(posterior, minibatch, commit.state, model, pool, scratch)
    memory = float(posterior.after(blend).c.max()) if means else 1.0
    blend, lifetimes = finish(
        process, lifetimes, posterior, blend, seeds, first, memory, batch.time
    )
    return blend, {"state": state, "lifetimes": lifetimes}


def _groups(
    composition: Composition,
    process: DirichletProcess,
    posterior: TopicPosterior,
    minibatch: Minibatch,
    pool: Workers,
) -> tuple[Groups, float]:
    """Topics to be, and the documents that each needs; the first is all documents if none is."""
    step: Any = composition.inference
    words, first, share = minibatch.words, step.n_background, step.share
    seen = minibatch.word_counts / max(minibatch.n_tokens, 1e-300)
    expected = posterior.prior_rows(words)[:, -1] / posterior.prior_mass[-1]
    source: Source = posterior
    if composition.schedule.prior_limit is not None:
        source = BoundedPrior(posterior, composition.schedule.prior_limit)
    alive = np.flatnonzero(posterior.alpha[first:] > 0)
    background, topics = seen, np.zeros((len(words), 0))
    if len(alive):
        rows = source.rows(words) / source.mass
        background = rows[:, 0] if first else seen
        topics = share * rows[:, first + alive] + (1 - share) * background[:, None]
    shares = posterior.alpha[first:][alive]
    log_shares = np.log(shares / max(shares.sum(), 1e-300))
    X = minibatch.matrix(minibatch.counts)
    base = Base(0.5 * expected + 0.5 * seen, background, share, process.concentration)
    known = known_by(X, np.log(topics), log_shares, pool)
    groups = find_groups(X, known, base, process.min_documents)
    if len(alive) or groups.documents.size or not minibatch.informative.any():
        return groups, process.min_documents
    counts, members = minibatch.word_counts[:, None], np.zeros(len(minibatch.informative), int)
    return Groups(counts, np.array([float(np.count_nonzero(minibatch.informative))]), members), 0.0


def _seeded(
    posterior: TopicPosterior,
    minibatch: Minibatch,
    groups: Groups,
    free: np.ndarray,
    first: int,
    unit: float,
    needed: float,
) -> tuple[TopicPosterior, Seeds]:
    """A copy of the posterior, of the minibatch's words, with the groups in free places.

    `unit` is what a document counts in it.
    """
    scratch, places = posterior.of_words(minibatch.words), free[: groups.documents.size]
    alpha = np.array(posterior.alpha)
    remembered = float(alpha[first:].sum())
    n_documents = max(int(np.count_nonzero(minibatch.informative)), 1)
    added = groups.documents / n_documents * (remembered if remembered > 0 else n_documents * unit)
    if places.size:
        alpha[first + places] = added
        counts = np.zeros((len(minibatch.words), posterior.n_nodes))
        counts[:, first + places] = groups.counts
        if first and posterior.knows_nothing:
            counts[:, 0] = minibatch.word_counts
        directions = None
        if minibatch.vectors is not None:
            q = (groups.members[:, None] == np.arange(places.size)).astype(minibatch.vectors.dtype)
            directions = np.zeros((posterior.n_nodes, posterior.n_dimensions + 1))
            directions[first + places] = summed(minibatch.vectors, q, SERIAL)
        # Of no minibatch and no documents: the counters of the posterior stay as they are.
        statistics = Statistics(
            minibatch.words, counts, np.zeros(0), n_batches=0, directions=directions
        )
        scratch.blend(Blend(1.0, unit, 0.0, statistics, alpha=alpha))
    return scratch, Seeds(places, added, needed)
