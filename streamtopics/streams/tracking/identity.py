# SPDX-License-Identifier: BSD-3-Clause
"""Identity of topics: matches known topics and the topics of the model by words.

Topics with probabilities p and q of the kept words, scaled to sum to 1, have the affinity sum_w
sqrt(p_w q_w). Topics and rows of the model are matched one to one by the last words, if the words
of ten snapshots ago are also similar. A new topic was split from an old topic if both together
are closer to the old words; merged topics likewise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from streamtopics.metrics.predictive import token_probability
from streamtopics.metrics.relevance import most_probable
from streamtopics.streams.batches import named
from streamtopics.utils.steps import counted, last_step, names_of
from streamtopics.utils.structure import for_scipy, is_sparse, number_of_rows, take_rows

# Numbers of words, and weights.
Words = tuple[np.ndarray, np.ndarray]
# Most documents of a minibatch used in a snapshot.
MAX_DOCUMENTS = 100
# Rows of topics gone since the snapshot before, for each present row.
GONE_ROWS = 2
# The last snapshots, never left out.
DENSE = 10
# Least probability of a token.
TINY = np.finfo(np.float64).tiny
# Least affinity of the words of a topic now and ten snapshots ago, times m / (m + 2) after m
# snapshots with the topic; half of this for the last snapshot. Different topics have 0.2 to 0.5.
THRESHOLD = 0.6
# Snapshots until a topic is settled; earlier words may be unlike.
STABLE = 8
# Snapshots in an earlier part of the stream than this are not recent.
SINCE = 0.7
# Snapshots in the mean of a topic's share, and of the usual share.
RECENT, LONG = 3, 30
# A topic comes into use with this part of an equal share. A topic is gone with half of this part,
# or, below 2.5 times this half, with a fifth of its usual share: stray tokens of other topics.
LEAST, GONE, NEVER_GONE, NOISE = 0.1, 0.5, 2.5, 0.2
# Topics without a row, kept for later recognition.
KEPT_GONE = 1000
# A part and a whole: least affinity, least gain by the part, and tried shares.
PART, GAIN = 0.5, 0.03
SHARES = (0.25, 0.5, 0.75)


class Position(NamedTuple):
    """Numbers of minibatches and documents so far, and the last time."""

    batch: int
    time: object
    n_documents: int


class KnownTopic(NamedTuple):
    """A topic since birth."""

    topic: int
    # Row in the model at the last snapshot, -1 for none, and number of snapshots with the topic.
    row: int
    n_found: int
    # Means over the last snapshots, and over snapshots in use.
    share: float
    usual: float
    born: Position
    last_seen: Position
    died: Position | None
    # Ids, -1 for none.
    split_from: int
    merged_into: int
    # At the last snapshot with the topic; before, if another topic has taken the row.
    words: Words


class Snapshot(NamedTuple):
    """The topics at a position, and their use since the last snapshot."""

    position: Position
    # A table, see `layout`, of topics with a row, and then of topics with a row since.
    topics: np.ndarray
    # Also of topics without an id.
    n_tokens: float


def layout(n_words: int) -> np.dtype[np.void]:
    """Columns of the topics in a snapshot; id, row and words are -1 if absent.

    `use` are tokens, estimated from the sampled documents, with variances `squares`. `weights` are
    probabilities of words divided by the sum, `kept`.
    """
    table = (("words", np.int32, n_words), ("weights", float, n_words))
    numbers = (("use", float), ("squares", float), ("kept", float))
    return np.dtype([("id", np.int64), ("row", np.int64), *numbers, *table])


class State(NamedTuple):
    now: Position
    # Learnt since the last snapshot with tokens.
    n_tokens: float
    # Of words by number.
    names: tuple[Any, ...]
    known: tuple[KnownTopic, ...]
    snapshots: tuple[Snapshot, ...]
    # Number of ids so far, and rows of the model at the last snapshot.
    n_topics: int
    n_rows: int


class Rows(NamedTuple):
    """Rows of a model: leading words, shares or None, and position."""

    words: Sequence[Words]
    shares: np.ndarray | None
    now: Position

    @property
    def least(self) -> float:
        return LEAST / max(len(self.words), 1)


# Identity of topics


def match_topics(
    known: Sequence[KnownTopic], snapshots: Sequence[Snapshot], rows: Rows, n_topics: int
) -> tuple[tuple[KnownTopic, ...], int]:
    """The known topics, present topics first, and the number of ids."""
    # Snapshots may be far apart: over ten of them topics would change as in the long run.
    last = snapshots[-DENSE:]
    recent = [s for s in last[:-1] if s.position.batch >= SINCE * rows.now.batch] + [*last[-1:]]
    earlier: dict[int, Words] = {}
    for snapshot in recent:
        for topic in snapshot.topics:
            if int(topic["id"]) not in earlier:
                earlier[int(topic["id"])] = words_of(topic)
    place = _places(known, earlier, rows.words, len(recent))
    held = [_found(known[p], row, rows) for row, p in enumerate(place.tolist()) if p >= 0]
    found = set(place.tolist())
    lost = [
        topic._replace(row=-1, words=earlier[topic.topic] if topic.row >= 0 else topic.words)
        for p, topic in enumerate(known)
        if p not in found
    ]
    new = _born(rows, place, held, earlier, n_topics)
    held, lost = ([_with_end(t, held, earlier, rows) for t in some] for some in (held, lost))
    lost.sort(key=lambda topic: topic.died.batch if topic.died else 0)
    return (*held, *new, *lost[-KEPT_GONE:]), n_topics + len(new)


def _places(
    known: Sequence[KnownTopic], earlier: Mapping[int, Words], words: Sequence[Words], n_recent: int
) -> np.ndarray:
    """The known topic of each row, or -1."""
    place = np.full(len(words), -1)
    # A topic without a row must be recognised with certainty.
    for gone, limit in ((False, 0.5 * THRESHOLD), (True, THRESHOLD)):
        some = [(topic.row < 0) == gone for topic in known]
        present, free = np.flatnonzero(some), np.flatnonzero(place < 0)
        if not len(present) or not len(free):
            continue
        topics = [known[i] for i in present.tolist()]
        last = [topic.words for topic in topics]
        was = [earlier.get(topic.topic, topic.words) for topic in topics]
        found, far = np.split(affinity_matrix([*last, *was], [words[i] for i in free.tolist()]), 2)
        m = np.array([max(1, topic.n_found - n_recent + 1) for topic in topics], np.float64)
        least = np.where(m < STABLE, 0.0, THRESHOLD * m / (m + 2))[:, None]
        own = matching(np.where(far >= least, found, 0.0), limit)
        place[free[own >= 0]] = present[own[own >= 0]]
    return place


def _found(topic: KnownTopic, row: int, rows: Rows) -> KnownTopic:
    """A recognised topic, with its present share."""
    n_found, least = topic.n_found + 1, rows.least
    topic = topic._replace(row=row, n_found=n_found, words=rows.words[row])
    if rows.shares is None:
        return topic
    now = float(rows.shares[row])
    topic = topic._replace(share=topic.share + (now - topic.share) / min(n_found, RECENT))
    if topic.died is None:
        few = max(GONE * least, min(NOISE * topic.usual, NEVER_GONE * least))
        topic = topic._replace(died=rows.now if topic.share < few else None)
    elif topic.share > max(least, NOISE * topic.usual):
        topic = topic._replace(died=None, merged_into=-1)
    if topic.died is not None or now <= least:
        return topic
    usual = topic.usual + (now - topic.usual) / min(n_found, LONG)
    return topic._replace(last_seen=rows.now, usual=usual)


def _born(
    rows: Rows,
    place: np.ndarray,
    held: Sequence[KnownTopic],
    earlier: Mapping[int, Words],
    n_topics: int,
) -> list[KnownTopic]:
    """New topics: rows in use without a known topic."""
    if rows.shares is None:
        return []
    others = [topic for topic in held if topic.topic in earlier]
    merged = [earlier[topic.topic] for topic in others]
    new: list[KnownTopic] = []
    for row in np.flatnonzero((place < 0) & (rows.shares > rows.least)).tolist():
        words, share = rows.words[row], float(rows.shares[row])
        parent = completed(merged, [rows.words[other.row] for other in others], words)
        topic = n_topics + len(new)
        new.append(
            KnownTopic(
                topic, row, 1, share, share, rows.now, rows.now, None,
                others[parent].topic if parent >= 0 else -1, -1, words
            )
        )  # fmt: skip
    return new


def _with_end(
    topic: KnownTopic, held: Sequence[KnownTopic], earlier: Mapping[int, Words], rows: Rows
) -> KnownTopic:
    """A topic with its death and merger, if any."""
    if topic.row < 0 and topic.died is None:
        topic = topic._replace(died=rows.now)
    if topic.died != rows.now or topic.topic not in earlier:
        return topic
    others = [o for o in held if o.topic != topic.topic and o.died is None and o.topic in earlier]
    parts = [earlier[other.topic] for other in others]
    merged = [rows.words[other.row] for other in others]
    into = completed(merged, parts, earlier[topic.topic])
    return topic._replace(merged_into=others[into].topic if into >= 0 else -1)


# Affinities


def affinity_matrix(one: Sequence[Words], other: Sequence[Words]) -> np.ndarray:
    if not len(one) or not len(other):
        return np.zeros((len(one), len(other)))
    roots = _roots([*one, *other])
    return np.minimum((roots[: len(one)] @ roots[len(one) :].T).toarray(), 1.0)


def matching(affinity: np.ndarray, threshold: float) -> np.ndarray:
    """For each column the matching row, -1 for none."""
    out = np.full(affinity.shape[1], -1)
    affinity = np.where(affinity >= threshold, affinity, 0.0)
    rows, columns = linear_sum_assignment(affinity, maximize=True)
    close = affinity[rows, columns] >= threshold
    out[columns[close]] = rows[close]
    return out


def completed(merged: Sequence[Words], parts: Sequence[Words], other: Words) -> int:
    """The place of the merged topic closer to its part and `other` together than to its part alone.

    -1 for none. Some shares of the two are tried.
    """
    best, least = -1, GAIN
    for i in np.flatnonzero(affinity_matrix(merged, [other]) >= PART).tolist():
        table = _roots([merged[i], parts[i], other]).toarray()
        first, second = table[1] ** 2, table[2] ** 2
        mixed = max(float(table[0] @ np.sqrt((1 - s) * first + s * second)) for s in SHARES)
        gain = mixed - float(table[0] @ table[1])
        if gain > least:
            best, least = i, gain
    return best


def distance(one: Words | None, other: Words | None) -> float:
    """Hellinger's distance of two topics by probabilities of leading words; NaN without words.

    A word of probability p that leads one topic gets at most min(p, max(0, 2 m - p)) in the other,
    with m the least there. With masses P and Q of the words, 1 minus the squared distance is
        sum_w sqrt(p_w q_w) (1 + sqrt((1 - P) (1 - Q) / (P Q))).
    """
    if one is None or other is None:
        return float("nan")
    _, place, other_place = np.intersect1d(one[0], other[0], True, return_indices=True)
    own, other_own = np.delete(one[1], place), np.delete(other[1], other_place)
    p = np.concatenate([one[1][place], own, _below(other_own, one[1])])
    q = np.concatenate([other[1][other_place], _below(own, other[1]), other_own])
    P, Q = p.sum(), q.sum()
    within = _squared(p / P, q / Q)
    between = _squared(*(np.array([mass, max(0.0, 1.0 - mass)]) for mass in (P, Q)))
    return float(np.sqrt(within + between - within * between))


def _below(p: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Probabilities of non-leading words of a topic."""
    found = np.minimum(p, np.maximum(0.0, 2.0 * other.min() - p))
    left, total = max(0.0, 1.0 - other.sum()), found.sum()
    return np.asarray(found * (left / total) if total > left else found)


def _squared(p: np.ndarray, q: np.ndarray) -> float:
    return float(0.5 * np.square(np.sqrt(p) - np.sqrt(q)).sum())


def _roots(topics: Sequence[Words]) -> sparse.csr_array:
    """Square roots of the weights of words, of shape (n_topics, n_words)."""
    starts = np.cumsum([0, *(len(words) for words, _ in topics)])
    words, weights = (np.concatenate(part) for part in zip(*topics, strict=True))
    present, columns = np.unique(words, return_inverse=True)
    return sparse.csr_array((np.sqrt(weights), columns, starts), shape=(len(topics), len(present)))


# Kept snapshots


def thinned(snapshots: tuple[Snapshot, ...], n: int) -> tuple[Snapshot, ...]:
    """At most n snapshots: the first, the last ten, and more of recent times.

    The use of a removed snapshot joins the next.
    """
    kept = list(snapshots)
    while len(kept) > n:
        places = np.array([snapshot.position.n_documents for snapshot in kept], np.float64)
        between = slice(1, len(kept) - DENSE)
        gaps = places[2 : len(kept) - DENSE + 1] - places[: len(kept) - DENSE - 1]
        out = 1 + int(np.argmin(gaps / np.maximum(places[-1] - places[between], 1.0)))
        kept[out : out + 2] = [_merge(kept[out], kept[out + 1])]
    return tuple(kept)


def _merge(first: Snapshot, second: Snapshot) -> Snapshot:
    before, topics = first.topics, second.topics.copy()
    own = np.isin(before["id"], topics["id"])
    place = {topic: i for i, topic in enumerate(topics["id"].tolist())}
    places = [place[topic] for topic in before["id"][own].tolist()]
    for name in ("use", "squares"):
        topics[name][places] += before[name][own]
    gone = before[~own & (before["use"] > 0)]
    most = GONE_ROWS * max(1, int(np.count_nonzero(topics["row"] >= 0)))
    gone = gone[np.sort(np.argsort(-gone["use"], kind="stable")[:most])]
    gone["row"] = -1
    n_tokens = first.n_tokens + second.n_tokens
    return Snapshot(second.position, np.concatenate([topics, gone]), n_tokens)


def words_of(topic: np.ndarray) -> Words:
    """The words of a topic in a snapshot, and the weights."""
    present = topic["words"] >= 0
    return topic["words"][present], topic["weights"][present]


def probabilities_in(*snapshots: Snapshot) -> dict[int, Words]:
    """The words of each topic in the latest snapshot, with probabilities."""
    found = {}
    for snapshot in snapshots:
        for topic in snapshot.topics:
            words, weights = words_of(topic)
            found[int(topic["id"])] = words, topic["kept"] * weights
    return found


def compact(state: State) -> State:
    """The same state, without names of unused words."""
    tables = [snapshot.topics.copy() for snapshot in state.snapshots]
    # The last place stands for -1: no word.
    has = np.zeros(len(state.names) + 1, np.bool_)
    for words in (*(t["words"] for t in tables), *(topic.words[0] for topic in state.known)):
        has[words] = True
    used = np.flatnonzero(has[:-1])
    if 2 * len(used) >= len(state.names):
        return state
    number = np.full(len(state.names) + 1, -1, np.int32)
    number[used] = np.arange(len(used))
    for table in tables:
        table["words"] = number[table["words"]]
    known = tuple(k._replace(words=(number[k.words[0]], k.words[1])) for k in state.known)
    kept = zip(state.snapshots, tables, strict=True)
    snapshots = tuple(snapshot._replace(topics=table) for snapshot, table in kept)
    names = tuple(state.names[i] for i in used.tolist())
    return state._replace(names=names, known=known, snapshots=snapshots)


# Reading a model


def read_topics(
    model: Any, documents: Any, n_words: int, number: dict[Any, int], feature_names: Any
) -> np.ndarray:
    """Read the topics of a model, and the use in some documents; `number` gets new words."""
    topics = last_step(model)
    names = topics._column_names(names_of(model) if feature_names is None else feature_names)
    columns, weights = topics._whole(lambda: _leading(topics, n_words))
    n_topics, n = columns.shape
    words = [number.setdefault(name, len(number)) for name in names[columns.ravel()].tolist()]
    table = np.zeros(n_topics, layout(n_words))
    table["id"], table["row"], table["words"] = -1, np.arange(n_topics), -1
    table["words"][:, :n] = np.array(words, np.int32).reshape(columns.shape)
    table["kept"] = weights.sum(axis=1)
    table["weights"][:, :n] = weights / table["kept"][:, None]
    if number_of_rows(documents):
        table["use"], table["squares"] = _use(topics, for_scipy(counted(model, documents)))
    return table


def sampled(X: Any, n: int, seed: int) -> Any:
    n_documents = number_of_rows(X)
    if n_documents <= n:
        return X
    rows = np.sort(np.random.default_rng(seed).choice(n_documents, n, replace=False))
    return take_rows(X.tocsr() if is_sparse(X) else X, rows)


def _leading(topics: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    columns = most_probable(topics._learnt, n)[topics._n_hidden :]
    words, places = np.unique(columns, return_inverse=True)
    table = topics._topics_of(words)[topics._n_hidden :]
    return columns, np.take_along_axis(table, places.reshape(columns.shape), axis=1)


def _use(topics: Any, counts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Expected tokens of each topic in documents, and the sum of squares over documents.

    u_k = sum_d sum_w n_dw theta_dk phi_kw / sum_j theta_dj phi_jw
    """
    X = sparse.csr_matrix(counts)
    theta = np.asarray(topics.transform(named(topics, X)), np.float64)
    words, places = np.unique(X.indices.astype(np.int32, copy=False), return_inverse=True)
    phi = topics._topics_of(words)[topics._n_hidden :]
    own = sparse.csr_matrix((X.data, places, X.indptr), shape=(X.shape[0], len(words)))
    own.data = own.data / np.maximum(token_probability(theta, phi, own), TINY)
    use = theta * (own @ phi.T)
    return use.sum(axis=0), np.square(use).sum(axis=0)
