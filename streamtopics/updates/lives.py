# SPDX-License-Identifier: BSD-3-Clause
"""Records of topics that are born and die along a stream."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from streamtopics.messages import TableStatistics
from streamtopics.posteriors import TopicPosterior

# A topic is silent in a minibatch that has less than this share of the documents to be expected.
SILENT = 0.1
# Topics of the past that are kept on record.
KEPT_LIVES = 1000
# Of mixed membership: tables in a minibatch that a new topic needs, those to be expected of a
# silent one, after which it is dead, and the share of its tokens below which it is silent: some
# tokens of other topics fall to it, about a tenth of what it had.
LEAST_TABLES, SILENCE, STRAY = 8.0, 24.0, 0.2
# One that was dead comes back with this share of them.
BACK = 0.5
TOP_WORDS = 10


@dataclass(frozen=True)
class Life:
    """One topic from its birth to its death.

    Attributes
    ----------
    topic : int
        Of a mixture the row of `components_`, free again after its death; where rows move, its
        number in `topic_ids_`.
    born : int
        Minibatch that it was born in, from 1.
    born_time : object
        As passed to `partial_fit` with that minibatch; None otherwise.
    documents : float
        Documents that it had there; of mixed membership, tables.
    words : tuple of int
        Columns of its words with the most tokens there; the word itself if its column stands for
        another one by now, or None if it is not known.
    died : int or None
        Minibatch after which it is dead; None while it lives.
    died_time : object
        As passed to `partial_fit` with that one.
    last_words : tuple of int
        The same of the words that it was mostly made of when it died; none while it lives.
    """

    topic: int
    born: int
    born_time: Any
    documents: float
    words: tuple[Any, ...]
    died: int | None = None
    died_time: Any = None
    last_words: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Lives:
    """Record of the topics along a stream; nothing in it is written in place.

    Attributes
    ----------
    silence : ndarray of shape (n_topics,)
        Documents that each one should have had since it was last heard of.
    alive : tuple of Life
        Topics that live, the oldest first.
    dead : tuple of Life
        The last thousand that died, in that order.
    n_batches : int
        Minibatches so far.
    ids : ndarray of shape (n_topics,), int64
        Numbers of the topics, where rows move; else empty.
    n_ids : int
        How many there have been.
    """

    _holds = "silence: * >=0; ids: i8 * >=0; n_batches: >=0; n_ids: >=0"
    silence: np.ndarray
    alive: tuple[Life, ...] = ()
    dead: tuple[Life, ...] = ()
    n_batches: int = 0
    ids: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    n_ids: int = 0

    def with_names(self, names: dict[int, Any]) -> "Lives":
        """The record after columns have changed hands, which stood for `names` until then."""

        def told(life: Life) -> Life:
            words, last = ([names.get(w, w) for w in own] for own in (life.words, life.last_words))
            return replace(life, words=tuple(words), last_words=tuple(last))

        return replace(self, alive=tuple(map(told, self.alive)), dead=tuple(map(told, self.dead)))

    def after(
        self, born: dict[int, tuple[float, np.ndarray]], died: dict[int, np.ndarray], time: Any
    ) -> "Lives":
        """The record after a minibatch.

        `born` has the documents and words of each new topic, `died` the last words of each that
        is dead; what is no living one is left out.
        """
        now = self.n_batches + 1
        gone = [
            replace(life, died=now, died_time=time, last_words=tuple(died[life.topic].tolist()))
            for life in self.alive
            if life.topic in died
        ]
        new = [
            Life(topic, now, time, documents, tuple(words.tolist()))
            for topic, (documents, words) in born.items()
        ]
        alive = (*(life for life in self.alive if life.topic not in died), *new)
        dead = (*self.dead, *gone)[-KEPT_LIVES:]
        return replace(self, alive=alive, dead=dead, n_batches=now)


def followed(
    lives: Lives,
    before: TopicPosterior,
    tables: np.ndarray,
    topics: np.ndarray,
    statistics: TableStatistics,
    time: Any,
) -> Lives:
    """The record of topics whose rows move, after a minibatch of mixed membership.

    A topic is born with the first minibatch that has eight tables of it. It is dead when it is
    dropped, or has had less than a fifth of the tokens to be expected by its share for as long as
    24 of its tables were; it is born again with half of what is to be expected.

    Parameters
    ----------
    lives : Lives
        Before the minibatch.
    before : TopicPosterior
        Before it.
    tables : ndarray of shape (n_before,)
        The running tables before it.
    topics : ndarray of shape (n_topics,)
        Those kept: rows of `before`, and from n_before on new ones.
    statistics : TableStatistics
        Of these topics.
    time : object
        Of the minibatch.
    """
    known, found = topics < len(tables), statistics.tables
    rows = np.where(known, topics, 0)
    ids = np.where(known, lives.ids[rows], lives.n_ids + np.cumsum(~known) - 1)
    learnt = before.learnt_part
    share, of_tokens = (
        np.where(known, had[rows], 0.0) / max(had.sum(), 1e-300) for had in (tables, learnt)
    )
    expected, tokens = share * found.sum(), of_tokens * statistics.mass.sum()
    living = np.isin(ids, [life.topic for life in lives.alive])
    silent = living & (statistics.mass < STRAY * tokens)
    silence = np.where(silent, lives.silence[rows] + expected, 0.0)
    quiet = silence >= SILENCE
    born = ~living & (found >= LEAST_TABLES) & (statistics.mass >= BACK * tokens)
    silence[quiet] = 0.0
    gone = [*ids[quiet], *np.setdiff1d(lives.ids, ids)]
    row_of = {int(topic): row for row, topic in enumerate(lives.ids)}
    died = {int(topic): leading(before.counts_in(row_of[int(topic)])) for topic in gone}
    new = {
        int(ids[j]): (float(found[j]), statistics.words[leading(statistics.counts[:, j])])
        for j in np.flatnonzero(born)
    }
    n_ids = lives.n_ids + int(np.count_nonzero(~known))
    return replace(lives.after(new, died, time), ids=ids, n_ids=n_ids, silence=silence)


def leading(counts: np.ndarray) -> np.ndarray:
    """Places of the largest counts above 0, the largest first, at most ten."""
    order = np.argsort(-counts, kind="stable")[:TOP_WORDS]
    found: np.ndarray = order[counts[order] > 0]
    return found


class LifeRow(NamedTuple):
    """One topic from birth to death, for people or for a DataFrame."""

    topic: int
    born: int
    born_time: Any
    documents: float
    words: list[Any]
    died: int | None
    died_time: Any
    last_words: list[Any]


def life_table(lives: Iterable[Life], names: np.ndarray) -> list[LifeRow]:
    """A row for each topic."""

    def named(words: tuple[Any, ...]) -> list[Any]:
        return [names[w] if isinstance(w, int) else w for w in words]

    return [
        LifeRow(
            life.topic, life.born, life.born_time, life.documents, named(life.words),
            life.died, life.died_time, named(life.last_words),
        )
        for life in lives
    ]  # fmt: skip
