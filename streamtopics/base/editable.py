# SPDX-License-Identifier: BSD-3-Clause
"""Estimators with editable topics; see `streamtopics.editing`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import Composition
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.posteriors import Blend


class Editable(StreamingTopicModel):
    @property
    def _labels(self) -> Any:
        """`TopicLabels` of `streamtopics.editing`; None without edits."""
        check_is_fitted(self)
        return self._commit.edits and self._commit.edits.labels

    @property
    def edits_(self) -> list[Any]:
        """Edits made to the topics, as a list in order; undone edits are left out."""
        return self._commit.edits.edits if self._labels else []

    @property
    def topic_numbers_(self) -> np.ndarray:
        """Number of the topic in each row. A topic keeps its number when the row moves."""
        return np.array(self._labels.topics if self._labels else range(self._n_features_out))

    @property
    def topic_names_(self) -> np.ndarray:
        """Name of each topic, given by `streamtopics.editing.rename`; "" is no name."""
        names = [self._labels.names.get(n, "") for n in self._labels.topics] if self._labels else []
        if not any(names):
            raise AttributeError("topics have no names; give names by streamtopics.editing.rename")
        return np.array(names, dtype=object)

    @property
    def hidden_topics_(self) -> np.ndarray:
        """Rows of the hidden topics, left out of tables and plots."""
        rows = self._labels.rows(self._labels.hidden) if self._labels else []
        return np.array(sorted(rows), np.intp)

    @property
    def locked_topics_(self) -> np.ndarray:
        """Rows of the topics with word probabilities locked by `streamtopics.editing.lock`."""
        rows = self._labels.rows(self._labels.locked) if self._labels else []
        return np.array(sorted(rows), np.intp)

    def _started(self) -> dict[str, Any]:
        edits = self._commit.edits
        return super()._started() | ({} if edits is None else {"n_components": edits.n_started})

    def _carry_out(
        self, composition: Composition, blend: Blend, found: dict[str, Any], time: object = None
    ) -> None:
        if (edits := self._commit.edits) is not None:
            blend = edits.held(blend, self._commit.posterior, self._n_hidden)
            found = found | {"edits": edits.learnt(found.get("lifetimes"))}
        super()._carry_out(composition, blend, found, time)

    def _commit_without(self, words: np.ndarray, names: dict[int, Any]) -> Any:
        commit = super()._commit_without(words, names)
        return replace(commit, edits=commit.edits and commit.edits.without(words))

    def _check_mergeable(self, name: str, model: Any) -> None:
        super()._check_mergeable(name, model)
        if model.edits_:
            raise ValueError(
                f"{name} has edited topics, but models are merged by the position of topics; "
                "merge first, then edit the result"
            )
