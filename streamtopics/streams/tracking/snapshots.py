# SPDX-License-Identifier: BSD-3-Clause
"""State of a tracker: topics with their lives, and snapshots, thinned out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from streamtopics.streams.tracking.identity import Words

# Rows of topics in a snapshot that have gone since the one before, for each that is there.
GONE_ROWS = 2
# The last snapshots, of which none is left out.
DENSE = 10


class Moment(NamedTuple):
    """A place in the stream.

    Attributes
    ----------
    batch : int
        Minibatches so far.
    time : object
        Of the minibatch; None where the stream does not say.
    n_documents : int
        Documents so far.
    """

    batch: int
    time: Any
    n_documents: int


class KnownTopic(NamedTuple):
    """A topic from when it was first seen.

    Attributes
    ----------
    topic : int
        Its id.
    row : int
        Its row in the model at the last look; -1 where it has none.
    n_looks : int
        Looks that found it.
    share, usual : float
        Its share of the tokens: a mean over the last looks, and over those at which it was in use.
    born, last_seen : Moment
        The first and the last look at which it was in use.
    died : Moment or None
        The look at which it was no longer; None while it lives.
    split_from, merged_into : int
        Ids of the topics that it came from and went into; -1 for none.
    words : tuple of two ndarray
        Numbers of the words that it is known by and their weights: those of the last look that
        found it, or of a topic whose row became another one's, those before.
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

    Attributes
    ----------
    moment : Moment
        When it was taken.
    topics : ndarray of shape (n_topics,), int64
        Ids of the topics that have a row, or had one since the snapshot before.
    rows : ndarray of shape (n_topics,), int64
        Their rows in the model; -1 for those that have gone.
    words : ndarray of shape (n_topics, n), int32
        Numbers of their most probable words; -1 in rows that have less.
    weights : ndarray of shape (n_topics, n)
        Their probabilities, scaled to sum to 1.
    use : ndarray of shape (n_topics,)
        Tokens of each since the snapshot before, as estimated by the documents looked at.
    squares : ndarray of shape (n_topics,)
        Variances of these estimates.
    n_tokens : float
        Tokens since the snapshot before, of topics without an id too.
    kept : ndarray of shape (n_topics,), or None
        Probability of the words of each topic together; None in snapshots of before there was it.
    """

    moment: Moment
    topics: np.ndarray
    rows: np.ndarray
    words: np.ndarray
    weights: np.ndarray
    use: np.ndarray
    squares: np.ndarray
    n_tokens: float
    kept: np.ndarray | None = None


class State(NamedTuple):
    """All that a tracker has learnt, replaced as a whole.

    Attributes
    ----------
    now : Moment
        The last minibatch.
    n_tokens : float
        Tokens learnt since the last look that saw any.
    names : tuple of str or int
        Names of the words, by their numbers.
    known : tuple of KnownTopic
        Topics that have a row, and the last of those that had one.
    snapshots : tuple of Snapshot
        The oldest first.
    n_topics : int
        Ids given so far.
    n_rows : int
        Rows of the model at the last look.
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
        np.concatenate([kept_of(second), kept_of(first)[gone]]),
    )


def _wide(table: np.ndarray, width: int, fill: int) -> np.ndarray:
    return np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=fill)


def words_of(snapshot: Snapshot, place: int) -> Words:
    """The words of one topic of a snapshot, and their weights."""
    there = snapshot.words[place] >= 0
    return snapshot.words[place][there], snapshot.weights[place][there]


def kept_of(snapshot: Snapshot) -> np.ndarray:
    """Probability of the words of each topic together; NaN where that was not taken down."""
    return np.full(len(snapshot.topics), np.nan) if snapshot.kept is None else snapshot.kept


def probabilities_of(snapshot: Snapshot, place: int) -> Words:
    """The words of one topic of a snapshot, and their probabilities."""
    words, weights = words_of(snapshot, place)
    return words, kept_of(snapshot)[place] * weights


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
