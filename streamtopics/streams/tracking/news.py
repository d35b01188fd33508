# SPDX-License-Identifier: BSD-3-Clause
"""Compares the topics of two stretches of a stream that follow each other."""

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
from streamtopics.utils.checks import check_one_of

# A share has changed by this factor or more, and by so many standard errors.
FACTOR, SURE = 1.5, 4.0
# Words have changed that have moved so far, in Hellinger's distance.
MOVED = 0.35
UNITS = ("time", "batch", "documents")
KINDS = ("born", "split", "gone", "merged", "grown", "shrunk", "changed")


class NewsRow(NamedTuple):
    """One piece of news, for people or for a DataFrame.

    Attributes
    ----------
    kind : str
        "born", "split" (born of another one), "gone", "merged" (gone into another one), "grown",
        "shrunk" or "changed" (in its words).
    topic : int
        Id of the topic.
    other : int or None
        Id of the one that it was split from or merged into.
    share_before, share : float
        Its share of the tokens before and since.
    moved : float
        Hellinger's distance of its words from those before, estimated from the words kept, see
        the notes of `TopicTracker`; NaN for topics that were not there.
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


class Stretch(NamedTuple):
    """Snapshots that follow each other."""

    snapshots: tuple[Snapshot, ...]

    def shares(self) -> dict[int, tuple[float, float]]:
        """Share of each topic in the tokens of the stretch, and its standard error."""
        total = max(sum(snapshot.n_tokens for snapshot in self.snapshots), 1e-300)
        use, squares = dict[int, float](), dict[int, float]()
        for snapshot in self.snapshots:
            for i, topic in enumerate(snapshot.topics.tolist()):
                use[topic] = use.get(topic, 0.0) + float(snapshot.use[i])
                squares[topic] = squares.get(topic, 0.0) + float(snapshot.squares[i])
        return {
            topic: (use[topic] / total, float(np.sqrt(squares[topic])) / total) for topic in use
        }


def news_since(state: State, since: Any, unit: str, n: int) -> list[NewsRow]:
    """The news since a time, with n words; the arguments are those of `TopicTracker.news`."""
    place = _place(state, since, unit)
    snapshots = state.snapshots
    then = snapshots[place].moment
    start = then.n_documents - (snapshots[-1].moment.n_documents - then.n_documents)
    first = min(place, sum(snapshot.moment.n_documents <= start for snapshot in snapshots))
    before = Stretch(snapshots[first : place + 1])
    after = Stretch(snapshots[place + 1 :])
    old_words = {
        topic: probabilities_of(snapshots[place], i)
        for i, topic in enumerate(snapshots[place].topics.tolist())
    }
    last, old, new = last_words(snapshots), before.shares(), after.shares()
    rows: list[NewsRow] = []
    for topic in state.known:
        k = topic.topic
        if k not in last:
            continue
        (was, error), (share, error_now) = (some.get(k, (0.0, 0.0)) for some in (old, new))
        moved = distance(old_words.get(k), last[k])
        kinds = _kinds(topic, then.batch, was, share, float(np.hypot(error, error_now)), moved)
        words = _changes(last[k], old_words.get(k, last[k]), state.names, n)
        other = {"split": topic.split_from, "merged": topic.merged_into}
        rows += [NewsRow(kind, k, other.get(kind), was, share, moved, *words) for kind in kinds]
    return sorted(rows, key=lambda row: (KINDS.index(row.kind), -max(row.share, row.share_before)))


def _place(state: State, since: Any, unit: str) -> int:
    """The last snapshot that was taken by a time."""
    snapshots = state.snapshots
    check_one_of(UNITS, unit=unit)
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
            "the stream has minibatches without a time; give unit='batch' or unit='documents', or "
            "learn from minibatches that have one"
        )
    try:
        found = [i for i, place in enumerate(places[:-1]) if place <= since]
    except TypeError as error:
        raise TypeError(
            f"since must be comparable with {unit} as in the stream, such as {places[0]!r}; got "
            f"{since!r}"
        ) from error
    if not found:
        raise ValueError(
            f"since must be at or after the first snapshot, {places[0]!r}; got {since!r}"
        )
    return found[-1]


def _changes(
    now: Words, before: Words, names: Sequence[Any], n: int
) -> tuple[list[Any], list[Any], list[Any]]:
    """The n top words now, those that came among them, and those that left."""
    top, old = ([names[w] for w in words[0][:n].tolist()] for words in (now, before))
    return top, [w for w in top if w not in old], [w for w in old if w not in top]


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
