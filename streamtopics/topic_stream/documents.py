# SPDX-License-Identifier: BSD-3-Clause
"""Documents of a stream."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.editing.records import Edit
from streamtopics.inspection.periods import time_texts
from streamtopics.story.cells import Cells, Labels, labels_of, positions
from streamtopics.streams import DriftMonitor, TopicTracker
from streamtopics.text import StreamingPipeline
from streamtopics.utils.parallel import WithCache, lock_of
from streamtopics.utils.structure import from_arrow, shape_of


class Kept(NamedTuple):
    """A document of the kept sample.

    Attributes
    ----------
    text, time, group, id : str, str, str, object
        Time and group are empty if unknown.
    """

    text: str
    time: str
    group: str
    id: Any
    number: float  # of its span
    key: float  # random; the documents with the largest keys are kept
    is_row: bool = False  # whether the id is the place in the stream, from 0


class Documents(NamedTuple):
    texts: list[str]
    labels: Labels
    ids: list[Any]
    are_rows: bool  # whether no ids were given


def read_documents(
    X: Iterable[str], times: Any, groups: Any, ids: Any, kind: str = "", n_seen: int = 0
) -> Documents:
    texts = texts_of(X)
    n = len(texts)
    names = list(range(n_seen, n_seen + n)) if ids is None else list(from_arrow(ids))
    if len(names) != n:
        raise ValueError(f"ids must have an entry for each of the {n} documents; got {len(names)}")
    names = [int(one) if isinstance(one, np.integer) else one for one in names]
    names = [one if isinstance(one, int | str) else str(one) for one in names]
    return Documents(texts, labels_of(n, times, groups, kind, n_seen), names, ids is None)


def texts_of(X: Iterable[str]) -> list[str]:
    if isinstance(X, str) or len(shape_of(X) or ()) > 1:
        remedy = "one text, so pass [text]" if isinstance(X, str) else "a table, so pass one column"
        raise TypeError(f"X must be a sequence of texts; got {remedy}")
    texts = list(from_arrow(X))
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"X must be texts; row {row} is {text!r:.50}. Leave it out, or pass ''")
    return texts


def sampled(kept: tuple[Kept, ...], more: Documents, seed: list[int], n: int) -> tuple[Kept, ...]:
    """At most n documents; `seed` ends with the number of earlier documents."""
    times, keys = more.labels.times, np.random.default_rng(seed).random(len(more.texts))
    dates = [""] * len(keys) if more.labels.kind == "order" else time_texts(times, "")
    values = more.texts, dates, more.labels.groups, more.ids, positions(times).tolist()
    found = map(Kept, *values, keys.tolist(), repeat(more.are_rows))
    # Documents with smaller keys were left out, also before `n` grew.
    least = min(one.key for one in kept) if 0 < len(kept) < seed[-1] else 0.0
    documents = [*kept, *(one for one in found if one.key >= least)]
    places = np.argsort([-one.key for one in documents])[:n]
    return tuple(documents[place] for place in np.sort(places).tolist())


def last_time(labels: Labels) -> Any:
    known = labels.times[labels.times == labels.times]
    if labels.kind == "order" or not len(known):
        return None
    last = known.max()
    if labels.kind == "date":
        return last.astype("M8[us]").item()
    return int(last) if float(last).is_integer() else float(last)


class HoldsDocuments(WithCache):
    pipeline_: StreamingPipeline
    tracker_: TopicTracker
    monitor_: DriftMonitor
    _n_documents: int
    _n_tokens: float
    # Documents learnt when all documents were counted; -1 if they were counted at several times;
    # None in files of earlier versions
    _n_learnt: int | None = None
    # Sums over the documents, for the topics after these edits
    _sums: tuple[tuple[Edit, ...], Cells]
    _documents: tuple[Kept, ...]

    @property
    def n_documents_seen_(self) -> int:
        return self._n_documents

    @property
    def n_tokens_seen_(self) -> float:
        return self._n_tokens

    @property
    def documents(self) -> list[Kept]:
        """Sampled documents in order of arrival: tuples with `text`, `time`, `group` and `id`."""
        check_is_fitted(self, "pipeline_")
        return list(self._documents)

    @property
    def _begun(self) -> bool:
        return "pipeline_" in vars(self)

    @property
    def _topics(self) -> Any:
        check_is_fitted(self, "pipeline_")
        return self.pipeline_.steps[-1][1]

    def _locks(self) -> list[Any]:
        if not self._begun:
            return [lock_of(self)]
        return [lock_of(self), *self.pipeline_._locks(), lock_of(self._topics)]
