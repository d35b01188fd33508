# SPDX-License-Identifier: BSD-3-Clause
"""Findings of a tracker of topics, as rows for people and for DataFrames, and as an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from streamtopics.streams.tracking.identity import Words, distance
from streamtopics.streams.tracking.snapshots import (
    KnownTopic,
    Snapshot,
    State,
    last_words,
    probabilities_of,
)


class TrackRow(NamedTuple):
    """One topic in one snapshot, for people or for a DataFrame.

    Attributes
    ----------
    topic : int
        Its id.
    batch : int
        Minibatches that had been learnt when the snapshot was taken.
    time : object
        Of the last of them; None where the stream does not say.
    n_documents_seen : int
        Documents in them.
    row : int
        Row of the model that it was.
    share : float
        Its share of the tokens since the snapshot before.
    moved, moved_since : float
        Hellinger's distance, in [0, 1], of its words from those in the snapshot before, and from
        those in its last one, estimated from the words kept, see the notes of `TopicTracker`; NaN
        where there is none before.
    words : list of str or int
        Its top words, the most probable first.
    """

    topic: int
    batch: int
    time: Any
    n_documents_seen: int
    row: int
    share: float
    moved: float
    moved_since: float
    words: list[Any]


class TopicRow(NamedTuple):
    """One topic from birth to death, for people or for a DataFrame.

    Attributes
    ----------
    topic : int
        Its id.
    row : int
        Its row in the model at the last look; -1 for none.
    alive : bool
        Whether it lives.
    share : float
        Its share of the tokens, a mean of the last three looks that found it.
    born, last_seen : int
        Minibatches, counted from 1, of the first and the last look at which it was in use.
    died : int or None
        Minibatch of the look at which it had died; None while it lives.
    born_time, last_seen_time, died_time : object
        Their times; None where the stream does not say.
    split_from, merged_into : int or None
        Ids of the topics that it came from and went into.
    words : list of str or int
        Its ten top words at the last look that found it.
    """

    topic: int
    row: int
    alive: bool
    share: float
    born: int
    born_time: Any
    last_seen: int
    last_seen_time: Any
    died: int | None
    died_time: Any
    split_from: int | None
    merged_into: int | None
    words: list[Any]


def topic_rows(state: State) -> list[TopicRow]:
    """A row for each topic that is known, by id."""
    known = sorted(state.known, key=lambda topic: topic.topic)
    return [_topic_row(topic, state.names) for topic in known]


def _topic_row(topic: KnownTopic, names: tuple[Any, ...]) -> TopicRow:
    died = topic.died
    return TopicRow(
        topic.topic, topic.row, died is None, topic.share,
        topic.born.batch, topic.born.time, topic.last_seen.batch, topic.last_seen.time,
        None if died is None else died.batch, None if died is None else died.time,
        None if topic.split_from < 0 else topic.split_from,
        None if topic.merged_into < 0 else topic.merged_into,
        [names[w] for w in topic.words[0][:10].tolist()],
    )  # fmt: skip


def track_rows(state: State, n: int) -> list[TrackRow]:
    """A row for each snapshot and each topic that had a row then, with n top words."""
    now, before = last_words(state.snapshots), dict[int, Words]()
    rows: list[TrackRow] = []
    for snapshot in state.snapshots:
        moment, total = snapshot.moment, max(snapshot.n_tokens, 1e-300)
        for i, topic in enumerate(snapshot.topics.tolist()):
            words = probabilities_of(snapshot, i)
            if snapshot.rows[i] >= 0:
                rows.append(
                    TrackRow(
                        topic, moment.batch, moment.time, moment.n_documents,
                        int(snapshot.rows[i]), float(snapshot.use[i] / total),
                        distance(before.get(topic), words), distance(words, now.get(topic)),
                        [state.names[w] for w in words[0][:n].tolist()],
                    )
                )  # fmt: skip
            before[topic] = words
    return rows


def shares_over_time(snapshots: Sequence[Snapshot]) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Times of the snapshots, ids of the topics, and their shares."""
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *(s.topics for s in snapshots)]))
    out = np.zeros((len(snapshots), len(ids)))
    for line, snapshot in zip(out, snapshots, strict=True):
        line[np.searchsorted(ids, snapshot.topics)] = snapshot.use
        line /= max(snapshot.n_tokens, 1e-300)
    timed = all(snapshot.moment.time is not None for snapshot in snapshots)
    times = [s.moment.time if timed else s.moment.n_documents for s in snapshots]
    return times, ids, out
