# SPDX-License-Identifier: BSD-3-Clause
"""Follows the topics of a model along a stream: who is who, since when, and what has changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamtopics.streams.callbacks import BatchInfo
from streamtopics.streams.tracking.following import Rows, followed
from streamtopics.streams.tracking.identity import Words
from streamtopics.streams.tracking.looks import check_has_topics, look, some_of
from streamtopics.streams.tracking.news import NewsRow, news_since
from streamtopics.streams.tracking.snapshots import (
    DENSE,
    Moment,
    Snapshot,
    State,
    compact,
    thinned,
)
from streamtopics.streams.tracking.track import (
    TopicRow,
    TrackRow,
    shares_over_time,
    topic_rows,
    track_rows,
)
from streamtopics.utils.checks import check_integer, is_number
from streamtopics.utils.steps import last_step

# What a look costs, in tokens learnt: a word of the vocabulary, a token looked at, the rest.
PER_WORD, PER_TOKEN, PER_LOOK = 1.0, 6.0, 5000.0
# The stream is looked at when it has grown by this factor, whatever that costs.
GROWN = 1.2


class TopicTracker:
    """Follows topics along a stream: each has an id, whatever row of the model it is in.

    It is a callback of a stream, called after a minibatch was learnt. It looks at the model and
    at some documents of the minibatch, and matches the topics to those it knows by their words.
    So an id outlives a restart, a merge, a model that was fitted again and topics in another
    order; and a row that comes to stand for something else gets a new id.

    Parameters
    ----------
    n_words : int, default=30
        Words of each topic that are kept; at least 10 are needed to tell topics apart.
    n_snapshots : int, default=64
        Snapshots that are kept, at least 12: the first, the last ten, and in between the denser
        the more recent.
    max_documents : int, default=100
        Most documents of a minibatch that are looked at, chosen at random by their place in the
        stream.
    budget : float, default=0.1
        Cost of looking as a share of that of learning, as estimated from the numbers of words
        and tokens. A look that would cost more is put off to a later minibatch, but not beyond
        one that makes the stream longer by a fifth: the first six minibatches are looked at
        at whatever cost, and then about 12 each time that their number grows tenfold. Infinity
        looks at every minibatch.
    threshold : float in (0, 1), default=0.6
        Least affinity of the words of a topic now and ten looks ago, or within the last three
        tenths of the stream where looks are further apart: the sum of sqrt(p q) over those kept.
        It is times m / (m + 2) if the topic had been seen at m looks by then, and none if these
        were less than eight, as it was not settled. To the last look half of it suffices. Other
        topics of the same model had 0.2 to 0.5.
    feature_names : array-like of shape (n_features,), default=None
        Words of the columns, of models without names of their own; a pipeline's are those of
        its vectorizer. None without them: words are then the numbers of the columns, which must
        not change.

    Attributes
    ----------
    n_batches_ : int
        Minibatches that it was called for.
    n_topics_ : int
        Ids given so far, 0 to `n_topics_` - 1.
    ids_ : ndarray of shape (n_rows,)
        Id of each row of the model at the last look; -1 for rows that were never in use.

    Notes
    -----
    A row is the topic that had the closest words at the last look. A topic may drift to something
    else in the long run; a row that something else takes over in less than ten looks gets a new
    id.

    A topic is in use when it has more than a tenth of an equal share of the tokens. It is born
    at the first look at which it is. It has died when its share, a mean of the last three looks,
    is less than half of that, or less than a fifth of what was usual and a quarter of an equal
    one; or when no row has its words any more. One that died comes back under its id.

    A new topic was *split* from one that is closer to what it was when both are taken together,
    and one that has died has been *merged* into one that has come closer to both.

    How far words have *moved* is Hellinger's distance, the square root of 1 less the sum of
    sqrt(p q) over all words, as the kept ones have it. One that was kept once only, with
    probability p, is taken to have had min(p, max(0, 2 m - p)) the other time, where m is the
    least that was kept then: so it has come or gone as far below the end of the list as it is
    above. Words kept neither time are taken to be as alike, for their mass, as the others. It is
    exact if all words are kept, and little where words change places at the end of the list. Of
    thirty words in thousands it told of .2 to .6 where the distances were .3 to .7. It is NaN
    between snapshots of a version that did not keep probabilities.

    Its state is bounded by K topics, the n words of each and the number of snapshots, whatever
    the length of the stream, and by the last thousand topics that died.

    References
    ----------
    A. Bhattacharyya (1943). On a measure of divergence between two statistical populations
    defined by their probability distributions. Bulletin of the Calcutta Mathematical Society 35,
    99-109. H. W. Kuhn (1955). The Hungarian method for the assignment problem. Naval Research
    Logistics Quarterly 2, 83-97.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.streams import BatchInfo, TopicTracker
    >>> X = make_lda_corpus(900, n_components=3, n_features=60, random_state=0).X
    >>> model, tracker = GibbsOnlineEM(3, random_state=0), TopicTracker(budget=float("inf"))
    >>> for t, start in enumerate(range(0, 900, 300), 1):
    ...     batch = X[start : start + 300]
    ...     n, n_tokens = 300 * t, float(batch.sum())
    ...     info = BatchInfo(t, batch, 2000 + t, 300, n_tokens, n, t * n_tokens, float("nan"))
    ...     tracker(model.partial_fit(batch), info)
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
        n_snapshots: int = 64,
        max_documents: int = 100,
        budget: float = 0.1,
        threshold: float = 0.6,
        feature_names: Any = None,
    ) -> None:
        check_integer(least=10, n_words=n_words)
        check_integer(least=DENSE + 2, n_snapshots=n_snapshots)
        check_integer(max_documents=max_documents)
        _check_number("budget", budget, float("inf"), "above 0, such as 0.1")
        _check_number("threshold", threshold, 1 - 1e-12, "between 0 and 1, such as 0.6")
        self.n_words = int(n_words)
        self.n_snapshots = int(n_snapshots)
        self.max_documents = int(max_documents)
        self.budget, self.threshold = float(budget), float(threshold)
        self.feature_names = feature_names
        self._state: State = State(Moment(0, None, 0), 0.0, (), (), (), 0, 0)

    # Following

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        """Take note of a minibatch that was learnt; look at the model if the budget allows.

        When it fails nothing has changed.

        Parameters
        ----------
        model : estimator of topics over words, or a pipeline that ends in one
            After it has learnt the minibatch.
        info : BatchInfo
            Of the minibatch. Batches and documents are counted on here, so that a stream that
            starts anew goes on.

        Raises
        ------
        TypeError
            If the model has no topics over words, or the documents cannot be chosen from.
        ValueError
            If `feature_names` does not fit the model.
        """
        check_has_topics(model)
        state = self._state
        now = Moment(state.now.batch + 1, info.time, state.now.n_documents + info.n_documents)
        n_tokens = state.n_tokens + info.n_tokens
        state = state._replace(now=now, n_tokens=n_tokens)
        last = state.snapshots[-1].moment.batch if state.snapshots else 0
        if now.batch >= GROWN * last or self.budget * n_tokens >= self._cost(model, info):
            state = self._looked(state, model, info)
        self._state = state

    def __call__(self, model: Any, info: BatchInfo) -> None:
        """Look at the model after a minibatch, as `on_batch` does."""
        self.on_batch(model, info)

    def _cost(self, model: Any, info: BatchInfo) -> float:
        """Cost of a look, in tokens learnt."""
        looked_at = min(1.0, self.max_documents / max(info.n_documents, 1)) * info.n_tokens
        n_features: int = last_step(model).n_features_in_
        return float(PER_WORD * n_features + PER_TOKEN * looked_at + PER_LOOK)

    def _looked(self, state: State, model: Any, info: BatchInfo) -> State:
        """The state after a look."""
        some = some_of(info.X, self.max_documents, state.now.n_documents)
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
            self.threshold,
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
        snapshots = thinned((*state.snapshots, snapshot), self.n_snapshots)
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

    def topics(self) -> list[TopicRow]:
        """Rows on the topics: those that live and the last thousand that died, by id.

        Returns
        -------
        rows : list of TopicRow
            Of each topic its id; its row in the model, -1 where it has none; whether it lives;
            its share of the tokens lately; the minibatch that it was born in, counted from 1,
            the last that it was in use in and that it died by, with their times; the ids of the
            topics that it was split from and merged into; and its words at the last look that
            found it. As a frame by `pandas.DataFrame(rows)`.
        """
        return topic_rows(self._state)

    def to_frame(self, n_words: int = 10) -> list[TrackRow]:
        """Rows on the topics in each snapshot.

        Parameters
        ----------
        n_words : int, default=10
            Top words of each row; at most those kept, `TopicTracker.n_words`.

        Returns
        -------
        rows : list of TrackRow
            For each snapshot, the oldest first, and each topic that had a row then: its id;
            the minibatch, its time and the documents learnt by then; the row; its share of the
            tokens since the snapshot before; how far its words have moved since that one, and
            from this one until now: the Hellinger distance as the kept words have it, see the
            notes, 0 for the same and 1 for no word in common, NaN where there is nothing to
            compare with; and its top words. As a frame by `pandas.DataFrame(rows)`.
        """
        check_integer(n_words=n_words)
        return track_rows(self._state, n_words)

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
        return shares_over_time(self._state.snapshots)

    def news(self, since: Any = None, *, unit: str = "time", n_words: int = 10) -> list[NewsRow]:
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

        Raises
        ------
        TypeError
            If `n_words` is no integer.
        ValueError
            If `n_words` is less than 1, `unit` is unknown, `since` is missing where it is needed,
            before the first snapshot, or times are asked for and the stream has none.
        """
        check_integer(n_words=n_words)
        return news_since(self._state, since, unit, n_words)


def _check_number(name: str, value: Any, most: float, expected: str) -> None:
    if not is_number(value):
        raise TypeError(f"{name} must be a number; got {value!r}")
    if not 0 < float(value) <= most:
        raise ValueError(f"{name} must be {expected}; got {value!r}")
