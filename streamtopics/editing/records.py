# SPDX-License-Identifier: BSD-3-Clause
"""Records of the edits of a model's topics, kept with the posterior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from streamtopics.base.editable import Editable
from streamtopics.messages import in_full
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates.births import Lifetimes
from streamtopics.utils.checks import check_one_of

KINDS = ("merge", "split", "rename", "hide", "show", "lock", "unlock", "exclude", "pull")
# Words, or columns without a name, with probabilities in a topic.
Weighted = tuple[tuple[Any, float], ...]


@dataclass(frozen=True)
class Edit:
    """One edit of the topics of a model.

    Attributes
    ----------
    kind : str
        Name of the function of `streamtopics.editing`, for example "merge".
    topics : tuple of int
        Permanent numbers of the topics. A topic's number is its row before the model's first edit;
        topics made by a split get new numbers.
    leading : tuple of tuples of (word, probability)
        The thirty most probable words of each topic. `apply_edits` finds the topics by these words.
    words : tuple
        Words taken from the topic by `exclude`, or given to the topic by `pull`.
    name : str
        The new name given by `rename`.
    n : int
        Number of topics that `split` makes from one.
    """

    kind: str
    topics: tuple[int, ...]
    leading: tuple[Weighted, ...] = ()
    words: tuple[Any, ...] = ()
    name: str = ""
    n: int = 0

    def __post_init__(self) -> None:
        check_one_of(KINDS, kind=self.kind)


@dataclass(frozen=True)
class TopicLabels:
    """Names, hidden and locked topics, and excluded words, by number of the topic."""

    topics: tuple[int, ...]  # Number of each row, without background rows
    n_topics: int  # Numbers given so far
    names: Mapping[int, str] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    locked: frozenset[int] = frozenset()
    excluded: frozenset[tuple[int, int]] = frozenset()  # Topics and their excluded columns

    def rows(self, topics: Iterable[int]) -> list[int]:
        return [self.topics.index(topic) for topic in topics if topic in self.topics]

    def mask(self, topics: Iterable[int], n_hidden: int) -> np.ndarray:
        """Whether each row of the posterior is one of some topics; `n_hidden` rows come before."""
        found = np.zeros(n_hidden + len(self.topics), bool)
        found[[n_hidden + row for row in self.rows(topics)]] = True
        return found

    def move_out(self, column: int, counts: np.ndarray, lam: np.ndarray) -> None:
        """Move a word's tokens out of topics that exclude the word, in place.

        Other unlocked topics share the tokens in proportion to `counts`, or to `lam` if all are 0.
        """
        n_hidden = len(counts) - len(self.topics)
        own = self.mask((topic for topic, other in self.excluded if other == column), n_hidden)
        others = ~(own | self.mask(self.locked, n_hidden))
        if others.any():
            weights = counts[others] if counts[others].sum() > 0 else lam[others]
            counts[others] += counts[own].sum() * (weights / weights.sum())
            counts[own] = 0.0

    def without(self, columns: np.ndarray) -> TopicLabels:
        """The labels after columns were given to new words."""
        gone = set(columns.tolist())
        return replace(self, excluded=frozenset(p for p in self.excluded if p[1] not in gone))


@dataclass(frozen=True)
class EditStep:
    """An edit with everything needed to apply it again."""

    edit: Edit
    before: TopicLabels
    columns: tuple[int, ...] = ()  # Of the words
    moves: bool = True  # Whether the edit changes rows or counts
    # (n_words, n): share of each part of a split in the counts of each word learnt
    division: np.ndarray | None = None


@dataclass(frozen=True)
class Edits:
    """All edits of a model; part of its state, the commit record."""

    labels: TopicLabels
    n_started: int  # Topics at the start of learning
    steps: tuple[EditStep, ...] = ()
    # The commit record before the first count-moving step since the last minibatch, and its number
    base: Any = None
    n_base: int = 0

    @property
    def edits(self) -> list[Edit]:
        return [step.edit for step in self.steps]

    def learnt(self, lifetimes: Lifetimes | None) -> Edits:
        """The record after a minibatch: a new cluster in an old place gets a new number."""
        labels, steps, born = self.labels, self.steps, list[int]()
        if lifetimes is not None:
            born = [one.topic for one in lifetimes.alive if one.born == lifetimes.n_batches]
        if born:
            n, old = labels.n_topics, enumerate(labels.topics)
            topics = tuple(n + row if row in born else topic for row, topic in old)
            labels = replace(labels, topics=topics, n_topics=n + len(topics))
        if self.base is not None:
            steps = tuple(replace(step, division=None) for step in steps)
        return replace(self, labels=labels, steps=steps, base=None)

    def without(self, columns: np.ndarray) -> Edits:
        steps = tuple(replace(step, before=step.before.without(columns)) for step in self.steps)
        return replace(self, labels=self.labels.without(columns), steps=steps).learnt(None)

    def held(self, blend: Blend, posterior: TopicPosterior, n_hidden: int) -> Blend:
        """`blend` with excluded words kept out of their topics, and locked topics fixed.

        A locked topic grows with its tokens, but keeps its word probabilities.
        """
        labels, statistics = self.labels, blend.statistics
        locked = labels.mask(labels.locked, n_hidden)
        columns = np.array(sorted({column for _, column in labels.excluded}), np.int32)
        columns = columns[np.isin(columns, statistics.words)]
        if len(columns):
            counts = np.array(in_full(statistics.counts), np.float64)
            places = np.searchsorted(statistics.words, columns)
            for column, place, lam in zip(columns, places, posterior.rows(columns), strict=True):
                labels.move_out(column, counts[place], lam)
            blend = replace(blend, statistics=replace(statistics, counts=counts))
        if not locked.any():
            return blend
        return replace(
            blend,
            retain=np.where(locked, posterior.mass_after(blend) / posterior.mass, blend.retain),
            retention=np.where(locked, 1.0, blend.reported_retention),
            gain=np.where(locked, 0.0, blend.gain),
            prior=np.where(locked, 0.0, blend.prior),
            boost=np.where(locked, 0.0, blend.boost),
        )


def edits_of(topics: Editable) -> Edits:
    found, n = topics._commit.edits, topics._n_features_out
    return found if isinstance(found, Edits) else Edits(TopicLabels(tuple(range(n)), n), n)
