# SPDX-License-Identifier: BSD-3-Clause
"""Follows topics along a stream: identity, age and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.streams.batches import Learner, check_has_topics
from streamtopics.streams.stream import BatchInfo
from streamtopics.streams.tracking import identity
from streamtopics.streams.tracking.identity import KnownTopic, Position, Snapshot, State, Words
from streamtopics.text.vocabulary import is_free
from streamtopics.utils.output import ShownAsTable
from streamtopics.utils.steps import last_step
from streamtopics.utils.times import read_time

# Cost of a snapshot, in learnt tokens: for a word of the vocabulary, a sampled token, the rest.
PER_WORD, PER_TOKEN, PER_SNAPSHOT = 1.0, 6.0, 5000.0
# Kept snapshots, and words of each topic; ten are too few to tell topics apart.
N_SNAPSHOTS, KEPT_WORDS = 64, 30
# A snapshot is taken when the stream has grown by this factor, at any cost.
GROWTH = 1.5
# A share has changed by this factor or more, and by this number of standard errors.
FACTOR, SIGNIFICANT = 1.5, 4.0
# Words have changed if moved by this much, in Hellinger's distance.
MOVED = 0.35
KINDS = ("born", "split", "gone", "merged", "grown", "shrunk", "changed")


class TrackedRow(NamedTuple):
    """The life of a topic followed by a `TopicTracker`.

    Attributes
    ----------
    topic, row, alive : int, int, bool
        Id; row in the model, or -1 for none; and whether the topic is alive.
    share : float
        Running mean of the share of the tokens; the last snapshot counts a third.
    born, last_seen, died : int or None
        Numbers of minibatches, from 1; `born_time`, `last_seen_time` and `died_time` are the times.
    split_from, merged_into : int or None
        Id of the topic that this topic split from, or merged into.
    words : list of str or int
        Ten top words.
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
    """A change of a topic, found by `TopicTracker.news`.

    Attributes
    ----------
    kind : {"born", "split", "gone", "merged", "grown", "shrunk", "changed"}
    topic, other : int or None
        Id of the topic. `other` is the id of the topic from which a "split" topic came, or into
        which a "merged" topic went, otherwise None.
    share_before, share, moved : float
        The topic's share of the tokens before and after the time `since` of `news`. `moved` is the
        Hellinger distance, in [0, 1], between the topic's word probabilities at `since` and now.
    words, came, left : list of str or int
        Top words now; top words now but not at `since`; top words at `since` but not now.
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


class TopicTracker(ShownAsTable):
    """A callback of `stream` that follows topics: births, deaths, shares and words.

    At some minibatches the tracker takes a snapshot: the words of the topics, and the topics'
    shares in at most a hundred documents of the minibatch. Topics are matched with earlier
    snapshots by words. So the id of a topic survives restarts, merges and a new order of rows.

    Parameters
    ----------
    budget : float, default=0.1
        Largest time for snapshots, as an estimated share of the time for learning; with infinity
        each minibatch has a snapshot. A snapshot is always taken when the number of minibatches has
        grown by a half since the last snapshot.
    feature_names : array-like of shape (n_features,), default=None
        Words of the columns, for models without names of columns.

    Notes
    -----
    Let e be an equal share of the tokens, 1 / n_components. A topic is born when its share reaches
    e/10. A topic dies when no row of the model has its words. A topic also dies when its running
    mean share is below e/20, or below both e/4 and a fifth of its long-run mean. The tracker keeps
    64 snapshots and a thousand dead topics.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.streams import TimedBatch, TopicTracker, stream
    >>> X = make_lda_corpus(900, n_components=3, n_features=60, random_state=0).X
    >>> batches = [TimedBatch(X[300 * t : 300 * (t + 1)], 2001 + t) for t in range(3)]
    >>> tracker = TopicTracker()
    >>> model = stream(GibbsOnlineEM(3, random_state=0), batches, callbacks=[tracker])
    >>> [(row.topic, row.born_time, row.alive) for row in tracker.topics()]
    [(0, 2001, True), (1, 2001, True), (2, 2001, True)]
    """

    def __init__(self, *, budget: float = 0.1, feature_names: ArrayLike | None = None) -> None:
        if not budget > 0:
            raise ValueError(f"budget must be positive; got {budget}")
        self.budget, self.feature_names = float(budget), feature_names
        self._state = State(Position(0, None, 0), 0.0, (), (), (), 0, 0)

    # Following

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Count a minibatch, and take a snapshot if `budget` allows a snapshot."""
        check_has_topics(model)
        state = self._state
        # Counted here, so the count continues if a stream starts anew.
        now = Position(state.now.batch + 1, info.time, state.now.n_documents + info.n_documents)
        n_tokens = state.n_tokens + info.n_tokens
        state = state._replace(now=now, n_tokens=n_tokens)
        last = self.batches_[-1] if state.snapshots else 0
        n_read = min(1.0, identity.MAX_DOCUMENTS / max(info.n_documents, 1)) * info.n_tokens
        cost = PER_WORD * last_step(model).n_features_in_ + PER_TOKEN * n_read + PER_SNAPSHOT
        is_due = now.batch >= GROWTH * last or self.budget * n_tokens >= cost
        if is_due and (info.n_tokens != 0 or not last):
            state = self._with_snapshot(state, model, info)
        self._state = state

    def _with_snapshot(self, state: State, model: Learner, info: BatchInfo) -> State:
        some = identity.sampled(info.X, identity.MAX_DOCUMENTS, state.now.n_documents)
        number: dict[Any, int] = {name: i for i, name in enumerate(state.names)}
        table = identity.read_topics(model, some, KEPT_WORDS, number, self.feature_names)
        total = float(table["use"].sum())
        shares = table["use"] / total if total > 0 else None
        seen, scale = (state.n_tokens, state.n_tokens / total) if total > 0 else (0.0, 0.0)
        rows = identity.Rows([identity.words_of(row) for row in table], shares, state.now)
        known, n_topics = identity.match_topics(state.known, state.snapshots, rows, state.n_topics)
        held = [topic for topic in known if topic.row >= 0]
        topics = table[np.array([topic.row for topic in held], np.intp)]
        topics["id"] = [topic.topic for topic in held]
        topics["use"] *= scale
        topics["squares"] *= scale**2
        snapshots = (*state.snapshots, Snapshot(state.now, topics, seen))
        return identity.compact(
            State(
                state.now, state.n_tokens - seen, tuple(number), known,
                identity.thinned(snapshots, N_SNAPSHOTS), n_topics, len(table),
            )
        )  # fmt: skip

    # What was found

    @property
    def n_batches_(self) -> int:
        """Number of minibatches so far."""
        return self._state.now.batch

    @property
    def batches_(self) -> list[int]:
        """Numbers of the minibatches at which the kept snapshots were taken."""
        return [snapshot.position.batch for snapshot in self._state.snapshots]

    @property
    def ids_(self) -> np.ndarray:
        """Id of the topic in each row of the model at the last snapshot, or -1 for none."""
        held = {topic.row: topic.topic for topic in self._state.known}
        return np.array([held.get(row, -1) for row in range(self._state.n_rows)], np.int64)

    def topics(self) -> list[TrackedRow]:
        """Return a `TrackedRow` for each topic, living or dead, in order of ids."""
        known = sorted(self._state.known, key=lambda topic: topic.topic)
        return [
            TrackedRow(
                one.topic, one.row, one.died is None, one.share,
                one.born.batch, one.born.time, one.last_seen.batch, one.last_seen.time,
                one.died.batch if one.died else None, one.died.time if one.died else None,
                None if one.split_from < 0 else one.split_from,
                None if one.merged_into < 0 else one.merged_into,
                self._names(one.words, 10),
            )
            for one in known
        ]  # fmt: skip

    def _table(self) -> tuple[str, tuple[str, ...], list[Any]]:
        known = sorted(self.topics(), key=lambda one: (not one.alive, -one.share))
        n = sum(one.alive for one in known)
        said = f"{n} topics, {len(known) - n} gone, after {self.n_batches_} minibatches"
        rows = []
        for one in known:
            born = one.born if one.born_time is None else one.born_time
            died = one.died if one.died_time is None else one.died_time
            rows.append((one.topic, f"{one.share:.1%}", born, died, one.words))
        return said, ("topic", "share", "born", "gone", "words"), rows

    def shares(self) -> tuple[list[Any], np.ndarray, np.ndarray]:
        """Return shares of the topics over time.

        Returns
        -------
        times : list
            Times of the snapshots; without times, numbers of learnt documents.
        ids : ndarray of shape (n_topics,)
            Ids of the topics, ascending.
        shares : ndarray of shape (n_snapshots, n_topics)
            Share of each topic in the tokens, estimated from the documents of each snapshot. Topics
            whose share was never large enough for a birth are left out.
        """
        snapshots = self._state.snapshots
        found = [np.empty(0, np.int64), *(snapshot.topics["id"] for snapshot in snapshots)]
        ids = np.unique(np.concatenate(found))
        shares = np.zeros((len(snapshots), len(ids)))
        for line, snapshot in zip(shares, snapshots, strict=True):
            line[np.searchsorted(ids, snapshot.topics["id"])] = snapshot.topics["use"]
            line /= max(snapshot.n_tokens, 1e-300)
        return self._times(), ids, shares

    def news(self, since: object = None, *, n_words: int = 10) -> list[NewsRow]:
        """Return changes since a time: topics born, gone, grown, shrunk or changed.

        Parameters
        ----------
        since : object, default=None
            Time, or number of documents if there are no times. None is the last snapshot but one.
        n_words : int, default=10
            Number of top words to compare.

        Returns
        -------
        rows : list of NewsRow
            Sorted by kind, then by share, the largest first. Present words are compared with the
            words at `since`. Shares after `since` are compared with shares in an equal number of
            documents before `since`.
        """
        place, state, snapshots = self._place(since), self._state, self._state.snapshots
        then, now = snapshots[place].position, snapshots[-1].position
        start = then.n_documents - (now.n_documents - then.n_documents)
        first = min(place, sum(snapshot.position.n_documents <= start for snapshot in snapshots))
        old, new = _shares_in(snapshots[first : place + 1]), _shares_in(snapshots[place + 1 :])
        old_words = identity.probabilities_in(snapshots[place])
        last = identity.probabilities_in(*snapshots)
        rows: list[NewsRow] = []
        for k, topic in ((one.topic, one) for one in state.known if one.topic in last):
            (was, error), (share, error_now) = old.get(k, (0.0, 0.0)), new.get(k, (0.0, 0.0))
            moved = identity.distance(old_words.get(k), last[k])
            kinds = _kinds(topic, then.batch, was, share, float(np.hypot(error, error_now)), moved)
            words = self._names(last[k], n_words)
            before = self._names(old_words.get(k, last[k]), n_words)
            came = [w for w in words if w not in before]
            left = [w for w in before if w not in words]
            other = {"split": topic.split_from, "merged": topic.merged_into}
            found = was, share, moved, words, came, left
            rows += [NewsRow(kind, k, other.get(kind), *found) for kind in kinds]
        rows.sort(key=lambda row: (KINDS.index(row.kind), -max(row.share, row.share_before)))
        return rows

    def _place(self, since: Any) -> int:
        """The last snapshot taken by a time, except the very last."""
        times = self._times(any)
        # Numbers, of documents for example, are compared as given.
        if not all(isinstance(one, Real | None) for one in (since, *times)):
            with suppress(TypeError, ValueError):
                since, *times = (one if one is None else read_time(one) for one in (since, *times))
        known = [(i, one) for i, one in enumerate(times[:-1]) if one is not None]
        found = [i for i, time in known if since is None or time <= since]
        if not found:
            raise ValueError(
                f"news needs two snapshots, and since at or after the first; got since={since!r}, "
                f"and {len(times)} snapshots at {times[:1]!r}"
            )
        return found[-1]

    def _times(self, of: Callable[[Iterator[bool]], bool] = all) -> list[Any]:
        """Times of the snapshots, or else numbers of documents."""
        positions = [snapshot.position for snapshot in self._state.snapshots]
        timed = of(position.time is not None for position in positions)
        return [position.time if timed else position.n_documents for position in positions]

    def _names(self, words: Words, n: int) -> list[Any]:
        names = [self._state.names[w] for w in words[0].tolist()]
        return [name for name in names if not is_free(name)][:n]


def _shares_in(snapshots: Sequence[Snapshot]) -> dict[int, tuple[float, float]]:
    """Share of each topic in some snapshots, and the standard error."""
    total = max(sum(snapshot.n_tokens for snapshot in snapshots), 1e-300)
    use, squares = dict[int, float](), dict[int, float]()
    for snapshot in snapshots:
        for topic, one, square in snapshot.topics[["id", "use", "squares"]].tolist():
            use[topic] = use.get(topic, 0.0) + one
            squares[topic] = squares.get(topic, 0.0) + square
    return {topic: (use[topic] / total, float(np.sqrt(squares[topic])) / total) for topic in use}


def _kinds(
    topic: KnownTopic, batch: int, was: float, share: float, error: float, moved: float
) -> list[str]:
    """Kinds of news of a topic since a minibatch."""
    if topic.born.batch > batch:
        # Births and deaths in between are not news.
        return [] if topic.died else ["born" if topic.split_from < 0 else "split"]
    if topic.died:
        now = topic.died.batch > batch
        return ["gone" if topic.merged_into < 0 else "merged"] if now else []
    kinds = []
    if abs(share - was) > SIGNIFICANT * error and max(share, was) >= FACTOR * min(share, was):
        kinds.append("grown" if share > was else "shrunk")
    return [*kinds, "changed"] if moved > MOVED else kinds
