# SPDX-License-Identifier: BSD-3-Clause
"""Births and deaths of topics."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import Composition
from streamtopics.base.frame import keeps_means
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.typing import OptionalArray
from streamtopics.local.groups import unexplained
from streamtopics.models import LDA
from streamtopics.models.lda import BoundedPrior
from streamtopics.posteriors import Blend
from streamtopics.updates.births import DirichletProcess, Lifetimes, TopicLifetime, finish, seeded
from streamtopics.utils.parallel import Workers
from streamtopics.utils.progress import LOG


class ReportsLifetimes(StreamingTopicModel):
    # None if the topics are always the same.
    births: DirichletProcess | None = DirichletProcess()

    @property
    def births_(self) -> list[TopicLifetime]:
        lifetimes = self._lifetimes()
        return sorted((*lifetimes.dead, *lifetimes.alive), key=lambda one: (one.born, one.topic))

    def births_report(self, feature_names: OptionalArray = None) -> list[TopicLifetime]:
        """Return the birth, the death and the words of each topic of a stream.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            As in `top_words`.

        Returns
        -------
        report : list of TopicLifetime
            `births_` with words, a row for each topic in ``pandas.DataFrame(report)``.
        """
        names = dict(enumerate(self._column_names(feature_names)))
        return [one.named(names) for one in self.births_]

    def _lifetimes(self) -> Lifetimes:
        check_is_fitted(self)
        if self._commit.lifetimes is None:
            raise AttributeError(
                f"{type(self).__name__} has no births because its clusters are always the same; "
                "set births=DirichletProcess()"
            )
        return self._commit.lifetimes

    def _check_places(self, name: str) -> None:
        super()._check_places(name)
        if self.births is not None:
            raise TypeError(f"{name} cannot be merged: its topics have no fixed places")


def step_with_births(
    composition: Composition, commit: Any, batch: Documents, model: LDA, pool: Workers
) -> tuple[Blend, dict[str, Any]]:
    """The blend of a minibatch, and other changes of the commit."""
    process: Any = composition.births
    step: Any = composition.inference
    lifetimes, posterior = commit.lifetimes, commit.posterior
    minibatch, first, limit = batch.minibatch, step.n_background, composition.schedule.prior_limit
    source = posterior if limit is None else BoundedPrior(posterior, limit)
    groups = unexplained(
        minibatch, posterior, source, step.share, process.concentration, process.min_documents, pool
    )
    free = np.flatnonzero(posterior.alpha[first:] == 0)
    missing = groups.documents.size - free.size
    if missing > 0:
        # Always in the same words: Python shows a repeated warning once.
        warnings.warn(
            f"all {len(posterior.alpha) - first} clusters are taken, so that no more are born; "
            "start anew with a larger n_components",
            stacklevel=6,
        )
        LOG.info("minibatch %d: %d clusters not born", lifetimes.n_batches + 1, missing)
    means = keeps_means(composition.update)
    unit = float(posterior.c.mean()) if means else 1.0
    scratch, seeds = seeded(posterior, minibatch, groups, free, first, unit)
    blend, state = composition.step(posterior, minibatch, commit.state, model, pool, scratch)
    memory = float(posterior.after(blend).c.max()) if means else 1.0
    blend, lifetimes = finish(
        process, lifetimes, posterior, blend, seeds, first, memory, batch.time
    )
    return blend, {"state": state, "lifetimes": lifetimes}
