# SPDX-License-Identifier: BSD-3-Clause
"""One step of following topics: from those known and a look at the model to those known then.

A row is the topic whose words at the last look are closest to its own. It stays that topic as
long as its words are also like those of ten looks ago, if it was settled by then: so a topic may
drift to something else in the long run, but a row that is taken over by something else in a
short time has a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from streamtopics.streams.tracking.identity import Words, affinities, completed, matched
from streamtopics.streams.tracking.snapshots import DENSE, KnownTopic, Moment, Snapshot, words_of

# Least affinity of the words of a topic now and ten looks ago, times m / (m + 2) if it had been
# seen at m looks by then; to the last look half of it suffices. Other topics have 0.2 to 0.5.
THRESHOLD = 0.6
# Looks that a topic needs to settle: to what it was before it may have no likeness.
SETTLED = 8
# Looks at an earlier part of the stream than this are not what a topic was lately.
SINCE = 0.7
# Looks that the mean of a topic's share goes back, and of the usual one.
RECENT, LONG = 3, 30
# A topic comes into use with this part of an equal share. It has gone with half of that, or,
# below 2.5 times of it, with a fifth of its usual share: stray tokens of other topics.
LEAST, GONE, NEVER_GONE, STRAY = 0.1, 0.5, 2.5, 0.2
# Topics without a row that are kept to be known again.
KEPT_GONE = 1000


class Rows(NamedTuple):
    """The rows of a model at a look: leading words and shares of the tokens, None without any."""

    words: Sequence[Words]
    shares: np.ndarray | None
    now: Moment

    @property
    def least(self) -> float:
        """Least share of a topic in use."""
        return LEAST / max(len(self.words), 1)


def followed(
    known: Sequence[KnownTopic],
    snapshots: Sequence[Snapshot],
    rows: Rows,
    n_topics: int,
) -> tuple[tuple[KnownTopic, ...], int]:
    """The topics known after a look, those that have a row first, and the ids given so far."""
    lately = _lately(snapshots, rows.now)
    earlier = _earlier(lately)
    place = _places(known, earlier, rows.words, len(lately))
    held = [_seen(known[p], row, rows) for row, p in enumerate(place.tolist()) if p >= 0]
    found = set(place.tolist())
    lost = [
        topic._replace(row=-1, words=earlier[topic.topic] if topic.row >= 0 else topic.words)
        for p, topic in enumerate(known)
        if p not in found
    ]
    new = _born(rows, place, held, earlier, n_topics)
    alive = {topic.topic for topic in known if topic.died is None}
    held, lost = ([_with_end(t, alive, held, earlier, rows) for t in some] for some in (held, lost))
    lost.sort(key=lambda topic: topic.died.batch if topic.died else 0)
    return (*held, *new, *lost[-KEPT_GONE:]), n_topics + len(new)


def _lately(snapshots: Sequence[Snapshot], now: Moment) -> Sequence[Snapshot]:
    """The last ten looks at most, and of these the last and those in the last part of the stream.

    Looks may be far apart: over ten of them topics would have changed as they do in the long run.
    """
    last = snapshots[-DENSE:]
    return [s for s in last[:-1] if s.moment.batch >= SINCE * now.batch] + list(last[-1:])


def _earlier(lately: Sequence[Snapshot]) -> dict[int, Words]:
    """State of each topic at the earliest of some looks that saw it."""
    found: dict[int, Words] = {}
    for snapshot in lately:
        for i, topic in enumerate(snapshot.topics.tolist()):
            if topic not in found:
                found[topic] = words_of(snapshot, i)
    return found


def _places(
    known: Sequence[KnownTopic],
    earlier: Mapping[int, Words],
    words: Sequence[Words],
    n_lately: int,
) -> np.ndarray:
    """For each row of the model the place among the known topics of its own; -1 for none."""
    place = np.full(len(words), -1)
    # What has lost its row has to be found again for certain.
    for gone, limit in ((False, 0.5 * THRESHOLD), (True, THRESHOLD)):
        some = [(topic.row < 0) == gone for topic in known]
        there, free = np.flatnonzero(some), np.flatnonzero(place < 0)
        if not len(there) or not len(free):
            continue
        topics, rows = [known[i] for i in there.tolist()], [words[i] for i in free.tolist()]
        last = [topic.words for topic in topics]
        was = [earlier.get(topic.topic, topic.words) for topic in topics]
        found, far = np.split(affinities([*last, *was], rows), 2)
        n_looks = np.array([max(1, topic.n_looks - n_lately + 1) for topic in topics], np.float64)
        least = np.where(n_looks < SETTLED, 0.0, THRESHOLD * n_looks / (n_looks + 2))[:, None]
        own = matched(np.where(far >= least, found, 0.0), limit)
        place[free[own >= 0]] = there[own[own >= 0]]
    return place


def _seen(topic: KnownTopic, row: int, rows: Rows) -> KnownTopic:
    """A topic that was found again, with its share now."""
    n_looks, least = topic.n_looks + 1, rows.least
    topic = topic._replace(row=row, n_looks=n_looks, words=rows.words[row])
    if rows.shares is None:
        return topic
    now = float(rows.shares[row])
    topic = topic._replace(share=topic.share + (now - topic.share) / min(n_looks, RECENT))
    if topic.died is None:
        few = max(GONE * least, min(STRAY * topic.usual, NEVER_GONE * least))
        topic = topic._replace(died=rows.now if topic.share < few else None)
    elif topic.share > max(least, STRAY * topic.usual):
        topic = topic._replace(died=None, merged_into=-1)
    if topic.died is not None or now <= least:
        return topic
    usual = topic.usual + (now - topic.usual) / min(n_looks, LONG)
    return topic._replace(last_seen=rows.now, usual=usual)


def _born(
    rows: Rows,
    place: np.ndarray,
    held: Sequence[KnownTopic],
    earlier: Mapping[int, Words],
    n_topics: int,
) -> list[KnownTopic]:
    """New topics: rows in use that are none of those known."""
    if rows.shares is None:
        return []
    others = [topic for topic in held if topic.topic in earlier]
    wholes = [earlier[topic.topic] for topic in others]
    new: list[KnownTopic] = []
    for row in np.flatnonzero((place < 0) & (rows.shares > rows.least)).tolist():
        words, share = rows.words[row], float(rows.shares[row])
        parent = completed(wholes, [rows.words[other.row] for other in others], words)
        topic = n_topics + len(new)
        new.append(
            KnownTopic(
                topic, row, 1, share, share, rows.now, rows.now, None,
                others[parent].topic if parent >= 0 else -1, -1, words
            )
        )  # fmt: skip
    return new


def _with_end(
    topic: KnownTopic,
    alive: set[int],
    held: Sequence[KnownTopic],
    earlier: Mapping[int, Words],
    rows: Rows,
) -> KnownTopic:
    """A topic with the end that it has come to at this look, if it has."""
    if topic.row < 0 and topic.died is None:
        topic = topic._replace(died=rows.now)
    if topic.died != rows.now or topic.topic not in alive:
        return topic
    others = [o for o in held if o.topic != topic.topic and o.died is None and o.topic in earlier]
    parts = [earlier[other.topic] for other in others]
    wholes = [rows.words[other.row] for other in others]
    into = completed(wholes, parts, earlier[topic.topic])
    return topic._replace(merged_into=others[into].topic if into >= 0 else -1)
