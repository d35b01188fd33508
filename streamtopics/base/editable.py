# SPDX-License-Identifier: BSD-3-Clause
"""Estimators whose topics people may edit; see `streamtopics.editing`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import Composition
from streamtopics.base.edits import Edit, Edits, TopicLabels, held
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.posteriors import Blend


class Editable(StreamingTopicModel):
    """Base of the estimators whose topics are rows of counts that people may edit."""

    @property
    def _edits(self) -> Edits:
        """The record of the edits; one of none if there were none."""
        check_is_fitted(self)
        n_topics = self._n_features_out
        plain = Edits(TopicLabels(tuple(range(n_topics)), n_topics), n_topics)
        return self._commit.edits or plain

    @property
    def edits_(self) -> list[Edit]:
        """The edits of the topics, in order, without those that were undone."""
        return [step.edit for step in self._edits.steps]

    @property
    def topic_numbers_(self) -> np.ndarray:
        """Number of each row, which stays with the topic when rows move; see `Edit`."""
        return np.array(self._edits.labels.topics)

    @property
    def topic_names_(self) -> np.ndarray:
        """Names of the topics, "" for one without; only if `rename` has given any."""
        labels = self._edits.labels
        names = [labels.names.get(topic, "") for topic in labels.topics]
        if not any(names):
            raise AttributeError("topics have no names; streamtopics.editing.rename gives them")
        return np.array(names, dtype=object)

    @property
    def hidden_topics_(self) -> np.ndarray:
        """Rows of the topics that tables, reports and pictures leave out."""
        labels = self._edits.labels
        return np.array(sorted(labels.rows(labels.hidden)), np.intp)

    @property
    def locked_topics_(self) -> np.ndarray:
        """Rows of the topics whose words stay."""
        labels = self._edits.labels
        return np.array(sorted(labels.rows(labels.locked)), np.intp)

    def _started(self) -> dict[str, Any]:
        return super()._started() | {"n_components": self._edits.n_started}

    def _carry_out(
        self, composition: Composition, blend: Blend, found: dict[str, Any], time: object = None
    ) -> None:
        if self._commit.edits is not None:
            labels = self._edits.labels
            blend = held(blend, self._commit.posterior, labels, self._n_hidden)
            found = found | {"edits": self._edits.learnt(found.get("lifetimes"))}
        super()._carry_out(composition, blend, found, time)

    def _commit_without(self, words: np.ndarray, names: dict[int, Any]) -> Any:
        commit = super()._commit_without(words, names)
        return replace(commit, edits=commit.edits and commit.edits.without(words))

    def _check_mergeable(self, name: str, model: Any) -> None:
        super()._check_mergeable(name, model)
        if model.edits_:
            raise ValueError(
                f"{name} has topics that were edited, and models are merged by the position of "
                "topics; merge first, and edit the result"
            )
