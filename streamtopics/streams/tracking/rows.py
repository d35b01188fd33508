# SPDX-License-Identifier: BSD-3-Clause
"""Findings of a tracker as rows: topics, their course, and news between two stretches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from streamtopics.streams.tracking.identity import distance
from streamtopics.streams.tracking.snapshots import (
    KnownTopic,
    Snapshot,
    State,
    last_words,
    probabilities_of,
)

# A share has changed by this factor or more, and by so many standard errors.
FACTOR, SURE = 1.5, 4.0
# Words have changed that have moved so far, in Hellinger's distance.
MOVED = 0.35
KINDS = ("born", "split", "gone", "merged", "grown", "shrunk", "changed")


class TrackRow(NamedTuple):
    """One topic in one snapshot.

    Attributes
    ----------
    topic, row : int
        Its id, and the row of the model that it was.
    batch, n_documents_seen : int
        Minibatches and documents that had been learnt when the snapshot was taken.
    time : object
        Of the last of them; None where the stream does not say.
    share : float
        Its share of the tokens since the snapshot before.
    moved, moved_since : float
        Hellinger's distance, in [0, 1], of its words from those in the snapshot before, and from
        those in its last one, see the notes of `TopicTracker`; NaN where there is none before.
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


class TrackedRow(NamedTuple):
    """One topic from birth to death.

    Attributes
    ----------
    topic, row : int
        Its id, and its row in the model at the last look; -1 for none.
    alive : bool
    share : float
        Its share of the tokens, a mean of the last three looks that found it.
    born, last_seen, died : int or None
        Minibatches, counted from 1, of the first and the last look at which it was in use, and of
        that at which it had died; None while it lives.
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


class NewsRow(NamedTuple):
    """One piece of news.

    Attributes
    ----------
    kind : str
        "born", "split" (born of another one), "gone", "merged" (gone into another one), "grown",
        "shrunk" or "changed" (in its words).
    topic, other : int or None
        Id of the topic, and of the one that it was split from or merged into.
    share_before, share : float
        Its share of the tokens before and since.
    moved : float
        Distance of its words from those before, as of `TrackRow`; NaN if it was not there.
    words, came, left : list of str or int
        Its top words, those that came among them since, and those that left.
    """

    kind: str
    topic: int
    other: int | None
    share_before: float
    share: float
    moved: float
    words: list[Any]
    came: list[Any]
    left: list[Any]


def tracked_row(topic: KnownTopic, names: tuple[Any, ...]) -> TrackedRow:
    """A topic as a row."""
    died = topic.died
    return TrackedRow(
        topic.topic, topic.row, died is None, topic.share,
        topic.born.batch, topic.born.time, topic.last_seen.batch, topic.last_seen.time,
        None if died is None else died.batch, None if died is None else died.time,
        None if topic.split_from < 0 else topic.split_from,
        None if topic.merged_into < 0 else topic.merged_into,
        [names[w] for w in topic.words[0][:10].tolist()],
    )  # fmt: skip


def shares_in(snapshots: Sequence[Snapshot]) -> dict[int, tuple[float, float]]:
    """Share of each topic in the tokens of a stretch, and its standard error."""
    total = max(sum(snapshot.n_tokens for snapshot in snapshots), 1e-300)
    use, squares = dict[int, float](), dict[int, float]()
    for snapshot in snapshots:
        for i, topic in enumerate(snapshot.topics.tolist()):
            use[topic] = use.get(topic, 0.0) + float(snapshot.use[i])
            squares[topic] = squares.get(topic, 0.0) + float(snapshot.squares[i])
    return {topic: (use[topic] / total, float(np.sqrt(squares[topic])) / total) for topic in use}


def news_since(state: State, since: Any, unit: str, n: int) -> list[NewsRow]:
    """The news since a time, with n words; the arguments are those of `TopicTracker.news`."""
    place = _place(state, since, unit)
    snapshots = state.snapshots
    then = snapshots[place].moment
    start = then.n_documents - (snapshots[-1].moment.n_documents - then.n_documents)
    first = min(place, sum(snapshot.moment.n_documents <= start for snapshot in snapshots))
    old, new = shares_in(snapshots[first : place + 1]), shares_in(snapshots[place + 1 :])
    old_words = {
        topic: probabilities_of(snapshots[place], i)
        for i, topic in enumerate(snapshots[place].topics.tolist())
    }
    last = last_words(snapshots)
    rows: list[NewsRow] = []
    for topic in state.known:
        k = topic.topic
        if k not in last:
            continue
        (was, error), (share, error_now) = (some.get(k, (0.0, 0.0)) for some in (old, new))
        moved = distance(old_words.get(k), last[k])
        kinds = _kinds(topic, then.batch, was, share, float(np.hypot(error, error_now)), moved)
        words, before = (
            [state.names[w] for w in some[0][:n].tolist()]
            for some in (last[k], old_words.get(k, last[k]))
        )
        came, left = [w for w in words if w not in before], [w for w in before if w not in words]
        other = {"split": topic.split_from, "merged": topic.merged_into}
        rows += [
            NewsRow(kind, k, other.get(kind), was, share, moved, words, came, left)
            for kind in kinds
        ]
    return sorted(rows, key=lambda row: (KINDS.index(row.kind), -max(row.share, row.share_before)))


def _place(state: State, since: Any, unit: str) -> int:
    """The last snapshot that was taken by a time."""
    snapshots = state.snapshots
    if len(snapshots) < 2:
        raise ValueError(
            f"there is nothing to compare yet: {len(snapshots)} snapshot(s) after "
            f"{state.now.batch} minibatches; learn more first"
        )
    if since is None:
        return len(snapshots) - 2
    places = [
        {"time": m.time, "batch": m.batch, "documents": m.n_documents}[unit]
        for m in (snapshot.moment for snapshot in snapshots)
    ]
    if any(place is None for place in places):
        raise ValueError(
            "the stream has minibatches without a time; give unit='batch' or unit='documents'"
        )
    found = [i for i, place in enumerate(places[:-1]) if place <= since]
    if not found:
        raise ValueError(
            f"since must be at or after the first snapshot, {places[0]!r}; got {since!r}"
        )
    return found[-1]


def _kinds(
    topic: KnownTopic, batch: int, was: float, share: float, error: float, moved: float
) -> list[str]:
    """Kinds of news of a topic since a minibatch."""
    died = topic.died is not None and topic.died.batch > batch
    if topic.born.batch > batch:
        # What came and went in between is no news now.
        return [] if topic.died else ["born" if topic.split_from < 0 else "split"]
    if died:
        return ["gone" if topic.merged_into < 0 else "merged"]
    if topic.died is not None:
        return []
    kinds = []
    if abs(share - was) > SURE * error and max(share, was) >= FACTOR * min(share, was):
        kinds.append("grown" if share > was else "shrunk")
    return [*kinds, "changed"] if moved > MOVED else kinds
