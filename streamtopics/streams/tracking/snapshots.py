# SPDX-License-Identifier: BSD-3-Clause
"""State of a tracker: topics with their lives, and snapshots, thinned out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Numbers of words, and their weights.
Words = tuple[np.ndarray, np.ndarray]
# Rows of topics in a snapshot that have gone since the one before, for each that is there.
GONE_ROWS = 2
# The last snapshots, of which none is left out.
DENSE = 10


class Moment(NamedTuple):
    """A place in the stream: minibatches so far, the time of the last, and documents so far."""

    batch: int
    time: object
    n_documents: int


class KnownTopic(NamedTuple):
    """A topic from when it was first seen.

    `row` is its row in the model at the last look, -1 where it has none, `n_looks` are the looks
    that found it. `share` is a mean over the last looks, `usual` one over those at which it was in
    use. `split_from` and `merged_into` are ids, -1 for none. `words` are those of the last look
    that found it, or of a topic whose row became another one's, those before.
    """

    topic: int
    row: int
    n_looks: int
    share: float
    usual: float
    born: Moment
    last_seen: Moment
    died: Moment | None
    split_from: int
    merged_into: int
    words: Words


class Snapshot(NamedTuple):
    """The topics at one moment, and their use since the snapshot before.

    `topics` are the ids of those that have a row, or had one since the snapshot before; `rows`
    are -1 for those that have gone. `words`, (n_topics, n), are the most probable ones, -1 in rows
    that have less, `weights` their probabilities, scaled to sum to 1, and `kept` what these sum to
    before. `use` are tokens since the snapshot before, as estimated by the documents looked at,
    `squares` the variances of these, and `n_tokens` those of topics without an id too.
    """

    moment: Moment
    topics: np.ndarray
    rows: np.ndarray
    words: np.ndarray
    weights: np.ndarray
    use: np.ndarray
    squares: np.ndarray
    n_tokens: float
    kept: np.ndarray


class State(NamedTuple):
    """All that a tracker has learnt, replaced as a whole.

    `n_tokens` were learnt since the last look that saw any, `names` are those of words by number,
    `n_topics` the ids given so far, and `n_rows` the rows of the model at the last look.
    """

    now: Moment
    n_tokens: float
    names: tuple[Any, ...]
    known: tuple[KnownTopic, ...]
    snapshots: tuple[Snapshot, ...]
    n_topics: int
    n_rows: int


def thinned(snapshots: tuple[Snapshot, ...], n: int) -> tuple[Snapshot, ...]:
    """At most n snapshots: the first, the last ten, and in between the denser the more recent.

    The one to go is the one whose neighbours are closest to each other, as a share of how long
    ago it was. What was counted for it is added to the next one.
    """
    kept = list(snapshots)
    while len(kept) > n:
        places = np.array([snapshot.moment.n_documents for snapshot in kept], np.float64)
        between = slice(1, len(kept) - DENSE)
        gaps = places[2 : len(kept) - DENSE + 1] - places[: len(kept) - DENSE - 1]
        out = 1 + int(np.argmin(gaps / np.maximum(places[-1] - places[between], 1.0)))
        kept[out : out + 2] = [_joined(kept[out], kept[out + 1])]
    return tuple(kept)


def _joined(first: Snapshot, second: Snapshot) -> Snapshot:
    """The second snapshot, with the use of both; topics that have gone in between come last."""
    own = np.isin(first.topics, second.topics)
    gone = np.flatnonzero(~own & (first.use > 0))
    most = GONE_ROWS * max(1, int(np.count_nonzero(second.rows >= 0)))
    gone = np.sort(gone[np.argsort(-first.use[gone], kind="stable")][:most])
    place = {int(topic): i for i, topic in enumerate(second.topics)}
    places = [place[int(topic)] for topic in first.topics[own]]
    use, squares = second.use.copy(), second.squares.copy()
    use[places] += first.use[own]
    squares[places] += first.squares[own]
    width = max(first.words.shape[1], second.words.shape[1])
    return Snapshot(
        second.moment,
        np.concatenate([second.topics, first.topics[gone]]),
        np.concatenate([second.rows, np.full(len(gone), -1)]),
        np.concatenate([_wide(second.words, width, -1), _wide(first.words[gone], width, -1)]),
        np.concatenate([_wide(second.weights, width, 0), _wide(first.weights[gone], width, 0)]),
        np.concatenate([use, first.use[gone]]),
        np.concatenate([squares, first.squares[gone]]),
        first.n_tokens + second.n_tokens,
        np.concatenate([second.kept, first.kept[gone]]),
    )


def _wide(table: np.ndarray, width: int, fill: int) -> np.ndarray:
    return np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=fill)


def words_of(snapshot: Snapshot, place: int) -> Words:
    """The words of one topic of a snapshot, and their weights."""
    there = snapshot.words[place] >= 0
    return snapshot.words[place][there], snapshot.weights[place][there]


def probabilities_of(snapshot: Snapshot, place: int) -> Words:
    """The words of one topic of a snapshot, and their probabilities."""
    words, weights = words_of(snapshot, place)
    return words, snapshot.kept[place] * weights


def last_words(snapshots: tuple[Snapshot, ...]) -> dict[int, Words]:
    """The words of each topic in the last snapshot that has them, and their probabilities."""
    return {
        topic: probabilities_of(snapshot, i)
        for snapshot in snapshots
        for i, topic in enumerate(snapshot.topics.tolist())
    }


def compact(state: State) -> State:
    """The same, without the names of words that no topic has any more."""
    tables = [snapshot.words for snapshot in state.snapshots]
    # The last place stands for -1, which is no word.
    has = np.zeros(len(state.names) + 1, np.bool_)
    for words in (*tables, *(topic.words[0] for topic in state.known)):
        has[words] = True
    used = np.flatnonzero(has[:-1])
    if 2 * len(used) >= len(state.names):
        return state
    number = np.full(len(state.names) + 1, -1, np.int32)
    number[used] = np.arange(len(used))
    known = tuple(k._replace(words=(number[k.words[0]], k.words[1])) for k in state.known)
    snapshots = tuple(s._replace(words=number[s.words]) for s in state.snapshots)
    names = tuple(state.names[i] for i in used.tolist())
    return state._replace(names=names, known=known, snapshots=snapshots)
