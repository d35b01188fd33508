# SPDX-License-Identifier: BSD-3-Clause
"""A pipeline for streams."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, process_routing

from streamtopics.text.streaming_vectorizer import StreamingCountVectorizer
from streamtopics.text.vocabulary import OpenVocabulary, is_free
from streamtopics.utils.output import LinksToReference, ShowsTopics
from streamtopics.utils.parallel import WithCache, held, lock_of
from streamtopics.utils.records import without_owner
from streamtopics.utils.steps import last_step, learns, names_of, steps_of, unwrap


class StreamingPipeline(ShowsTopics, LinksToReference, Pipeline, WithCache):
    """scikit-learn's Pipeline with `partial_fit`, for a changing vocabulary.

    Each step with `partial_fit` learns from the output of earlier steps. If a
    `StreamingCountVectorizer` gives a column to another word, the last step forgets the column by
    `forget_words`. A `sklearn.frozen.FrozenEstimator` only transforms.

    Parameters
    ----------
    steps, transform_input, memory, verbose
        As in scikit-learn's Pipeline.

    Notes
    -----
    If a step raises an error, earlier steps have learnt the minibatch, and columns may have new
    words. The last step then forgets these columns in the next `partial_fit`.

    One thread learns at a time. Meanwhile another thread can transform with a `copy.copy` of the
    pipeline. In copies, pickles and files all steps have learnt the same minibatches.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
    >>> model = StreamingPipeline([
    ...     ("words", StreamingCountVectorizer(max_features=4)),
    ...     ("topics", SVBLDA(1, random_state=0)),
    ... ])
    >>> for text in ["red green red", "blue pink blue", "red blue green"]:
    ...     model = model.partial_fit([text])
    >>> model.top_words(n_words=2)
    [['blue', 'red']]
    """

    # Documents seen by the vectorizer when the last step knew its words.
    _n_passed: int | None = None

    def partial_fit(self, X: object, y: object = None, **params: Any) -> Self:
        """Learn from one minibatch.

        Parameters
        ----------
        X, y : iterable, array-like or None
            Texts, and labels or ratings for the steps.
        **params : dict
            Arguments of the last step, such as ``time``, or of all steps with metadata routing.
        """
        with held(self._locks()):
            self._learn(X, y, params)
        return self

    def fit(self, X: object, y: object = None, **params: Any) -> Self:
        """Fit the steps one after another, as scikit-learn's Pipeline does."""
        with held(self._locks()):
            super().fit(X, y, **params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        with held(self._locks()):
            steps = self.steps
            if isinstance(steps, list):
                steps = [_snapshot(step) for step in steps]
            return {**without_owner(self, super().__getstate__()), "steps": steps}

    def _locks(self) -> list[threading.RLock]:
        steps = self.steps if isinstance(self.steps, list) else []
        within = [step[-1] for step in steps if isinstance(step, tuple | list) and len(step) == 2]
        inner = [lock for p in within if isinstance(p, StreamingPipeline) for lock in p._locks()]
        return [lock_of(self), *inner]

    def _learn(self, X: Any, y: object, params: dict[str, Any]) -> None:
        *first, (name, last) = steps_of(self)
        if last is self or not learns(last):
            raise AttributeError(f"partial_fit needs a last step that learns, not {last!r:.99}")
        _check_can_forget(first, name, last)
        *given, of_last = self._given(params)
        n_passed = self._n_passed
        columns, words = np.empty(0, dtype=np.int64), None
        for (step_name, step), its_own in zip(first, given, strict=True):
            if step is None or step == "passthrough":
                continue
            source, width = unwrap(step), X.shape[1] if len(columns) else 0
            counts = isinstance(source, StreamingCountVectorizer)
            vocabulary = source._vocabulary if counts else None
            X = _taken_in(step, X, y, its_own)
            if counts and isinstance(source._vocabulary, OpenVocabulary):
                known = 0 if vocabulary is None else vocabulary.n_documents
                if n_passed is None:
                    # In case a later step fails.
                    self._n_passed = known
                learnt = known if n_passed is None else min(known, n_passed)
                columns, n_passed = source.changed_since(learnt), source.n_documents_seen_
                # After a failure the earlier words are of an earlier minibatch.
                if len(columns) and vocabulary is not None and learnt == known:
                    had_words = len(source._vocabulary.recycled) > 0
                    words = np.array(vocabulary.names_of(columns, had_words), dtype=object)
            elif len(columns) and X.shape[1] != width:
                raise TypeError(
                    f"words change columns, so the step {step_name!r} must keep all {width} "
                    f"columns; {type(step).__name__} makes {X.shape[1]}"
                )
        if len(columns):
            with suppress(NotFittedError):
                last.forget_words(columns, words)
        of_y = {} if y is None else {"y": y}
        last.partial_fit(X, **of_y, **of_last.get("partial_fit", {}))
        self._n_passed = n_passed

    def _given(self, params: dict[str, Any]) -> list[Mapping[str, Any]]:
        if not params or not get_config()["enable_metadata_routing"]:
            return [*[{}] * (len(steps_of(self)) - 1), {"partial_fit": params}]
        routed = process_routing(self, "partial_fit", **params)
        given: list[Mapping[str, Any]] = []
        for name, step in self.steps:
            its_own = routed.get(name, {})
            if isinstance(step, StreamingPipeline):
                given += step._given(its_own.get("partial_fit", {}))
            else:
                n_steps = len(steps_of(step))
                given += [its_own if n_steps == 1 else {}] * n_steps
        return given

    def get_metadata_routing(self) -> MetadataRouter:
        router = super().get_metadata_routing()
        for name, (mapping, _) in router:
            mapping.add(caller="partial_fit", callee="partial_fit")
            if name != self.steps[-1][0]:
                mapping.add(caller="partial_fit", callee="transform")
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        each = [get_tags(step) for _, step in self.steps if step not in (None, "passthrough")]
        if each:
            tags.input_tags = each[0].input_tags
        if tags.transformer_tags is not None:
            kept = [{*t.transformer_tags.preserves_dtype} for t in each if t.transformer_tags]
            tags.transformer_tags.preserves_dtype = sorted(set.intersection(*kept))
        return tags

    def top_words(self, n_words: int = 10, **how: Any) -> list[list[str]]:
        """Return the top words of each topic; `how` is passed to the last step."""
        words: list[list[str]] = last_step(self).top_words(names_of(self), n_words, **how)
        return [[word for word in own if not is_free(word)] for own in words]


def _snapshot(step: Any) -> Any:
    """Return a name and a copy of its step, if the step learns from minibatches."""
    if not (isinstance(step, tuple | list) and len(step) == 2):
        return step
    name, one = step
    if learns(one):
        return name, copy(one)
    if not isinstance(one, Pipeline) or not isinstance(one.steps, list):
        return step
    # A copy of scikit-learn's pipeline would share its steps.
    copied: Any = copy(one)
    copied.steps = [_snapshot(inner) for inner in copied.steps]
    return name, copied


def _check_can_forget(before: list[tuple[str, Any]], name: str, last: object) -> None:
    open_ones = [
        name
        for name, step in before
        if isinstance(step, StreamingCountVectorizer) and step.vocabulary is None
    ]
    if open_ones and not hasattr(last, "forget_words"):
        raise TypeError(
            f"the words of {open_ones[0]!r} change columns, but the last step {name!r}, a "
            f"{type(last).__name__}, has no forget_words; give the vectorizer its `vocabulary`"
        )


def _taken_in(step: Any, X: object, y: object, given: Mapping[str, Any]) -> Any:
    """Return a step's output, after learning if the step can."""
    to_learn = given.get("partial_fit", {})
    if learns(step) and hasattr(step, "partial_fit_transform"):
        return step.partial_fit_transform(X, y, **to_learn)
    if learns(step):
        step.partial_fit(X, y, **to_learn)
    return step.transform(X, **given.get("transform", {}))
