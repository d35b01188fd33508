# SPDX-License-Identifier: BSD-3-Clause
"""Follows the topics of a model along a stream: who is who, since when, and what has changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.streams.batches import Learner, check_has_topics
from streamtopics.streams.callbacks import BatchInfo
from streamtopics.streams.tracking.identity import Rows, distance, followed
from streamtopics.streams.tracking.looks import look, some_of
from streamtopics.streams.tracking.rows import (
    NewsRow,
    TrackedRow,
    TrackRow,
    news_since,
    tracked_row,
)
from streamtopics.streams.tracking.snapshots import (
    Moment,
    Snapshot,
    State,
    Words,
    compact,
    last_words,
    probabilities_of,
    thinned,
)
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import last_step

# What a look costs, in tokens learnt: a word of the vocabulary, a token looked at, the rest.
PER_WORD, PER_TOKEN, PER_LOOK = 1.0, 6.0, 5000.0
# Most documents of a minibatch that are looked at, and snapshots that are kept.
MAX_DOCUMENTS, N_SNAPSHOTS = 100, 64
# The stream is looked at when it has grown by this factor, whatever that costs.
GROWN = 1.2


class TopicTracker:
    """Follows topics along a stream: each has an id, whatever row of the model it is in.

    It is a callback of a stream. It looks at the model and at a hundred documents of a minibatch
    that was learnt, and matches the topics to those it knows by their words. So an id outlives a
    restart, a merge and topics in another order; a row that comes to stand for something else gets
    a new id.

    Parameters
    ----------
    n_words : int, default=30
        Words of each topic that are kept; at least 10 are needed to tell topics apart.
    budget : float, default=0.1
        Cost of looking as a share of that of learning, as estimated from the numbers of words
        and tokens. A look that would cost more is put off, until the stream is longer by a fifth.
        Infinity looks at every minibatch.
    feature_names : array-like of shape (n_features,), default=None
        Words of the columns, of models without names of their own. None takes the numbers of the
        columns, which must not change.

    Attributes
    ----------
    n_batches_, n_topics_ : int
        Minibatches that it was called for, and ids given so far.
    ids_ : ndarray of shape (n_rows,)
        Id of each row of the model at the last look; -1 for rows that were never in use.

    Notes
    -----
    A topic may drift to something else in the long run; a row that something else takes over in
    less than ten looks gets a new id.

    A topic is in use when it has more than a tenth of an equal share of the tokens. It is born
    at the first look at which it is. It has died when its share, a mean of the last three looks,
    is less than half of that, or less than a fifth of what was usual and a quarter of an equal
    one; or when no row has its words any more. One that died comes back under its id.

    A new topic was *split* from one that is closer to what it was when both are taken together,
    and one that has died has been *merged* into one that has come closer to both.

    How far words have *moved* is Hellinger's distance, the square root of 1 less the sum of
    sqrt(p q) over all words, as estimated from the kept ones. Kept are 64 snapshots (the first, the
    last ten, and in between the denser the more recent), and the last thousand topics that died.

    References
    ----------
    A. Bhattacharyya (1943). On a measure of divergence between two statistical populations
    defined by their probability distributions. Bulletin of the Calcutta Mathematical Society 35,
    99-109.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.streams import TimedBatch, TopicTracker, stream
    >>> X = make_lda_corpus(900, n_components=3, n_features=60, random_state=0).X
    >>> batches = [TimedBatch(X[300 * t : 300 * (t + 1)], 2001 + t) for t in range(3)]
    >>> tracker = TopicTracker(budget=float("inf"))
    >>> model = stream(GibbsOnlineEM(3, random_state=0), batches, callbacks=[tracker])
    >>> [(row.topic, row.born_time, row.alive) for row in tracker.topics()]
    [(0, 2001, True), (1, 2001, True), (2, 2001, True)]
    >>> times, ids, shares = tracker.shares()
    >>> times, ids.tolist(), shares.shape
    ([2001, 2002, 2003], [0, 1, 2], (3, 3))
    """

    def __init__(
        self,
        *,
        n_words: int = 30,
        budget: float = 0.1,
        feature_names: ArrayLike | None = None,
    ) -> None:
        check_integer(least=10, n_words=n_words)
        if not budget > 0:
            raise ValueError(f"budget must be positive; got {budget}")
        self.n_words, self.budget = int(n_words), float(budget)
        self.feature_names = feature_names
        self._state: State = State(Moment(0, None, 0), 0.0, (), (), (), 0, 0)

    # Following

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Take note of a minibatch that was learnt; look at the model if the budget allows.

        When it fails nothing has changed. Batches and documents are counted on here, so that a
        stream that starts anew goes on.

        Parameters
        ----------
        model : estimator of topics over words, or a pipeline that ends in one
            After it has learnt the minibatch.
        info : BatchInfo
            Of the minibatch.
        """
        check_has_topics(model)
        state = self._state
        now = Moment(state.now.batch + 1, info.time, state.now.n_documents + info.n_documents)
        n_tokens = state.n_tokens + info.n_tokens
        state = state._replace(now=now, n_tokens=n_tokens)
        last = state.snapshots[-1].moment.batch if state.snapshots else 0
        looked_at = min(1.0, MAX_DOCUMENTS / max(info.n_documents, 1)) * info.n_tokens
        n_features: int = last_step(model).n_features_in_
        cost = PER_WORD * n_features + PER_TOKEN * looked_at + PER_LOOK
        if now.batch >= GROWN * last or self.budget * n_tokens >= cost:
            state = self._looked(state, model, info)
        self._state = state

    def _looked(self, state: State, model: Learner, info: BatchInfo) -> State:
        """The state after a look."""
        some = some_of(info.X, MAX_DOCUMENTS, state.now.n_documents)
        found = look(model, some, self.n_words, self.feature_names)
        number: dict[Any, int] = {name: i for i, name in enumerate(state.names)}
        words: list[Words] = [
            (np.array([number.setdefault(name, len(number)) for name in names], np.int32), weights)
            for names, weights in zip(found.words, found.weights, strict=True)
        ]
        total = float(found.use.sum())
        known, n_topics = followed(
            state.known,
            state.snapshots,
            Rows(words, found.use / total if total > 0 else None, state.now),
            state.n_topics,
        )
        scale = state.n_tokens / total if total > 0 else 0.0
        held = [topic for topic in known if topic.row >= 0]
        rows = np.array([topic.row for topic in held], np.int64)
        snapshot = Snapshot(
            state.now,
            np.array([topic.topic for topic in held], np.int64),
            rows,
            np.array([words[row][0] for row in rows], np.int32).reshape(found.weights[rows].shape),
            found.weights[rows],
            scale * found.use[rows],
            scale**2 * found.squares[rows],
            state.n_tokens if total > 0 else 0.0,
            found.kept[rows],
        )
        snapshots = thinned((*state.snapshots, snapshot), N_SNAPSHOTS)
        left = 0.0 if total > 0 else state.n_tokens
        return compact(
            State(state.now, left, tuple(number), known, snapshots, n_topics, len(words))
        )

    # What was found

    @property
    def n_batches_(self) -> int:
        """Minibatches that it was called for."""
        return self._state.now.batch

    @property
    def n_topics_(self) -> int:
        """Ids given so far."""
        return self._state.n_topics

    @property
    def ids_(self) -> np.ndarray:
        """Id of each row of the model at the last look; -1 for rows that were never in use."""
        ids = np.full(self._state.n_rows, -1, np.int64)
        for topic in self._state.known:
            if topic.row >= 0:
                ids[topic.row] = topic.topic
        return ids

    def topics(self) -> list[TrackedRow]:
        """List the topics with their births and deaths, by id; `pandas.DataFrame` takes them."""
        known = sorted(self._state.known, key=lambda topic: topic.topic)
        return [tracked_row(topic, self._state.names) for topic in known]

    def to_frame(self, n_words: int = 10) -> list[TrackRow]:
        """List the topics in each snapshot.

        Parameters
        ----------
        n_words : int, default=10
            Top words of each row; at most those kept, `TopicTracker.n_words`.

        Returns
        -------
        rows : list of TrackRow
            For each snapshot, the oldest first, and each topic that had a row then.
        """
        snapshots = self._state.snapshots
        now, before = last_words(snapshots), dict[int, Words]()
        rows: list[TrackRow] = []
        for snapshot in snapshots:
            moment, total = snapshot.moment, max(snapshot.n_tokens, 1e-300)
            for i, topic in enumerate(snapshot.topics.tolist()):
                words = probabilities_of(snapshot, i)
                if snapshot.rows[i] >= 0:
                    rows.append(
                        TrackRow(
                            topic, moment.batch, moment.time, moment.n_documents,
                            int(snapshot.rows[i]), float(snapshot.use[i] / total),
                            distance(before.get(topic), words), distance(words, now.get(topic)),
                            [self._state.names[w] for w in words[0][:n_words].tolist()],
                        )
                    )  # fmt: skip
                before[topic] = words
        return rows

    def shares(self) -> tuple[list[Any], np.ndarray, np.ndarray]:
        """Shares of the topics over time, for a picture.

        Returns
        -------
        times : list
            Of the snapshots, the oldest first: the times of the stream, or where it has none the
            numbers of documents learnt.
        ids : ndarray of shape (n_topics,), int64
            Ids of the topics, ascending.
        shares : ndarray of shape (n_snapshots, n_topics)
            Share of each topic in the tokens since the snapshot before. Rows sum to 1, less what
            fell to rows of the model that were never in use.
        """
        snapshots = self._state.snapshots
        ids = np.unique(np.concatenate([np.empty(0, np.int64), *(s.topics for s in snapshots)]))
        shares = np.zeros((len(snapshots), len(ids)))
        for line, snapshot in zip(shares, snapshots, strict=True):
            line[np.searchsorted(ids, snapshot.topics)] = snapshot.use
            line /= max(snapshot.n_tokens, 1e-300)
        timed = all(snapshot.moment.time is not None for snapshot in snapshots)
        times = [s.moment.time if timed else s.moment.n_documents for s in snapshots]
        return times, ids, shares

    def news(self, since: object = None, *, unit: str = "time", n_words: int = 10) -> list[NewsRow]:
        """List what is new since a time: topics that came, went, grew, shrank or changed.

        Parameters
        ----------
        since : object, default=None
            A time, comparable with those of the stream, a number of minibatches or of documents.
            None is since the last but one snapshot.
        unit : {"time", "batch", "documents"}, default="time"
            What `since` is: a time, or the minibatches or documents that had been learnt by then.
        n_words : int, default=10
            Top words that are listed and compared; at most those kept, `TopicTracker.n_words`.

        Returns
        -------
        rows : list of NewsRow
            What was found, the largest shares first in each kind. Compared are the last snapshot
            taken by then, and now; and the shares since that one with those of a stretch before
            it of about as many documents.
        """
        return news_since(self._state, since, unit, n_words)
